// Products of bytes, four at a time: what four steps of a reduction need of a factor is one word,
// and one instruction of the device adds the four products of two words.
//
// Words hold signed bytes: of unsigned ones, what they are above 128, and so do their zero points,
// for x - zero = (x - 128) - (zero - 128). With zero points, four steps add
//   sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * sum(a) + 4 * za * zb
// where a sum of bytes is their product with four ones. All of it is modulo 2^32, as one by one.
#include "codegen/tiling/kernel_evaluator.h"
#include "codegen/tiling/structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr size_t kFour = 4;
constexpr int64_t kOnes = 0x01010101, kHighBits = 0x80808080;
constexpr double kPacking = 7; // shifts and ors, of a word out of four bytes

} // namespace

/// A factor's words, for each four steps and point: which of the different ones.
struct KernelEvaluator::DotFactor {
  Values words, sums; // sums: of each word's bytes, where the other factor has a zero point
  llvm::SmallVector<unsigned> which;
  int64_t zero = 0; // where it is one constant; else
  Values zeros;     // of each point
  bool hasZero() const { return zero != 0 || !zeros.empty(); }
};

/// A constant of 32 bits.
Value KernelEvaluator::word(int64_t value) {
  return builder_ ? builder_->create<arith::ConstantIntOp>(loc(), static_cast<int32_t>(value), 32)
                  : Value();
}

Value KernelEvaluator::dotProduct(Value a, Value b) {
  counts_.arithmetic += weight_;
  if (!builder_)
    return {};
  auto packed = spirv::PackedVectorFormatAttr::get(
      builder_->getContext(), spirv::PackedVectorFormat::PackedVectorFormat4x8Bit);
  return builder_->create<spirv::SDotOp>(loc(), builder_->getI32Type(), a, b, packed);
}

/// Each four points in turn as one word: whole out of a buffer, through pads and views, or put
/// together out of their bytes.
Values KernelEvaluator::evaluateWords(Value tensor, llvm::ArrayRef<Point> points) {
  Values words;
  Operation *op = tensor.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(tensor); argument && areWords(argument, points)) {
    const Values loaded = load(argument.getArgNumber(), tensor, points, /*bytesAsWords=*/true);
    for (size_t i = 0; i < loaded.size(); i += kFour)
      words.push_back(loaded[i]);
    return words;
  }
  if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return evaluateWords(op->getOperand(0), viewedPoints(op, points));
  APInt padding;
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op);
      pad && pad.getConstantPaddingValue() &&
      matchPattern(pad.getConstantPaddingValue(), m_ConstantInt(&padding))) {
    const auto [inner, inside, position] = paddedPoints(op, points);
    bool together = true; // each four inside or outside
    for (size_t i = 0; i < points.size(); ++i)
      together &= inside[i] == inside[i - i % kFour];
    if (together) {
      const Values loaded = evaluateWords(pad.getSource(), inner);
      const Value outside = word(static_cast<int64_t>(padding.getZExtValue()) * kOnes);
      for (size_t i = 0; i < points.size(); i += kFour) {
        if (inside[i] == -1) {
          words.push_back(outside);
          continue;
        }
        Value value = loaded[position[i] / kFour];
        if (inside[i] != 0) {
          counts_.arithmetic += weight_;
          const Value test = guardValue(inside[i]);
          if (builder_)
            value = builder_->create<arith::SelectOp>(loc(), test, value, outside);
        }
        words.push_back(value);
      }
      return words;
    }
  }
  const Values bytes = evaluate(tensor, points);
  for (size_t i = 0; i < bytes.size(); i += kFour) {
    counts_.arithmetic += kPacking * weight_;
    words.push_back(
        builder_ ? groupOf(llvm::ArrayRef<Value>(bytes).slice(i, kFour), builder_->getI32Type())
                 : Value());
  }
  return words;
}

KernelEvaluator::DotFactor
KernelEvaluator::dotFactor(linalg::GenericOp op, const ByteFactor &factor,
                           llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> steps,
                           llvm::ArrayRef<Point> points) {
  const AffineMap outputMap = op.getIndexingMapsArray().back();
  llvm::SmallVector<unsigned> reductionDims;
  op.getReductionDims(reductionDims);
  auto pointOf = [&](OpOperand *operand, const Point &point,
                     llvm::ArrayRef<IndexExpr> step) -> Point {
    auto loops = loopCoordinates(op, outputMap, point);
    for (unsigned dim : reductionDims)
      loops[dim] = step[dim];
    Point source;
    source.guard = point.guard;
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      source.index.push_back(space_.evaluate(expr, loops, {}));
    return source;
  };

  DotFactor result;
  std::map<std::pair<int32_t, std::vector<IndexExpr>>, unsigned> seen; // by the first of four
  std::vector<Point> unique;
  for (size_t step = 0; step < steps.size(); step += kFour)
    for (const Point &point : points) {
      Point first = pointOf(factor.operand, point, steps[step]);
      const auto [found, inserted] =
          seen.try_emplace({first.guard, {first.index.begin(), first.index.end()}}, seen.size());
      result.which.push_back(found->second);
      if (!inserted)
        continue;
      unique.push_back(std::move(first));
      for (size_t i = 1; i < kFour; ++i)
        unique.push_back(pointOf(factor.operand, point, steps[step + i]));
    }
  result.words = evaluateWords(factor.operand->get(), unique);
  const int64_t middle = factor.isSigned ? 0 : 128;
  if (!factor.isSigned) {
    counts_.arithmetic += weight_ * static_cast<double>(result.words.size());
    if (builder_)
      for (Value &value : result.words)
        value = builder_->create<arith::XOrIOp>(loc(), value, word(kHighBits));
  }

  if (!factor.zeros) {
    result.zero = factor.zeroPoint - middle;
    return result;
  }
  std::vector<Point> places;
  for (const Point &point : points)
    places.push_back(pointOf(factor.zeros, point, steps.front()));
  result.zeros = evaluate(factor.zeros->get(), places);
  counts_.arithmetic += 2 * weight_ * static_cast<double>(points.size());
  if (!builder_)
    return result;
  for (Value &zero : result.zeros) {
    const Type type = builder_->getI32Type();
    zero = factor.zerosSigned ? builder_->create<arith::ExtSIOp>(loc(), type, zero).getResult()
                              : builder_->create<arith::ExtUIOp>(loc(), type, zero).getResult();
    if (middle != 0)
      zero = builder_->create<arith::SubIOp>(loc(), zero, word(middle));
  }
  return result;
}

/// Takes a sum of products of bytes through such steps, each four of which are neighbours along the
/// dimension of dotDimensionOf.
void KernelEvaluator::accumulateDots(linalg::GenericOp op, llvm::ArrayRef<ByteFactor> factors,
                                     llvm::ArrayRef<llvm::SmallVector<IndexExpr, 6>> steps,
                                     llvm::ArrayRef<Point> points, Values &accumulators) {
  DotFactor sides[2];
  for (unsigned side : {0u, 1u})
    sides[side] = dotFactor(op, factors[side], steps, points);
  const size_t count = points.size();
  auto multiply = [&](Value a, Value b) -> Value {
    counts_.arithmetic += weight_;
    return builder_ ? builder_->create<arith::MulIOp>(loc(), a, b) : Value();
  };
  auto zeroOf = [&](const DotFactor &side, unsigned point) {
    return side.zeros.empty() ? word(side.zero) : side.zeros[point];
  };
  for (unsigned side : {0u, 1u}) {
    const DotFactor &other = sides[1 - side];
    if (!other.hasZero())
      continue;
    for (Value bytes : sides[side].words) {
      Value sum = dotProduct(bytes, word(kOnes));
      sides[side].sums.push_back(other.zeros.empty() ? multiply(sum, word(other.zero)) : sum);
    }
  }
  for (const auto &group : accumulationGroups(count)) {
    for (size_t four = 0; four < steps.size() / kFour; ++four)
      for (unsigned point : group) {
        Value &accumulator = accumulators[point];
        const unsigned a = sides[0].which[four * count + point];
        const unsigned b = sides[1].which[four * count + point];
        const Value product = dotProduct(sides[0].words[a], sides[1].words[b]);
        counts_.arithmetic += weight_;
        if (builder_)
          accumulator = builder_->create<arith::AddIOp>(loc(), accumulator, product);
        for (unsigned side : {0u, 1u}) {
          const DotFactor &other = sides[1 - side];
          if (!other.hasZero())
            continue;
          Value sum = sides[side].sums[side == 0 ? a : b];
          if (!other.zeros.empty())
            sum = multiply(sum, other.zeros[point]);
          counts_.arithmetic += weight_;
          if (builder_)
            accumulator = builder_->create<arith::SubIOp>(loc(), accumulator, sum);
        }
      }
    if (!sides[0].hasZero() || !sides[1].hasZero())
      continue;
    for (unsigned point : group) {
      const Value both = multiply(multiply(zeroOf(sides[0], point), zeroOf(sides[1], point)),
                                  word(static_cast<int64_t>(steps.size())));
      counts_.arithmetic += weight_;
      if (builder_)
        accumulators[point] = builder_->create<arith::AddIOp>(loc(), accumulators[point], both);
    }
  }
  sinkShuffles();
}

} // namespace gantry::codegen
