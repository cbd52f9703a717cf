#include "base/calibration.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "base/fork_safe_mutex.h"
#include "base/gpu_backends.h"
#include "base/json_text.h"
#include "base/text.h"
#include "base/user_folder.h"
#include "fourtune/status.h"

namespace fourtune {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kProcessor = "cpu";
constexpr int kVersion = 1;
constexpr std::size_t kLongest = 64 * 1024, kLongestText = 200;  // bytes
constexpr double kHighestRate = 1e18, kLongestLaunch = 1;

// The numbers of a device, which a file has under these names.
using Number = std::variant<int DeviceTraits::*, std::int64_t DeviceTraits::*, double DeviceTraits::*>;
const std::pair<const char*, Number> kNumbers[] = {
    {"cores", &DeviceTraits::cores},
    {"l1_bytes", &DeviceTraits::l1_bytes},
    {"l2_bytes", &DeviceTraits::l2_bytes},
    {"l3_bytes", &DeviceTraits::l3_bytes},
    {"memory_bytes", &DeviceTraits::memory_bytes},
    {"compute_capability", &DeviceTraits::compute_capability},
    {"multiprocessors", &DeviceTraits::multiprocessors},
    {"threads_per_multiprocessor", &DeviceTraits::threads_per_multiprocessor},
    {"registers_per_multiprocessor", &DeviceTraits::registers_per_multiprocessor},
    {"shared_per_multiprocessor", &DeviceTraits::shared_per_multiprocessor},
    {"shared_per_block", &DeviceTraits::shared_per_block},
    {"cluster_blocks", &DeviceTraits::cluster_blocks},
    {"clock_hz", &DeviceTraits::clock_hz},
    {"memory_bandwidth", &DeviceTraits::memory_bandwidth},
};
const std::pair<const char*, std::string DeviceTraits::*> kTexts[] = {
    {"backend", &DeviceTraits::backend}, {"name", &DeviceTraits::name}, {"isa", &DeviceTraits::isa}};

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file) {}

  Calibration read(const std::string& bytes) const {
    const Json json = parse_ordered_json(bytes);
    if (!json.is_object() || !json.contains("fourtune_calibration"))
      refuse("it is no calibration; `fourtune calibrate` makes one");
    const Json& version = json["fourtune_calibration"];
    if (!version.is_number_integer()) refuse("its version is not a number");
    if (version.get<double>() < 1)
      refuse(fmt::format("its version is {}, and the first one is 1", ordered_json_line(version)));
    if (version.get<double>() > kVersion)
      refuse(fmt::format("it is of version {}, and this program knows versions up to {}", ordered_json_line(version),
                         kVersion));
    Calibration out;
    out.date = text_in(json, "date");
    out.program = text_in(json, "program");
    const Json& device = object_in(json, "device");
    for (const auto& [key, member] : kTexts) out.traits.*member = text_in(device, key);
    for (const auto& [key, member] : kNumbers)
      std::visit([&, key = key](auto number) { read_number(device, key, out.traits.*number); }, member);
    require_numbers(out.traits);
    const Json& rates = object_in(json, "rates");
    for (const RateField& field : rate_fields) {
      const std::string name(field.name);
      if (!rates.contains(name)) continue;
      const Json& rate = object_in(rates, name.c_str());
      out.traits.rates.*field.value = in_range(rate, "value", field.unit == "s" ? kLongestLaunch : kHighestRate, name);
      out.spread.*field.value = in_range(rate, "spread", kHighestRate, name);
    }
    return out;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Status::invalid_argument, fmt::format("'{}': {}", file_.string(), why));
  }

 private:
  // Models divide by what every device has.
  void require_numbers(const DeviceTraits& traits) const {
    const bool gpu = generator::is_gpu(traits.backend), cpu = traits.backend == kProcessor;
    if (!gpu && !cpu) {
      std::string known(kProcessor);
      for (const generator::GpuBackend& backend : generator::kGpuBackends)
        known += fmt::format("{} {}", &backend == std::end(generator::kGpuBackends) - 1 ? " and" : ",", backend.name);
      refuse(fmt::format("its device is of backend '{}', which is none of {}", traits.backend, known));
    }
    for (const auto& [key, member] : kNumbers) {
      const std::string_view name = key;
      const bool needed = name == "cores" || (cpu ? name.starts_with("l1_") || name.starts_with("l2_")
                                                  : !name.starts_with("l1_") && !name.starts_with("l3_"));
      const double value = std::visit([&](auto number) { return static_cast<double>(traits.*number); }, member);
      if (needed && value < 1)
        refuse(fmt::format("'{}' of device is {:g}, and every such device has some", name, value));
    }
  }
  std::string text_in(const Json& json, const char* key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) refuse(fmt::format("it has no text '{}'", key));
    auto text = found->get<std::string>();
    if (text.size() > kLongestText) refuse(fmt::format("'{}' is longer than {} bytes", key, kLongestText));
    return text;
  }
  const Json& object_in(const Json& json, const char* key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_object()) refuse(fmt::format("it has no object '{}'", key));
    return *found;
  }
  double in_range(const Json& json, const char* key, double most, const std::string& of) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) refuse(fmt::format("'{}' of {} is not a number", key, of));
    const auto number = found->get<double>();
    if (!(number >= 0 && number <= most))
      refuse(fmt::format("'{}' of {} is {:g}, which is not between 0 and {:g}", key, of, number, most));
    return number;
  }
  template <class N>
  void read_number(const Json& device, const char* key, N& to) const {
    if (device.contains(key)) to = static_cast<N>(in_range(device, key, std::is_same_v<N, int> ? 1e6 : 1e18, "device"));
  }

  const std::filesystem::path& file_;
};

[[noreturn]] void fail(const std::filesystem::path& file, const char* what) {
  throw Error(Status::io, fmt::format("'{}' cannot be {}: {}", file.string(), what, std::strerror(errno)));
}

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

std::string contents(const std::filesystem::path& file) {
  const File open{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat about {};
  if (open.descriptor < 0 || ::fstat(open.descriptor, &about) != 0) fail(file, "opened");
  if (!S_ISREG(about.st_mode)) Reader(file).refuse("it is no regular file");
  std::string bytes(kLongest + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(open.descriptor, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(file, "read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kLongest) Reader(file).refuse(fmt::format("it has more than {} bytes, so it is no calibration", kLongest));
  bytes.resize(size);
  return bytes;
}

// What was read so far. It outlives every thread.
struct KnownFiles {
  ForkSafeMutex mutex;
  std::map<std::filesystem::path, KnownCalibration> found;
};
KnownFiles& known_files() {
  static auto* const files = new KnownFiles;
  return *files;
}

KnownCalibration read_known(const std::filesystem::path& file, const DeviceTraits& traits) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  try {
    const Calibration found = load_calibration(file);
    if (calibration_name(found.traits) == calibration_name(traits)) return {found.traits.rates, found.date, {}};
    return {{}, {}, fmt::format("'{}' is of another device, {}", file.string(), text::shown(found.traits.name, 100))};
  } catch (const Error& refused) {
    return {{}, {}, refused.what()};
  }
}

}  // namespace

std::filesystem::path calibration_folder() {
  if (const char* const named = std::getenv("FOURTUNE_CALIBRATIONS")) return named;
  const auto folder = user_data_folder();
  return folder.empty() ? folder : folder / "devices";
}

std::string calibration_name(const DeviceTraits& traits) {
  std::string name;
  for (const char c : traits.backend + ' ' + traits.name.substr(0, kLongestText) + ' ' + traits.isa) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter)) name += static_cast<char>(std::tolower(letter));
    if (!std::isalnum(letter) && !name.empty() && name.back() != '-') name += '-';
  }
  return name + ".json";
}

std::string to_json(const Calibration& calibration) {
  Json device = Json::object(), rates = Json::object();
  for (const auto& [key, member] : kTexts) device[key] = calibration.traits.*member;
  for (const auto& [key, member] : kNumbers)
    std::visit([&, key = key](auto number) { device[key] = calibration.traits.*number; }, member);
  for (const RateField& field : rate_fields)
    if (const double value = calibration.traits.rates.*field.value; value > 0)
      rates[std::string(field.name)] = {{"value", value}, {"spread", calibration.spread.*field.value}};
  const Json all{{"fourtune_calibration", kVersion},
                 {"date", calibration.date},
                 {"program", calibration.program},
                 {"device", device},
                 {"rates", rates}};
  return ordered_json_lines(all, 2, Letters::utf8) + "\n";
}

void save(const Calibration& calibration, const std::filesystem::path& file) {
  std::error_code error;
  if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
  const std::string text = to_json(calibration);
  std::string name = file.string() + ".XXXXXX";
  const File made{::mkostemp(name.data(), O_CLOEXEC)};
  if (made.descriptor < 0) fail(file, "made");
  const auto give_up = [&](const char* what) {
    const int number = errno;
    ::unlink(name.c_str());
    errno = number;
    fail(file, what);
  };
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(made.descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) give_up("written");
    done += static_cast<std::size_t>(wrote);
  }
  if (::fchmod(made.descriptor, 0644) != 0 || ::fsync(made.descriptor) != 0) give_up("written");
  if (::rename(name.c_str(), file.c_str()) != 0) give_up("put in its place");
  KnownFiles& known = known_files();
  const std::lock_guard lock(known.mutex);
  known.found.erase(file);
}

Calibration load_calibration(const std::filesystem::path& file) { return Reader(file).read(contents(file)); }

KnownCalibration known_calibration(const DeviceTraits& traits) {
  const auto folder = calibration_folder();
  if (folder.empty()) return {};
  const auto file = folder / calibration_name(traits);
  KnownFiles& known = known_files();
  const std::lock_guard lock(known.mutex);
  auto found = known.found.find(file);
  if (found == known.found.end()) found = known.found.emplace(file, read_known(file, traits)).first;
  return found->second;
}

}  // namespace fourtune
