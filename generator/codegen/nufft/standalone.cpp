#include "generator/codegen/nufft/standalone.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "fourtune/status.h"
#include "generator/codegen/fft/codelet/codelet.h"
#include "nufft_standalone_launch_text.h"
#include "nufft_standalone_text.h"

namespace fourtune::generator::nufft {
namespace {

// Bytes of tables above which a file would be too large for a compiler: as text they take three times as many.
constexpr std::size_t kMostTableBytes = std::size_t{16} << 20;

constexpr const char* kContents =
    "// Kernels, each in a namespace; then the launches with their memory and tables; then a class that\n"
    "// makes them, and a main function. Compile it with -DFOURTUNE_NO_MAIN to use the class in another program.\n\n";

bool in_name(char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string renamed(const std::string& text, const std::string& from, const std::string& to) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + from.size())) {
    const std::size_t end = at + from.size();
    if ((at > 0 && in_name(text[at - 1])) || (end < text.size() && in_name(text[end]))) continue;
    out += text.substr(done, at - done) + to;
    done = end;
  }
  return out + text.substr(done);
}

std::set<std::string> macros_of(std::string_view text) {
  constexpr std::string_view kDefine = "#define ";
  std::set<std::string> names;
  for (std::size_t at = text.find(kDefine); at != std::string_view::npos; at = text.find(kDefine, at)) {
    at += kDefine.size();
    const std::size_t end = std::min(text.find_first_of(" (\n", at), text.size());
    names.emplace(text.substr(at, end - at));
  }
  return names;
}

// `#pragma unroll NAME` with the value of the macro: nvcc expands no macros in pragmas, NVRTC does.
std::string with_unrolls(std::string text) {
  constexpr std::string_view kPragma = "#pragma unroll ";
  for (std::size_t at = text.find(kPragma); at != std::string::npos; at = text.find(kPragma, at)) {
    at += kPragma.size();
    const std::string name = text.substr(at, text.find('\n', at) - at), define = "#define " + name + " ";
    const std::size_t value = text.find(define);
    if (value == std::string::npos) continue;
    const std::size_t from = value + define.size();
    text.replace(at, name.size(), text.substr(from, text.find('\n', from) - from));
  }
  return text;
}

std::string extent_text(const Extent3& e) { return fmt::format("{{{}, {}, {}}}", e[0], e[1], e[2]); }

std::string numbers_text(const std::vector<std::byte>& bytes, Precision precision, std::size_t number) {
  const bool f32 = precision == Precision::f32;
  const std::size_t size = f32 ? sizeof(float) : sizeof(double);
  std::string text = fmt::format("static const {} kTable{}[] = {{", f32 ? "float" : "double", number);
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    float single = 0;
    double value = 0;
    f32 ? std::memcpy(&single, bytes.data() + at, size) : std::memcpy(&value, bytes.data() + at, size);
    if (f32) value = single;
    text += (at / size % 8 == 0 ? "\n    " : " ") + fft::literal(value, precision) + ",";
  }
  return text + "\n};\n";
}

// Collects kernels and tables, each once, while it writes the launches.
class Writer {
 public:
  explicit Writer(const Standalone& transform) : transform_(transform) {}

  std::string file() {
    const std::string launches = list("kExtents", transform_.extents) + list("kSetPoints", transform_.set_points) +
                                 list("kExecute", transform_.execute[0]) + list("kLastChunk", transform_.execute[1]);
    const std::string title = to_token(transform_.problem) + " " + transform_.plan;
    std::string text = fmt::format("// {}\n// nvcc -O3 -std=c++17 -arch=sm_XX this.cu && ./a.out\n//\n", title);
    text += kContents;
    // What a kernel's text offers and its parameters leave unused.
    text += "#ifdef __NVCC__\n#pragma nv_diagnostic push\n#pragma nv_diag_suppress 177, 550\n#endif\n\n";
    for (std::size_t i = 0; i < kernels_.size(); ++i) text += kernel(i);
    text += "#ifdef __NVCC__\n#pragma nv_diagnostic pop\n#endif\n\n";
    text += nufft_standalone_launch_text + constants() + memory();
    for (const std::string& table : table_texts_) text += table;
    return text + tables() + "\n" + launches + nufft_standalone_text;
  }

 private:
  // Functions of CUDA have global names: the second one of a name gets another.
  int number_of(const KernelSource& kernel) {
    const auto found = std::find(kernels_.begin(), kernels_.end(), kernel);
    if (found != kernels_.end()) return static_cast<int>(found - kernels_.begin());
    std::string entry = kernel.entry;
    for (int n = 2; std::find(entries_.begin(), entries_.end(), entry) != entries_.end(); ++n)
      entry = fmt::format("{}_{}", kernel.entry, n);
    kernels_.push_back(kernel);
    entries_.push_back(entry);
    return static_cast<int>(kernels_.size()) - 1;
  }

  int table_of(const std::vector<std::byte>& bytes, Precision precision) {
    const auto found = std::find(tables_.begin(), tables_.end(), bytes);
    if (found != tables_.end()) return static_cast<int>(found - tables_.begin());
    table_bytes_ += bytes.size();
    if (table_bytes_ > kMostTableBytes)
      throw Error(Status::unsupported,
                  fmt::format("the tables of this transform have more than {} MB and would be a file that compilers do "
                              "not take; emit a smaller one",
                              kMostTableBytes >> 20));
    table_texts_.push_back(numbers_text(bytes, precision, tables_.size()));
    tables_.push_back(bytes);
    return static_cast<int>(tables_.size()) - 1;
  }

  std::string kernel(std::size_t i) const {
    const KernelSource& one = kernels_[i];
    std::string text = fmt::format("// ---- kernel {}: {} ", i, entries_[i]);
    text += std::string(text.size() < 118 ? 118 - text.size() : 0, '-') + "\n";
    if (one.max_registers > 0)
      text += fmt::format("// The library compiles it with --maxrregcount={}.\n", one.max_registers);
    text += fmt::format("namespace kernel{} {{\n", i);
    text += with_unrolls(entries_[i] == one.entry ? one.text : renamed(one.text, one.entry, entries_[i]));
    text += fmt::format("}}  // namespace kernel{}\n", i);
    for (const std::string& macro : macros_of(one.text)) text += "#undef " + macro + "\n";
    return text + "\n";
  }

  std::string word(const BufferRef& ref, const Standalone::Step& part) {
    const std::string offset = ref.byte_offset ? fmt::format(", {}ll", ref.byte_offset) : "";
    const std::string only = ref.byte_offset ? fmt::format("{}ll", ref.byte_offset) : "";
    switch (ref.where) {
      case BufferRef::Where::first:
        return fmt::format("values({})", only);
      case BufferRef::Where::second:
        return fmt::format("results({})", only);
      case BufferRef::Where::workspace:
        return fmt::format("slot({}{})", transform_.slots.at(static_cast<std::size_t>(ref.index)).name, offset);
      case BufferRef::Where::constant:
        break;
    }
    const auto& bytes = part.program.constants.at(static_cast<std::size_t>(ref.index));
    return fmt::format("table({}{})", table_of(bytes, part.tables), offset);
  }

  std::string argument(const LaunchArgument& argument, const Standalone::Step& part) {
    const auto one = [&](const auto& value) -> std::string {
      using T = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<T, BufferRef>)
        return word(value, part);
      else if constexpr (std::is_same_v<T, std::int64_t>)
        return fmt::format("integer({}ll)", value);
      else if constexpr (std::is_same_v<T, float>)
        return fmt::format("single({})", fft::literal(static_cast<double>(value), Precision::f32));
      else
        return fmt::format("real({})", fft::literal(value, Precision::f64));
    };
    std::string words;
    const auto add = [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ArgumentStruct>)
        for (const auto& member : value.members) words += (words.empty() ? "" : ", ") + std::visit(one, member);
      else
        words = one(value);
    };
    std::visit(add, argument);
    return "{" + words + "}";
  }

  std::string list(const char* name, const std::vector<Standalone::Step>& parts) {
    std::string text = fmt::format("static const std::vector<Launch> {} = {{\n", name);
    for (const Standalone::Step& part : parts)
      for (const Launch& launch : part.program.launches) {
        const KernelSource& source = part.program.kernels[static_cast<std::size_t>(launch.kernel)];
        const auto number = static_cast<std::size_t>(number_of(source));
        std::string arguments;
        for (const LaunchArgument& each : launch.arguments)
          arguments += (arguments.empty() ? "" : ",\n      ") + argument(each, part);
        text += fmt::format(
            "    {{\"{0}\", \"{2}\", (const void*)kernel{1}::{2}, {3}, {4}, {5}, {6}, {7}ll, {8:.0f},\n"
            "     {{{9}}}}},\n",
            launch.stage, number, entries_[number], extent_text(launch.grid), extent_text(source.block),
            extent_text(source.cluster), source.shared_bytes, launch.bytes, launch.flops, arguments);
      }
    return text + "};\n";
  }

  std::string constants() const {
    const Problem& p = transform_.problem;
    const auto reals = [](const std::array<double, 6>& of) {
      std::string text;
      for (const double value : of) text += (text.empty() ? "" : ", ") + fft::literal(value, Precision::f64);
      return text;
    };
    std::string text = fmt::format("typedef {} Real;\n", p.precision == Precision::f32 ? "float" : "double");
    text += fmt::format("static const char kProblem[] = \"{}\";\nstatic const char kPlan[] = \"{}\";\n", to_token(p),
                        transform_.plan);
    text += fmt::format("enum {{ kType = {}, kDim = {}, kSign = {} }};\n", p.type, p.dim, p.sign);
    text += fmt::format("static const long long kModes[3] = {{{}, {}, {}}};  // of types 1 and 2\n", p.n[0], p.n[1],
                        p.n[2]);
    text += fmt::format("static const long long kPoints = {}, kResults = {};  // sources, and modes or targets\n",
                        transform_.point_values, transform_.results);
    text +=
        fmt::format("static const long long kBatch = {}, kChunk = {};  // transforms, and those that run together\n",
                    p.batch, transform_.chunk);
    text += fmt::format("static const double kAllowed = {};  // relative error that counts as right\n",
                        fft::literal(allowed_error(p), Precision::f64));
    text += fmt::format(
        "// Type 3: the box of sources and targets (x, y, z, s, t, u) for which the grids are made.\n"
        "static const double kLow[6] = {{{}}};\nstatic const double kHigh[6] = {{{}}};\n",
        reals(transform_.low), reals(transform_.high));
    return text;
  }

  std::string memory() const {
    std::string names = "enum Slot {", text = "static const Memory kMemory[] = {\n";
    for (const Standalone::Slot& slot : transform_.slots) {
      names += " " + slot.name + ",";
      text += fmt::format("    {{\"{}\", {}ll, {}}},\n", slot.name, slot.bytes, slot.same_as);
    }
    names += " kSlots };\n";
    names += fmt::format("enum {{ kStatusSlot = {}, kExtentsSlot = {} }};  // -1: there is none\n", transform_.status,
                         transform_.words);
    return names + text + "};\n";
  }

  std::string tables() const {
    std::string text = "static const Table kTables[] = {\n";
    for (std::size_t i = 0; i < tables_.size(); ++i) text += fmt::format("    {{kTable{0}, sizeof kTable{0}}},\n", i);
    if (tables_.empty()) text += "    {nullptr, 0},\n";
    return text + "};\n";
  }

  const Standalone& transform_;
  std::vector<KernelSource> kernels_;
  std::vector<std::string> entries_;
  std::vector<std::vector<std::byte>> tables_;
  std::vector<std::string> table_texts_;
  std::size_t table_bytes_ = 0;
};

}  // namespace

std::string emit_standalone(const Standalone& transform) { return Writer(transform).file(); }

}  // namespace fourtune::generator::nufft
