// Imports Einsum as one linalg.generic with one loop per letter of the equation.
//
// In "bij,bjk->bik" each letter is a loop. Letters that are not in the result are summed over. Each
// dimension of a "..." is represented by a digit, counted from the right, so that "...ij" of rank 4
// becomes "10ij". The rest of the code treats digits like letters, except that a dimension of size
// 1 for a digit broadcasts.
#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/registry.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

namespace gantry::importer {

namespace {

constexpr llvm::StringLiteral kDots = "...";

// Replaces "..." by `count` digits.
std::string withDigits(llvm::StringRef term, int64_t count) {
  const size_t at = term.find(kDots);
  if (at == llvm::StringRef::npos)
    return term.str();
  std::string digits;
  for (int64_t i = count; i-- > 0;)
    digits += static_cast<char>('0' + i);
  return term.take_front(at).str() + digits + term.drop_front(at + kDots.size()).str();
}

// An equation and its operands.
struct Contraction {
  std::string equation; // The model's text without spaces.
  llvm::SmallVector<Tensor> operands;
  std::vector<std::string> terms;  // One per operand, with digits for "...".
  std::string result;              // The result's letters, with digits for "...".
  std::map<char, Dim> sizes;       // The size of each letter.
  std::map<char, int> occurrences; // The number of occurrences of each letter in the terms.
  int64_t maxDots = 0;             // Max number of dimensions of a "...".

  [[noreturn]] void failEquation() const {
    failBadInput("the equation \"" + equation +
                 "\" is not valid; dimensions must be letters or \"...\", and the result may have "
                 "only letters of the terms, each at most once");
  }
};

// Checks a term against its operand's shape and merges the sizes of its letters.
void addTerm(ImportContext &import, Contraction &c, llvm::StringRef written,
             const Tensor &operand) {
  const bool hasDots = written.contains(kDots);
  const int64_t dots =
      hasDots ? operand.rank() - (int64_t(written.size()) - int64_t(kDots.size())) : 0;
  if (dots >= 0 && hasDots)
    c.maxDots = std::max(c.maxDots, dots);
  const std::string term = withDigits(written, dots);
  if (int64_t(term.size()) != operand.rank() || dots < 0)
    failBadInput("the term \"" + written + "\" does not match the shape " +
                 describeDims(operand.dims));
  for (auto [letter, dim] : llvm::zip(term, operand.dims)) {
    const bool broadcasts = llvm::isDigit(letter);
    if (!llvm::isAlpha(letter) && !(hasDots && broadcasts))
      c.failEquation();
    auto [known, added] = c.sizes.try_emplace(letter, dim);
    ++c.occurrences[letter];
    if (added || (broadcasts && isStaticOne(dim)))
      continue;
    if (broadcasts && isStaticOne(known->second)) {
      known->second = dim;
      continue;
    }
    if (known->second != dim && staticDim(known->second) && staticDim(dim))
      failBadInput("the letter '" + llvm::Twine(letter) + "' has the sizes " +
                   llvm::Twine(*staticDim(known->second)) + " and " + llvm::Twine(*staticDim(dim)));
    known->second = import.constraints().requireEqual(known->second, dim);
  }
  c.terms.push_back(term);
  c.operands.push_back(operand);
}

// Returns the result's letters. Without "->" these are the digits, then the letters that occur
// once, in alphabetical order.
std::string resultLetters(const Contraction &c, size_t arrow) {
  if (arrow != std::string::npos) {
    const std::string written = c.equation.substr(arrow + 2);
    if (llvm::any_of(written, llvm::isDigit))
      c.failEquation();
    return withDigits(written, c.maxDots);
  }
  std::string letters = withDigits(kDots, c.maxDots);
  for (auto &[letter, count] : c.occurrences)
    if (count == 1 && !llvm::isDigit(letter))
      letters += letter;
  return letters;
}

Contraction readEquation(ImportContext &import, const Node &node) {
  Contraction c;
  c.equation = node.stringAttribute("equation", "");
  c.equation.erase(std::remove(c.equation.begin(), c.equation.end(), ' '), c.equation.end());
  const size_t arrow = c.equation.find("->");
  const std::string left = c.equation.substr(0, arrow);
  llvm::SmallVector<llvm::StringRef> written;
  llvm::StringRef(left).split(written, ',');
  if (written.size() != node.inputCount())
    failBadInput("the equation \"" + c.equation + "\" has " + llvm::Twine(written.size()) +
                 " terms for " + llvm::Twine(node.inputCount()) + " inputs");
  for (size_t i = 0; i < written.size(); ++i)
    addTerm(import, c, written[i], import.input(node, i));
  c.result = resultLetters(c, arrow);
  return c;
}

// Numbers the loops: first the letters of the result, in their order, then those that are summed
// over.
std::map<char, unsigned> numberLoops(const Contraction &c) {
  std::map<char, unsigned> loops;
  for (char letter : c.result)
    if (!c.sizes.count(letter) || !loops.try_emplace(letter, loops.size()).second)
      c.failEquation();
  for (auto &[letter, size] : c.sizes)
    loops.try_emplace(letter, loops.size());
  return loops;
}

void importEinsum(ImportContext &import, const Node &node) {
  const Contraction c = readEquation(import, node);
  const std::map<char, unsigned> loops = numberLoops(c);
  const bool sums = c.result.size() < loops.size();
  GenericSpec spec;
  for (char letter : c.result)
    spec.resultDims.push_back(c.sizes.at(letter));
  spec.reduction.assign(loops.size(), false);
  for (size_t i = c.result.size(); i < loops.size(); ++i)
    spec.reduction[i] = true;
  auto mapOf = [&](llvm::StringRef letters, const Tensor *operand) {
    llvm::SmallVector<mlir::AffineExpr> exprs;
    for (auto [i, letter] : llvm::enumerate(letters)) {
      const bool repeated =
          operand && isStaticOne(operand->dims[i]) && !isStaticOne(c.sizes.at(letter));
      exprs.push_back(repeated ? import.number(0) : import.loop(loops.at(letter)));
    }
    return import.map(loops.size(), exprs);
  };
  for (size_t i = 0; i < c.terms.size(); ++i)
    spec.inputs.push_back({c.operands[i], mapOf(c.terms[i], &c.operands[i])});
  spec.resultType = c.operands[0].type;
  spec.resultMap = mapOf(c.result, nullptr);
  if (sums)
    spec.init = numberOf(spec.resultType, 0);
  spec.body = [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x, Scalar sum) {
    Scalar product = x[0];
    for (Scalar other : x.drop_front())
      product = b.mul(product, other);
    return sums ? b.add(sum, product) : product;
  };
  import.setOutput(node, 0, import.generic(spec));
}

} // namespace

void addEinsumOperators(OperatorTable &table) { table["Einsum"] = importEinsum; }

} // namespace gantry::importer
