// A program that uses cuFFT as applications do, with the stand-in for the library and a driver that only counts; run by
// cufft_preload_test.cpp with and without libfourtune_cufft. Prints how many transforms the library executed. Exit code
// 0: every call returned what cuFFT would.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using Long = long long;
extern "C" {
int cufftCreate(int*);
int cufftPlan1d(int*, int, int, int);
int cufftPlan2d(int*, int, int, int);
int cufftPlan3d(int*, int, int, int, int);
int cufftPlanMany(int*, int, int*, int*, int, int, int*, int, int, int, int);
int cufftMakePlan1d(int, int, int, int, std::size_t*);
int cufftMakePlan2d(int, int, int, int, std::size_t*);
int cufftMakePlan3d(int, int, int, int, int, std::size_t*);
int cufftMakePlanMany(int, int, int*, int*, int, int, int*, int, int, int, int, std::size_t*);
int cufftMakePlanMany64(int, int, Long*, Long*, Long, Long, Long*, Long, Long, int, Long, std::size_t*);
int cufftXtMakePlanMany(int, int, Long*, Long*, Long, Long, int, Long*, Long, Long, int, Long, std::size_t*, int);
int cufftExecC2C(int, void*, void*, int);
int cufftExecZ2Z(int, void*, void*, int);
int cufftExecD2Z(int, void*, void*);
int cufftExecC2R(int, void*, void*);
int cufftXtExec(int, void*, void*, int);
int cufftSetStream(int, void*);
int cufftSetAutoAllocation(int, int);
int cufftSetWorkArea(int, void*);
int cufftGetSize(int, std::size_t*);
int cufftXtSetGPUs(int, int, int*);
int cufftXtSetCallback(int, void**, int, void**);
int cufftXtClearCallback(int, int);
int cufftDestroy(int);
int fake_cufft_plans();
int fake_cufft_executes();
void* fake_cufft_next();
}

namespace {

constexpr int kC2C = 0x29, kC2R = 0x2c, kD2Z = 0x6a;
alignas(256) float in[1 << 16], out[1 << 16];

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                                \
    }                                                              \
  } while (false)

void* driver() { return ::dlopen(std::getenv("FOURTUNE_CUDA_DRIVER"), RTLD_NOW); }
template <class... Arguments>
void drive(const char* function, Arguments... arguments) {
  CHECK(reinterpret_cast<int (*)(Arguments...)>(::dlsym(driver(), function))(arguments...) == 0);
}
void use_device() {
  drive("cuInit", 0u);
  void* context = nullptr;
  drive("cuDevicePrimaryCtxRetain", &context, 0);
  drive("cuCtxPushCurrent_v2", context);
}

int made(int n = 256, int batch = 4) {
  int plan = 0;
  CHECK(cufftPlan1d(&plan, n, kC2C, batch) == 0);
  return plan;
}
void execute(int plan, int times, void* to = out, int direction = -1) {
  for (int k = 0; k < times; ++k) CHECK(cufftExecC2C(plan, in, to, direction) == 0);
}

void plain() {
  const int plan = made();
  execute(plan, 3);
  execute(plan, 2, out, 1);
  execute(plan, 2, in);
  CHECK(cufftExecZ2Z(plan, in, out, -1) == 1);  // not this plan's type
  CHECK(cufftExecC2C(plan + 1000, in, out, -1) == 1);
  CHECK(cufftDestroy(plan) == 0);
  CHECK(cufftDestroy(plan) == 1);
  CHECK(fake_cufft_plans() == 0);
}

// Every function that makes a plan; one execute each.
void makers() {
  int plans[10], n[] = {8, 16}, k = 0;
  Long wide[] = {8, 16};
  std::size_t work = 0;
  CHECK(cufftPlan1d(&plans[k++], 256, kC2C, 1) == 0);
  CHECK(cufftPlan2d(&plans[k++], 8, 16, kC2C) == 0);
  CHECK(cufftPlan3d(&plans[k++], 4, 8, 16, kC2C) == 0);
  CHECK(cufftPlanMany(&plans[k++], 2, n, nullptr, 1, 1, nullptr, 1, 1, kC2C, 2) == 0);
  for (int j = k; j < 10; ++j) CHECK(cufftCreate(&plans[j]) == 0);
  CHECK(cufftMakePlan1d(plans[k++], 256, kC2C, 1, &work) == 0);
  CHECK(cufftMakePlan2d(plans[k++], 8, 16, kC2C, &work) == 0);
  CHECK(cufftMakePlan3d(plans[k++], 4, 8, 16, kC2C, &work) == 0);
  CHECK(cufftMakePlanMany(plans[k++], 2, n, n, 1, 128, n, 1, 128, kC2C, 2, &work) == 0);
  CHECK(cufftMakePlanMany64(plans[k++], 2, wide, wide, 1, 128, wide, 1, 128, kC2C, 2, &work) == 0);
  CHECK(cufftXtMakePlanMany(plans[k++], 2, wide, nullptr, 1, 1, 4, nullptr, 1, 1, 4, 2, &work, 4) == 0);
  for (const int plan : plans) CHECK(cufftXtExec(plan, in, out, -1) == 0);
  for (const int plan : plans) CHECK(cufftDestroy(plan) == 0);
}

// One plan for each reason why the library executes, and one of ours.
void reasons() {
  int plan = 0, devices[] = {0, 1}, n[] = {8, 16};
  Long wide[] = {64};
  std::size_t work = 0;
  void* routine = nullptr;
  CHECK(cufftCreate(&plan) == 0);  // half precision
  CHECK(cufftXtMakePlanMany(plan, 1, wide, nullptr, 1, 1, 6, nullptr, 1, 1, 6, 1, &work, 6) == 0);
  CHECK(cufftXtExec(plan, in, out, -1) == 0);
  CHECK(cufftCreate(&plan) == 0);
  CHECK(cufftXtSetGPUs(plan, 2, devices) == 0);
  CHECK(cufftMakePlan1d(plan, 64, kC2C, 1, &work) == 0);
  execute(plan, 1);
  CHECK(cufftXtSetCallback(plan = made(), &routine, 0, nullptr) == 0);
  execute(plan, 1);
  CHECK(cufftCreate(&plan) == 0);  // as CuPy does it
  void* const library = ::dlopen("libcufft.so.12", RTLD_LAZY);
  using Set = int (*)(int, const char*, const void*, std::size_t, int, void**);
  const auto set = reinterpret_cast<Set>(::dlsym(library, "cufftXtSetJITCallback"));
  CHECK(set && set(plan, "name", "code", 4, 0, nullptr) == 0);
  CHECK(cufftMakePlan1d(plan, 64, kC2C, 1, &work) == 0);
  execute(plan, 1);
  CHECK(cufftPlanMany(&plan, 2, n, n, 1, 128, nullptr, 1, 1, kC2C, 1) == 0);  // half a layout
  execute(plan, 1);
  CHECK(cufftPlan1d(&plan, 16777213, kD2Z, 1) == 0);  // a large prime: expected to be faster there
  CHECK(cufftExecD2Z(plan, in, out) == 0);
  made();              // never executed
  execute(made(), 2);  // ours
  const int last = made();
  CHECK(cufftExecC2C(last, in + 1, out + 1, -1) == 0);  // not aligned to a complex number
}

// A callback reaches the library with all that the program gave, also of a plan that ours have executed; from then on
// the library executes it.
void callback() {
  constexpr int kStoreComplex = 4;
  struct Seen {
    int times = 0, type = 0;
    const void* out = nullptr;
  } seen;
  void* routine = reinterpret_cast<void*>(+[](void* to, int type, void* info) {
    auto& of = *static_cast<Seen*>(info);
    ++of.times, of.type = type, of.out = to;
  });
  void* info = &seen;
  const int plan = made();
  execute(plan, 2);
  CHECK(fake_cufft_executes() == 0 && seen.times == 0);
  CHECK(cufftXtSetCallback(plan, &routine, kStoreComplex, &info) == 0);
  in[0] = 1;
  execute(plan, 3);
  CHECK(fake_cufft_executes() == 3 && seen.times == 3 && seen.type == kStoreComplex && seen.out == out);
  CHECK(out[0] == 2 && out[2] == 1);
  CHECK(cufftXtClearCallback(plan, kStoreComplex) == 0);
  execute(plan, 1);
  CHECK(fake_cufft_executes() == 4 && seen.times == 3 && out[0] == 1);
  CHECK(cufftXtSetCallback(plan + 1000, &routine, kStoreComplex, &info) != 0);
}

void foreign_context() {
  drive("cuCtxPushCurrent_v2", static_cast<void*>(static_cast<int*>(::dlsym(driver(), "fake_contexts_of")) + 1));
  execute(made(), 1);
}

int at_driver(const char* variable) { return *static_cast<const int*>(::dlsym(driver(), variable)); }

// Returns after the first execute by ours.
void execute_until_ours_do(int plan) {
  const auto begin = std::chrono::steady_clock::now();
  for (int before = 0;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    before = fake_cufft_executes();
    execute(plan, 1);
    if (fake_cufft_executes() == before) break;
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(100));
  }
}

// The library executes until our kernels are there.
void later() {
  const int plan = made();
  execute(plan, 1);
  CHECK(fake_cufft_executes() == 1);
  execute_until_ours_do(plan);
  CHECK(cufftDestroy(plan) == 0);
  const int before = fake_cufft_executes();
  const int next = made();  // one that is alike has them at once, and the library its turn
  execute(next, 2);
  CHECK(fake_cufft_executes() == before + 1);
}

// What is executed once in the process stays the library's; a plan that is alike counts.
void once() {
  for (int n = 300; n < 310; ++n) execute(made(n), 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(at_driver("fake_modules") == 0);
  execute_until_ours_do(made(300));
}

// A program that makes a plan for each execute has ours in the end, though no plan lives until they are made.
void remade() {
  const auto begin = std::chrono::steady_clock::now();
  for (int before = -1; fake_cufft_executes() != before;) {
    before = fake_cufft_executes();
    const int plan = made();
    execute(plan, 1);
    CHECK(cufftDestroy(plan) == 0);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(100));
  }
}

// No kernels are loaded while the program makes plans without a pause; a host that is busy may make one, so often.
void burst() {
  using namespace std::chrono;
  for (int attempt = 0;; ++attempt) {
    CHECK(attempt < 100);
    const int plan = made(64, 1 + attempt), modules = at_driver("fake_modules");
    execute(plan, 2);
    const auto begin = steady_clock::now();
    nanoseconds longest{0};
    for (auto last = begin; last - begin < milliseconds(40);) {
      CHECK(cufftDestroy(made(64, 200)) == 0);
      const auto now = steady_clock::now();
      longest = std::max(longest, nanoseconds(now - std::exchange(last, now)));
    }
    const int then = at_driver("fake_modules");
    execute_until_ours_do(plan);
    if (longest >= milliseconds(15)) continue;
    CHECK(then == modules);
    CHECK(at_driver("fake_modules") > modules);
    return;
  }
}

// Both execute in turns, then the one that is faster, this plan and those that are alike.
void trial() {
  const auto times_of_library = [](int plan, int times) {
    const int before = fake_cufft_executes();
    execute(plan, times);
    return fake_cufft_executes() - before;
  };
  const int plan = made();
  execute_until_ours_do(plan);
  const int tried = times_of_library(plan, 19);
  CHECK(tried == 10);
  const int records = at_driver("fake_records");
  const int then = times_of_library(plan, 10);
  CHECK(then == 0 || then == 10);
  if (then == 10) CHECK(at_driver("fake_records") == records);  // nobody looks at times any more
  CHECK(cufftDestroy(plan) == 0);
  CHECK(times_of_library(made(), 5) == then / 2);
  std::printf("%s\n", then == 0 ? "ours" : "library");
}

// No event of ours comes into a graph of the program's, and its kernels stay.
void recorded_trial() {
  auto& recording = *static_cast<int*>(::dlsym(driver(), "fake_capture_status"));
  const int plan = made();
  execute_until_ours_do(plan);
  const int before = fake_cufft_executes(), records = at_driver("fake_records");
  recording = 1;
  execute(plan, 50);
  CHECK(at_driver("fake_records") == records);
  recording = 0;
  execute(plan, 50);
  CHECK(fake_cufft_executes() == before);
}

void work_area() {
  int plan = 0;
  std::size_t bytes = 0;
  CHECK(cufftCreate(&plan) == 0);
  CHECK(cufftSetAutoAllocation(plan, 0) == 0);
  CHECK(cufftSetStream(plan, &bytes) == 0);
  CHECK(cufftMakePlan1d(plan, 256, kC2C, 4, &bytes) == 0 && bytes == 48);
  CHECK(cufftGetSize(plan, &bytes) == 0 && bytes == 48);
  CHECK(cufftSetWorkArea(plan, out) == 0);
  execute(plan, 1);
}

// What a graph has recorded stays, and no later plan gets it.
void graph() {
  auto& recording = *static_cast<int*>(::dlsym(driver(), "fake_capture_status"));
  const auto& modules = *static_cast<const int*>(::dlsym(driver(), "fake_modules"));
  const auto execute_and_end = [&](bool recorded) {
    const int plan = made();
    execute(plan, 1);
    recording = recorded;
    execute(plan, 1);
    recording = 0;
    CHECK(cufftDestroy(plan) == 0);
    return modules;
  };
  recording = 1;
  execute(made(), 1);
  CHECK(fake_cufft_executes() == 1);  // nobody waits for a compiler in between
  recording = 0;
  const int first = execute_and_end(true), second = execute_and_end(false);
  CHECK(first > 0 && second > first);
  CHECK(execute_and_end(false) == second);  // another one that is alike
}

void check_child(pid_t child) {
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void fork_after() {
  const int plan = made();
  execute(plan, 1);
  const int before = fake_cufft_executes();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(100);
    execute(plan, 2);
    execute(made(), 1);
    CHECK(fake_cufft_executes() == before + 3);
    CHECK(cufftDestroy(plan) == 0);
    std::exit(0);  // runs what an ordinary end runs
  }
  check_child(child);
  execute(plan, 1);
}

void fork_before() {
  const pid_t child = ::fork();
  if (child == 0) {
    use_device();
    execute(made(), 1);
    std::exit(fake_cufft_executes());
  }
  check_child(child);
}

void short_of_memory() {
  int plan = 0;
  CHECK(cufftPlan2d(&plan, 128, 128, kC2R) == 0);  // with values between two kernels
  CHECK(cufftExecC2R(plan, in, out) == 0);
}

long resident_pages() {
  long all = 0, resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  CHECK(file && std::fscanf(file, "%ld %ld", &all, &resident) == 2);
  std::fclose(file);
  return resident;
}

// 1e5 plans are made, executed and ended, and memory does not grow.
void cycles() {
  const auto cycle = [](int times) {
    for (int i = 0; i < times; ++i) {
      const int plan = made(64, 1 + i % 3);
      execute(plan, 1);
      CHECK(cufftDestroy(plan) == 0);
    }
  };
  cycle(2000);
  const long before = resident_pages();
  cycle(100000);
  CHECK(resident_pages() - before < 256);
}

void threads() {
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([] {
      use_device();
      std::vector<float> from(2048), to(2048);
      for (int k = 0; k < 50; ++k) {
        const int plan = made();
        CHECK(cufftExecC2C(plan, from.data(), to.data(), -1) == 0);
        CHECK(cufftDestroy(plan) == 0);
      }
    });
  for (std::thread& one : all) one.join();
  CHECK(fake_cufft_plans() == 0);
}

}  // namespace

int main(int, char** argv) {
  const std::string scenario = argv[1];
  CHECK(fake_cufft_next() == nullptr);  // dlsym knows who asks
  if (scenario == "fork_before") return fork_before(), 0;
  if (scenario != "threads") use_device();
  struct {
    const char* name;
    void (*run)();
  } const all[] = {{"plain", plain},
                   {"makers", makers},
                   {"reasons", reasons},
                   {"callback", callback},
                   {"later", later},
                   {"once", once},
                   {"remade", remade},
                   {"burst", burst},
                   {"trial", trial},
                   {"recorded_trial", recorded_trial},
                   {"graph", graph},
                   {"work_area", work_area},
                   {"foreign_context", foreign_context},
                   {"short_of_memory", short_of_memory},
                   {"fork_after", fork_after},
                   {"cycles", cycles},
                   {"threads", threads}};
  for (const auto& one : all)
    if (scenario == one.name) one.run();
  if (scenario == "leave") {
    execute(made(std::atoi(argv[2])), 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(argv[3])));
  }
  std::printf("real %d\n", fake_cufft_executes());
  return 0;
}
