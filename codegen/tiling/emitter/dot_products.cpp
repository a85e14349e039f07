// Implements dot_products.h.
#include "codegen/tiling/emitter/dot_products.h"

#include "codegen/tiling/emitter/accumulation.h"
#include "codegen/tiling/emitter/tensor_evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr size_t kBytesPerWord = 4;
constexpr int64_t kOnes = 0x01010101, kHighBits = 0x80808080;
constexpr int64_t kUnsignedMiddle = 128; // Subtracted from unsigned bytes.
constexpr double kPackingCost = 7;       // The shifts and ors that pack four bytes into a word.

} // namespace

/// The elements of one factor of the products, at the steps and points of one accumulate().
struct DotProducts::Factor {
  Values words;                       // The distinct words.
  llvm::SmallVector<unsigned> wordOf; // By group of four steps, then by point: index into words.
  int64_t zeroPoint = 0;              // Used if `zeroPoints` is empty.
  Values zeroPoints; // By point; empty if the zero point is the constant `zeroPoint`.
  // By word: the sum of its bytes, times the other factor's zero point if that is a constant. Empty
  // if the other factor has no zero point.
  Values sums;
  bool hasZeroPoint() const { return zeroPoint != 0 || !zeroPoints.empty(); }
};

// ---- arithmetic ---------------------------------------------------------------------------------

/// Returns an i32 constant with the low 32 bits of `value`.
Value DotProducts::constant(int64_t value) {
  return sink_.create<arith::ConstantIntOp>(static_cast<int32_t>(value), 32);
}

Value DotProducts::dotProduct(Value a, Value b) {
  sink_.count(Cost::kArithmetic);
  return sink_.build([&](OpBuilder &builder, Location loc) {
    auto packed = spirv::PackedVectorFormatAttr::get(
        builder.getContext(), spirv::PackedVectorFormat::PackedVectorFormat4x8Bit);
    return builder.create<spirv::SDotOp>(loc, builder.getI32Type(), a, b, packed);
  });
}

Value DotProducts::multiply(Value a, Value b) {
  sink_.count(Cost::kArithmetic);
  return sink_.create<arith::MulIOp>(a, b);
}

// ---- words --------------------------------------------------------------------------------------

/// Loads whole words from the buffer if that is possible, also through pads and views. Otherwise
/// evaluates the bytes and packs them.
Values DotProducts::wordsOf(Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid) {
  if (auto argument = dyn_cast<BlockArgument>(tensor);
      argument && access_.areWords(argument, points)) {
    const Values loaded = access_.loadWords(argument, points);
    Values words;
    for (size_t i = 0; i < loaded.size(); i += kBytesPerWord)
      words.push_back(loaded[i]);
    return words;
  }
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return wordsOf(op->getOperand(0), evaluator_.viewedPoints(op, points), grid);
  if (std::optional<Values> words = paddedWords(tensor, points, grid))
    return *words;
  return packedWords(tensor, points, grid);
}

/// Returns the words of a tensor that is padded with a constant. None if the tensor is not, or if
/// a word's bytes may lie partly inside and partly outside.
std::optional<Values> DotProducts::paddedWords(Value tensor, llvm::ArrayRef<Point> points,
                                               const PointGrid &grid) {
  auto pad = tensor.getDefiningOp<tensor::PadOp>();
  APInt padding;
  if (!pad || !pad.getConstantPaddingValue() ||
      !matchPattern(pad.getConstantPaddingValue(), m_ConstantInt(&padding)))
    return std::nullopt;
  const auto [inner, inside, position] = evaluator_.paddedPoints(pad, points);
  for (size_t i = 0; i < points.size(); ++i)
    if (inside[i] != inside[i - i % kBytesPerWord])
      return std::nullopt;
  const Values loaded = wordsOf(pad.getSource(), inner, grid);
  const Value outside = constant(static_cast<int64_t>(padding.getZExtValue()) * kOnes);
  Values words;
  for (size_t i = 0; i < points.size(); i += kBytesPerWord) {
    if (inside[i] == TensorEvaluator::kNeverInside) {
      words.push_back(outside);
      continue;
    }
    Value value = loaded[position[i] / kBytesPerWord];
    if (inside[i] != 0) {
      sink_.count(Cost::kArithmetic);
      const Value test = guards_.test(inside[i]);
      value = sink_.create<arith::SelectOp>(test, value, outside);
    }
    words.push_back(value);
  }
  return words;
}

Values DotProducts::packedWords(Value tensor, llvm::ArrayRef<Point> points, const PointGrid &grid) {
  const Values bytes = evaluator_.evaluate(tensor, points, grid);
  Values words;
  for (size_t i = 0; i < bytes.size(); i += kBytesPerWord) {
    sink_.count(Cost::kArithmetic, kPackingCost);
    words.push_back(sink_.build([&](OpBuilder &builder, Location loc) {
      return packVector(builder, loc, llvm::ArrayRef<Value>(bytes).slice(i, kBytesPerWord),
                        builder.getI32Type());
    }));
  }
  return words;
}

// ---- factors ------------------------------------------------------------------------------------

/// Returns the point of an operand that a step of the reduction reads for a point of the result.
Point DotProducts::factorPoint(linalg::GenericOp op, OpOperand *operand, const Point &point,
                               llvm::ArrayRef<IndexExpr> step) {
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  LoopIndex loops = shapes_.loopCoordinates(op, op.getIndexingMapsArray().back(), point);
  for (unsigned dim : reductionDims)
    loops[dim] = step[dim];
  Point read = shapes_.operandPoint(op.getMatchingIndexingMap(operand), loops, point.guard);
  read.guard = guards_.ofOperand(point.guard, read.index);
  return read;
}

DotProducts::Factor DotProducts::load(linalg::GenericOp op, const ByteFactor &factor,
                                      llvm::ArrayRef<LoopIndex> steps, llvm::ArrayRef<Point> points,
                                      const PointGrid &grid) {
  Factor result;
  // The index of each distinct word, by the guard and the indices of its first byte.
  std::map<std::pair<int32_t, std::vector<IndexExpr>>, unsigned> seen;
  std::vector<Point> distinct;
  for (size_t step = 0; step < steps.size(); step += kBytesPerWord)
    for (const Point &point : points) {
      Point first = factorPoint(op, factor.operand, point, steps[step]);
      const auto [found, inserted] = seen.try_emplace({first.guard, keyOf(first)}, seen.size());
      result.wordOf.push_back(found->second);
      if (!inserted)
        continue;
      distinct.push_back(std::move(first));
      for (size_t i = 1; i < kBytesPerWord; ++i)
        distinct.push_back(factorPoint(op, factor.operand, point, steps[step + i]));
    }
  result.words = wordsOf(factor.operand->get(), distinct, grid);
  if (!factor.isSigned) // x - 128 as a signed byte is x with its highest bit flipped.
    for (Value &word : result.words) {
      sink_.count(Cost::kArithmetic);
      word = sink_.create<arith::XOrIOp>(word, constant(kHighBits));
    }
  loadZeroPoints(op, factor, steps, points, grid, result);
  return result;
}

void DotProducts::loadZeroPoints(linalg::GenericOp op, const ByteFactor &factor,
                                 llvm::ArrayRef<LoopIndex> steps, llvm::ArrayRef<Point> points,
                                 const PointGrid &grid, Factor &result) {
  const int64_t middle = factor.isSigned ? 0 : kUnsignedMiddle;
  if (!factor.zeros) {
    result.zeroPoint = factor.zeroPoint - middle;
    return;
  }
  std::vector<Point> places;
  for (const Point &point : points)
    places.push_back(factorPoint(op, factor.zeros, point, steps.front()));
  result.zeroPoints = evaluator_.evaluate(factor.zeros->get(), places, grid);
  sink_.count(Cost::kArithmetic, 2 * static_cast<double>(points.size()));
  for (Value &zero : result.zeroPoints)
    zero = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
      const Type type = builder.getI32Type();
      Value wide = factor.zerosSigned ? builder.create<arith::ExtSIOp>(loc, type, zero).getResult()
                                      : builder.create<arith::ExtUIOp>(loc, type, zero).getResult();
      return middle == 0 ? wide
                         : builder.create<arith::SubIOp>(loc, wide, constant(middle)).getResult();
    });
}

Value DotProducts::zeroPointOf(const Factor &factor, unsigned point) {
  return factor.zeroPoints.empty() ? constant(factor.zeroPoint) : factor.zeroPoints[point];
}

/// Fills in factor.sums.
void DotProducts::sumBytes(Factor &factor, const Factor &other) {
  if (!other.hasZeroPoint())
    return;
  for (Value bytes : factor.words) {
    Value sum = dotProduct(bytes, constant(kOnes));
    factor.sums.push_back(other.zeroPoints.empty() ? multiply(sum, constant(other.zeroPoint))
                                                   : sum);
  }
}

// ---- accumulation -------------------------------------------------------------------------------

/// Adds the products of one group of four steps at a point, except the term 4 * za * zb
/// (dot_products.h).
void DotProducts::addProducts(llvm::ArrayRef<Factor> factors, unsigned group, size_t count,
                              unsigned point, Value &accumulator) {
  const unsigned a = factors[0].wordOf[group * count + point];
  const unsigned b = factors[1].wordOf[group * count + point];
  const Value product = dotProduct(factors[0].words[a], factors[1].words[b]);
  sink_.count(Cost::kArithmetic);
  accumulator = sink_.create<arith::AddIOp>(accumulator, product);
  for (unsigned side : {0u, 1u}) {
    const Factor &other = factors[1 - side];
    if (!other.hasZeroPoint())
      continue;
    Value sum = factors[side].sums[side == 0 ? a : b];
    if (!other.zeroPoints.empty())
      sum = multiply(sum, other.zeroPoints[point]);
    sink_.count(Cost::kArithmetic);
    accumulator = sink_.create<arith::SubIOp>(accumulator, sum);
  }
}

void DotProducts::accumulate(linalg::GenericOp op, llvm::ArrayRef<ByteFactor> factors,
                             llvm::ArrayRef<LoopIndex> steps, llvm::ArrayRef<Point> points,
                             const PointGrid &grid, Values &accumulators) {
  Factor sides[2];
  for (unsigned side : {0u, 1u})
    sides[side] = load(op, factors[side], steps, points, grid);
  for (unsigned side : {0u, 1u})
    sumBytes(sides[side], sides[1 - side]);
  const size_t count = points.size();
  for (const auto &group : accumulationGroups(grid, tile_.lanes, count)) {
    for (size_t word = 0; word < steps.size() / kBytesPerWord; ++word)
      for (unsigned point : group)
        addProducts(sides, static_cast<unsigned>(word), count, point, accumulators[point]);
    if (!sides[0].hasZeroPoint() || !sides[1].hasZeroPoint())
      continue;
    for (unsigned point : group) {
      const Value both =
          multiply(multiply(zeroPointOf(sides[0], point), zeroPointOf(sides[1], point)),
                   constant(static_cast<int64_t>(steps.size())));
      sink_.count(Cost::kArithmetic);
      accumulators[point] = sink_.create<arith::AddIOp>(accumulators[point], both);
    }
  }
  sink_.sinkShuffles();
}

} // namespace gantry::codegen
