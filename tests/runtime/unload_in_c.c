/* Loads the library, uses it with threads, unloads it, several times: nothing of it may run afterwards. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "fourtune/fourtune.h"

static double in[2 * 65536], out[2 * 65536];

static int once(const char* path) {
  fourtune_transform* transform = NULL;
  fourtune_options options;
  const char* none[1] = {NULL};
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  __typeof__(&fourtune_options_init) init = (__typeof__(init))dlsym(library, "fourtune_options_init");
  __typeof__(&fourtune_create) create = (__typeof__(create))dlsym(library, "fourtune_create");
  __typeof__(&fourtune_execute) execute = (__typeof__(execute))dlsym(library, "fourtune_execute");
  __typeof__(&fourtune_destroy) destroy = (__typeof__(destroy))dlsym(library, "fourtune_destroy");
  init(&options);
  options.databases = none;
  options.backend = "cpu";
  options.plan = "cpu;threads=2;fft=fftw(rigor=estimate)";
  if (create("fft:type=c2c,n=256x256,prec=f64", &options, &transform) != FOURTUNE_SUCCESS) return 1;
  if (execute(transform, in, out) != FOURTUNE_SUCCESS) return 1;
  destroy(transform);
  return dlclose(library);
}

int main(int count, char** words) {
  int i;
  if (count != 2) return 2;
  for (i = 0; i < 5; ++i) {
    if (once(words[1]) != 0) return 1;
    usleep(2000); /* workers that were left behind would wake up now */
  }
  return 0;
}
