// ImportContext: the state of one import, as an operator's importer sees it.
//
// The context holds the values known so far by their ONNX names, the place where operations are
// built, and the builders for elementwise operations and reductions. Builders that move data are in
// move_data.h. Every builder folds: where all operands are constants, it returns a constant
// (generic.h), so an importer is written once for computed and for constant inputs.
//
// An importer is a function void(ImportContext &, const Node &). It reads its inputs, builds, and
// sets its outputs. It fails by throwing (import_error.h).
// Thread safety: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/dim_constraints.h"
#include "codegen/import/onnx/function_header.h"
#include "codegen/import/onnx/generic.h"
#include "codegen/import/onnx/node.h"

#include "llvm/ADT/StringMap.h"

namespace gantry::importer {

class ImportContext {
public:
  /// `entry` is the entry block of @main. With foldEverything, constants are folded without a limit
  /// on the work (tests evaluate whole models).
  ImportContext(mlir::MLIRContext *context, mlir::Block *entry, bool foldEverything);

  // ---- values by their ONNX names --------------------------------------------------------------

  /// Returns an input of the node. Fails (bad input) where it is absent or not yet defined.
  Tensor input(const Node &node, size_t index) const;
  std::optional<Tensor> optionalInput(const Node &node, size_t index) const;
  /// Fails (bad input) where folding the tensor overflowed or divided by zero. Called for values
  /// that are used as shapes, which must be exact.
  void requireExact(const Tensor &tensor) const;
  /// Returns the contents of an input that must be constant. Fails (unsupported) where it is
  /// computed; `what` names the input in the message, for example "the axes".
  Constant constantInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// The same for a list of at most 4,096 integers.
  llvm::SmallVector<int64_t> intsInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// The same for a scalar or list whose elements may be expressions over dynamic dimensions:
  /// shapes, starts, repeats.
  llvm::SmallVector<Dim> dimsInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// Defines an output under its name. An absent output is ignored.
  void setOutput(const Node &node, size_t index, Tensor tensor);
  void define(llvm::StringRef name, Tensor tensor);
  /// Returns null where no value has this name yet.
  const Tensor *lookup(llvm::StringRef name) const;

  // ---- where operations are built --------------------------------------------------------------

  /// The location of everything that is built from now on; set before each node.
  void setLocation(mlir::Location loc) { loc_ = loc; }
  mlir::Location location() const { return loc_; }
  mlir::MLIRContext *mlirContext() const { return context_; }
  /// Inserts at the end of the function, or into a scratch block while folding.
  mlir::OpBuilder &builder() { return builder_; }
  FunctionHeader &header() { return header_; }
  DimConstraints &constraints() { return constraints_; }
  bool foldsEverything() const { return foldEverything_; }

  // ---- tensors ---------------------------------------------------------------------------------

  Tensor fromConstant(const Constant &constant) const;
  Tensor fromContent(DType type, llvm::ArrayRef<Dim> content, llvm::ArrayRef<int64_t> dims) const;
  /// The same as a scalar, or otherwise as a list.
  Tensor fromContent(DType type, llvm::ArrayRef<Dim> content, bool scalar) const;
  Tensor fromValue(DType type, llvm::ArrayRef<Dim> dims, mlir::Value value) const;
  Tensor scalar(DType type, double value) const;
  /// An operand that carries only a shape: the extents of a pooling window. Its elements are never
  /// read, and it becomes a tensor.empty.
  Tensor window(llvm::ArrayRef<int64_t> dims, DType type) const;
  /// Returns the tensor as an SSA value; a constant is built once, in the function's header.
  mlir::Value valueOf(const Tensor &tensor);
  /// Fails where the rank is above 8 (unsupported) or the size exceeds 2^60 bytes (bad input).
  mlir::RankedTensorType tensorType(DType type, llvm::ArrayRef<Dim> dims) const;
  mlir::Value emptyTensor(DType type, llvm::ArrayRef<Dim> dims);
  mlir::Value scalarValue(DType type, Number value);
  /// A dimension as an SSA value of type index, computed in the function's header.
  mlir::Value dimValue(Dim dim) { return header_.dimValue(dim, loc_); }
  /// The same, as an attribute where the dimension is static.
  mlir::OpFoldResult foldedDim(Dim dim);

  // ---- builders --------------------------------------------------------------------------------

  Tensor generic(const GenericSpec &spec) { return buildGeneric(*this, spec); }
  using ElementBody = llvm::function_ref<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)>;
  /// One operation on each element, with NumPy's broadcasting over all operands.
  Tensor elementwise(llvm::ArrayRef<Tensor> operands, DType resultType, ElementBody body);
  /// Reduces the axes (sorted, distinct, not negative), starting from init.
  Tensor reduce(const Tensor &in, llvm::ArrayRef<int64_t> axes, bool keepDims, DType resultType,
                Number init,
                llvm::function_ref<Scalar(BodyBuilder &, Scalar element, Scalar accumulator)> body);
  /// Converts the element type; a float that does not fit an integer saturates, and NaN gives 0.
  Tensor cast(const Tensor &in, DType to);
  /// A Cast that the model contains. Its rounding is kept when it is fused (dialect/rounding.h).
  Tensor castByModel(const Tensor &in, DType to);
  /// The dimensions to which NumPy broadcasts the operands. Fails (bad input) where they do not
  /// fit.
  Dims broadcastDims(llvm::ArrayRef<Tensor> operands);

  // Affine expressions and maps for GenericSpec.
  mlir::AffineExpr loop(unsigned position) const {
    return mlir::getAffineDimExpr(position, context_);
  }
  mlir::AffineExpr number(int64_t value) const {
    return mlir::getAffineConstantExpr(value, context_);
  }
  mlir::AffineMap map(unsigned loops, llvm::ArrayRef<mlir::AffineExpr> results) const {
    return mlir::AffineMap::get(loops, 0, results, context_);
  }

private:
  Tensor contentValue(const Tensor &tensor);
  Tensor convert(const Tensor &in, DType to, bool keepsRounding);

  mlir::MLIRContext *context_;
  mlir::OpBuilder builder_;
  mlir::Location loc_;
  bool foldEverything_;
  FunctionHeader header_;
  DimConstraints constraints_;
  llvm::StringMap<Tensor> values_;
};

/// Returns the axis counted from the front. Fails (bad input) where it is outside of the rank.
int64_t normalizeAxis(int64_t axis, int64_t rank);
/// The same for several axes, sorted. Fails (bad input) where one is given twice.
llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

} // namespace gantry::importer
