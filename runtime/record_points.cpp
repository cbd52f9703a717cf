#include "runtime/record_points.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/npy.h"

namespace fourtune::runtime {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw Error(Status::io, fmt::format("{} cannot be {}: {}", path.string(), what, std::strerror(errno)));
}

// A file that gets its final name only when it is complete. Until then its name is random: in a folder that others may
// write to, data is never written through a link or a file that they placed there.
class NewFile {
 public:
  explicit NewFile(const fs::path& folder) {
    std::random_device random;
    path_ = folder / fmt::format(".recording-{}-{:08x}{:08x}", ::getpid(), random(), random());
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file_ < 0) fail(path_, "made");
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (file_ >= 0) ::close(file_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void write(const void* data, std::size_t bytes) {
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const ssize_t done = ::write(file_, from, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) fail(path_, "written");
      from += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }
  // Replaces whatever has this name; a link is replaced too, not followed.
  void name(const fs::path& path) {
    close();
    if (::rename(path_.c_str(), path.c_str()) != 0) fail(path, "made");
    path_.clear();
  }
  // Returns false when the name is taken.
  bool name_if_free(const fs::path& path) {
    close();
    if (::link(path_.c_str(), path.c_str()) == 0) return true;  // the destructor removes the temporary name
    if (errno == EEXIST) return false;
    name(path);  // for file systems without links
    return true;
  }

 private:
  void close() {
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0) fail(path_, "written");
  }
  fs::path path_;
  int file_ = -1;
};

void write_coordinates(const fs::path& path, const Problem& problem, std::array<const void*, 3> from,
                       std::int64_t count, ArrayMemory& memory) {
  const auto real = static_cast<std::size_t>(real_bytes(problem.precision)), n = static_cast<std::size_t>(count),
             dim = static_cast<std::size_t>(problem.dim);
  std::vector<std::byte> one(n * real), all(one.size() * dim);
  for (std::size_t d = 0; d < dim; ++d) {
    memory.download(one.data(), from[d], one.size());
    for (std::size_t i = 0; i < n; ++i) std::memcpy(all.data() + (i * dim + d) * real, one.data() + i * real, real);
  }
  NewFile file(path.parent_path());
  const std::string header = npy_header(problem.precision == Precision::f32 ? "<f4" : "<f8", {count, problem.dim});
  file.write(header.data(), header.size());
  file.write(all.data(), all.size());
  file.name(path);
}

std::string record(const fs::path& folder, const Problem& problem, const Points& points, const Backend& backend,
                   int device) {
  const std::string base = (folder / recording_name(problem)).string();
  const fs::path token = base + ".txt";
  std::error_code error;
  if (fs::exists(fs::symlink_status(token, error))) return {};
  fs::create_directories(folder, error);
  if (error) throw Error(Status::io, fmt::format("{} cannot be made: {}", folder.string(), error.message()));
  const auto memory = backend.memory(device);
  write_coordinates(base + ".points.npy", problem, {points.x, points.y, points.z}, points.m, *memory);
  if (problem.type == 3)
    write_coordinates(base + ".targets.npy", problem, {points.s, points.t, points.u}, points.k, *memory);
  // The token is written last: a recording with a token is complete.
  NewFile file(folder);
  const std::string text = to_token(recorded_problem(problem)) + '\n';
  file.write(text.data(), text.size());
  return file.name_if_free(token) ? fmt::format("points: recorded in {}\n", folder.string()) : std::string();
}

}  // namespace

Problem recorded_problem(const Problem& problem) {
  Problem out = problem;
  out.points = PointClass::recorded;
  return out;
}

std::string recording_name(const Problem& problem) {
  std::string name = to_token(recorded_problem(problem));
  for (char& letter : name)
    if (std::string_view(":,=").find(letter) != std::string_view::npos) letter = '_';
  return name;
}

std::string record_points(const Problem& problem, const Points& points, const Backend& backend, int device) {
  const char* folder = std::getenv("FOURTUNE_RECORD_POINTS");
  if (!folder || !*folder || points.m == 0) return {};
  try {
    return record(folder, problem, points, backend, device);
  } catch (const std::exception& error) {
    return fmt::format("points: not recorded: FOURTUNE_RECORD_POINTS={}: {}\n", folder, error.what());
  }
}

}  // namespace fourtune::runtime
