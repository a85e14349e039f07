#include "codegen/tiling/emitter/memory_access.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kWidth = 4;     // Elements of a vector.
constexpr int64_t kMinOddRun = 2; // A single element is cheaper to load by itself.
// The cost of a vector access in which each lane touches another cache line, relative to one in
// which neighbouring lanes access neighbouring vectors.
constexpr double kScatteredCost = 2;

/// An aligned group of four elements, accessed under a guard.
struct Group {
  int32_t guard;
  IndexExpr start; // The address of the first element, in elements.
  bool operator<(const Group &other) const {
    return guard != other.guard ? guard < other.guard : start < other.start;
  }
};

/// The points in a group: the position of each in the list of points, and its element in the group
/// (0 to 3).
using Members = llvm::SmallVector<std::pair<unsigned, int64_t>>;

/// Sorts addresses into aligned groups. Leaves out addresses whose variable part (IndexExpr::base)
/// is not always a multiple of four, and groups with fewer than `minElements` distinct elements.
/// guards: the guard of each address.
std::map<Group, Members> alignedGroups(const IndexSpace &space, llvm::ArrayRef<IndexExpr> addresses,
                                       llvm::ArrayRef<int32_t> guards, unsigned minElements) {
  std::map<Group, Members> groups;
  for (unsigned i = 0; i < addresses.size(); ++i) {
    if (space.baseDivisor(addresses[i]) % kWidth != 0)
      continue;
    Group group{guards[i], addresses[i]};
    int64_t lane = ((addresses[i].constant % kWidth) + kWidth) % kWidth;
    group.start.constant -= lane;
    groups[group].push_back({i, lane});
  }
  for (auto it = groups.begin(); it != groups.end();) {
    unsigned lanes = 0;
    for (auto [i, lane] : it->second)
      lanes |= 1u << lane;
    it = static_cast<unsigned>(__builtin_popcount(lanes)) < minElements ? groups.erase(it) : ++it;
  }
  return groups;
}

} // namespace

// ---- addresses ----------------------------------------------------------------------------------

/// Returns the address if the guard holds, and 0 otherwise.
Value MemoryAccess::guardedAddress(unsigned buffer, const IndexExpr &address, int64_t elements,
                                   int32_t guard) {
  if (guard == 0)
    return sink_.address(buffer, address, elements);
  sink_.count(Cost::kArithmetic);
  Value test = guards_.test(guard);
  Value value = sink_.address(buffer, address, elements);
  Value zero = sink_.create<arith::ConstantIndexOp>(0);
  return sink_.create<arith::SelectOp>(test, value, zero);
}

/// Returns the cost of a vector access, relative to an access in which neighbouring invocations
/// access the same vector or neighbouring ones. If no lanes share the tile, the cost is 1 in a
/// kernel with a reduction: such a kernel reads most operands from caches.
double MemoryAccess::vectorCost(const IndexExpr &index) const {
  const IndexExpr &lane = invocation_.lane;
  bool scattered = false;
  if (tile_.lanes > 1) {
    scattered = !space_.isUniform(index) && !(space_.splitUniform(index).second == lane);
  } else if (tile_.reduction.empty() && !lane.isConstant()) {
    for (const auto &[variable, coefficient] : index.terms)
      if (variable == lane.terms.front().first)
        scattered = coefficient != 1;
  }
  return scattered ? kScatteredCost : 1;
}

// ---- loads --------------------------------------------------------------------------------------

struct MemoryAccess::Request {
  unsigned buffer;
  BlockArgument tensor;
  RankedTensorType type;
  llvm::ArrayRef<Point> points;
  llvm::SmallVector<IndexExpr> addresses; // In elements, by point.
  Outside outside;
  bool asWords; // The result is, for each byte, the word that contains it.
};

/// A loaded vector, in a register of one lane or of all lanes.
struct MemoryAccess::PlacedVector {
  Value vector;
  std::optional<int64_t> lane; // The lane that has the vector. None: each lane has it.
};

Values MemoryAccess::load(BlockArgument tensor, llvm::ArrayRef<Point> points, Outside outside) {
  const unsigned buffer = tensor.getArgNumber();
  return load({buffer, tensor, cast<RankedTensorType>(tensor.getType()), points,
               shapes_.addressesOf(buffer, tensor, points), outside, /*asWords=*/false});
}

Values MemoryAccess::loadWords(BlockArgument tensor, llvm::ArrayRef<Point> points) {
  const unsigned buffer = tensor.getArgNumber();
  return load({buffer, tensor, cast<RankedTensorType>(tensor.getType()), points,
               shapes_.addressesOf(buffer, tensor, points), Outside::kAnything, /*asWords=*/true});
}

Values MemoryAccess::load(const Request &request) {
  Values result(request.points.size());
  llvm::SmallVector<bool> done(request.points.size(), false);
  if (mayBeVectors(request.type, shapes_.layout(request.buffer)))
    loadVectors(request, result, done);
  if (readsTexels_ && isPaddedView(request.type, shapes_.layout(request.buffer)))
    loadOddRuns(request, result, done);
  loadElements(request, result, done);
  return result;
}

void MemoryAccess::loadVectors(const Request &request, Values &result,
                               llvm::SmallVectorImpl<bool> &done) {
  llvm::SmallVector<int32_t> guards;
  for (const Point &point : request.points)
    guards.push_back(request.outside == Outside::kAnything ? guards_.ofVector(point.guard)
                                                           : point.guard);
  // A group of which only some elements are read may lie partly beyond the tensor.
  const LayoutAttr layout = shapes_.layout(request.buffer);
  const bool hasWholeGroups =
      hasVectorView(request.type, layout, shapes_.divisorsOf(request.tensor)) ||
      (readsTexels_ && isPaddedView(request.type, layout));
  // A texel costs less than a single element of a storage buffer.
  const unsigned minElements = !hasWholeGroups ? kWidth : readsTexels_ ? 1 : 2;
  auto groups = alignedGroups(space_, request.addresses, guards, minElements);
  SharedVectors shared;
  if (tile_.lanes > 1) {
    llvm::SmallVector<std::pair<int32_t, IndexExpr>> uniform;
    for (auto &[group, members] : groups)
      if (space_.isUniform(group.start) && guards_.isUniform(group.guard))
        uniform.push_back({group.guard, space_.divideExactly(group.start, kWidth)});
    shared = loadShared(request, uniform);
  }
  const Type element = request.type.getElementType();
  for (auto &[group, members] : groups) {
    const IndexExpr index = space_.divideExactly(group.start, kWidth);
    PlacedVector placed;
    if (auto found = shared.find({group.guard, index}); found != shared.end()) {
      placed = found->second;
    } else {
      sink_.count(Cost::kVectorLoad, vectorCost(index));
      placed.vector = loadVector(request, index, group.guard);
    }
    Value passed; // The result of the last shuffle.
    for (auto [i, lane] : members) {
      done[i] = true;
      result[i] = sink_.build([&, lane = lane](OpBuilder &builder, Location loc) -> Value {
        const bool isWord = placed.vector.getType().isInteger(32);
        Value part = placed.vector;
        if (!isWord)
          part = builder.create<vector::ExtractOp>(loc, part, lane);
        if (placed.lane) {
          if (!isWord || !passed)
            passed = sink_.shuffle(part, *placed.lane);
          part = passed;
        }
        return request.asWords ? part : elementOf(builder, loc, part, isWord ? lane : 0, element);
      });
    }
  }
}

/// `count` vectors, whose addresses and whose guards' conditions change by the same steps from each
/// to the next, so that a lane can compute those of one of them.
struct MemoryAccess::Progression {
  IndexExpr first;                    // The first address.
  int64_t stride = 0;                 // The step of the address.
  std::vector<IndexExpr> conditions;  // The conditions of the first vector's guard.
  llvm::SmallVector<int64_t> strides; // The step of each condition.
  llvm::SmallVector<std::pair<int32_t, IndexExpr>> vectors; // The guards and addresses of all.
};

/// Divides vectors (guard, address) into progressions of at most tile_.lanes vectors. Starts with
/// the lowest remaining address and takes the longest progression from it, which may be that vector
/// alone.
std::vector<MemoryAccess::Progression>
MemoryAccess::progressionsOf(llvm::ArrayRef<std::pair<int32_t, IndexExpr>> vectors) const {
  // The vectors whose addresses and conditions differ only by constants, by the address's constant.
  std::map<std::vector<IndexExpr>, std::map<int64_t, int32_t>> families;
  for (const auto &[guard, address] : vectors) {
    std::vector<IndexExpr> family{address.base()};
    for (const IndexExpr &condition : guards_.conditionsOf(guard))
      family.push_back(condition.base());
    families[family].emplace(address.constant, guard);
  }
  std::vector<Progression> result;
  for (auto &[family, guards] : families) {
    while (!guards.empty()) {
      const auto [first, firstGuard] = *guards.begin();
      const std::vector<IndexExpr> &conditions = guards_.conditionsOf(firstGuard);
      Progression best;
      for (const auto &[second, secondGuard] : guards) {
        Progression run{family.front(), second - first, conditions, {}, {}};
        run.first.constant = first;
        for (auto [from, to] : llvm::zip(conditions, guards_.conditionsOf(secondGuard)))
          run.strides.push_back(to.constant - from.constant);
        const auto continues = [&](int64_t i) {
          const auto found = guards.find(first + i * run.stride);
          if (found == guards.end())
            return false;
          for (auto [from, stride, to] :
               llvm::zip(conditions, run.strides, guards_.conditionsOf(found->second)))
            if (to.constant != from.constant + i * stride)
              return false;
          IndexExpr address = run.first;
          address.constant = found->first;
          run.vectors.push_back({found->second, address});
          return true;
        };
        const int64_t limit = run.stride == 0 ? 1 : tile_.lanes;
        for (int64_t i = 0; i < limit && continues(i);)
          ++i;
        if (run.vectors.size() > best.vectors.size())
          best = std::move(run);
        if (static_cast<int64_t>(best.vectors.size()) == tile_.lanes)
          break;
      }
      for (const auto &[guard, address] : best.vectors)
        guards.erase(address.constant);
      result.push_back(std::move(best));
    }
  }
  return result;
}

/// Loads vectors that all lanes need. Lane i loads the i-th vector of each progression. Leaves out
/// progressions of one vector, which each lane loads itself.
MemoryAccess::SharedVectors
MemoryAccess::loadShared(const Request &request,
                         llvm::ArrayRef<std::pair<int32_t, IndexExpr>> vectors) {
  SharedVectors shared;
  for (const Progression &run : progressionsOf(vectors)) {
    if (run.vectors.size() == 1)
      continue;
    Value mine = loadByLanes(request, run);
    for (auto [i, vector] : llvm::enumerate(run.vectors))
      shared[vector] = {mine, static_cast<int64_t>(i)};
  }
  return shared;
}

/// Loads the vectors of a progression, one in each of the first lanes.
Value MemoryAccess::loadByLanes(const Request &request, const Progression &run) {
  const auto count = static_cast<int64_t>(run.vectors.size());
  sink_.count(Cost::kVectorLoad, run.stride == 1 ? 1 : kScatteredCost);
  sink_.count(Cost::kShuffle, static_cast<double>(count));
  IndexExpr lane = invocation_.lane;
  if (count < tile_.lanes) {
    sink_.count(Cost::kArithmetic);
    Value clamped = sink_.create<arith::MinUIOp>(sink_.index(lane),
                                                 sink_.create<arith::ConstantIndexOp>(count - 1));
    lane = space_.addVariable(clamped, 0, count - 1, true);
  }
  const auto ofLane = [&](const IndexExpr &of, int64_t stride) {
    return space_.add(of, space_.scale(lane, stride));
  };
  std::vector<IndexExpr> conditions;
  for (auto [condition, stride] : llvm::zip(run.conditions, run.strides))
    conditions.push_back(ofLane(condition, stride));
  bool never = false;
  return loadVector(request, ofLane(run.first, run.stride),
                    guards_.with(/*guard=*/0, conditions, never));
}

Value MemoryAccess::loadVector(const Request &request, const IndexExpr &index, int32_t guard) {
  Value vector =
      sink_.loadVector(request.buffer, guardedAddress(request.buffer, index, kWidth, guard));
  if (request.outside == Outside::kAnything || guard == 0)
    return vector;
  sink_.count(Cost::kArithmetic, kWidth);
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    Value zero = builder.create<arith::ConstantOp>(loc, vector.getType(),
                                                   builder.getZeroAttr(vector.getType()));
    return builder.create<arith::SelectOp>(loc, guards_.test(guard), vector, zero);
  });
}

/// Neighbours under one guard, from the address `first` on. The variable part of the address is not
/// always a multiple of four.
struct MemoryAccess::OddRun {
  int32_t guard;
  IndexExpr first;
  int64_t length = 0; // From the first to the last element.
  Members members{};  // The points in the run, and the distance of each from `first`.
};

/// Loads the remaining runs of neighbours, which may begin at any address.
void MemoryAccess::loadOddRuns(const Request &request, Values &result,
                               llvm::SmallVectorImpl<bool> &done) {
  // The points by guard and variable part of the address, and then by the constant part.
  std::map<Group, std::map<int64_t, llvm::SmallVector<unsigned>>> families;
  for (unsigned i = 0; i < request.points.size(); ++i) {
    const IndexExpr &address = request.addresses[i];
    if (done[i] || space_.baseDivisor(address) % kWidth == 0)
      continue;
    const int32_t guard = request.outside == Outside::kAnything
                              ? guards_.ofVector(request.points[i].guard)
                              : request.points[i].guard;
    families[{guard, address.base()}][address.constant].push_back(i);
  }
  for (const auto &[family, points] : families) {
    std::vector<OddRun> runs;
    for (const auto &[constant, sharing] : points) {
      if (runs.empty() || constant != runs.back().first.constant + runs.back().length) {
        runs.push_back({family.guard, family.start});
        runs.back().first.constant = constant;
      }
      OddRun &run = runs.back();
      for (unsigned i : sharing)
        run.members.push_back({i, run.length});
      ++run.length;
    }
    for (const OddRun &run : runs) {
      if (run.length < kMinOddRun)
        continue;
      const Values elements = loadOddRun(request, run);
      for (auto [i, element] : run.members) {
        done[i] = true;
        result[i] = elements[element];
      }
    }
  }
}

/// Returns the elements of a run: loads the vectors that contain them, and moves the elements to
/// the front by the remainder of the address modulo four.
Values MemoryAccess::loadOddRun(const Request &request, const OddRun &run) {
  // The address is a multiple of `unit` plus `skipped`.
  const int64_t unit = std::gcd(space_.baseDivisor(run.first), kWidth);
  const int64_t skipped = ((run.first.constant % unit) + unit) % unit;
  const int64_t needed = skipped + run.length;
  IndexExpr start = run.first;
  start.constant -= skipped;
  const IndexExpr index = space_.floorDiv(start, IndexExpr(kWidth));
  const IndexExpr remainder = space_.sub(start, space_.scale(index, kWidth));
  Values elements = loadGroups(request, index, run.guard, needed + kWidth - unit);
  sink_.count(Cost::kArithmetic, 3); // The remainder and the tests of its bits.
  for (int64_t step = unit; step < kWidth; step *= 2) {
    Value moves = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
      Value bit = builder.create<arith::AndIOp>(loc, sink_.index(remainder),
                                                builder.create<arith::ConstantIndexOp>(loc, step));
      return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bit,
                                           builder.create<arith::ConstantIndexOp>(loc, 0));
    });
    // Later steps move elements by kWidth - 2 * step at most.
    const int64_t kept = needed + kWidth - 2 * step;
    sink_.count(Cost::kArithmetic, static_cast<double>(kept));
    for (int64_t i = 0; i < kept; ++i)
      elements[i] = sink_.create<arith::SelectOp>(moves, elements[i + step], elements[i]);
  }
  Values result;
  for (int64_t i = skipped; i < needed; ++i)
    result.push_back(sink_.build([&](OpBuilder &builder, Location loc) {
      return elementOf(builder, loc, elements[i], 0, request.type.getElementType());
    }));
  return result;
}

/// Returns the first `count` elements, rounded up to whole vectors, from the vector number `first`
/// on. Vectors beyond the tensor's last one have any elements.
Values MemoryAccess::loadGroups(const Request &request, const IndexExpr &first, int32_t guard,
                                int64_t count) {
  IndexExpr end(shapes_.layout(request.buffer).getStart());
  IndexExpr size(1);
  for (const IndexExpr &extent : shapes_.storageShape(request.buffer, request.tensor))
    size = space_.mul(size, extent);
  end = space_.add(end, size);
  const IndexExpr last = space_.sub(space_.ceilDiv(end, kWidth), IndexExpr(1));
  Values elements;
  for (int64_t v = 0; v * kWidth < count; ++v) {
    IndexExpr index = space_.add(first, IndexExpr(v));
    if (v > 0 && space_.range(space_.sub(last, index)).low < 0) {
      sink_.count(Cost::kArithmetic);
      const IndexRange bounds = space_.range(index);
      const bool perLane = !space_.isUniform(index);
      Value clamped = sink_.create<arith::MinSIOp>(sink_.index(index), sink_.index(last));
      index = space_.addVariable(clamped, bounds.low, bounds.high, perLane);
    }
    sink_.count(Cost::kVectorLoad, vectorCost(index));
    Value vector = loadVector(request, index, guard);
    for (int64_t lane = 0; lane < kWidth; ++lane)
      elements.push_back(sink_.build([&](OpBuilder &builder, Location loc) -> Value {
        return builder.create<vector::ExtractOp>(loc, vector, lane);
      }));
  }
  return elements;
}

void MemoryAccess::loadElements(const Request &request, Values &result, llvm::ArrayRef<bool> done) {
  std::map<std::pair<int32_t, IndexExpr>, Value> loaded;
  for (unsigned i = 0; i < request.points.size(); ++i) {
    if (done[i])
      continue;
    const int32_t guard = request.points[i].guard;
    auto [found, inserted] = loaded.try_emplace({guard, request.addresses[i]});
    if (inserted)
      found->second = loadElement(request, request.addresses[i], guard);
    result[i] = found->second;
  }
}

Value MemoryAccess::loadElement(const Request &request, const IndexExpr &address, int32_t guard) {
  sink_.count(Cost::kScalarLoad);
  Value value =
      sink_.loadElement(request.buffer, guardedAddress(request.buffer, address, 1, guard));
  if (request.type.getElementType().isInteger(1)) { // In memory a bool is a byte: 0, or not 0.
    Value zero = sink_.create<arith::ConstantIntOp>(0, 8);
    value = sink_.create<arith::CmpIOp>(arith::CmpIPredicate::ne, value, zero);
  }
  if (request.outside == Outside::kAnything || guard == 0)
    return value;
  sink_.count(Cost::kArithmetic);
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    Value zero = builder.create<arith::ConstantOp>(loc, value.getType(),
                                                   builder.getZeroAttr(value.getType()));
    return builder.create<arith::SelectOp>(loc, guards_.test(guard), value, zero);
  });
}

bool MemoryAccess::areWords(BlockArgument tensor, llvm::ArrayRef<Point> points) {
  const unsigned buffer = tensor.getArgNumber();
  if (!hasVectorView(cast<RankedTensorType>(tensor.getType()), shapes_.layout(buffer),
                     shapes_.divisorsOf(tensor)))
    return false;
  const auto addresses = shapes_.addressesOf(buffer, tensor, points);
  for (size_t i = 0; i < points.size(); ++i) {
    IndexExpr expected = addresses[i - i % kWidth];
    expected.constant += i % kWidth;
    if (!(addresses[i] == expected) || points[i].guard != points[i - i % kWidth].guard ||
        (i % kWidth == 0 &&
         (addresses[i].constant % kWidth != 0 || space_.baseDivisor(addresses[i]) % kWidth != 0)))
      return false;
  }
  return true;
}

// ---- stores -------------------------------------------------------------------------------------

/// Emits the stores of `body` under a guard. Stores under equal guards share one scf.if.
void MemoryAccess::storeUnder(int32_t guard, KernelSink::GuardedBlocks &blocks,
                              llvm::function_ref<void()> body) {
  if (guard == 0)
    body();
  else
    sink_.ifGuard(
        blocks, guard, [&] { return guards_.test(guard); }, body);
}

void MemoryAccess::store(llvm::ArrayRef<Point> points, llvm::ArrayRef<Value> values) {
  const unsigned buffer = shapes_.tensorCount();
  auto type = cast<RankedTensorType>(shapes_.result().getType());
  auto addresses = shapes_.addressesOf(buffer, shapes_.result(), points);
  llvm::SmallVector<bool> done(points.size(), false);
  KernelSink::GuardedBlocks blocks;
  if (mayBeVectors(type, shapes_.layout(buffer)))
    storeVectors(type, points, addresses, values, blocks, done);
  const bool isBool = type.getElementType().isInteger(1);
  for (unsigned i = 0; i < points.size(); ++i) {
    if (done[i])
      continue;
    sink_.count(Cost::kScalarStore);
    storeUnder(points[i].guard, blocks, [&] {
      Value value = values[i];
      if (isBool)
        value = sink_.build([&](OpBuilder &builder, Location loc) {
          return builder.create<arith::ExtUIOp>(loc, builder.getI8Type(), value);
        });
      sink_.storeElement(buffer, value, sink_.address(buffer, addresses[i], 1));
    });
  }
}

void MemoryAccess::storeVectors(RankedTensorType type, llvm::ArrayRef<Point> points,
                                llvm::ArrayRef<IndexExpr> addresses, llvm::ArrayRef<Value> values,
                                KernelSink::GuardedBlocks &blocks,
                                llvm::SmallVectorImpl<bool> &done) {
  const unsigned buffer = shapes_.tensorCount();
  const Type vectorType = vectorTypeOf(type.getElementType(), false);
  llvm::SmallVector<int32_t> guards;
  for (const Point &point : points)
    guards.push_back(point.guard);
  for (auto &[group, members] : alignedGroups(space_, addresses, guards, kWidth)) {
    const IndexExpr index = space_.divideExactly(group.start, kWidth);
    sink_.count(Cost::kVectorStore, vectorCost(index));
    llvm::SmallVector<Value, 4> elements(kWidth);
    for (auto [i, lane] : members) {
      done[i] = true;
      elements[lane] = values[i];
    }
    storeUnder(group.guard, blocks, [&] {
      Value vector = sink_.build([&](OpBuilder &builder, Location loc) {
        return packVector(builder, loc, elements, vectorType);
      });
      sink_.storeVector(buffer, vector, sink_.address(buffer, index, kWidth));
    });
  }
}

} // namespace gantry::codegen
