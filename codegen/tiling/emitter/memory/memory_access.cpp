// Implements memory_access.h.
#include "codegen/tiling/emitter/memory/memory_access.h"

#include "codegen/tiling/emitter/memory/vector_groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr int64_t kMinOddRun = 2; // A single element is cheaper to load by itself.

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

// ---- loads --------------------------------------------------------------------------------------

struct MemoryAccess::Request {
  unsigned buffer;
  BlockArgument tensor;
  RankedTensorType type;
  llvm::ArrayRef<Point> points;
  IndexList addresses; // In elements, by point.
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

/// Returns the guards under which aligned vectors are loaded, by point. The guard of a vector may
/// lack conditions that the guards of its elements have, but only if the vector exists in memory
/// without these conditions.
llvm::SmallVector<int32_t> MemoryAccess::vectorGuards(const Request &request) const {
  llvm::SmallVector<int32_t> guards;
  for (const Point &point : request.points)
    guards.push_back(guards_.ofVector(point.guard));
  for (const auto &[group, members] :
       alignedGroups(space_, request.addresses, guards, /*minElements=*/1))
    if (llvm::none_of(members, [&](const auto &member) {
          return guards_.hasVector(request.points[member.first].guard);
        }))
      for (auto [i, lane] : members)
        guards[i] = request.points[i].guard;
  return guards;
}

void MemoryAccess::loadVectors(const Request &request, Values &result,
                               llvm::SmallVectorImpl<bool> &done) {
  const llvm::SmallVector<int32_t> guards = vectorGuards(request);
  // A group of which only some elements are read may lie partly beyond the tensor. It is loaded as
  // a vector only if all vectors of the buffer exist in memory.
  const LayoutAttr layout = shapes_.layout(request.buffer);
  const bool hasWholeGroups =
      hasVectorView(request.type, layout, shapes_.divisorsOf(request.tensor)) ||
      (readsTexels_ && isPaddedView(request.type, layout));
  // A texel is loaded even for one element, because it costs less than a load of this element from
  // a storage buffer.
  const unsigned minElements = !hasWholeGroups ? kVectorWidth : readsTexels_ ? 1 : 2;
  auto groups = alignedGroups(space_, request.addresses, guards, minElements);
  SharedVectors shared;
  if (tile_.lanes > 1) {
    llvm::SmallVector<std::pair<int32_t, IndexExpr>> uniform;
    for (auto &[group, members] : groups)
      if (space_.isUniform(group.start) && guards_.isUniform(group.guard))
        uniform.push_back({group.guard, space_.divideExactly(group.start, kVectorWidth)});
    shared = loadShared(request, uniform);
  }
  const Type element = request.type.getElementType();
  std::map<IndexExpr, llvm::SmallVector<std::pair<int32_t, PlacedVector>, 1>> loaded;
  for (auto &[group, members] : groups) {
    const IndexExpr index = space_.divideExactly(group.start, kVectorWidth);
    int32_t guard = group.guard; // The guard under which the vector was loaded.
    PlacedVector placed;
    auto &known = loaded[index];
    const auto *weaker = llvm::find_if(known, [&, own = group.guard](const auto &other) {
      return guards_.common(other.first, own) == other.first;
    });
    if (auto found = shared.find({group.guard, index}); found != shared.end()) {
      placed = found->second;
    } else if (weaker != known.end()) {
      std::tie(guard, placed) = *weaker;
    } else {
      sink_.count(Cost::kVectorLoad, vectorCost(context_, index));
      placed.vector = loadVector(request, index, group.guard);
      known.push_back({group.guard, placed});
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
      if (request.outside == Outside::kZero)
        result[i] = orZero(result[i], group.guard, guard);
    }
  }
}

/// Vectors whose addresses, and the conditions of whose guards, change by constant steps from each
/// vector to the next. Each lane can therefore compute the address and the guard of one of them.
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
  // The vectors in families: in a family, the addresses differ only by constants, and the
  // conditions differ only by constants. A family maps the constant of each vector's address to the
  // vector's guard.
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
  const Value vector =
      sink_.loadVector(request.buffer, guardedAddress(request.buffer, index, kVectorWidth, guard));
  return request.outside == Outside::kAnything ? vector
                                               : orZero(vector, guard, /*known=*/0, kVectorWidth);
}

/// Neighbours from the address `first` on that do not form an aligned vector, because the variable
/// part of the address is not always a multiple of four.
struct MemoryAccess::OddRun {
  int32_t guard; // The conditions that the guards of all members have.
  IndexExpr first;
  int64_t length = 0; // From the first to the last element.
  Members members{};  // The points in the run, and the distance of each from `first`.
  // Whether the first element may lie outside of the tensor even if `guard` holds.
  bool isGuardWeak = false;
};

/// Loads the remaining runs of neighbours, which may begin at any address.
void MemoryAccess::loadOddRuns(const Request &request, Values &result,
                               llvm::SmallVectorImpl<bool> &done) {
  // The points by guard and variable part of the address, and then by the constant part. If a load
  // returns zeros where a guard does not hold, each element is selected by its own guard
  // afterwards, so a run may contain points with different guards. Otherwise all points of a run
  // have one guard.
  std::map<Group, std::map<int64_t, llvm::SmallVector<unsigned>>> families;
  const bool hasZeros = request.outside == Outside::kZero;
  for (unsigned i = 0; i < request.points.size(); ++i) {
    const IndexExpr &address = request.addresses[i];
    if (done[i] || space_.baseDivisor(address) % kVectorWidth == 0)
      continue;
    const int32_t guard = hasZeros ? 0 : guards_.ofVector(request.points[i].guard);
    families[{guard, address.base()}][address.constant].push_back(i);
  }
  for (const auto &[family, points] : families) {
    std::vector<OddRun> runs;
    for (const auto &[constant, sharing] : points) {
      const int32_t guard =
          hasZeros ? guards_.ofVector(request.points[sharing.front()].guard) : family.guard;
      if (runs.empty() || constant != runs.back().first.constant + runs.back().length) {
        runs.push_back({guard, family.start});
        runs.back().first.constant = constant;
        runs.back().isGuardWeak = llvm::none_of(
            sharing, [&](unsigned i) { return guards_.hasVector(request.points[i].guard); });
      }
      OddRun &run = runs.back();
      for (unsigned i : sharing) {
        run.members.push_back({i, run.length});
        const int32_t own = guards_.ofVector(request.points[i].guard);
        if (hasZeros && own != run.guard) {
          run.guard = guards_.common(run.guard, own);
          run.isGuardWeak = true;
        }
      }
      ++run.length;
    }
    for (const OddRun &run : runs) {
      if (run.length < kMinOddRun)
        continue;
      const Values elements = loadOddRun(request, run);
      for (auto [i, element] : run.members) {
        done[i] = true;
        result[i] = hasZeros ? orZero(elements[element], guards_.ofVector(request.points[i].guard),
                                      run.guard)
                             : elements[element];
      }
    }
  }
}

/// Returns `loaded`, an element or a vector of `elements` elements, if `guard` holds, and zeros
/// otherwise. known: a guard; where it does not hold, `loaded` is zero already.
Value MemoryAccess::orZero(Value loaded, int32_t guard, int32_t known, int64_t elements) {
  if (guard == known)
    return loaded;
  const Value isInside = guards_.test(guard);
  sink_.count(Cost::kArithmetic, static_cast<double>(elements));
  return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    Value zero = builder.create<arith::ConstantOp>(loc, loaded.getType(),
                                                   builder.getZeroAttr(loaded.getType()));
    return builder.create<arith::SelectOp>(loc, isInside, loaded, zero);
  });
}

/// Returns the elements of a run: loads the vectors that contain them, and moves the elements to
/// the front by the number of elements that precede them in the first vector.
Values MemoryAccess::loadOddRun(const Request &request, const OddRun &run) {
  // The address is a multiple of `unit` plus `skipped`.
  const int64_t unit = std::gcd(space_.baseDivisor(run.first), kVectorWidth);
  const int64_t skipped = ((run.first.constant % unit) + unit) % unit;
  const int64_t needed = skipped + run.length;
  IndexExpr start = run.first;
  start.constant -= skipped;
  const IndexExpr index = space_.floorDiv(start, IndexExpr(kVectorWidth));
  const IndexExpr remainder = space_.sub(start, space_.scale(index, kVectorWidth));
  Values elements = loadGroups(request, index, run, needed + kVectorWidth - unit);
  sink_.count(Cost::kArithmetic, 3); // The remainder and the tests of its bits.
  for (int64_t step = unit; step < kVectorWidth; step *= 2) {
    Value moves = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
      Value bit = builder.create<arith::AndIOp>(loc, sink_.index(remainder),
                                                builder.create<arith::ConstantIndexOp>(loc, step));
      return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bit,
                                           builder.create<arith::ConstantIndexOp>(loc, 0));
    });
    // The following rounds together move elements by at most kVectorWidth - 2 * step.
    const int64_t kept = needed + kVectorWidth - 2 * step;
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
/// on. For a vector outside of the tensor, returns the elements of the nearest vector inside.
Values MemoryAccess::loadGroups(const Request &request, const IndexExpr &first, const OddRun &run,
                                int64_t count) {
  IndexExpr end(shapes_.layout(request.buffer).getStart());
  IndexExpr size(1);
  for (const IndexExpr &extent : shapes_.storageShape(request.buffer, request.tensor))
    size = space_.mul(size, extent);
  end = space_.add(end, size);
  const IndexExpr last = space_.sub(space_.ceilDiv(end, kVectorWidth), IndexExpr(1));
  Values elements;
  for (int64_t v = 0; v * kVectorWidth < count; ++v) {
    IndexExpr index = space_.add(first, IndexExpr(v));
    const IndexRange bounds = space_.range(index);
    const bool mayFollow =
        (v > 0 || run.isGuardWeak) && space_.range(space_.sub(last, index)).low < 0;
    const bool mayPrecede = run.isGuardWeak && bounds.low < 0;
    if (mayFollow || mayPrecede) {
      sink_.count(Cost::kArithmetic, mayFollow + mayPrecede);
      const bool perLane = !space_.isUniform(index);
      Value clamped = sink_.index(index);
      if (mayFollow)
        clamped = sink_.create<arith::MinSIOp>(clamped, sink_.index(last));
      if (mayPrecede)
        clamped = sink_.create<arith::MaxSIOp>(clamped, sink_.create<arith::ConstantIndexOp>(0));
      index = space_.addVariable(clamped, mayPrecede ? 0 : bounds.low, bounds.high, perLane);
    }
    sink_.count(Cost::kVectorLoad, vectorCost(context_, index));
    Value vector = loadVector(request, index, run.guard);
    for (int64_t lane = 0; lane < kVectorWidth; ++lane)
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
  return request.outside == Outside::kAnything ? value : orZero(value, guard, /*known=*/0);
}

bool MemoryAccess::areWords(BlockArgument tensor, llvm::ArrayRef<Point> points) {
  const unsigned buffer = tensor.getArgNumber();
  if (!hasVectorView(cast<RankedTensorType>(tensor.getType()), shapes_.layout(buffer),
                     shapes_.divisorsOf(tensor)))
    return false;
  const auto addresses = shapes_.addressesOf(buffer, tensor, points);
  for (size_t i = 0; i < points.size(); ++i) {
    IndexExpr expected = addresses[i - i % kVectorWidth];
    expected.constant += i % kVectorWidth;
    if (!(addresses[i] == expected) || points[i].guard != points[i - i % kVectorWidth].guard ||
        (i % kVectorWidth == 0 && (addresses[i].constant % kVectorWidth != 0 ||
                                   space_.baseDivisor(addresses[i]) % kVectorWidth != 0)))
      return false;
  }
  return true;
}

} // namespace gantry::codegen
