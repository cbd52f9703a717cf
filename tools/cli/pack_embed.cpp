// `fourtune pack embed` and `keygen`: a pack as part of a program, and the keys by which packs are signed.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/text.h"
#include "db/signature.h"
#include "tools/cli/pack_commands.h"
#include "tools/cli/pack_files.h"
#include "tools/common/errors.h"
#include "tools/common/text.h"

extern char** environ;

namespace fourtune::tools {
namespace {

namespace fs = std::filesystem;

// ---- embed
struct EmbedArguments {
  std::string pack, output, as, symbol, format = "table";
  bool force = false;
};

std::string bytes_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in || in.bad()) throw cannot_read(path.string());
  return bytes;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string symbol_of(const EmbedArguments& arguments, const std::string& pack_name) {
  if (arguments.symbol.empty()) {
    std::string symbol = "fourtune_pack_" + pack_name;
    for (char& c : symbol)
      if (!is_letter(c) && !is_digit(c)) c = '_';
    return symbol;
  }
  const std::string& symbol = arguments.symbol;
  const bool right =
      symbol.size() <= 200 && !is_digit(symbol.front()) &&
      std::all_of(symbol.begin(), symbol.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  if (!right) throw UsageError(fmt::format("--symbol {}: no name of C", symbol), "letters, digits and _, as my_plans");
  return symbol;
}

std::string declarations(const std::string& symbol) {
  return fmt::format("extern const unsigned char {0}[];\nextern const size_t {0}_size;\n", symbol);
}

std::string c_source(const std::string& symbol, const db::PackManifest& manifest, std::string_view bytes) {
  const auto comment = [](const std::string& text) {  // cannot end the comment
    std::string safe = text::shown(text);
    for (char& c : safe)
      if (c == '*' || c == '?' || c == '\\') c = ' ';
    return safe;
  };
  std::string text = fmt::format(
      "/* The pack {0} {1} as an array, made by `fourtune pack embed`. Give the library {2} and {2}_size as a pack\n"
      "   in memory before the first transform is created; both stay as they are while it is used. In a header:\n"
      "     extern const unsigned char {2}[];\n"
      "     extern const size_t {2}_size; */\n"
      "#include <stddef.h>\n"
      "#ifdef __cplusplus\n"
      "extern \"C\" {{\n"
      "#endif\n"
      "{3}const unsigned char {2}[{4}] = {{",
      comment(manifest.name), comment(manifest.version), symbol, declarations(symbol), bytes.size());
  text.reserve(text.size() + bytes.size() * 4 + bytes.size() / 32 + 200);
  constexpr std::size_t kLine = 30;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % kLine == 0) text += '\n';
    fmt::format_to(std::back_inserter(text), "{},", static_cast<unsigned char>(bytes[i]));
  }
  text += fmt::format("\n}};\nconst size_t {}_size = {};\n#ifdef __cplusplus\n}}\n#endif\n", symbol, bytes.size());
  return text;
}

// A folder that is removed with what it holds.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "fourtune-embed-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Failure(
          fmt::format("no folder can be made in {}: {}", fs::temp_directory_path().string(), std::strerror(errno)),
          "TMPDIR names another one");
    path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Whether the program could be started; `code` is its exit code.
bool run(std::vector<std::string> words, int& code) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return false;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return false;
  code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code != 127;  // what a C library without vfork says of a program that is not there
}

// An assembler reads the file as it is, so that no compiler parses megabytes of numbers.
std::string object_file(const std::string& symbol, std::string_view bytes) {
  const WorkFolder folder;
  const fs::path source = folder.path() / "pack.s", object = folder.path() / "pack.o";
  std::ofstream(folder.path() / "pack.bin", std::ios::binary).write(bytes.data(), std::ssize(bytes));
  std::string quoted;
  for (const char c : (folder.path() / "pack.bin").string())
    quoted += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  std::ofstream(source) << fmt::format(
      ".section .rodata\n.globl {0}\n.type {0}, %object\n.balign 16\n{0}:\n.incbin \"{1}\"\n.size {0}, {2}\n"
      ".globl {0}_size\n.type {0}_size, %object\n.balign 8\n{0}_size:\n.quad {2}\n.size {0}_size, 8\n"
      ".section .note.GNU-stack,\"\",%progbits\n",
      symbol, quoted, bytes.size());
  const char* chosen = std::getenv("CC");
  std::vector<std::string> compilers{"cc", "gcc", "clang"};
  if (chosen != nullptr && *chosen != 0) compilers = {chosen};
  for (const std::string& compiler : compilers) {
    int code = 0;
    if (!run({compiler, "-c", source.string(), "-o", object.string()}, code)) continue;
    if (code != 0)
      throw Failure(fmt::format("{} -c ended with {}", compiler, code), "--as c writes a C source instead");
    return bytes_of_file(object);
  }
  throw Failure(fmt::format("no C compiler was found ({})", fmt::join(compilers, ", ")),
                "CC=PROGRAM names one; --as c writes a C source and needs none");
}

void embed(const EmbedArguments& arguments) {
  require_free(arguments.output, arguments.force);
  const auto pack = opened_pack(arguments.pack);
  const std::string symbol = symbol_of(arguments, pack->manifest().name);
  reading_pack([&] {
    const db::PackCheck check = pack->check();
    if (!check.is_complete || !check.signature_fault.empty())
      throw Failure(fmt::format("{}: is not what was written", arguments.pack), "`fourtune pack verify` says more");
  });
  const std::string bytes = bytes_of_file(arguments.pack);
  const std::string result =
      arguments.as == "c" ? c_source(symbol, pack->manifest(), bytes) : object_file(symbol, bytes);
  write_whole_file(arguments.output, bytes_of(result));
  if (arguments.format == "json")
    fmt::print("{}", json_text({{"output", arguments.output}, {"symbol", symbol}, {"bytes", bytes.size()}}));
  else
    fmt::print("{}: {} of pack\n{}", text::shown(arguments.output, 4096),
               bytes_text(static_cast<std::int64_t>(bytes.size())), declarations(symbol));
}

// ---- keygen
struct KeygenArguments {
  std::string name, folder = ".", format = "table";
};

// A file that was not there. Throws Failure.
void write_new(const fs::path& path, const std::string& text, mode_t mode) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0)
    throw Failure(fmt::format("{}: {}", path.string(), errno == EEXIST ? "exists" : std::strerror(errno)),
                  errno == EEXIST ? "keys are never overwritten; choose another name" : "");
  const bool written = ::write(file, text.data(), text.size()) == std::ssize(text) && ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (written) return;
  ::unlink(path.c_str());
  throw cannot_write(path.string(), std::strerror(error));
}

void keygen(const KeygenArguments& arguments) {
  if (arguments.name.find('/') != std::string::npos || arguments.name.starts_with('.'))
    throw UsageError(fmt::format("{}: no name of a key", arguments.name), "--into FOLDER says where it is put");
  const db::KeyPair keys = db::make_keys(arguments.name);
  const fs::path folder = arguments.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw cannot_make(folder.string(), error.message());
  const fs::path secret = folder / (arguments.name + ".secret"), open = folder / (arguments.name + ".public");
  // Both names are free, or neither is taken.
  if (fs::exists(open, error))
    throw Failure(fmt::format("{}: exists", open.string()), "keys are never overwritten; choose another name");
  write_new(secret, keys.secret_key + "\n", 0600);
  try {
    write_new(open, keys.public_key + "\n", 0644);
  } catch (...) {
    ::unlink(secret.c_str());
    throw;
  }
  if (arguments.format == "json")
    fmt::print("{}", json_text({{"secret", secret.string()}, {"public", open.string()}, {"key", keys.public_key}}));
  else
    fmt::print("{}: keep it to yourself\n{}: give it to those who check your packs\n{}\n",
               text::shown(secret.string(), 4096), text::shown(open.string(), 4096), keys.public_key);
}

}  // namespace

void add_pack_embed(CLI::App& pack) {
  auto arguments = std::make_shared<EmbedArguments>();
  CLI::App* command = pack.add_subcommand("embed", "Write a pack as a C source or an object file that a program links");
  command->add_option("PACK", arguments->pack, "The pack")->required()->type_name("FILE");
  command->add_option("OUT", arguments->output, "The file to write")->required()->type_name("FILE");
  command->add_option("--as", arguments->as, "C source, or object file made with the C compiler ($CC)")
      ->check(CLI::IsMember({"c", "o"}))
      ->required();
  command->add_option("--symbol", arguments->symbol, "Name of the array (default: fourtune_pack_NAME)")
      ->type_name("NAME");
  command->add_flag("--force", arguments->force, "Replace an existing file");
  add_report_format(*command, arguments->format);
  command->footer(
      "Example:\n"
      "  fourtune pack embed plans.pack plans.o --as o --symbol my_plans\n"
      "  cc program.c plans.o -lfourtune");
  command->callback([arguments] { embed(*arguments); });
}

void add_pack_keygen(CLI::App& pack) {
  auto arguments = std::make_shared<KeygenArguments>();
  CLI::App* command = pack.add_subcommand("keygen", "Make the keys that sign packs");
  command->add_option("NAME", arguments->name, "Of the keys: NAME.secret and NAME.public are written")
      ->required()
      ->type_name("NAME");
  command->add_option("--into", arguments->folder, "Folder to put them in")->type_name("DIR")->capture_default_str();
  add_report_format(*command, arguments->format);
  command->footer(
      "Example:\n"
      "  fourtune pack keygen maker --into keys\n"
      "  fourtune pack build plans.pack --sign keys/maker.secret");
  command->callback([arguments] { keygen(*arguments); });
}

}  // namespace fourtune::tools
