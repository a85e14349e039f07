// Implements result_store.h.
#include "codegen/tiling/emitter/memory/result_store.h"

#include "codegen/tiling/emitter/memory/vector_groups.h"
#include "codegen/tiling/emitter/memory/vector_views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

// The cost of a vector store at an address that is not a multiple of the vector, relative to one at
// an aligned address: its elements are stored one by one instead of in pairs.
constexpr double kOddStoreCost = 1.2;

} // namespace

struct ResultStore::Request {
  unsigned buffer;
  RankedTensorType type;
  llvm::ArrayRef<Point> points;
  llvm::ArrayRef<Value> values;
  IndexList addresses;          // In elements, by point.
  llvm::SmallVector<bool> done; // By point: the store was emitted.
  KernelSink::GuardedBlocks blocks{};
};

/// Four points at consecutive addresses.
struct ResultStore::Neighbours {
  IndexExpr first;                    // The address of the first one.
  llvm::SmallVector<unsigned, 4> all; // The positions of the points.
  int32_t guard;                      // It holds if the guards of all points do.
};

/// Emits the stores of `body` under a guard. Stores of one request under equal guards share one
/// scf.if.
void ResultStore::storeUnder(int32_t guard, Request &request, llvm::function_ref<void()> body) {
  if (guard == 0)
    body();
  else
    sink_.ifGuard(
        request.blocks, guard, [&] { return guards_.test(guard); }, body);
}

void ResultStore::store(llvm::ArrayRef<Point> points, llvm::ArrayRef<Value> values) {
  const unsigned buffer = shapes_.tensorCount();
  auto type = cast<RankedTensorType>(shapes_.result().getType());
  Request request{buffer,
                  type,
                  points,
                  values,
                  shapes_.addressesOf(buffer, shapes_.result(), points),
                  llvm::SmallVector<bool>(points.size(), false)};
  if (mayBeVectors(type, shapes_.layout(buffer)))
    storeAligned(request);
  // Four bytes at an address that is not a multiple of four are not one word of the buffer.
  if (context_.readsTexels &&
      isa_and_nonnull<VectorType>(vectorTypeOf(type.getElementType(), false))) {
    storeNeighbours(request, /*ofOneGuard=*/true);
    storeNeighbours(request, /*ofOneGuard=*/false);
  }
  storeElements(request);
}

void ResultStore::storeAligned(Request &request) {
  llvm::SmallVector<int32_t> guards;
  for (const Point &point : request.points)
    guards.push_back(point.guard);
  for (auto &[group, members] : alignedGroups(space_, request.addresses, guards, kVectorWidth)) {
    Neighbours neighbours{group.start, llvm::SmallVector<unsigned, 4>(kVectorWidth), group.guard};
    for (auto [i, lane] : members) {
      request.done[i] = true;
      neighbours.all[lane] = i;
    }
    storeVector(request, neighbours);
  }
}

/// Stores groups of four neighbours. ofOneGuard: groups whose points have the same guard; otherwise
/// groups of any points, some of which may lie outside of the result.
void ResultStore::storeNeighbours(Request &request, bool ofOneGuard) {
  // The points by guard and variable part of the address, and then by the constant part.
  std::map<Group, std::map<int64_t, unsigned>> families;
  for (unsigned i = 0; i < request.points.size(); ++i)
    if (!request.done[i] && space_.baseDivisor(request.addresses[i]) % kVectorWidth == 0)
      families[{ofOneGuard ? request.points[i].guard : 0, request.addresses[i].base()}].emplace(
          request.addresses[i].constant, i);
  std::vector<Neighbours> edges;
  for (const auto &[family, members] : families) {
    for (auto first = members.begin(); first != members.end();) {
      Neighbours group{family.start, {}, 0};
      group.first.constant = first->first;
      auto next = first;
      for (; next != members.end() && group.all.size() < kVectorWidth &&
             next->first == first->first + static_cast<int64_t>(group.all.size());
           ++next) {
        group.all.push_back(next->second);
        group.guard = guards_.both(group.guard, request.points[next->second].guard);
      }
      first = next;
      if (group.all.size() < kVectorWidth)
        continue;
      storeVector(request, group);
      for (unsigned i : group.all)
        request.done[i] = true;
      if (!ofOneGuard)
        edges.push_back(group);
    }
  }
  if (!edges.empty())
    storeEdges(request, edges);
}

void ResultStore::storeVector(Request &request, const Neighbours &group) {
  const int64_t skipped = remainderInVector(group.first.constant);
  IndexExpr start = group.first;
  start.constant -= skipped;
  const IndexExpr index = space_.divideExactly(start, kVectorWidth);
  sink_.count(Cost::kVectorStore, (skipped == 0 ? 1 : kOddStoreCost) * vectorCost(context_, index));
  storeUnder(group.guard, request, [&] {
    Value vector = sink_.build([&](OpBuilder &builder, Location loc) {
      llvm::SmallVector<Value, 4> elements;
      for (unsigned i : group.all)
        elements.push_back(request.values[i]);
      return packVector(builder, loc, elements, vectorTypeOf(request.type.getElementType(), false));
    });
    sink_.storeVector(request.buffer, vector, sink_.address(request.buffer, index, kVectorWidth),
                      skipped);
  });
}

/// Stores, for each group, the points that lie inside of the result. The loop has no rounds in an
/// invocation in which all points of all groups lie inside, because storeVector() stores them
/// there. Round i stores the point number i of each group. A loop is used because software devices
/// skip a loop without rounds, but execute the code of an scf.if.
void ResultStore::storeEdges(const Request &request, llvm::ArrayRef<Neighbours> groups) {
  Values tests;
  for (const Neighbours &group : groups)
    tests.push_back(guards_.test(group.guard));
  Value rounds = sink_.build([&](OpBuilder &builder, Location loc) -> Value {
    Value whole = tests.front();
    for (Value test : llvm::drop_begin(tests))
      whole = builder.create<arith::AndIOp>(loc, whole, test);
    return builder.create<arith::SelectOp>(
        loc, whole, builder.create<arith::ConstantIndexOp>(loc, 0),
        builder.create<arith::ConstantIndexOp>(loc, kVectorWidth));
  });
  Values none;
  sink_.loop(
      space_.addVariable(rounds, 0, kVectorWidth, true), /*rounds=*/0, none,
      [&](Value round, Values &) {
        const IndexExpr number = space_.addVariable(round, 0, kVectorWidth - 1, true);
        // Returns the value of this round.
        const auto ofRound = [&](llvm::ArrayRef<Value> values) {
          return sink_.build([&](OpBuilder &builder, Location loc) -> Value {
            Value chosen = values.front();
            for (size_t k = 1; k < values.size(); ++k)
              chosen = builder.create<arith::SelectOp>(
                  loc,
                  builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, round,
                                                builder.create<arith::ConstantIndexOp>(loc, k)),
                  values[k], chosen);
            return chosen;
          });
        };
        for (const Neighbours &group : groups) {
          sink_.count(Cost::kScalarStore);
          sink_.count(Cost::kArithmetic, 4 * kVectorWidth);
          Values insides, values;
          for (unsigned i : group.all) {
            const int32_t guard = request.points[i].guard;
            insides.push_back(guard == 0 ? sink_.create<arith::ConstantIntOp>(1, 1)
                                         : guards_.test(guard));
            values.push_back(request.values[i]);
          }
          sink_.ifTrue(ofRound(insides), [&] {
            storeElement(request, ofRound(values),
                         sink_.address(request.buffer, space_.add(group.first, number), 1));
          });
        }
      });
}

void ResultStore::storeElements(Request &request) {
  for (unsigned i = 0; i < request.points.size(); ++i) {
    if (request.done[i])
      continue;
    sink_.count(Cost::kScalarStore);
    storeUnder(request.points[i].guard, request, [&] {
      storeElement(request, request.values[i],
                   sink_.address(request.buffer, request.addresses[i], 1));
    });
  }
}

void ResultStore::storeElement(const Request &request, Value value, Value address) {
  if (request.type.getElementType().isInteger(1)) // In memory a bool is a byte.
    value = sink_.build([&](OpBuilder &builder, Location loc) {
      return builder.create<arith::ExtUIOp>(loc, builder.getI8Type(), value);
    });
  sink_.storeElement(request.buffer, value, address);
}

} // namespace gantry::codegen
