// NVRTC, NVIDIA's run-time compiler, turns CUDA text into machine code for one GPU. It is declared here and loaded on
// first use, and works on machines without a GPU. The interface follows NVIDIA's documentation, "NVRTC".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fourtune::runtime::cuda {

enum nvrtcResult : int {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_CANCELLED = 16,
};
using nvrtcProgram = struct _nvrtcProgram*;

struct NvrtcApi {
  nvrtcResult (*nvrtcVersion)(int* major, int* minor);
  nvrtcResult (*nvrtcGetNumSupportedArchs)(int*);
  nvrtcResult (*nvrtcGetSupportedArchs)(int*);
  nvrtcResult (*nvrtcCreateProgram)(nvrtcProgram*, const char* text, const char* name, int, const char* const*,
                                    const char* const*);
  nvrtcResult (*nvrtcDestroyProgram)(nvrtcProgram*);
  nvrtcResult (*nvrtcCompileProgram)(nvrtcProgram, int, const char* const* options);
  nvrtcResult (*nvrtcGetCUBINSize)(nvrtcProgram, std::size_t*);
  nvrtcResult (*nvrtcGetCUBIN)(nvrtcProgram, char*);
  nvrtcResult (*nvrtcGetPTXSize)(nvrtcProgram, std::size_t*);
  nvrtcResult (*nvrtcGetPTX)(nvrtcProgram, char*);
  nvrtcResult (*nvrtcGetProgramLogSize)(nvrtcProgram, std::size_t*);
  nvrtcResult (*nvrtcGetProgramLog)(nvrtcProgram, char*);
  const char* (*nvrtcGetErrorString)(nvrtcResult);
  nvrtcResult (*nvrtcSetFlowCallback)(nvrtcProgram, int (*)(void*, void*), void*);  // null in older versions
  int major = 0, minor = 0;
  std::vector<int> architectures;  // for example 75, 80
  std::string path;
};

// Loaded once: $FOURTUNE_NVRTC when set, otherwise version 13 or 12, but never a newer major version than the driver's
// when there is a driver. Throws Error{backend_unavailable} that says what is missing. May be called from any thread.
const NvrtcApi& nvrtc();
std::string why_no_nvrtc();  // empty when nvrtc() works

// Owns a program and destroys it at the end.
class NvrtcProgram {
 public:
  NvrtcProgram(const std::string& text, const std::string& name);
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;
  ~NvrtcProgram();
  nvrtcProgram get() const { return program_; }
  std::string log() const;
  std::vector<std::byte> cubin() const;
  std::vector<std::byte> ptx() const;  // ends with NUL

 private:
  nvrtcProgram program_ = nullptr;
};

}  // namespace fourtune::runtime::cuda
