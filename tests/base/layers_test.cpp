// Checks which folders may include which: the floor plan of docs/design/README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace fourtune::test {
namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;  // relative to the source tree
  int line = 0;
  std::string name;
  bool quoted = false;
};

std::vector<Include> includes_of(const fs::path& path, const std::string& file) {
  static const std::regex pattern("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
  std::vector<Include> found;
  std::istringstream text(read_text(path));
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos || line[first] != '#') continue;  // expressions are slow
    std::smatch match;
    if (std::regex_search(line, match, pattern)) found.push_back({file, number, match[2], match[1] == "\""});
  }
  return found;
}

const std::vector<Include>& all_includes() {
  static const std::vector<Include> all = [] {
    std::vector<Include> list;
    const fs::path root = FOURTUNE_SOURCE_DIR;
    for (const char* top : {"include", "base", "runtime", "generator", "templates", "db", "dropin", "tuner", "tools",
                            "examples", "tests"})
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::string extension = entry.path().extension().string();
        if (!std::set<std::string>{".cpp", ".h", ".c", ".cuh", ".in"}.contains(extension)) continue;
        const auto some = includes_of(entry.path(), fs::relative(entry.path(), root).generic_string());
        list.insert(list.end(), some.begin(), some.end());
      }
    return list;
  }();
  return all;
}

bool starts_with_any(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(), [&](const std::string& start) { return text.starts_with(start); });
}

// A folder and the folders whose headers it may include, as in the build (cmake/rooms.cmake), lowest first.
struct Room {
  std::string folder;
  std::vector<std::string> uses;
};
const std::vector<Room>& rooms() {
  static const std::vector<Room> all = [] {
    std::vector<Room> list;
    std::istringstream text(read_text(fs::path(FOURTUNE_BUILD_DIR) / "rooms.txt"));
    for (std::string line; std::getline(text, line);) {
      const std::size_t colon = line.find(':');
      Room room{line.substr(0, colon), {}};
      std::istringstream uses(line.substr(colon + 1));
      for (std::string used; uses >> used;) room.uses.push_back(used);
      list.push_back(room);
    }
    return list;
  }();
  return all;
}

// The room of a file: the longest enclosing folder that is a room, or null.
const Room* room_of(const std::string& file) {
  const Room* found = nullptr;
  for (const Room& room : rooms())
    if (file.starts_with(room.folder + "/") && (!found || room.folder.size() > found->folder.size())) found = &room;
  return found;
}

// The room and everything below it.
std::set<std::string> seen_from(const std::string& folder) {
  std::set<std::string> seen{folder};
  for (auto room = rooms().rbegin(); room != rooms().rend(); ++room)
    if (seen.contains(room->folder)) seen.insert(room->uses.begin(), room->uses.end());
  return seen;
}

// Headers of other projects, and the only folders that may include them.
struct Stranger {
  std::regex header;
  std::vector<std::string> folders;
};
const std::vector<Stranger> kStrangers{
    {std::regex("fftw3.*"), {"runtime/backends/cpu/fft/fftw/", "tests/"}},
    {std::regex("sqlite3\\.h"), {"db/", "tools/", "tests/"}},
    {std::regex("(cuda|nvrtc|cufft|cu_|nvJitLink).*"),
     {"runtime/backends/cuda/", "examples/cuda_streams.cpp", "examples/quickstart_cuda.cpp",
      "templates/fft_standalone.cuh", "templates/nufft_standalone_launch.cuh"}},
    {std::regex("boost/.*"), {"runtime/backends/emulated/"}},
    {std::regex("(sodium|zstd).*"), {"db/"}},
    {std::regex("hwy/.*"), {"runtime/backends/cpu/", "tuner/calibrate/", "tests/"}},
    {std::regex("CLI/.*"), {"tools/", "examples/"}},
    {std::regex("nlohmann/.*"), {"base/", "db/", "runtime/", "tools/", "tuner/", "tests/"}},
    {std::regex("gtest/.*"), {"tests/"}},
    {std::regex("mpi\\.h"), {"runtime/distributed/", "tests/distributed/", "examples/", "tools/"}},
};

// Some includes of other projects use quotes too; those projects live in folders that are not ours.
bool is_ours(const Include& include) {
  if (include.name.starts_with("fourtune/")) return true;
  return include.quoted && !starts_with_any(include.name, {"hwy/", "fmt/", "CLI/", "nlohmann/", "gtest/"});
}

bool generated(const std::string& name) { return name.ends_with("_text.h") || name == "embedded_texts.h"; }

std::string place(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " includes " + include.name;
}

TEST(Layers, ARoomUsesOnlyRoomsBelowIt) {
  ASSERT_GT(rooms().size(), 30u);
  std::set<std::string> below;
  for (const Room& room : rooms()) {
    for (const std::string& used : room.uses)
      EXPECT_TRUE(below.contains(used)) << room.folder << " uses " << used << ", which is not below it";
    below.insert(room.folder);
  }
}

TEST(Layers, AFileIncludesOnlyWhatItsRoomSees) {
  ASSERT_GT(all_includes().size(), 200u);
  for (const Include& include : all_includes()) {
    if (!is_ours(include) || generated(include.name) || include.name.starts_with("fourtune/")) continue;
    if (starts_with_any(include.file, {"tests/", "examples/", "include/"})) continue;
    const Room *from = room_of(include.file), *to = room_of(include.name);
    ASSERT_TRUE(from && to) << place(include) << ", and one of them is in no room";
    EXPECT_TRUE(seen_from(from->folder).contains(to->folder)) << place(include) << ", which its room does not see";
  }
}

// The build enforces this: a room's headers are found only by users of the room.
TEST(Layers, AWrongIncludeDoesNotCompile) {
  const ScratchFolder folder;
  const auto compiles = [&](const std::string& room, const std::string& header) {
    const fs::path file = folder / "try.cpp";
    write_text(file, "#include \"" + header + "\"\n");
    std::string command = "c++ -std=c++20 -fsyntax-only -I" FOURTUNE_SOURCE_DIR "/include";
    for (std::string seen : seen_from(room)) {
      std::replace(seen.begin(), seen.end(), '/', '_');
      command += " -I" FOURTUNE_BUILD_DIR "/rooms/fourtune_" + seen;
    }
    return std::system((command + " " + file.string() + " 2>/dev/null").c_str()) == 0;
  };
  EXPECT_TRUE(compiles("generator/plan", "generator/window/window.h"));
  EXPECT_FALSE(compiles("generator/plan", "generator/codegen/fft/lower/pass.h"));
  EXPECT_TRUE(compiles("runtime/backends/gpu", "generator/codegen/nufft/kernels.h"));
  EXPECT_FALSE(compiles("runtime/backends/gpu", "runtime/resolve.h"));
  EXPECT_FALSE(compiles("runtime/backends/cuda", "runtime/backends/cpu/base/team.h"));
}

TEST(Layers, CudaTextIncludesNothing) {
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(FOURTUNE_SOURCE_DIR) / "templates")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".cuh" || name.find("_standalone") != std::string::npos)
      continue;  // those are programs
    ++seen;
    EXPECT_TRUE(includes_of(entry.path(), entry.path().filename()).empty()) << entry.path();
  }
  EXPECT_GT(seen, 20);
}

TEST(Layers, TheDesignPageShowsTheFloorPlanOfThisBuild) {
  const Finished check = run_program({FOURTUNE_SOURCE_DIR "/tools/floor_plan", "--check", FOURTUNE_BUILD_DIR});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
}

TEST(Layers, ForeignHeadersStayInTheirFolders) {
  for (std::size_t i = 0; i < kStrangers.size(); ++i) {
    int seen = 0;
    for (const Include& include : all_includes())
      if (!is_ours(include) && std::regex_match(include.name, kStrangers[i].header)) {
        ++seen;
        EXPECT_TRUE(starts_with_any(include.file, kStrangers[i].folders)) << place(include);
      }
    EXPECT_GT(seen, 0) << "stranger " << i << " is misspelt or gone";
  }
}

TEST(Layers, PublicHeadersUseTheStandardLibraryOnly) {
  const std::regex standard("[a-z_]+|stddef\\.h|stdint\\.h");
  int seen = 0;
  for (const Include& include : all_includes()) {
    if (!include.file.starts_with("include/")) continue;
    ++seen;
    EXPECT_TRUE(include.quoted || std::regex_match(include.name, standard)) << place(include);
  }
  EXPECT_GT(seen, 10);
}

TEST(Layers, TheShippedLibraryHasNothingOfTheEmulator) {
  int seen = 0;
  for (const Include& include : all_includes())
    if (include.name.starts_with("runtime/backends/emulated/")) {
      ++seen;
      EXPECT_TRUE(starts_with_any(include.file, {"runtime/backends/emulated/", "tools/", "tests/"})) << place(include);
    }
  EXPECT_GT(seen, 10);
}

constexpr const char* kWriters[] = {"emit_program(", "emit_any_size(", "emit_pass(", "emit_kernel(",
                                    "emit_standalone("};

// What planners do with a problem they find out from passes and rules; program.cpp alone writes text, for those who run
// it, and its check does not.
TEST(Layers, PlannersWriteNoText) {
  const auto writes = [](const std::string& text) {
    return std::any_of(std::begin(kWriters), std::end(kWriters),
                       [&](const char* writer) { return text.find(writer) != std::string::npos; });
  };
  const fs::path folder = fs::path(FOURTUNE_SOURCE_DIR) / "generator/planner";
  int seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::string text = read_text(entry.path());
    if (entry.path().filename() == "program.cpp") {
      const std::size_t check = text.find("void check_gpu_fft(");
      ASSERT_NE(check, std::string::npos);
      EXPECT_TRUE(writes(text));
      text = text.substr(check);
    }
    ++seen;
    EXPECT_FALSE(writes(text)) << entry.path();
  }
  EXPECT_GT(seen, 20);
}

// The names of sources that a header has, also as cmd_*.cpp.
std::vector<std::string> sources_named_in(const std::string& header) {
  std::vector<std::string> names;
  for (std::size_t end = header.find(".cpp"); end != std::string::npos; end = header.find(".cpp", end + 1)) {
    std::size_t begin = end;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(header[begin - 1])) != 0 || header[begin - 1] == '_' ||
                         header[begin - 1] == '*'))
      --begin;
    names.push_back(header.substr(begin, end - begin));
  }
  return names;
}

bool is_meant(const std::string& stem, const std::string& name) {
  const std::size_t star = name.find('*');
  if (star == std::string::npos) return stem == name;
  return stem.size() >= name.size() - 1 && stem.starts_with(name.substr(0, star)) &&
         stem.ends_with(name.substr(star + 1));
}

// A source has a header of its name, or a header of its folder or of the folder above names it. Programs have none.
TEST(Layers, SourcesPairWithHeaders) {
  EXPECT_TRUE(is_meant("cmd_run", "cmd_*") && !is_meant("run_fft", "cmd_*") && !is_meant("cmd", "cmd_*"));
  const fs::path root = FOURTUNE_SOURCE_DIR, open_ones = root / "include/fourtune";
  const std::map<std::string, std::string> of_public{{"runtime/c_api.cpp", "fourtune.h"},
                                                     {"runtime/prepare.cpp", "transform.h"},
                                                     {"runtime/distributed/c_api.cpp", "fourtune_mpi.h"},
                                                     {"runtime/distributed/distributed_transform.cpp", "distributed.h"},
                                                     {"python/native/jax_ffi.cpp", "fourtune.h"}};
  std::map<fs::path, std::vector<std::string>> named;  // in the headers of a folder
  std::vector<fs::path> sources;
  for (const char* top : {"base", "generator", "db", "runtime", "dropin", "tuner", "tools", "python/native"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() == ".cpp") sources.push_back(entry.path());
      if (entry.path().extension() != ".h") continue;
      const auto names = sources_named_in(read_text(entry.path()));
      auto& all = named[entry.path().parent_path()];
      all.insert(all.end(), names.begin(), names.end());
    }
  EXPECT_GT(sources.size(), 400u);
  for (const fs::path& source : sources) {
    const fs::path folder = source.parent_path();
    const std::string stem = source.stem().string(), file = fs::relative(source, root).generic_string();
    const auto is_named = [&](const fs::path& in) {
      return std::any_of(named[in].begin(), named[in].end(),
                         [&](const std::string& name) { return is_meant(stem, name); });
    };
    const auto beside = of_public.find(file);
    const bool paired = fs::exists(folder / (stem + ".h")) || fs::exists(open_ones / (stem + ".h")) ||
                        (beside != of_public.end() && fs::exists(open_ones / beside->second));
    EXPECT_TRUE(paired || is_named(folder) || is_named(folder.parent_path()) ||
                read_text(source).find("\nint main(") != std::string::npos)
        << file << " has no header of its name, and no header beside it names it";
  }
}

// Kernels, too. Left out are the functions whose shape a public interface or a peer's fixes.
TEST(Layers, FunctionsHaveAtMostEightParameters) {
  const Finished many = run_program({FOURTUNE_SOURCE_DIR "/tools/layout", "--parameters"});
  EXPECT_EQ(many.code, 0) << many.err;
  EXPECT_EQ(many.out, "");
}

// Backend::capabilities and the table of base/gpu_backends.h say what a backend can do, so that a new one needs no
// edits elsewhere.
TEST(Layers, NobodyComparesTheNameOfABackend) {
  const std::string name = "\"(cpu|cuda|emulated);?\"";
  const std::regex compared("[!=]= *" + name + "|" + name + " *[!=]=|(compare|starts_with)\\(" + name);
  EXPECT_TRUE(std::regex_search("if (backend.name() != \"cpu\") {", compared));
  int seen = 0;
  for (const char* top : {"base", "generator", "db", "runtime", "dropin", "tuner", "tools", "examples"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FOURTUNE_SOURCE_DIR) / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cpp" && extension != ".h" && extension != ".c") continue;
      ++seen;
      std::istringstream text(read_text(entry.path()));
      for (std::string line; std::getline(text, line);)
        EXPECT_FALSE(line.find('"') != std::string::npos &&  // because expressions take long
                     std::regex_search(line, compared))
            << entry.path() << ": " << line;
    }
  EXPECT_GT(seen, 300);
}

// Plans of other GPUs would follow a number of one GPU that stands in the code. Comments and texts may have them.
TEST(Layers, NumbersOfAGpuStandInTheTableOfDevicesOnly) {
  // Multiprocessors, shared memory, clocks and bandwidths of the GPUs that we measure on.
  const std::regex number(R"(\b(132|108|148|232448|22[678] ?\* ?1024|1\.98e9|1\.965e9|1\.41e9|4\.8e12|3\.35e12)\b)");
  const std::regex text(R"("([^"\\]|\\.)*")");
  const auto may_have_one = [](const std::string& line) {  // because expressions take long
    constexpr const char* kSigns[] = {"132", "108", "148", "232448", "1024", "e9", "e12"};
    return std::any_of(std::begin(kSigns), std::end(kSigns),
                       [&](const char* sign) { return line.find(sign) != std::string::npos; });
  };
  const std::set<std::string> tables{"base/known_devices.h", "base/known_devices.cpp",
                                     "runtime/backends/emulated/emulated_backend.cpp"};
  std::set<std::string> seen;
  for (const char* top : {"base", "generator", "templates", "db", "runtime", "dropin", "tuner", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(FOURTUNE_SOURCE_DIR) / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cpp" && extension != ".h" && extension != ".c" && extension != ".cuh") continue;
      const std::string file = fs::relative(entry.path(), FOURTUNE_SOURCE_DIR).generic_string();
      if (file == "generator/planner/gpu_nufft/prices.cpp") continue;  // a fitted price may be any number
      std::istringstream lines(read_text(entry.path()));
      for (std::string line; std::getline(lines, line);) {
        if (!may_have_one(line)) continue;
        std::string code = std::regex_replace(line, text, "");
        code = code.substr(0, code.find("//"));
        if (!std::regex_search(code, number)) continue;
        seen.insert(file);
        EXPECT_TRUE(tables.contains(file)) << file << ": " << line;
      }
    }
  EXPECT_EQ(seen, tables);
}

TEST(Layers, EveryIncludeOfOursExists) {
  const fs::path root = FOURTUNE_SOURCE_DIR;
  for (const Include& include : all_includes()) {
    if (!is_ours(include) || generated(include.name)) continue;
    const bool there = fs::exists(root / include.name) || fs::exists(root / "include" / include.name);
    EXPECT_TRUE(there) << place(include) << " by a path that is not from the root";
  }
}

}  // namespace
}  // namespace fourtune::test
