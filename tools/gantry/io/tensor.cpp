// Implements tensor.h.
#include "tools/gantry/io/tensor.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace gantry::tool {
namespace {

constexpr TypeTraits kTypes[] = {
    {GANTRY_TYPE_F32, "f32", 4, "<f4", true, true},
    {GANTRY_TYPE_F16, "f16", 2, "<f2", true, true},
    {GANTRY_TYPE_F64, "f64", 8, "<f8", true, true},
    {GANTRY_TYPE_BF16, "bf16", 2, "<V2", true, true},
    {GANTRY_TYPE_I8, "i8", 1, "|i1", false, true},
    {GANTRY_TYPE_U8, "u8", 1, "|u1", false, false},
    {GANTRY_TYPE_I16, "i16", 2, "<i2", false, true},
    {GANTRY_TYPE_U16, "u16", 2, "<u2", false, false},
    {GANTRY_TYPE_I32, "i32", 4, "<i4", false, true},
    {GANTRY_TYPE_U32, "u32", 4, "<u4", false, false},
    {GANTRY_TYPE_I64, "i64", 8, "<i8", false, true},
    {GANTRY_TYPE_U64, "u64", 8, "<u8", false, false},
    {GANTRY_TYPE_BOOL, "bool", 1, "|b1", false, false},
};

template <typename T> T load(const Tensor &tensor, uint64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> void store(Tensor &tensor, uint64_t index, T value) {
  std::memcpy(tensor.bytes.data() + index * sizeof(T), &value, sizeof(T));
}

double halfToDouble(uint16_t half) {
  int exponent = (half >> 10) & 31, mantissa = half & 1023;
  double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                     : exponent == 31 ? (mantissa ? std::numeric_limits<double>::quiet_NaN()
                                                  : std::numeric_limits<double>::infinity())
                                      : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

uint16_t doubleToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  if (magnitude >= 65520)
    return sign | 0x7c00;
  int exponent = magnitude < std::ldexp(1, -14) ? -14 : std::ilogb(magnitude);
  auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // `units` is 0 to 1023 for subnormals, else 1024 to 2048; at 2048 the carry increments the
  // exponent.
  uint32_t biased = static_cast<uint32_t>(exponent + 14);
  return static_cast<uint16_t>(sign | ((biased << 10) + units));
}

uint16_t doubleToBfloat(double value) {
  uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (std::isnan(value))
    return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

} // namespace

std::span<const TypeTraits> allTypes() { return kTypes; }

const TypeTraits &traitsOf(gantry_type_t type) {
  for (const TypeTraits &traits : kTypes)
    if (traits.type == type)
      return traits;
  static constexpr TypeTraits kUnknown{GANTRY_TYPE_U8, "unknown", 1, "|u1", false, false};
  return kUnknown;
}

std::optional<uint64_t> elementCount(std::span<const int64_t> dims, uint64_t elementSize) {
  uint64_t limit = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / elementSize;
  uint64_t count = 1;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (count > limit / static_cast<uint64_t>(dim))
      return std::nullopt;
    count *= static_cast<uint64_t>(dim);
  }
  return empty ? 0 : count;
}

double elementAsDouble(const Tensor &tensor, uint64_t index) {
  switch (tensor.type) {
  case GANTRY_TYPE_F32:
    return load<float>(tensor, index);
  case GANTRY_TYPE_F64:
    return load<double>(tensor, index);
  case GANTRY_TYPE_F16:
    return halfToDouble(load<uint16_t>(tensor, index));
  case GANTRY_TYPE_BF16:
    return std::bit_cast<float>(static_cast<uint32_t>(load<uint16_t>(tensor, index)) << 16);
  case GANTRY_TYPE_U64:
    return static_cast<double>(load<uint64_t>(tensor, index));
  default:
    return static_cast<double>(elementAsInteger(tensor, index));
  }
}

int64_t elementAsInteger(const Tensor &tensor, uint64_t index) {
  switch (tensor.type) {
  case GANTRY_TYPE_I8:
    return load<int8_t>(tensor, index);
  case GANTRY_TYPE_U8:
    return load<uint8_t>(tensor, index);
  case GANTRY_TYPE_BOOL:
    return load<uint8_t>(tensor, index) != 0;
  case GANTRY_TYPE_I16:
    return load<int16_t>(tensor, index);
  case GANTRY_TYPE_U16:
    return load<uint16_t>(tensor, index);
  case GANTRY_TYPE_I32:
    return load<int32_t>(tensor, index);
  case GANTRY_TYPE_U32:
    return load<uint32_t>(tensor, index);
  case GANTRY_TYPE_I64:
    return load<int64_t>(tensor, index);
  case GANTRY_TYPE_U64:
    return static_cast<int64_t>(load<uint64_t>(tensor, index));
  default:
    return static_cast<int64_t>(elementAsDouble(tensor, index));
  }
}

void setElement(Tensor &tensor, uint64_t index, double value) {
  switch (tensor.type) {
  case GANTRY_TYPE_F32:
    return store(tensor, index, static_cast<float>(value));
  case GANTRY_TYPE_F64:
    return store(tensor, index, value);
  case GANTRY_TYPE_F16:
    return store(tensor, index, doubleToHalf(value));
  case GANTRY_TYPE_BF16:
    return store(tensor, index, doubleToBfloat(value));
  case GANTRY_TYPE_I8:
    return store(tensor, index, static_cast<int8_t>(value));
  case GANTRY_TYPE_U8:
    return store(tensor, index, static_cast<uint8_t>(value));
  case GANTRY_TYPE_BOOL:
    return store(tensor, index, static_cast<uint8_t>(value != 0));
  case GANTRY_TYPE_I16:
    return store(tensor, index, static_cast<int16_t>(value));
  case GANTRY_TYPE_U16:
    return store(tensor, index, static_cast<uint16_t>(value));
  case GANTRY_TYPE_I32:
    return store(tensor, index, static_cast<int32_t>(value));
  case GANTRY_TYPE_U32:
    return store(tensor, index, static_cast<uint32_t>(value));
  case GANTRY_TYPE_I64:
    return store(tensor, index, static_cast<int64_t>(value));
  case GANTRY_TYPE_U64:
    return store(tensor, index, static_cast<uint64_t>(value));
  }
}

std::string elementText(const Tensor &tensor, uint64_t index, int digits) {
  if (tensor.type == GANTRY_TYPE_BOOL)
    return elementAsInteger(tensor, index) ? "true" : "false";
  if (tensor.type == GANTRY_TYPE_U64)
    return fmt::format("{}", static_cast<uint64_t>(elementAsInteger(tensor, index)));
  if (!traitsOf(tensor.type).isFloat)
    return fmt::format("{}", elementAsInteger(tensor, index));
  return fmt::format("{:.{}g}", elementAsDouble(tensor, index), digits);
}

std::vector<int64_t> unflatten(uint64_t index, std::span<const int64_t> dims) {
  std::vector<int64_t> result(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    auto size = static_cast<uint64_t>(dims[d]);
    result[d] = static_cast<int64_t>(size ? index % size : 0);
    index = size ? index / size : 0;
  }
  return result;
}

std::string shapeText(std::span<const int64_t> dims, const char *const *names) {
  if (dims.empty())
    return "scalar";
  std::string text;
  for (size_t d = 0; d < dims.size(); ++d) {
    text += d ? "x" : "";
    if (dims[d] != GANTRY_DYNAMIC)
      text += std::to_string(dims[d]);
    else
      text += names && names[d] && *names[d] ? names[d] : "?";
  }
  return text;
}

std::string indexText(std::span<const int64_t> index) {
  std::string text = "[";
  for (size_t d = 0; d < index.size(); ++d)
    text += fmt::format("{}{}", d ? ", " : "", index[d]);
  return text + "]";
}

std::optional<std::vector<int64_t>> parseShape(std::string_view text) {
  std::vector<int64_t> dims;
  if (text.empty() || text == "scalar")
    return dims;
  const char *at = text.data(), *end = at + text.size();
  for (;;) {
    int64_t dim = 0;
    auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim < 0 || dims.size() == GANTRY_MAX_RANK)
      return std::nullopt;
    dims.push_back(dim);
    if (next == end)
      return dims;
    if (*next != 'x' && *next != 'X' && *next != ',')
      return std::nullopt;
    at = next + 1;
  }
}

} // namespace gantry::tool
