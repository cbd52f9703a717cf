#include "runtime/misses.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/locked_file.h"
#include "base/text.h"
#include "fourtune/status.h"

namespace fourtune::runtime {
namespace {

constexpr std::string_view kFirstLine = "# fourtune misses 1: transforms, executes, backend, problem\n";
constexpr std::size_t kLongestLine = 1000;
constexpr int kTries = 200;  // milliseconds

// Reads no more than a file of ours can have, plus what several writers may have added.
std::string text_of(int file) {
  std::string text(2 * kMostMissBytes, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::pread(file, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(file, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) throw Error(Status::io, std::string("cannot be written: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(done));
  }
}

std::optional<Miss> miss_of(std::string_view line) {
  const auto words = text::split(line, ' ');
  if (words.size() != 4 || line.size() > kLongestLine) return std::nullopt;
  const auto transforms = text::number<std::int64_t>(words[0]), executes = text::number<std::int64_t>(words[1]);
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  if (!transforms || !executes || *transforms < 0 || *executes < 0 || *transforms > kMost || *executes > kMost)
    return std::nullopt;
  if (words[2].empty() || words[3].empty()) return std::nullopt;
  return Miss{std::string(words[2]), std::string(words[3]), *transforms, *executes};
}

std::string line_of(const Miss& miss) {
  return fmt::format("{} {} {} {}\n", miss.transforms, miss.executes, miss.backend, miss.problem);
}

// What all lines say; a last line without its end was cut off.
std::vector<Miss> misses_of(std::string_view text) {
  std::map<std::pair<std::string, std::string>, Miss> sums;
  while (true) {
    const auto end = text.find('\n');
    if (end == text.npos) break;
    if (auto miss = miss_of(text.substr(0, end))) {
      Miss& sum = sums[{miss->backend, miss->problem}];
      miss->transforms += sum.transforms, miss->executes += sum.executes;
      sum = std::move(*miss);
    }
    text.remove_prefix(end + 1);
  }
  std::vector<Miss> all;
  for (auto& [key, miss] : sums) all.push_back(std::move(miss));
  return all;
}

// Writes a shorter file in the place of one that has grown. The caller holds its lock.
void shorten(const std::string& path, const std::string& text) {
  std::vector<Miss> all = misses_of(text);
  std::sort(all.begin(), all.end(), [](const Miss& a, const Miss& b) {
    return a.executes != b.executes ? a.executes > b.executes : a.problem < b.problem;
  });
  std::string shorter(kFirstLine);
  for (const Miss& miss : all)
    if (const std::string line = line_of(miss); shorter.size() + line.size() <= kMostMissBytes / 2) shorter += line;
  std::string name = path + ".XXXXXX";
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) throw Error(Status::io, std::string("cannot be shortened: ") + std::strerror(errno));
  try {
    write_all(file, shorter);
  } catch (...) {
    ::close(file);
    ::unlink(name.c_str());
    throw;
  }
  ::close(file);
  if (::rename(name.c_str(), path.c_str()) != 0) ::unlink(name.c_str());
}

void append(const std::string& path, const Miss& miss) {
  std::error_code ignored;
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder, ignored);
  const std::string line = line_of(miss);
  if (line.size() > kLongestLine) throw Error(Status::io, "the problem's token is too long");
  const auto file = LockedFile::open(path, kTries);
  if (!file) throw Error(Status::io, "other processes are using it");
  struct stat now {};
  if (::fstat(file->descriptor(), &now) != 0) throw Error(Status::io, "has no size");
  std::string before;
  if (now.st_size == 0) {
    before = kFirstLine;
  } else {
    std::string first(kFirstLine.size(), '\0');
    if (::pread(file->descriptor(), first.data(), first.size(), 0) != static_cast<ssize_t>(first.size()) ||
        first != kFirstLine)
      throw Error(Status::io, "it is there and no list of misses");
    char last = '\n';
    if (::pread(file->descriptor(), &last, 1, now.st_size - 1) == 1 && last != '\n') before = "\n";  // a writer died
  }
  write_all(file->descriptor(), before + line);
  if (static_cast<std::size_t>(now.st_size) + line.size() > kMostMissBytes) shorten(path, text_of(file->descriptor()));
}

}  // namespace

std::vector<Miss> read_misses(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) throw Error(Status::io, fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
  const std::string text = text_of(file);
  ::close(file);
  if (!text.starts_with(kFirstLine))
    throw Error(Status::io, fmt::format("{} is no list of misses, as FOURTUNE_RECORD_MISSES=FILE writes it", path));
  return misses_of(text);
}

std::string add_miss(const std::string& path, const Miss& miss) noexcept try {
  append(path, miss);
  return {};
} catch (const std::exception& error) {
  try {
    return error.what();
  } catch (...) {
    return {};
  }
}

MissRecord::MissRecord(std::string path) : path_(std::move(path)) {
  if (const char* named = std::getenv("FOURTUNE_RECORD_MISSES"); path_.empty() && named) path_ = named;
}

MissRecord::~MissRecord() { end(); }

std::string MissRecord::begin(std::string_view backend, const std::string& problem, bool untuned) noexcept try {
  if (path_.empty() || (untuned && problem == problem_)) return {};
  end();
  if (!untuned) return {};
  backend_ = backend;
  problem_ = problem;
  const std::string why = add_miss(path_, {backend_, problem_, 1, 0});
  return why.empty() ? std::string() : fmt::format("miss: not recorded in {}: {}\n", path_, why);
} catch (...) {
  return {};
}

void MissRecord::end() noexcept {
  if (!problem_.empty() && executes_ > 0) {
    try {
      add_miss(path_, {backend_, problem_, 0, executes_});
    } catch (...) {  // no memory to write it down
    }
  }
  problem_.clear();
  executes_ = 0;
}

}  // namespace fourtune::runtime
