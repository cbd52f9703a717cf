#include "base/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "fourtune/status.h"

namespace fourtune {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they are in memory");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = 1 << 16;

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::size_t element_bytes = 0;
  std::size_t count = 1;
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& reason) {
  throw Error(Status::invalid_argument,
              fmt::format("{}: {}; save the array with numpy.save, as float32, float64, complex64 or complex128",
                          path.string(), reason));
}

// The text after 'key', up to the end of the header; nothing when there is no such key.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const auto at = header.find(fmt::format("{}{}{}", quote, key, quote));
    if (at == header.npos) continue;
    header.remove_prefix(at + key.size() + 2);
    const auto start = header.find_first_not_of(" \t:");
    return start == header.npos ? std::string_view() : header.substr(start);
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> shape_of(std::string_view tuple) {
  const auto close = tuple.find(')');
  if (tuple.empty() || tuple.front() != '(' || close == tuple.npos) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (std::string_view part : text::split(tuple.substr(1, close - 1), ',')) {
    const auto first = part.find_first_not_of(' ');
    if (first == part.npos) continue;
    part = part.substr(first, part.find_last_not_of(" L") - first + 1);
    const auto size = text::number<std::int64_t>(part);
    if (!size || *size < 0) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

Header parse(const std::filesystem::path& path, std::string_view text) {
  Header header;
  const auto descr = value_of(text, "descr");
  const auto order = value_of(text, "fortran_order");
  const auto shape = value_of(text, "shape");
  if (!descr || !order || !shape || descr->size() < 2) refuse(path, "its .npy header has no descr, order or shape");
  header.descr = std::string(descr->substr(1, descr->find((*descr)[0], 1) - 1));
  constexpr std::array<std::pair<const char*, std::size_t>, 4> types{
      {{"<f4", 4}, {"<f8", 8}, {"<c8", 8}, {"<c16", 16}}};
  for (const auto& [name, bytes] : types)
    if (header.descr == name) header.element_bytes = bytes;
  if (header.element_bytes == 0) refuse(path, fmt::format("elements of type '{}' are not supported", header.descr));
  header.fortran = order->starts_with("True");
  const auto sizes = shape_of(*shape);
  if (!sizes) refuse(path, "its .npy header has a broken shape");
  header.shape = *sizes;
  for (const std::int64_t size : header.shape) {
    const auto most = std::numeric_limits<std::int64_t>::max() / 32 /
                      static_cast<std::int64_t>(std::max<std::size_t>(1, header.count));
    if (size > most) refuse(path, "its shape is too large");
    header.count *= static_cast<std::size_t>(size);
  }
  return header;
}

Header read_header(const std::filesystem::path& path, std::ifstream& file) {
  std::array<char, 8> start{};
  if (!file.read(start.data(), start.size()) || std::string_view(start.data(), kMagic.size()) != kMagic)
    refuse(path, "is not a .npy file");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) refuse(path, fmt::format(".npy version {} is not supported", version));
  std::array<unsigned char, 4> length{};
  if (!file.read(reinterpret_cast<char*>(length.data()), version == 1 ? 2 : 4)) refuse(path, "is cut short");
  const std::size_t size =
      length[0] | (length[1] << 8) | (length[2] << 16) | (static_cast<std::size_t>(length[3]) << 24);
  if (size > kMaxHeader) refuse(path, "its .npy header is too long");
  std::string text(size, ' ');
  if (!file.read(text.data(), static_cast<std::streamsize>(size))) refuse(path, "is cut short");
  return parse(path, text);
}

std::complex<double> element(const char* at, const std::string& descr) {
  if (descr == "<f8" || descr == "<c16") {
    std::array<double, 2> parts{};
    std::memcpy(parts.data(), at, descr == "<f8" ? 8 : 16);
    return {parts[0], parts[1]};
  }
  std::array<float, 2> parts{};
  std::memcpy(parts.data(), at, descr == "<f4" ? 4 : 8);
  return {parts[0], parts[1]};
}

// The position in C order of the element at position `index` in Fortran order.
std::size_t c_position(std::size_t index, const std::vector<std::int64_t>& shape) {
  std::size_t position = 0, stride = 1;
  for (const std::int64_t size : shape) stride *= static_cast<std::size_t>(size);
  for (const std::int64_t size : shape) {
    stride /= static_cast<std::size_t>(size);
    position += index % static_cast<std::size_t>(size) * stride;
    index /= static_cast<std::size_t>(size);
  }
  return position;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(Status::invalid_argument, fmt::format("{}: no such file", path.string()));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Status::invalid_argument, fmt::format("{}: cannot be read", path.string()));
  const Header header = read_header(path, file);
  const std::uintmax_t left = std::filesystem::file_size(path, error) - static_cast<std::uintmax_t>(file.tellg());
  if (error || left < header.count * header.element_bytes) refuse(path, "is cut short");
  std::vector<char> bytes(header.count * header.element_bytes);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) refuse(path, "is cut short");

  NpyArray array;
  array.shape = header.shape;
  array.is_complex = header.descr[1] == 'c';
  array.values.resize(header.count);
  for (std::size_t i = 0; i < header.count; ++i)
    array.values[header.fortran ? c_position(i, header.shape) : i] =
        element(bytes.data() + i * header.element_bytes, header.descr);
  return array;
}

std::string npy_header(const std::string& descr, const std::vector<std::int64_t>& shape) {
  const std::string tuple = fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, tuple);
  const std::size_t before = kMagic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');  // the elements start at a multiple of 64 bytes
  header += '\n';
  const std::array<char, 4> version{1, 0, static_cast<char>(header.size() & 0xff),
                                    static_cast<char>(header.size() >> 8)};
  return std::string(kMagic) + std::string(version.data(), version.size()) + header;
}

void write_npy(const std::filesystem::path& path, const std::string& descr, const std::vector<std::int64_t>& shape,
               const void* data, std::size_t bytes) {
  const std::string header = npy_header(descr, shape);
  std::ofstream file(path, std::ios::binary);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  file.close();
  if (!file) throw Error(Status::io, fmt::format("{}: cannot be written", path.string()));
}

}  // namespace fourtune
