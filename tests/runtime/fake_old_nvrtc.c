// An NVRTC that knows no --minimal, as older versions do not. It compiles anything to the same four bytes.
#include <stddef.h>
#include <string.h>

typedef int Result;
enum { kInvalidOption = 5 };
int fake_compiled, fake_refused;
static int program;

Result nvrtcVersion(int* major, int* minor) { return *major = 12, *minor = 0, 0; }
Result nvrtcGetNumSupportedArchs(int* number) { return *number = 1, 0; }
Result nvrtcGetSupportedArchs(int* architectures) { return *architectures = 90, 0; }
Result nvrtcCreateProgram(void** made, const char* text, const char* name, int headers, const char* const* contents,
                          const char* const* names) {
  (void)text, (void)name, (void)headers, (void)contents, (void)names;
  return *made = &program, 0;
}
Result nvrtcDestroyProgram(void** made) { return *made = NULL, 0; }
Result nvrtcCompileProgram(void* one, int number, const char* const* options) {
  (void)one;
  for (int i = 0; i < number; ++i)
    if (strcmp(options[i], "--minimal") == 0) return ++fake_refused, kInvalidOption;
  return ++fake_compiled, 0;
}
Result nvrtcGetCUBINSize(void* one, size_t* bytes) { return (void)one, *bytes = 4, 0; }
Result nvrtcGetCUBIN(void* one, char* image) { return (void)one, memcpy(image, "code", 4), 0; }
Result nvrtcGetPTXSize(void* one, size_t* bytes) { return (void)one, *bytes = 4, 0; }
Result nvrtcGetPTX(void* one, char* text) { return (void)one, memcpy(text, "ptx", 4), 0; }
Result nvrtcGetProgramLogSize(void* one, size_t* bytes) { return (void)one, *bytes = 1, 0; }
Result nvrtcGetProgramLog(void* one, char* log) { return (void)one, *log = 0, 0; }
const char* nvrtcGetErrorString(Result result) { return (void)result, "an error"; }
