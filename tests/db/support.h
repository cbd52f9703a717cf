// Common parts of the database tests: a temporary folder, sample records, raw SQL, and code run in a child process.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "db/tuning_store.h"

namespace fourtune::db::testing {

namespace fs = std::filesystem;

// A folder that everybody may enter and only the owner may write; removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (fs::temp_directory_path() / "fourtune-db-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
    path_ = name;
    fs::permissions(path_, fs::perms(0755));
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms(0755), ignored);
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(std::string_view name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

inline const std::string kProblem = "nufft:type=1,n=256x256,m=65536,prec=f32,tol=1e-5";
inline const std::string kOtherProblem = "fft:type=c2c,n=64x64x64,prec=f64";

inline Environment sample_environment() {
  return {"cpu", "Example CPU", "avx2", R"({"cores":2})", "", "gcc 12.2.0", "fftw 3.3.10", "generator-1"};
}

inline SessionStart sample_session() { return {sample_environment(), 7, "local", 30, "fourtune tune --seconds 30"}; }

inline Run sample_run(const std::string& plan = "cpu;threads=2;spread=atomic", RunStatus status = RunStatus::ok) {
  Run run;
  run.problem = kProblem;
  run.plan = plan;
  run.round = 3;
  run.status = status;
  run.error = 1.25e-6;
  run.samples_ns = {1200, 1100, 1300};
  run.stages = {{"sort", 300}, {"spread", 500}, {"fft", 300}, {"spread", 1}};
  run.wisdom = "(fftw-3.3.10 fftw_wisdom\n)";
  run.memory_bytes = std::int64_t{5} << 32;
  run.message = "naïve \"quotes\" and\nlines";
  run.state = R"({"clock_mhz":1980,"watts":312.5,"limits":["power"]})";
  run.joules = 0.00125;
  run.kernels = R"([{"entry":"fft_x","registers":96,"spill_bytes":0,"shared_bytes":32768,"blocks":2}])";
  run.started_ms = 1700000000123;
  return run;
}

inline Verdict sample_verdict(const std::string& plan = "cpu;threads=2;spread=atomic") {
  return {kProblem, plan, "", R"({"m":[32768,131072]})", 1100, 0, 1, 1, 0};
}

inline std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::ssize(bytes));
}

// Runs SQL on a file with a connection that does not know our rules.
inline void raw_sql(const fs::path& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  char* message = nullptr;
  const int code = sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, &message);
  EXPECT_EQ(code, SQLITE_OK) << (message ? message : "") << "\n" << sql;
  sqlite3_free(message);
  sqlite3_close(connection);
}

// The fault that `action` throws; fails the test when it throws no StoreError.
inline StoreFault fault_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StoreError& error) {
    EXPECT_GT(std::string(error.what()).size(), 20u);
    return error.fault();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return {};
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline Status status_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::success;
}

// Starts a child that runs `body` and exits with its value; an exception is printed and exits with 99.
inline pid_t start_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    ::_exit(body());
  } catch (const std::exception& error) {
    ::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(99);
}

// The exit code of a child, or minus the signal that killed it.
inline int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Runs `body` in a child that is not root, because root may write read-only files.
inline int run_unprivileged(const std::function<int()>& body) {
  return wait_for(start_child([&] {
    constexpr unsigned kNobody = 65534;
    if (::getuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) return 98;
    return body();
  }));
}

}  // namespace fourtune::db::testing
