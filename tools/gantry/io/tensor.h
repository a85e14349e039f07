// A tensor in host memory, and the properties of element types.
//
// Elements are dense, row-major and little-endian, as in gantry.h. Threads: tensors are plain
// values; the functions are thread-safe, except that setElement() changes its tensor.
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

/// The properties of an element type.
struct TypeTraits {
  gantry_type_t type;
  const char *name;
  uint64_t sizeBytes;
  const char *npy; // NumPy's type string, little-endian; "<V2" for bf16.
  bool isFloat;
  bool isSigned;
};
std::span<const TypeTraits> allTypes();
const TypeTraits &traitsOf(gantry_type_t type);

/// Returns the number of elements, or nothing if a dimension is negative or the size in bytes is
/// 2^63 or more. `elementSize` is in bytes.
std::optional<uint64_t> elementCount(std::span<const int64_t> dims, uint64_t elementSize);
inline uint64_t elementCount(const Tensor &tensor) {
  return tensor.bytes.size() / traitsOf(tensor.type).sizeBytes;
}

/// Returns element `index` as a double. Integers above 2^53 are rounded.
double elementAsDouble(const Tensor &tensor, uint64_t index);
/// Returns element `index` as an integer. u64 values of 2^63 and more wrap to negative numbers;
/// floats are truncated.
int64_t elementAsInteger(const Tensor &tensor, uint64_t index);
/// Stores a value in an element's type: rounded to nearest even for floats, truncated toward zero
/// for integers, compared with 0 for booleans.
void setElement(Tensor &tensor, uint64_t index, double value);
/// Returns element `index` as text: integers exactly, floats with `digits` significant digits.
std::string elementText(const Tensor &tensor, uint64_t index, int digits = 6);

/// Converts the position of an element in the row-major order to its index in each dimension.
std::vector<int64_t> unflatten(uint64_t index, std::span<const int64_t> dims);

/// Returns a shape as text: "1x3x224x224"; "scalar" for rank 0; a dynamic dimension by name, or
/// "?".
std::string shapeText(std::span<const int64_t> dims, const char *const *names = nullptr);
/// Returns an index as text: "[0, 3, 5]".
std::string indexText(std::span<const int64_t> index);
/// Parses "1x3x224x224" or "1,3,224,224", and "scalar" or "" for rank 0. Returns nothing for other
/// text.
std::optional<std::vector<int64_t>> parseShape(std::string_view text);

} // namespace gantry::tool
