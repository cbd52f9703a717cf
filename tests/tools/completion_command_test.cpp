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
  const std::string test =
      run({"completion", "bash"}).out +
      "COMP_WORDS=(fourtune show --format j); COMP_CWORD=3; _fourtune; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(fourtune sh); COMP_CWORD=1; _fourtune; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(fourtune run --adj); COMP_CWORD=2; _fourtune; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(fourtune pack m); COMP_CWORD=2; _fourtune; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(fourtune pack show --li); COMP_CWORD=3; _fourtune; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(fourtune pack merge --policy fa); COMP_CWORD=4; _fourtune;"
      "echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(fourtune show --db " +
      (folder / "complet").string() +
      "); COMP_CWORD=3; _fourtune; echo \"${COMPREPLY[*]##*/}\"\n"
      "COMP_WORDS=(fourtune tune --seconds c); COMP_CWORD=3; _fourtune; echo \"${COMPREPLY[*]}\"\n";
  const Finished completed = run_program({"bash", file("completion.sh", test)});
  EXPECT_EQ(completed.out, "json\nshow\n--adjoint\nmerge\n--limit\nfastest\ncompletion.sh\n\n") << completed.err;
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
