// ImportContext: the state of one import that the importers of operators use.
//
// The context maps ONNX names to the values that are defined so far. It also holds the insertion
// point for operations, and has functions ("builders") that build elementwise operations and
// reductions. Builders that move data are in move_data.h. Every builder folds constants: if all
// operands are constants and computing the result does not take too long (generic.h), it returns a
// constant. Therefore one importer serves both computed and constant inputs.
//
// An importer is a function void(ImportContext &, const Node &). It reads its inputs, builds
// operations, and sets its outputs. It fails by throwing ImportError (import_error.h). "Fails (bad
// input)" and "Fails (unsupported)" below name the kind of this error. Thread safety: one thread at
// a time.
#pragma once

#include "codegen/import/onnx/dim_constraints.h"
#include "codegen/import/onnx/function_header.h"
#include "codegen/import/onnx/generic.h"
#include "codegen/import/onnx/node.h"

#include "llvm/ADT/StringMap.h"

namespace gantry::importer {

class ImportContext {
public:
  /// `entry` is the entry block of @main. If foldEverything is true, constants are folded whatever
  /// the amount of work, so that tests can evaluate whole models. savesMemory: whether operators
  /// are imported in the way that needs the least memory (ImportOptions::savesMemory in import.h).
  ImportContext(mlir::MLIRContext *context, mlir::Block *entry, bool foldEverything,
                bool savesMemory);

  // ---- values by their ONNX names --------------------------------------------------------------

  /// Returns an input of the node. Fails (bad input) if it is absent or not yet defined.
  Tensor input(const Node &node, size_t index) const;
  /// Returns nothing if the input is absent. Fails (bad input) if it is not yet defined.
  std::optional<Tensor> optionalInput(const Node &node, size_t index) const;
  /// Fails (bad input) if the tensor is a constant whose computation overflowed or divided by zero.
  /// Called for values that are used as shapes, which must be exact.
  void requireExact(const Tensor &tensor) const;
  /// Returns the contents of an input that must be constant and exact. Fails (unsupported) if the
  /// input is computed at run time; `what` names it in the message, for example "the axes".
  Constant constantInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// Returns a constant input that is a scalar or a list of at most 4,096 numbers, as integers.
  llvm::SmallVector<int64_t> intsInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// Returns an input that is a scalar or a list whose elements may be expressions over dynamic
  /// dimensions, such as the shape of Reshape, the starts of Slice or the repeats of Tile. Fails
  /// (unsupported) if an element depends on the contents of tensors.
  llvm::SmallVector<Dim> dimsInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// Defines an output of the node under its name, unless the node does not have this output.
  void setOutput(const Node &node, size_t index, Tensor tensor);
  void define(llvm::StringRef name, Tensor tensor);
  /// Returns the value with this name, or null if it is not yet defined.
  const Tensor *lookup(llvm::StringRef name) const;

  // ---- locations and insertion points ----------------------------------------------------------

  /// Sets the location of all operations that are built from now on. Called before each node.
  void setLocation(mlir::Location loc) { loc_ = loc; }
  mlir::Location location() const { return loc_; }
  mlir::MLIRContext *mlirContext() const { return context_; }
  /// The builder inserts at the end of the function, or into a temporary block while generic()
  /// folds an operation.
  mlir::OpBuilder &builder() { return builder_; }
  FunctionHeader &header() { return header_; }
  DimConstraints &constraints() { return constraints_; }
  bool foldsEverything() const { return foldEverything_; }
  bool savesMemory() const { return savesMemory_; }

  // ---- tensors ---------------------------------------------------------------------------------

  Tensor fromConstant(const Constant &constant) const;
  /// Returns a tensor of the shape `dims` whose elements are the expressions `content`, in
  /// row-major order (Tensor::content).
  Tensor fromContent(DType type, llvm::ArrayRef<Dim> content, llvm::ArrayRef<int64_t> dims) const;
  /// The same for a scalar (rank 0) or, if `scalar` is false, for a list (rank 1).
  Tensor fromContent(DType type, llvm::ArrayRef<Dim> content, bool scalar) const;
  Tensor fromValue(DType type, llvm::ArrayRef<Dim> dims, mlir::Value value) const;
  Tensor scalar(DType type, double value) const;
  /// Returns an operand that only gives the loops over a window's elements their ranges: its shape
  /// is that of the window. Its elements are never read, and it becomes a tensor.empty.
  Tensor window(llvm::ArrayRef<int64_t> dims, DType type) const;
  /// Returns the tensor as an SSA value; a constant is built once, in the function's header
  /// (function_header.h).
  mlir::Value valueOf(const Tensor &tensor);
  /// Returns the MLIR type. Fails if the rank is above 8 (unsupported) or the static dimensions
  /// alone give more than 2^60 bytes (bad input).
  mlir::RankedTensorType tensorType(DType type, llvm::ArrayRef<Dim> dims) const;
  mlir::Value emptyTensor(DType type, llvm::ArrayRef<Dim> dims);
  mlir::Value scalarValue(DType type, Number value);
  /// Returns a dimension as an SSA value of type index, computed in the function's header.
  mlir::Value dimValue(Dim dim) { return header_.dimValue(dim, loc_); }
  /// Returns a static dimension as an attribute, and a dynamic one as dimValue() does.
  mlir::OpFoldResult foldedDim(Dim dim);

  // ---- builders --------------------------------------------------------------------------------

  Tensor generic(const GenericSpec &spec) { return buildGeneric(*this, spec); }
  using ElementBody = llvm::function_ref<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)>;
  /// Computes `body` for each element, with NumPy's broadcasting over all operands.
  Tensor elementwise(llvm::ArrayRef<Tensor> operands, DType resultType, ElementBody body);
  /// Reduces `in` along the axes (sorted, distinct, not negative), starting from init.
  Tensor reduce(const Tensor &in, llvm::ArrayRef<int64_t> axes, bool keepDims, DType resultType,
                Number init,
                llvm::function_ref<Scalar(BodyBuilder &, Scalar element, Scalar accumulator)> body);
  /// Converts the element type. A float that does not fit an integer saturates, and NaN gives 0.
  Tensor cast(const Tensor &in, DType to);
  /// Converts the element type for a Cast that the model contains. Passes that fuse it with other
  /// operations must keep its rounding (codegen/dialect/rounding.h).
  Tensor castByModel(const Tensor &in, DType to);
  /// Returns the dimensions to which NumPy broadcasts the operands. Fails (bad input) if they do
  /// not broadcast.
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
  bool foldEverything_, savesMemory_;
  FunctionHeader header_;
  DimConstraints constraints_;
  llvm::StringMap<Tensor> values_;
};

/// Returns the axis counted from the front; a negative axis counts from the end. Fails (bad input)
/// if the tensor has no such axis.
int64_t normalizeAxis(int64_t axis, int64_t rank);
/// The same for several axes, which are returned sorted. Fails (bad input) if one is given twice.
llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

} // namespace gantry::importer
