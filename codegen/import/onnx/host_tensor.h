// Element types, and tensors whose contents are known while importing.
//
// A HostTensor is immutable: a dense little-endian array in row-major order, or a splat (one
// element for the whole shape, however large: models of hundreds of megabytes of equal weights cost
// nothing). Booleans take one byte each. The bytes belong to `owner` (a protobuf message, a mapped
// file, or a buffer of our own); copies of the struct share them. Threads: immutable after
// construction.
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

/// The first thirteen have the numbers of gantry_type_t. Index is MLIR's index, in bodies alone.
enum class DType : uint8_t {
  F32,
  F16,
  F64,
  BF16,
  I8,
  U8,
  I16,
  U16,
  I32,
  U32,
  I64,
  U64,
  Bool,
  Index
};

uint64_t dtypeSize(DType type);        // bytes; Index is 8
llvm::StringRef dtypeName(DType type); // "f32"
bool isFloat(DType type);
bool isHalf(DType type);     // f16, bf16
bool isUnsigned(DType type); // Bool included
/// The signless MLIR type.
mlir::Type mlirType(mlir::MLIRContext *context, DType type);
/// From ONNX's TensorProto.DataType; fails (unsupported) for strings, complex and 8-bit floats.
DType dtypeFromOnnx(int onnxType);

/// A number of either kind; which one is known from the element type.
union Number {
  double f;
  int64_t i = 0;
};

Number loadElement(DType type, const uint8_t *at);
void storeElement(DType type, uint8_t *at, Number value);
/// Rounds to the precision (or wraps to the width) of the type.
Number roundTo(DType type, Number value);

/// Why folded integers are not what their arithmetic says: a sum wrapped, a divisor was 0.
struct Inexact {
  std::string message, node;
};

struct HostTensor {
  DType type = DType::F32;
  llvm::SmallVector<int64_t, 4> dims;
  bool splat = false;
  /// Only its shape counts: becomes tensor.empty, carries a pool's window extents.
  bool window = false;
  llvm::ArrayRef<uint8_t> bytes; // one element when splat
  std::shared_ptr<const void> owner;
  std::string name; // the model's own, may be empty
  /// Set where an element, or one that it was made of, is inexact. As data it is right, since
  /// devices wrap too; as a shape it is refused.
  std::shared_ptr<const Inexact> inexact;

  int64_t elementCount() const;
  Number at(int64_t linearIndex) const;
  double floatAt(int64_t linearIndex) const; // converts integers
  int64_t intAt(int64_t linearIndex) const;  // truncates floats
};
using Constant = std::shared_ptr<const HostTensor>;

/// Product of dims; fails (bad input) on negative ones and on overflow of 2^62.
int64_t checkedCount(llvm::ArrayRef<int64_t> dims);

/// A zeroed dense tensor and where to write its bytes.
std::shared_ptr<HostTensor> makeDense(DType type, llvm::ArrayRef<int64_t> dims, uint8_t *&data);
Constant makeSplat(DType type, llvm::ArrayRef<int64_t> dims, Number value);
Constant makeInts(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> values);
Constant makeFloats(DType type, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<double> values);

// ---- data movement on known tensors; splats stay splats -----------------------------------------

Constant reshaped(const Constant &in, llvm::ArrayRef<int64_t> dims);
/// The result's element at index (i0, i1, ...) is the input's at linear position
/// base + sum(i_k * strides_k). Copies any size.
Constant gathered(const Constant &in, llvm::ArrayRef<int64_t> dims, int64_t base,
                  llvm::ArrayRef<int64_t> strides);
Constant concatenated(llvm::ArrayRef<Constant> parts, int64_t axis);
Constant padded(const Constant &in, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                Number value);
/// Row-major strides in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> dims);

} // namespace gantry::importer
