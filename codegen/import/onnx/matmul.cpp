// MatMul, Gemm, Einsum: contractions as one linalg.generic over (batch..., m, n, k).
#include "codegen/import/onnx/matmul.h"

#include "codegen/import/onnx/registry.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

namespace gantry::importer {

namespace {

Number zeroOf(DType type) {
  Number zero;
  if (isFloat(type))
    zero.f = 0;
  return zero;
}

Scalar multiplyAdd(BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar sum) {
  return b.add(sum, b.mul(x[0], x[1]));
}

void checkTypes(const Tensor &x, const Tensor &y) {
  if (x.type != y.type)
    failBadInput("its operands are " + dtypeName(x.type) + " and " + dtypeName(y.type));
}

void checkContraction(ImportContext &import, Dim a, Dim b, const Tensor &x, const Tensor &y) {
  if (a != b && staticDim(a) && staticDim(b))
    failBadInput("the shapes " + describeDims(x.dims) + " and " + describeDims(y.dims) +
                 " cannot be multiplied: " + llvm::Twine(*staticDim(a)) + " and " +
                 llvm::Twine(*staticDim(b)) + " differ");
  import.requireEqual(a, b);
}

} // namespace

Tensor multiplyMatrices(ImportContext &import, const Tensor &a, const Tensor &b,
                        const MatrixSum &sum) {
  if (a.rank() == 0 || b.rank() == 0)
    failBadInput("MatMul of a scalar");
  const bool aVector = a.rank() == 1, bVector = b.rank() == 1;
  checkContraction(import, a.dims.back(), bVector ? b.dims[0] : b.dims[b.rank() - 2], a, b);
  Tensor aBatch, bBatch;
  aBatch.dims.assign(a.dims.begin(), a.dims.end() - (aVector ? 1 : 2));
  bBatch.dims.assign(b.dims.begin(), b.dims.end() - (bVector ? 1 : 2));
  Dims batch = import.broadcastDims({aBatch, bBatch});
  // Loops: batch..., m unless a is a vector, n unless b is, k.
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
  spec.init = zeroOf(sum.resultType);
  spec.inputs.push_back({a, import.map(loops, aExprs)});
  spec.inputs.push_back({b, import.map(loops, bExprs)});
  // Parameters of a lie along its rows, of b along its columns; the batch's come before.
  auto addParameter = [&](const std::optional<Tensor> &parameter, bool ofA) {
    if (!parameter)
      return;
    const unsigned own = ofA ? !aVector : !bVector;
    const unsigned at = ofA ? rows : columns;
    Tensor laid = *parameter;
    const unsigned batched = laid.rank() > 1 ? laid.rank() - 2 : 0;
    if (laid.rank() > 1) // a: [..., M, 1]; b: [..., 1, N]
      laid.dims.erase(laid.dims.end() - (ofA ? 1 : 2));
    laid = import.reshape(*parameter, laid.dims);
    if (batched > batch.size() || laid.rank() > batched + own)
      failBadInput("a parameter has the shape " + describeDims(parameter->dims) +
                   ", which does not fit " + describeDims(spec.resultDims));
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
  spec.init = zeroOf(a.type);
  spec.inputs.push_back({a, import.map(3, transA ? Exprs{k, m} : Exprs{m, k})});
  spec.inputs.push_back({b, import.map(3, transB ? Exprs{n, k} : Exprs{k, n})});
  spec.body = multiplyAdd;
  Tensor y = import.generic(spec);
  llvm::SmallVector<Tensor> operands{y};
  const bool added = c && beta != 0;
  if (added) {
    // Before opset 7 a bias of one column's length lies along the rows only with `broadcast`.
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

// "bij,bjk->bik": each letter is a loop; letters that the result lacks are summed over.
// "..." as one digit for each dimension that it stands for, counted from the right: "10ij".
std::string withDots(llvm::StringRef term, int64_t dots) {
  const size_t at = term.find("...");
  if (at == llvm::StringRef::npos)
    return term.str();
  std::string digits;
  for (int64_t i = dots; i-- > 0;)
    digits += static_cast<char>('0' + i);
  return term.take_front(at).str() + digits + term.drop_front(at + 3).str();
}

void importEinsum(ImportContext &import, const Node &node) {
  std::string equation = node.stringAttribute("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  auto impossible = [&]() { failBadInput("the equation \"" + equation + "\" is impossible"); };
  size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  llvm::SmallVector<llvm::StringRef> written;
  llvm::StringRef(left).split(written, ',');
  if (written.size() != node.inputCount())
    failBadInput("the equation \"" + equation + "\" has " + llvm::Twine(written.size()) +
                 " terms for " + llvm::Twine(node.inputCount()) + " inputs");
  std::map<char, Dim> sizes;
  std::map<char, int> uses;
  llvm::SmallVector<Tensor> operands;
  std::vector<std::string> terms;
  int64_t mostDots = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    operands.push_back(import.input(node, i));
    const int64_t letters = int64_t(written[i].size()) - 3;
    const int64_t dots = written[i].contains("...") ? operands[i].rank() - letters : 0;
    if (dots >= 0 && written[i].contains("..."))
      mostDots = std::max(mostDots, dots);
    terms.push_back(withDots(written[i], dots));
    if (int64_t(terms[i].size()) != operands[i].rank() || dots < 0)
      failBadInput("the term \"" + written[i] + "\" does not match the shape " +
                   describeDims(operands[i].dims));
    for (auto [letter, dim] : llvm::zip(terms[i], operands[i].dims)) {
      if (!llvm::isAlpha(letter) && !(written[i].contains("...") && llvm::isDigit(letter)))
        impossible();
      auto [it, added] = sizes.try_emplace(letter, dim);
      ++uses[letter];
      // What "..." stands for is broadcast.
      if (added || (llvm::isDigit(letter) && isStaticOne(dim)))
        continue;
      if (llvm::isDigit(letter) && isStaticOne(it->second)) {
        it->second = dim;
        continue;
      }
      if (it->second != dim && staticDim(it->second) && staticDim(dim))
        failBadInput("the letter '" + llvm::Twine(letter) + "' stands for " +
                     llvm::Twine(*staticDim(it->second)) + " and for " +
                     llvm::Twine(*staticDim(dim)));
      it->second = import.requireEqual(it->second, dim);
    }
  }
  std::string right;
  if (arrow != std::string::npos) {
    const std::string result = equation.substr(arrow + 2);
    if (llvm::any_of(result, llvm::isDigit))
      impossible();
    right = withDots(result, mostDots);
  } else {
    right = withDots("...", mostDots);
    for (auto &[letter, count] : uses)
      if (count == 1 && !llvm::isDigit(letter))
        right += letter;
  }
  std::map<char, unsigned> loops;
  GenericSpec spec;
  for (char letter : right) {
    if (!sizes.count(letter) || !loops.try_emplace(letter, loops.size()).second)
      impossible();
    spec.resultDims.push_back(sizes[letter]);
  }
  for (auto &[letter, size] : sizes)
    loops.try_emplace(letter, loops.size());
  spec.reduction.assign(loops.size(), false);
  for (size_t i = right.size(); i < loops.size(); ++i)
    spec.reduction[i] = true;
  auto mapOf = [&](llvm::StringRef letters, const Tensor *operand) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (auto [i, letter] : llvm::enumerate(letters)) {
      const bool repeated = operand && isStaticOne(operand->dims[i]) && !isStaticOne(sizes[letter]);
      exprs.push_back(repeated ? import.number(0) : import.loop(loops[letter]));
    }
    return import.map(loops.size(), exprs);
  };
  for (size_t i = 0; i < terms.size(); ++i)
    spec.inputs.push_back({operands[i], mapOf(terms[i], &operands[i])});
  const bool sums = right.size() < loops.size();
  spec.resultType = operands[0].type;
  spec.resultMap = mapOf(right, nullptr);
  if (sums)
    spec.init = zeroOf(spec.resultType);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar sum) {
    Scalar product = x[0];
    for (Scalar other : x.drop_front())
      product = b.mul(product, other);
    return sums ? b.add(sum, product) : product;
  };
  import.setOutput(node, 0, import.generic(spec));
}

} // namespace

void addMatMulOperators(OperatorTable &table) {
  table["MatMul"] = importMatMul;
  table["Gemm"] = importGemm;
  table["Einsum"] = importEinsum;
}

} // namespace gantry::importer
