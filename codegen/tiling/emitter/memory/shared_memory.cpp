// Implements shared_memory.h.
#include "codegen/tiling/emitter/memory/shared_memory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// In a round of forElements(), each invocation handles one group of elements. More rounds than
/// this become a loop; fewer are unrolled.
constexpr int64_t kMaxUnrolledRounds = 8;
constexpr int64_t kMaxBoxExtent = 1 << 24; // Larger extents count as unbounded.

} // namespace

int64_t SharedMemory::take(int64_t words) {
  const size_t position = words_.size();
  words_.push_back(words);
  return position < tile_.poolOffsets.size() ? tile_.poolOffsets[position] : 0;
}

int64_t SharedMemory::takeForResult(int64_t words) {
  holdsResult_ = true;
  return take(words);
}

bool SharedMemory::boundingBox(llvm::ArrayRef<IndexList> indices, Box &box) const {
  box.start.clear();
  box.size.clear();
  for (size_t e = 0; e < indices.front().size(); ++e) {
    IndexExpr shared;
    int64_t low = IndexSpace::kUnbounded, high = -IndexSpace::kUnbounded;
    for (const auto &index : indices) {
      auto [uniform, varying] = space_.splitUniform(index[e]);
      const int64_t constant = uniform.constant;
      uniform.constant = 0;
      if (&index == &indices.front())
        shared = uniform;
      else if (!(shared == uniform))
        return false;
      IndexRange range = space_.range(varying);
      low = std::min(low, constant + range.low);
      high = std::max(high, constant + range.high);
    }
    if (high - low >= kMaxBoxExtent)
      return false;
    shared.constant = low;
    box.start.push_back(shared);
    box.size.push_back(high - low + 1);
  }
  return true;
}

IndexExpr SharedMemory::addressIn(const Box &box, llvm::ArrayRef<IndexExpr> index) {
  IndexExpr address = space_.add(IndexExpr(box.offset), box.turn);
  int64_t stride = 1;
  for (size_t e = index.size(); e-- > 0;) {
    address = space_.add(address, space_.scale(space_.sub(index[e], box.start[e]), stride));
    stride *= box.size[e];
  }
  return address;
}

void SharedMemory::forElements(llvm::ArrayRef<int64_t> size, int64_t width,
                               llvm::function_ref<void(llvm::ArrayRef<IndexExpr>)> body) {
  const int64_t groups = volumeOf(size) / width, invocations = volumeOf(tile_.threads);
  const int64_t rounds = (groups + invocations - 1) / invocations;
  auto copy = [&](const IndexExpr &round) {
    IndexExpr linear = space_.add(space_.scale(round, invocations), invocation_.inWorkgroup);
    auto visit = [&] {
      llvm::SmallVector<int64_t> extents(size);
      extents.back() /= width;
      auto coordinates = delinearize(space_, sink_, linear, extents);
      coordinates.back() = space_.scale(coordinates.back(), width);
      body(coordinates);
    };
    if (space_.range(linear).high < groups)
      return visit();
    sink_.ifTrue(sink_.create<arith::CmpIOp>(arith::CmpIPredicate::ult, sink_.index(linear),
                                             sink_.create<arith::ConstantIndexOp>(groups)),
                 visit);
  };
  if (rounds > kMaxUnrolledRounds)
    return loops_.forCopies(rounds, copy);
  for (int64_t round = 0; round < rounds; ++round)
    copy(IndexExpr(round));
}

void SharedMemory::store(const IndexExpr &address, Value value) {
  sink_.count(Cost::kShared);
  sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    if (value.getType().isF16())
      value = builder.create<arith::ExtFOp>(loc, builder.getF32Type(), value);
    if (value.getType().isInteger(8) || value.getType().isInteger(1))
      value = builder.create<arith::ExtUIOp>(loc, builder.getI32Type(), value);
    if (!value.getType().isF32())
      value = builder.create<arith::BitcastOp>(loc, builder.getF32Type(), value);
    builder.create<memref::StoreOp>(loc, value, sink_.pool(), sink_.index(address));
    return {};
  });
}

Value SharedMemory::load(const IndexExpr &address, Type type) {
  sink_.count(Cost::kShared);
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    Value value = builder.create<memref::LoadOp>(loc, sink_.pool(), sink_.index(address));
    if (type.isF32())
      return value;
    if (type.isF16())
      return builder.create<arith::TruncFOp>(loc, type, value);
    value = builder.create<arith::BitcastOp>(loc, builder.getI32Type(), value);
    if (type.isInteger(8) || type.isInteger(1))
      value = builder.create<arith::TruncIOp>(loc, type, value);
    return value;
  });
}

} // namespace gantry::codegen
