// What -fsanitize=thread makes an instrumented kernel call, ours instead of the sanitizer's. A translation unit of its
// own, not instrumented, linked into each module.
extern "C" {
extern FourtuneEmulatedHost fourtune_emulated_host;
#define FOURTUNE_WHERE __builtin_return_address(0)
#define FOURTUNE_HOOK(size)                                                                               \
  void __tsan_read##size(void* at) { fourtune_emulated_host.read(at, size, FOURTUNE_WHERE); }             \
  void __tsan_write##size(void* at) { fourtune_emulated_host.write(at, size, FOURTUNE_WHERE); }           \
  void __tsan_unaligned_read##size(void* at) { fourtune_emulated_host.read(at, size, FOURTUNE_WHERE); }   \
  void __tsan_unaligned_write##size(void* at) { fourtune_emulated_host.write(at, size, FOURTUNE_WHERE); } \
  void __tsan_volatile_read##size(void* at) { fourtune_emulated_host.read(at, size, FOURTUNE_WHERE); }    \
  void __tsan_volatile_write##size(void* at) { fourtune_emulated_host.write(at, size, FOURTUNE_WHERE); }
// clang-format off
FOURTUNE_HOOK(1) FOURTUNE_HOOK(2) FOURTUNE_HOOK(4) FOURTUNE_HOOK(8) FOURTUNE_HOOK(16)
void __tsan_read_range(void* at, unsigned long bytes) { fourtune_emulated_host.read(at, bytes, FOURTUNE_WHERE); }
// clang-format on
void __tsan_write_range(void* at, unsigned long bytes) { fourtune_emulated_host.write(at, bytes, FOURTUNE_WHERE); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void*) {}
void __tsan_vptr_update(void*, void*) {}
}
