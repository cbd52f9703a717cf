#include "runtime/backends/cuda/nvrtc_api.h"

#include <fmt/format.h>

#include <cstdlib>

#include "fourtune/status.h"
#include "runtime/backends/cuda/driver_api.h"
#include "runtime/backends/cuda/dynamic_library.h"

namespace fourtune::runtime::cuda {
namespace {

struct LoadedNvrtc {
  NvrtcApi api{};
  std::string why;
};

const char* load_all(const DynamicLibrary& library, NvrtcApi& api) {
#define FOURTUNE_LOAD(name) \
  if (!library.load(#name, api.name)) return #name;
  FOURTUNE_LOAD(nvrtcVersion)
  FOURTUNE_LOAD(nvrtcGetNumSupportedArchs)
  FOURTUNE_LOAD(nvrtcGetSupportedArchs)
  FOURTUNE_LOAD(nvrtcCreateProgram)
  FOURTUNE_LOAD(nvrtcDestroyProgram)
  FOURTUNE_LOAD(nvrtcCompileProgram)
  FOURTUNE_LOAD(nvrtcGetCUBINSize)
  FOURTUNE_LOAD(nvrtcGetCUBIN)
  FOURTUNE_LOAD(nvrtcGetPTXSize)
  FOURTUNE_LOAD(nvrtcGetPTX)
  FOURTUNE_LOAD(nvrtcGetProgramLogSize)
  FOURTUNE_LOAD(nvrtcGetProgramLog)
  FOURTUNE_LOAD(nvrtcGetErrorString)
#undef FOURTUNE_LOAD
  library.load("nvrtcSetFlowCallback", api.nvrtcSetFlowCallback);
  return nullptr;
}

LoadedNvrtc load_nvrtc() {
  LoadedNvrtc loaded;
  std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12"};
  // A driver loads code from compilers of its major version or older.
  if (why_no_driver().empty() && driver().version < 13000) names.erase(names.begin());
  if (const char* forced = std::getenv("FOURTUNE_NVRTC"); forced && *forced) names = {forced};
  const DynamicLibrary library = DynamicLibrary::open(names);
  if (library.empty()) {
    loaded.why = fmt::format(
        "no NVRTC: {} cannot be loaded ({}); install the CUDA toolkit's NVRTC, or set CUDA_HOME or "
        "FOURTUNE_NVRTC",
        names.front(), library.why());
    return loaded;
  }
  NvrtcApi& api = loaded.api;
  api.path = library.path();
  if (const char* missing = load_all(library, api)) {
    loaded.why =
        fmt::format("NVRTC at {} is too old: it has no {}; CUDA 12 or later is needed", library.path(), missing);
    return loaded;
  }
  int count = 0;
  if (api.nvrtcVersion(&api.major, &api.minor) != NVRTC_SUCCESS ||
      api.nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0) {
    loaded.why = fmt::format("NVRTC at {} does not answer", library.path());
    return loaded;
  }
  api.architectures.resize(static_cast<std::size_t>(count));
  api.nvrtcGetSupportedArchs(api.architectures.data());
  return loaded;
}

const LoadedNvrtc& loaded_nvrtc() {
  static const LoadedNvrtc& loaded = *new LoadedNvrtc(load_nvrtc());
  return loaded;
}

}  // namespace

std::string why_no_nvrtc() { return loaded_nvrtc().why; }

const NvrtcApi& nvrtc() {
  const LoadedNvrtc& loaded = loaded_nvrtc();
  if (!loaded.why.empty()) throw Error(Status::backend_unavailable, loaded.why);
  return loaded.api;
}

NvrtcProgram::NvrtcProgram(const std::string& text, const std::string& name) {
  const nvrtcResult result = nvrtc().nvrtcCreateProgram(&program_, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (result != NVRTC_SUCCESS)
    throw Error(result == NVRTC_ERROR_OUT_OF_MEMORY ? Status::out_of_memory : Status::internal,
                fmt::format("NVRTC cannot start on {}: {}", name, nvrtc().nvrtcGetErrorString(result)));
}

NvrtcProgram::~NvrtcProgram() { nvrtc().nvrtcDestroyProgram(&program_); }

std::string NvrtcProgram::log() const {
  std::size_t size = 0;
  if (nvrtc().nvrtcGetProgramLogSize(program_, &size) != NVRTC_SUCCESS || size <= 1) return {};
  std::string text(size, '\0');
  nvrtc().nvrtcGetProgramLog(program_, text.data());
  text.resize(size - 1);  // without the NUL
  return text;
}

std::vector<std::byte> NvrtcProgram::cubin() const {
  std::size_t size = 0;
  if (nvrtc().nvrtcGetCUBINSize(program_, &size) != NVRTC_SUCCESS || size == 0)
    throw Error(Status::internal, "NVRTC gave no machine code");
  std::vector<std::byte> bytes(size);
  nvrtc().nvrtcGetCUBIN(program_, reinterpret_cast<char*>(bytes.data()));
  return bytes;
}

std::vector<std::byte> NvrtcProgram::ptx() const {
  std::size_t size = 0;
  if (nvrtc().nvrtcGetPTXSize(program_, &size) != NVRTC_SUCCESS || size <= 1)
    throw Error(Status::internal, "NVRTC gave no PTX");
  std::vector<std::byte> bytes(size);
  nvrtc().nvrtcGetPTX(program_, reinterpret_cast<char*>(bytes.data()));
  return bytes;
}

}  // namespace fourtune::runtime::cuda
