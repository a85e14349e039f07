// A tensor in host memory, and what the tool must know of element types.
//
// Dense, row-major, little-endian, as in gantry.h. Values are immutable once shared; any thread.
#pragma once

#include <gantry/gantry.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::tool {

struct Tensor {
  gantry_type_t type = GANTRY_TYPE_F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
};

/// One row for each element type: its name, its size, its NumPy type string.
struct TypeTraits {
  gantry_type_t type;
  const char *name;
  uint64_t sizeBytes;
  const char *npy; // little-endian; bf16 as NumPy's ml_dtypes writes it ("<V2")
  bool isFloat;
  bool isSigned;
};
std::span<const TypeTraits> allTypes();
const TypeTraits &traitsOf(gantry_type_t type);

/// The number of elements, or nothing where a dimension is negative or the bytes overflow 2^63.
std::optional<uint64_t> elementCount(std::span<const int64_t> dims, uint64_t elementSize);
inline uint64_t elementCount(const Tensor &tensor) {
  return tensor.bytes.size() / traitsOf(tensor.type).sizeBytes;
}

/// Element `index` as a double (integers above 2^53 are rounded).
double elementAsDouble(const Tensor &tensor, uint64_t index);
/// Element `index` of an integer or boolean tensor; u64 above 2^63 wraps.
int64_t elementAsInteger(const Tensor &tensor, uint64_t index);
/// Stores a value, rounded to nearest even for the 16-bit floats, truncated for integers.
void setElement(Tensor &tensor, uint64_t index, double value);
/// Element `index` as text: integers exactly, floats with `digits` significant digits.
std::string elementText(const Tensor &tensor, uint64_t index, int digits = 6);

/// The index of a flat element in each dimension.
std::vector<int64_t> unflatten(uint64_t index, std::span<const int64_t> dims);

/// "1x3x224x224"; "scalar" for rank 0; GANTRY_DYNAMIC as its name, or "?".
std::string shapeText(std::span<const int64_t> dims, const char *const *names = nullptr);
/// "[0, 3, 5]".
std::string indexText(std::span<const int64_t> index);
/// "1x3x224x224" or "1,3,224,224", "scalar" or "" for rank 0; nothing where it is not a shape.
std::optional<std::vector<int64_t>> parseShape(std::string_view text);

} // namespace gantry::tool
