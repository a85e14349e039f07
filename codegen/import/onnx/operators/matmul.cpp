// Implements matmul.h, and imports MatMul and Gemm. A matmul is one linalg.generic over the loops
// (batch..., m, n, k).
#include "codegen/import/onnx/operators/matmul.h"

#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/registry.h"

namespace gantry::importer {

namespace {

Scalar multiplyAdd(BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar sum) {
  return b.add(sum, b.mul(x[0], x[1]));
}

void checkTypes(const Tensor &x, const Tensor &y) {
  if (x.type != y.type)
    failBadInput("its operands must have the same type, but are " + dtypeName(x.type) + " and " +
                 dtypeName(y.type));
}

void checkContraction(ImportContext &import, Dim a, Dim b, const Tensor &x, const Tensor &y) {
  if (a != b && staticDim(a) && staticDim(b))
    failBadInput("the shapes " + describeDims(x.dims) + " and " + describeDims(y.dims) +
                 " cannot be multiplied: " + llvm::Twine(*staticDim(a)) + " and " +
                 llvm::Twine(*staticDim(b)) + " differ");
  import.constraints().requireEqual(a, b);
}

} // namespace

Tensor multiplyMatrices(ImportContext &import, const Tensor &a, const Tensor &b,
                        const MatrixSum &sum) {
  if (a.rank() == 0 || b.rank() == 0)
    failBadInput("an operand of the matmul is a scalar; it must have a rank of at least 1");
  const bool aVector = a.rank() == 1, bVector = b.rank() == 1;
  checkContraction(import, a.dims.back(), bVector ? b.dims[0] : b.dims[b.rank() - 2], a, b);
  Tensor aBatch, bBatch;
  aBatch.dims.assign(a.dims.begin(), a.dims.end() - (aVector ? 1 : 2));
  bBatch.dims.assign(b.dims.begin(), b.dims.end() - (bVector ? 1 : 2));
  Dims batch = import.broadcastDims({aBatch, bBatch});
  // Loops: batch..., m unless a is a vector, n unless b is a vector, k.
  const unsigned rows = batch.size(), columns = rows + !aVector, inner = columns + !bVector;
  const unsigned loops = inner + 1;
  GenericSpec spec;
  spec.reduction.assign(loops, false);
  spec.reduction[inner] = true;
  auto batchExprs = [&](const Dims &dims) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (size_t i = 0; i < dims.size(); ++i) {
      unsigned at = batch.size() - dims.size() + i;
      bool repeated = isStaticOne(dims[i]) && !isStaticOne(batch[at]);
      exprs.push_back(repeated ? import.number(0) : import.loop(at));
    }
    return exprs;
  };
  auto aExprs = batchExprs(aBatch.dims), bExprs = batchExprs(bBatch.dims);
  spec.resultDims = batch;
  if (!aVector) {
    aExprs.push_back(import.loop(rows));
    spec.resultDims.push_back(a.dims[a.rank() - 2]);
  }
  aExprs.push_back(import.loop(inner));
  bExprs.push_back(import.loop(inner));
  if (!bVector) {
    bExprs.push_back(import.loop(columns));
    spec.resultDims.push_back(b.dims.back());
  }
  llvm::SmallVector<mlir::AffineExpr> results;
  for (unsigned i = 0; i < inner; ++i)
    results.push_back(import.loop(i));
  spec.resultType = sum.resultType;
  spec.resultMap = import.map(loops, results);
  spec.init = numberOf(sum.resultType, 0);
  spec.inputs.push_back({a, import.map(loops, aExprs)});
  spec.inputs.push_back({b, import.map(loops, bExprs)});
  // Adds a parameter (MatrixSum::ofA or ofB) as an operand. A parameter of a has one value per row,
  // and a parameter of b one value per column. Before the dimension of the rows or columns, both
  // may have the dimensions of the batch.
  auto addParameter = [&](const std::optional<Tensor> &parameter, bool ofA) {
    if (!parameter)
      return;
    const unsigned own = ofA ? !aVector : !bVector;
    const unsigned at = ofA ? rows : columns;
    Tensor laid = *parameter;
    const unsigned batched = laid.rank() > 1 ? laid.rank() - 2 : 0;
    if (laid.rank() > 1) // [..., M, 1] for a, [..., 1, N] for b
      laid.dims.erase(laid.dims.end() - (ofA ? 1 : 2));
    laid = reshape(import, *parameter, laid.dims);
    if (batched > batch.size() || laid.rank() > batched + own)
      failBadInput("a zero point has the shape " + describeDims(parameter->dims) +
                   " for the result " + describeDims(spec.resultDims) +
                   "; it needs one value for each " + (ofA ? "row of A" : "column of B"));
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (unsigned i = 0; i < laid.rank(); ++i) {
      const unsigned loop = i < batched ? batch.size() - batched + i : at;
      exprs.push_back(isStaticOne(laid.dims[i]) ? import.number(0) : import.loop(loop));
    }
    spec.inputs.push_back({laid, import.map(loops, exprs)});
  };
  addParameter(sum.ofA, true);
  addParameter(sum.ofB, false);
  spec.body = [&](BodyBuilder &builder, llvm::ArrayRef<Scalar> x, Scalar total) {
    return builder.add(total, sum.term ? sum.term(builder, x) : builder.mul(x[0], x[1]));
  };
  return import.generic(spec);
}

namespace {

void importMatMul(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 1);
  checkTypes(a, b);
  import.setOutput(node, 0, multiplyMatrices(import, a, b, {a.type}));
}

void importGemm(ImportContext &import, const Node &node) {
  Tensor a = import.input(node, 0), b = import.input(node, 1);
  std::optional<Tensor> c = import.optionalInput(node, 2);
  if (a.rank() != 2 || b.rank() != 2)
    failBadInput("Gemm of the shapes " + describeDims(a.dims) + " and " + describeDims(b.dims) +
                 "; both must have rank 2");
  const bool transA = node.intAttribute("transA", 0) != 0;
  const bool transB = node.intAttribute("transB", 0) != 0;
  const double alpha = node.floatAttribute("alpha", 1), beta = node.floatAttribute("beta", 1);
  checkTypes(a, b);
  checkContraction(import, a.dims[transA ? 0 : 1], b.dims[transB ? 1 : 0], a, b);
  mlir::AffineExpr m = import.loop(0), n = import.loop(1), k = import.loop(2);
  using Exprs = llvm::SmallVector<mlir::AffineExpr>;
  GenericSpec spec;
  spec.reduction = {false, false, true};
  spec.resultType = a.type;
  spec.resultDims = {a.dims[transA ? 1 : 0], b.dims[transB ? 0 : 1]};
  spec.resultMap = import.map(3, {m, n});
  spec.init = numberOf(a.type, 0);
  spec.inputs.push_back({a, import.map(3, transA ? Exprs{k, m} : Exprs{m, k})});
  spec.inputs.push_back({b, import.map(3, transB ? Exprs{n, k} : Exprs{k, n})});
  spec.body = multiplyAdd;
  Tensor y = import.generic(spec);
  llvm::SmallVector<Tensor> operands{y};
  const bool added = c && beta != 0;
  if (added) {
    Dims dims = import.broadcastDims({y, *c});
    if (dims != y.dims && allStatic(dims) && allStatic(y.dims))
      failBadInput("the bias " + describeDims(c->dims) + " does not broadcast to " +
                   describeDims(y.dims));
    operands.push_back(*c);
  }
  if (added || alpha != 1)
    y = import.elementwise(operands, a.type, [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
      Scalar value = alpha == 1 ? x[0] : b.mul(x[0], b.constant(a.type, alpha));
      if (!added)
        return value;
      return b.add(value, beta == 1 ? x[1] : b.mul(x[1], b.constant(a.type, beta)));
    });
  import.setOutput(node, 0, y);
}

} // namespace

void addMatMulOperators(OperatorTable &table) {
  table["MatMul"] = importMatMul;
  table["Gemm"] = importGemm;
}

} // namespace gantry::importer
