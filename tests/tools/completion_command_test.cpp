// Completion scripts of three shells; bash's is asked as the shell asks it.
#include "tests/tools/command_line.h"

namespace fourtune::test {
namespace {

TEST_F(CommandLine, CompletionScriptsNameEverySubcommandAndParse) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Finished script = run({"completion", shell});
    EXPECT_EQ(script.code, 0);
    for (const char* word : {"tune", "show", "explain", "plan", "emit", "run", "soak", "doctor", "bench", "completion",
                             "runner-ups", "verify", "runners-up"})
      EXPECT_NE(script.out.find(word), std::string::npos) << shell << ": " << word;
    EXPECT_EQ(script.out.find("worker"), std::string::npos) << shell;
  }
  // As bash asks: the line and the place of the cursor in it.
  std::string test = run({"completion", "bash"}).out +
                     "ask() { COMP_LINE=$1; COMP_POINT=${#1}; _fourtune; echo \"${COMPREPLY[*]##*/}\"; }\n";
  for (const std::string& line : std::vector<std::string>{
           "show --format j", "sh", "run --adj", "pack m", "pack show --li", "pack merge --policy fa",
           "show --db " + (folder / "complet").string(), "tune --seconds c", "run x --backend ",
           "tune --problems builtin:q", "run fft:type=c2c,pr", "run fft:type=r", "tune --quiet nufft:type=1,n=8x8,po",
           "run nufft:type=1,points=s", "run fft:n=8,", "doctor fft:pr"})
    test += "ask 'fourtune " + line + "'\n";
  const Finished completed = run_program({"bash", file("completion.sh", test)});
  EXPECT_EQ(completed.out,
            "json\nshow\n--adjoint\nmerge\n--limit\nfastest\ncompletion.sh\n\ncpu cuda emulated\nquick\n"
            "c2c,prec=\nr2c\n8x8,points=\nspiral stack\n"
            "8,type= 8,prec= 8,batch= 8,place= 8,sign= 8,order= 8,layout=\n\n")
      << completed.err;
  // A path is completed by files, another value by nothing.
  const std::string bash = run({"completion", "bash"}).out, zsh = run({"completion", "zsh"}).out,
                    fish = run({"completion", "fish"}).out;
  EXPECT_NE(bash.find("'tune --db') COMPREPLY=($(compgen -f"), std::string::npos);
  EXPECT_NE(bash.find("'tune --seconds') return"), std::string::npos);
  const auto line = [](const std::string& text, const std::string& what) {
    const auto at = text.find(what);
    return at == text.npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_NE(line(zsh, "--db").find("_files"), std::string::npos);
  EXPECT_EQ(line(zsh, "--seconds").find("_files"), std::string::npos);
  EXPECT_NE(line(fish, "-l db").find(" -rF"), std::string::npos);
  EXPECT_NE(line(fish, "-l seconds").find(" -x"), std::string::npos);
}

}  // namespace
}  // namespace fourtune::test
