// HostTensor: a tensor whose elements are known while importing; and the element types.
//
// A HostTensor is a dense little-endian array in row-major order, or a splat: one element that
// stands for a whole shape, at no cost in memory. Booleans take one byte each. The bytes belong to
// `owner` (a protobuf message, a mapped file, or an allocated buffer); copies of the struct share
// them. Functions that fail throw ImportError (import_error.h).
// Thread safety: immutable after construction.
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

/// The size of an element in bytes; 8 for kIndex.
uint64_t dtypeSize(DType type);
/// The name as in "f32", "u8", "bool".
llvm::StringRef dtypeName(DType type);
bool isFloat(DType type);
/// Returns whether the type is f16 or bf16.
bool isHalf(DType type);
/// Returns whether the type is an unsigned integer or bool.
bool isUnsigned(DType type);
/// The MLIR type, which is signless for integers.
mlir::Type mlirType(mlir::MLIRContext *context, DType type);
/// The type for ONNX's TensorProto.DataType. Fails (unsupported) for strings, complex numbers,
/// 8-bit floats and 4-bit types.
DType dtypeFromOnnx(int onnxType);

/// A number of any element type: `f` for floats, `i` for integers and booleans.
union Number {
  double f;
  int64_t i = 0;
};

/// `value` as an element of the type; truncated for integers.
Number numberOf(DType type, double value);
/// Reads an element; unsigned integers are zero-extended, others sign-extended.
Number loadElement(DType type, const uint8_t *at);
void storeElement(DType type, uint8_t *at, Number value);
/// Rounds to the precision (or wraps to the width) of the type.
Number roundTo(DType type, Number value);

/// Why a folded integer is not the mathematical result: a sum wrapped, or a divisor was 0.
struct Inexact {
  std::string message; // For the user, with the operation and its operands.
  std::string node;    // The ONNX node; empty until the importer fills it in.
};

struct HostTensor {
  DType type = DType::kF32;
  llvm::SmallVector<int64_t, 4> dims;
  bool splat = false;
  /// Set where only the shape matters (the extents of a pooling window). Such a tensor becomes a
  /// tensor.empty.
  bool window = false;
  llvm::ArrayRef<uint8_t> bytes; // One element for a splat.
  std::shared_ptr<const void> owner;
  std::string name; // The name in the model; may be empty.
  /// Set where an element, or a value that it was computed from, is inexact. As data the tensor is
  /// right, because devices wrap too; as a shape it is refused (ImportContext::requireExact).
  std::shared_ptr<const Inexact> inexact;

  int64_t elementCount() const;
  Number at(int64_t linearIndex) const;
  /// The element as a double; integers are converted.
  double floatAt(int64_t linearIndex) const;
  /// The element as an integer; floats are truncated. Fails (bad input) outside of 64 bits.
  int64_t intAt(int64_t linearIndex) const;
};
using Constant = std::shared_ptr<const HostTensor>;

/// The product of dims. Fails (bad input) on a negative dimension and above 2^62.
int64_t checkedCount(llvm::ArrayRef<int64_t> dims);

/// Makes a dense tensor of zeros and sets `data` to its bytes, which may be written until the
/// tensor is shared. Fails (bad input) above 64 GiB.
std::shared_ptr<HostTensor> makeDense(DType type, llvm::ArrayRef<int64_t> dims, uint8_t *&data);
Constant makeSplat(DType type, llvm::ArrayRef<int64_t> dims, Number value);
Constant makeInts(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values);
Constant makeFloats(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<double> values);

// ---- moving elements; a splat stays a splat where the result has one value ----------------------

Constant reshaped(const Constant &in, llvm::ArrayRef<int64_t> dims);
/// The result's element at index (i0, i1, ...) is the input's at linear position
/// base + sum(i_k * strides_k).
Constant gathered(const Constant &in, llvm::ArrayRef<int64_t> dims, int64_t base,
                  llvm::ArrayRef<int64_t> strides);
/// Joins tensors of one type along an axis.
Constant concatenated(llvm::ArrayRef<Constant> parts, int64_t axis);
/// Adds low[k] elements of `value` before axis k and high[k] behind it.
Constant padded(const Constant &in, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                Number value);
/// Row-major strides in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> dims);

} // namespace gantry::importer
