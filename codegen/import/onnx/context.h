// What an operator's importer works with: the values known so far, and builders for tensors.
//
// A Tensor is an ONNX value while importing: its element type and dims, and one of
//   - a constant (known contents; becomes arith.constant only where an operation needs it),
//   - content (at most 64 integers, or floats holding integers, known as expressions over the
//     dynamic dimensions, row-major: what Shape gives, and what shape arithmetic makes of it),
//   - an SSA value.
// Every builder folds: where all operands are constants it returns a constant (codegen/import/onnx/
// evaluate.h does the arithmetic), so an operator's importer is written once for both cases.
//
// Importers are functions void(ImportContext &, const Node &). They read inputs, build, and set
// outputs; they fail by throwing (import_error.h).
// Threads: as the MLIRContext.
#pragma once

#include "codegen/import/onnx/body.h"
#include "codegen/import/onnx/node.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

#include <map>

namespace gantry::importer {

struct Tensor {
  DType type = DType::F32;
  Dims dims;
  mlir::Value value;
  Constant constant;
  std::optional<llvm::SmallVector<Dim>> content;

  bool isConstant() const { return constant != nullptr; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
};

/// An input of a generic with how the loops index it. The map has one dim per loop, no symbols.
struct Operand {
  Tensor tensor;
  mlir::AffineMap map;
};

/// One linalg.generic with one result.
struct GenericSpec {
  llvm::SmallVector<Operand> inputs;
  llvm::SmallVector<Tensor> captured; // read by BodyBuilder::extract
  llvm::SmallVector<bool> reduction;  // per loop
  DType resultType = DType::F32;
  Dims resultDims;
  mlir::AffineMap resultMap;  // null: the identity
  std::optional<Number> init; // reductions: the result's value before the first iteration
  bool usesDims = false;      // the body asks for a dynamic dimension: nothing to fold
  /// Constant operands stay constants: folding would only make them larger (weights that are
  /// dequantised). No effect where everything folds.
  bool keepsConstants = false;
  /// Builds the body: the inputs' elements, and the result so far (reductions alone). 16-bit floats
  /// are how tensors are stored, never what is computed with: the body gets them as f32, sums in
  /// f32, and what it yields is rounded once.
  std::function<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>, Scalar)> body;
};

class ImportContext {
public:
  ImportContext(mlir::MLIRContext *context, mlir::Block *entry, bool foldEverything);

  mlir::MLIRContext *mlirContext() const { return context_; }

  // ---- values by their ONNX names --------------------------------------------------------------
  Tensor input(const Node &node, size_t index) const; // fails where it is absent
  std::optional<Tensor> optionalInput(const Node &node, size_t index) const;
  /// Fails where folding the tensor wrapped or divided by zero: a shape must be what it says.
  void requireExact(const Tensor &tensor) const;
  /// Contents of an input that must be known now; fails (unsupported) naming `what`.
  Constant constantInput(const Node &node, size_t index, llvm::StringRef what) const;
  llvm::SmallVector<int64_t> intsInput(const Node &node, size_t index, llvm::StringRef what) const;
  /// The same as expressions: shapes, starts, repeats.
  llvm::SmallVector<Dim> dimsInput(const Node &node, size_t index, llvm::StringRef what) const;
  void setOutput(const Node &node, size_t index, Tensor tensor);
  void define(llvm::StringRef name, Tensor tensor);
  const Tensor *lookup(llvm::StringRef name) const;

  /// Set by the driver before each node; locations of everything built.
  void setLocation(mlir::Location loc) { loc_ = loc; }
  mlir::Location location() const { return loc_; }

  // ---- tensors ---------------------------------------------------------------------------------
  Tensor fromConstant(const Constant &constant) const;
  Tensor fromContent(DType type, llvm::ArrayRef<Dim> content, llvm::ArrayRef<int64_t> dims) const;
  Tensor fromContent(DType type, llvm::ArrayRef<Dim> content, bool scalar) const; // or a list
  Tensor scalar(DType type, double value) const;
  Tensor window(llvm::ArrayRef<int64_t> dims, DType type) const;
  /// The SSA value; a constant is made at the function's start, once.
  mlir::Value valueOf(const Tensor &tensor);
  mlir::RankedTensorType tensorType(DType type, llvm::ArrayRef<Dim> dims) const;
  /// A dimension as an index value, computed once at the function's start.
  mlir::Value dimValue(Dim dim);
  mlir::OpFoldResult foldedDim(Dim dim);
  /// A new symbol, which stands for dimension `dim` of the argument `argument`.
  Dim addSymbol(mlir::Value argument, int64_t dim);
  /// Records what the model assumes of its dynamic dimensions: that an expression is at least 0.
  /// Over one symbol it becomes a bound of it; over several a requirement to check at run time.
  /// Fails (bad input) where no size meets it.
  void requireNonNegative(Dim dim);
  /// The same for two dimensions that must agree: the static one, else the first, is returned. Two
  /// plain symbols become one by name.
  Dim requireEqual(Dim a, Dim b);
  struct Bounds {
    int64_t least = 1, most = 0; // 0: none
  };
  const std::map<unsigned, Bounds> &dimBounds() const { return bounds_; }
  const llvm::SmallVector<Dim> &requirements() const { return requirements_; }
  /// The symbol whose name a symbol shares.
  unsigned representative(unsigned symbol) const;

  // ---- builders --------------------------------------------------------------------------------
  Tensor generic(const GenericSpec &spec);
  using ElementBody = llvm::function_ref<Scalar(BodyBuilder &, llvm::ArrayRef<Scalar>)>;
  /// NumPy broadcasting over all operands.
  Tensor elementwise(llvm::ArrayRef<Tensor> operands, DType resultType, ElementBody body);
  /// Reduces the axes (sorted, distinct, non-negative) starting from init.
  Tensor reduce(const Tensor &in, llvm::ArrayRef<int64_t> axes, bool keepDims, DType resultType,
                Number init,
                llvm::function_ref<Scalar(BodyBuilder &, Scalar element, Scalar accumulator)> body);
  Tensor cast(const Tensor &in, DType to);
  /// A Cast of the model, whose rounding is kept whatever it is fused with (rounding.h).
  Tensor castByModel(const Tensor &in, DType to);
  Tensor transpose(const Tensor &in, llvm::ArrayRef<int64_t> permutation);
  Tensor reshape(const Tensor &in, llvm::ArrayRef<Dim> dims);
  Tensor broadcastTo(const Tensor &in, llvm::ArrayRef<Dim> dims);
  /// steps may be negative; size_k elements are taken from start_k.
  Tensor slice(const Tensor &in, llvm::ArrayRef<Dim> starts, llvm::ArrayRef<Dim> sizes,
               llvm::ArrayRef<int64_t> steps);
  Tensor concat(llvm::ArrayRef<Tensor> parts, int64_t axis);
  Tensor pad(const Tensor &in, llvm::ArrayRef<Dim> low, llvm::ArrayRef<Dim> high, Number value);
  Dims broadcastDims(llvm::ArrayRef<Tensor> operands);

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
  mlir::Value emptyTensor(DType type, llvm::ArrayRef<Dim> dims);
  bool mayFold(const GenericSpec &spec) const;
  Tensor fold(const GenericSpec &spec);
  Tensor emit(const GenericSpec &spec, llvm::function_ref<mlir::Value(const Tensor &)> valueFor,
              bool folding);
  mlir::Value constantValue(const Constant &constant);
  Tensor result(DType type, llvm::ArrayRef<Dim> dims, mlir::Value value) const;

  mlir::MLIRContext *context_;
  mlir::Block *entry_;
  mlir::OpBuilder builder_; // at the end of the entry block
  mlir::Location loc_;
  Tensor convert(const Tensor &in, DType to, bool rounds);

  bool foldEverything_;
  mlir::Operation *lastHeader_ = nullptr; // constants, tensor.dim and affine.apply stand up to here
  llvm::StringMap<Tensor> values_;
  std::map<const HostTensor *, std::pair<Constant, mlir::Value>> constants_;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> dimValues_;
  llvm::SmallVector<mlir::Value> symbols_;
  std::map<unsigned, Bounds> bounds_;
  std::map<unsigned, unsigned> sameAs_;
  llvm::SmallVector<Dim> requirements_;
};

/// A non-negative axis; fails (bad input) where it is outside of the rank.
int64_t normalizeAxis(int64_t axis, int64_t rank);
/// Sorted, distinct, non-negative.
llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

} // namespace gantry::importer
