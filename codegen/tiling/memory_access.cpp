// Loads and stores of the kernel evaluator: addresses are compared symbolically, elements that
// coincide are loaded once, and aligned groups of four 32-bit neighbours become one vector access.
#include "codegen/tiling/kernel_evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kLanes = 4;

/// Whether every aligned group of four elements lies wholly inside or outside of the tensor.
bool hasVectorView(RankedTensorType type) {
  if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() != 32)
    return false;
  if (type.hasStaticShape())
    return type.getNumElements() % kLanes == 0;
  for (int64_t dim : type.getShape())
    if (!ShapedType::isDynamic(dim) && dim % kLanes == 0)
      return true;
  return false;
}

/// An element's place: the aligned group of four that it is in, and its lane there.
struct Group {
  int32_t guard;
  IndexExpr start;
  bool operator<(const Group &other) const {
    return guard != other.guard ? guard < other.guard : start < other.start;
  }
};

/// Groups addresses by aligned fours. Addresses whose base is not a multiple of four, and groups
/// with fewer than `wanted` distinct lanes, are left out.
std::map<Group, llvm::SmallVector<std::pair<unsigned, int64_t>>>
groupByFour(const IndexSpace &space, llvm::ArrayRef<IndexExpr> addresses,
            llvm::ArrayRef<Point> points, unsigned wanted) {
  std::map<Group, llvm::SmallVector<std::pair<unsigned, int64_t>>> groups;
  for (unsigned i = 0; i < addresses.size(); ++i) {
    if (space.baseDivisor(addresses[i]) % kLanes != 0)
      continue;
    Group group{points[i].guard, addresses[i]};
    int64_t lane = ((addresses[i].constant % kLanes) + kLanes) % kLanes;
    group.start.constant -= lane;
    groups[group].push_back({i, lane});
  }
  for (auto it = groups.begin(); it != groups.end();) {
    unsigned lanes = 0;
    for (auto [i, lane] : it->second)
      lanes |= 1u << lane;
    it = static_cast<unsigned>(__builtin_popcount(lanes)) < wanted ? groups.erase(it) : ++it;
  }
  return groups;
}

} // namespace

/// The address as an index, redirected to 0 where the guard does not hold.
Value KernelEvaluator::linearAddress(const IndexExpr &address, int32_t guard) {
  if (guard != 0)
    counts_.arithmetic += weight_;
  Value test = guard != 0 ? guardValue(guard) : Value();
  if (!builder_)
    return {};
  Value value = space_.materialize(address, *builder_, loc());
  if (!test)
    return value;
  Value zero = builder_->create<arith::ConstantIndexOp>(loc(), 0);
  return builder_->create<arith::SelectOp>(loc(), test, value, zero);
}

static llvm::SmallVector<IndexExpr> addressesOf(IndexSpace &space, llvm::ArrayRef<IndexExpr> shape,
                                                llvm::ArrayRef<Point> points) {
  llvm::SmallVector<IndexExpr> strides(shape.size(), IndexExpr(1));
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = space.mul(strides[d], shape[d]);
  llvm::SmallVector<IndexExpr> addresses;
  for (const Point &point : points) {
    IndexExpr address(0);
    for (size_t d = 0; d < shape.size(); ++d)
      address = space.add(address, space.mul(point.index[d], strides[d]));
    addresses.push_back(address);
  }
  return addresses;
}

Values KernelEvaluator::load(unsigned buffer, Value tensor, llvm::ArrayRef<Point> points) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto addresses = addressesOf(space_, shapeOf(tensor), points);
  Values result(points.size());
  llvm::SmallVector<bool> done(points.size(), false);

  if (hasVectorView(type)) {
    for (auto &[group, members] : groupByFour(space_, addresses, points, 2)) {
      counts_.vectorLoads += weight_;
      IndexExpr index = group.start;
      index.constant /= kLanes;
      for (auto &term : index.terms)
        term.second /= kLanes;
      Value address = linearAddress(index, group.guard);
      Value vector;
      if (builder_)
        vector = builder_->create<memref::LoadOp>(loc(), buffers_[buffer].vector, address);
      for (auto [i, lane] : members) {
        done[i] = true;
        if (builder_)
          result[i] = builder_->create<vector::ExtractOp>(loc(), vector, lane);
      }
    }
  }

  std::map<std::pair<int32_t, IndexExpr>, Value> loaded;
  bool isBool = type.getElementType().isInteger(1);
  for (unsigned i = 0; i < points.size(); ++i) {
    if (done[i])
      continue;
    auto [found, inserted] = loaded.try_emplace({points[i].guard, addresses[i]});
    if (inserted) {
      counts_.scalarLoads += weight_;
      Value address = linearAddress(addresses[i], points[i].guard);
      if (builder_) {
        Value value = builder_->create<memref::LoadOp>(loc(), buffers_[buffer].scalar, address);
        if (isBool) { // one byte in memory, 0 or not 0
          Value zero = builder_->create<arith::ConstantIntOp>(loc(), 0, 8);
          value = builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, value, zero);
        }
        found->second = value;
      }
    }
    result[i] = found->second;
  }
  return result;
}

void KernelEvaluator::store(Value tensor, llvm::ArrayRef<Point> points,
                            llvm::ArrayRef<Value> values) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto addresses = addressesOf(space_, shapeOf(tensor), points);
  const Buffer &buffer = buffers_.empty() ? Buffer{} : buffers_.back();
  llvm::SmallVector<bool> done(points.size(), false);

  // A store whose point may lie outside is inside an if; one if serves all points of a guard.
  std::map<int32_t, Block *> guarded;
  auto enter = [&](int32_t guard) {
    OpBuilder::InsertionGuard restore(*builder_);
    auto [found, inserted] = guarded.try_emplace(guard, nullptr);
    if (inserted)
      found->second = builder_->create<scf::IfOp>(loc(), guardValue(guard)).thenBlock();
    return found->second;
  };
  auto at = [&](int32_t guard, llvm::function_ref<void()> emit) {
    if (!builder_)
      return;
    OpBuilder::InsertionGuard restore(*builder_);
    if (guard != 0) {
      Block *block = enter(guard);
      builder_->setInsertionPoint(block->getTerminator());
    }
    emit();
  };

  if (hasVectorView(type)) {
    for (auto &[group, members] : groupByFour(space_, addresses, points, kLanes)) {
      counts_.stores += weight_;
      IndexExpr index = group.start;
      index.constant /= kLanes;
      for (auto &term : index.terms)
        term.second /= kLanes;
      llvm::SmallVector<Value, 4> lanes(kLanes);
      for (auto [i, lane] : members) {
        done[i] = true;
        lanes[lane] = values[i];
      }
      at(group.guard, [&, &group = group] {
        auto vectorType = VectorType::get({kLanes}, type.getElementType());
        Value vector = builder_->create<arith::ConstantOp>(loc(), vectorType,
                                                           builder_->getZeroAttr(vectorType));
        for (auto [lane, value] : llvm::enumerate(lanes))
          vector =
              builder_->create<vector::InsertOp>(loc(), value, vector, static_cast<int64_t>(lane));
        Value address = space_.materialize(index, *builder_, loc());
        builder_->create<memref::StoreOp>(loc(), vector, buffer.vector, address);
      });
    }
  }
  bool isBool = type.getElementType().isInteger(1);
  for (unsigned i = 0; i < points.size(); ++i) {
    if (done[i])
      continue;
    counts_.stores += weight_;
    at(points[i].guard, [&] {
      Value value = values[i];
      if (isBool)
        value = builder_->create<arith::ExtUIOp>(loc(), builder_->getI8Type(), value);
      builder_->create<memref::StoreOp>(loc(), value, buffer.scalar,
                                        space_.materialize(addresses[i], *builder_, loc()));
    });
  }
}

void KernelEvaluator::run(ValueRange tileCoordinates) {
  auto shape = shapeOf(result_);
  std::vector<Point> points(1);
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t tile = tile_.result[d];
    int64_t last = IndexSpace::kUnbounded;
    if (shape[d].isConstant())
      last = (shape[d].constant + tile - 1) / tile - 1;
    IndexExpr coordinate = space_.addVariable(builder_ ? tileCoordinates[d] : Value(), 0, last);
    bool ragged = !shape[d].isConstant() || shape[d].constant % tile != 0;
    std::vector<Point> next;
    for (const Point &point : points) {
      for (int64_t j = 0; j < tile; ++j) {
        Point moved = point;
        moved.index.push_back(space_.add(space_.scale(coordinate, tile), IndexExpr(j)));
        // The first point of a tile always lies inside: there is no tile without one.
        if (ragged && j > 0) {
          bool never = false;
          moved.guard =
              guardAnd(point.guard,
                       space_.sub(space_.sub(shape[d], IndexExpr(1)), moved.index.back()), never);
        }
        next.push_back(std::move(moved));
      }
    }
    points = std::move(next);
  }
  Values values = evaluate(result_, points);
  if (!unsupported_)
    store(result_, points, values);
}

} // namespace gantry::codegen
