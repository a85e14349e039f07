// HostTensor: a tensor whose elements are known while the model is imported; and the element types.
//
// A HostTensor is a dense little-endian array in row-major order, or a splat, which stores the
// value of all its equal elements once. Booleans take one byte each. `owner` (a protobuf message, a
// mapped file, or an allocated buffer) keeps the bytes alive; copies of the struct share them.
// Functions that fail throw ImportError (import_error.h), whose kind the comments below name (bad
// input or unsupported). Thread safety: immutable after construction.
#pragma once

#include "codegen/import/onnx/import_error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
class Type;
} // namespace mlir

namespace gantry::importer {

/// Element types. The first thirteen have the values of gantry_type_t (gantry/gantry.h). kIndex is
/// MLIR's index type; it occurs only in the bodies of operations.
enum class DType : uint8_t {
  kF32,
  kF16,
  kF64,
  kBF16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool,
  kIndex
};

/// Returns the size of an element in bytes; 8 for kIndex.
uint64_t dtypeSize(DType type);
/// Returns the name: "f32", "u8", "bool".
llvm::StringRef dtypeName(DType type);
bool isFloat(DType type);
/// Returns whether the type is f16 or bf16.
bool isHalf(DType type);
/// Returns whether the type is an unsigned integer or bool.
bool isUnsigned(DType type);
/// Returns the MLIR type, which is signless for integers.
mlir::Type mlirType(mlir::MLIRContext *context, DType type);
/// Returns the type for a value of ONNX's TensorProto.DataType. Fails as unsupported for strings,
/// complex numbers, 8-bit floats and 4-bit types, and as bad input for other numbers.
DType dtypeFromOnnx(int onnxType);

/// A number of any element type: `f` for floats, `i` for integers and booleans.
union Number {
  double f;
  int64_t i = 0;
};

/// Returns `value` as a Number for elements of the type; truncated for integers.
Number numberOf(DType type, double value);
/// Reads an element; unsigned integers are zero-extended, signed ones sign-extended.
Number loadElement(DType type, const uint8_t *at);
/// Writes an element, rounded to the precision (or wrapped to the width) of the type.
void storeElement(DType type, uint8_t *at, Number value);
/// Rounds to the precision (or wraps to the width) of the type.
Number roundTo(DType type, Number value);

/// Why an integer that was computed during the import differs from the mathematical result: an
/// overflow or a division by zero.
struct Inexact {
  std::string message; // For the user. For an overflow, it has the operation and its operands.
  std::string node;    // The ONNX node; empty until the importer sets it.
};

struct HostTensor {
  DType type = DType::kF32;
  llvm::SmallVector<int64_t, 4> dims;
  bool splat = false;
  /// Whether the tensor only carries a shape (the extents of a pooling window) and its elements are
  /// never read. Such a tensor becomes a tensor.empty.
  bool window = false;
  llvm::ArrayRef<uint8_t> bytes; // One element for a splat.
  std::shared_ptr<const void> owner;
  std::string name; // The name in the model; may be empty.
  /// Set if an element was computed with an overflow or a division by zero. Such a tensor is valid
  /// as data, because devices wrap too. As a shape it is refused (ImportContext::requireExact).
  std::shared_ptr<const Inexact> inexact;

  int64_t elementCount() const;
  Number at(int64_t linearIndex) const;
  /// Returns the element as a double; integers are converted.
  double floatAt(int64_t linearIndex) const;
  /// Returns the element as an integer; floats are truncated. Fails (bad input) for a float that
  /// does not fit 64 bits.
  int64_t intAt(int64_t linearIndex) const;
};
using Constant = std::shared_ptr<const HostTensor>;

/// Returns the product of dims. Fails (bad input) if a dimension is negative, or if the product of
/// the dimensions other than 0 exceeds 2^62.
int64_t checkedCount(llvm::ArrayRef<int64_t> dims);

/// Makes a dense tensor of zeros. Sets `data` to its bytes, which the caller may write until it
/// shares the tensor. Fails (bad input) above 64 GiB.
std::shared_ptr<HostTensor> makeDense(DType type, llvm::ArrayRef<int64_t> dims, uint8_t *&data);
Constant makeSplat(DType type, llvm::ArrayRef<int64_t> dims, Number value);
Constant makeInts(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values);
Constant makeFloats(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<double> values);

// ---- Moving elements ---------------------------------------------------------------------------
// A splat stays a splat if all elements of the result have the same value, except in padded().

Constant reshaped(const Constant &in, llvm::ArrayRef<int64_t> dims);
/// Returns a tensor whose element at index (i0, i1, ...) is the input's element at the linear
/// position base + sum(i_k * strides_k).
Constant gathered(const Constant &in, llvm::ArrayRef<int64_t> dims, int64_t base,
                  llvm::ArrayRef<int64_t> strides);
/// Joins tensors of one type along an axis.
Constant concatenated(llvm::ArrayRef<Constant> parts, int64_t axis);
/// Adds low[k] elements of `value` before and high[k] after the elements along axis k.
Constant padded(const Constant &in, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                Number value);
/// Returns the strides of row-major order in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> dims);

} // namespace gantry::importer
