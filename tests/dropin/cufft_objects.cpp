// A program that does not know cuFFT but loads objects that do, as an interpreter does: one with a cuFFT inside, and
// the library itself, whose functions it asks for by name. Run by cufft_preload_test.cpp. Prints what each executed.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

alignas(256) float in[2048], out[2048];

template <class Function>
Function* find(void* object, const char* name) {
  void* const found = ::dlsym(object, name);
  if (!found) std::fprintf(stderr, "%s: %s\n", name, ::dlerror()), std::exit(1);
  return reinterpret_cast<Function*>(found);
}

void use_device() {
  void* const driver = ::dlopen(std::getenv("FOURTUNE_CUDA_DRIVER"), RTLD_NOW);
  void* context = nullptr;
  find<int(unsigned)>(driver, "cuInit")(0);
  find<int(void**, int)>(driver, "cuDevicePrimaryCtxRetain")(&context, 0);
  find<int(void*)>(driver, "cuCtxPushCurrent_v2")(context);
}

}  // namespace

int main(int, char** argv) {
  use_device();
  void* const inside = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  void* const library = ::dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (!inside || !library) return std::fprintf(stderr, "%s\n", ::dlerror()), 1;
  if (find<int(float*, float*)>(inside, "fake_cufft_use")(in, out) != 0) return 2;
  if (find<int()>(inside, "fake_cufft_plans")() != 1 || find<int()>(library, "fake_cufft_plans")() != 0) return 3;
  int plan = 0;  // has the same number as the other library's
  if (find<int(int*, int, int, int)>(library, "cufftPlan1d")(&plan, 256, 0x29, 4) != 0) return 4;
  if (find<int(int, void*, void*, int)>(library, "cufftExecC2C")(plan, in, out, -1) != 0) return 5;
  if (find<int()>(library, "fake_cufft_plans")() != 1) return 6;
  if (find<int(int)>(library, "cufftDestroy")(plan) != 0) return 7;
  if (find<int()>(library, "fake_cufft_plans")() != 0 || find<int()>(inside, "fake_cufft_plans")() != 1) return 8;
  std::printf("inside %d, library %d\n", find<int()>(inside, "fake_cufft_executes")(),
              find<int()>(library, "fake_cufft_executes")());
  return 0;
}
