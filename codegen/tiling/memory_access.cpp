// Loads and stores of the kernel evaluator: addresses are compared symbolically, elements that
// coincide are loaded once, and aligned groups of four neighbours become one vector (or word of
// bytes) access.
#include "codegen/tiling/kernel_evaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace gantry::codegen {

using namespace mlir;

Type groupTypeOf(Type element, bool asTexels) {
  if (element.isF32() || element.isInteger(32))
    return VectorType::get({4}, element);
  if (element.isF16())
    return VectorType::get({4}, asTexels ? Float32Type::get(element.getContext()) : element);
  if (element.isInteger(8))
    return IntegerType::get(element.getContext(), 32);
  return {};
}

namespace {

constexpr int64_t kLanes = 4;
constexpr double kApart = 2; // what a load whose lanes are not neighbours costs, of one whose are

/// Whether elements are accessed by aligned groups of four, each of which lies wholly inside or
/// outside of the tensor.
bool hasVectorView(RankedTensorType type, Layout layout) {
  if (!groupTypeOf(type.getElementType(), false))
    return false;
  if (!layout.empty())
    return true; // blocks divide the extents
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

Value KernelEvaluator::valueOf(const IndexExpr &index) {
  outermostUsed_ |= space_.dependsOn(index, outermost_);
  return space_.materialize(index, *builder_, loc());
}

/// The address, which counts groups of so many elements, as an index; noted for slices().
Value KernelEvaluator::placeOf(unsigned buffer, const IndexExpr &address, int64_t elements) {
  IndexExpr rest = address;
  int64_t step = 0;
  llvm::erase_if(rest.terms, [&](auto term) {
    if (term.first == outermost_)
      step = term.second;
    return term.first == outermost_;
  });
  const IndexRange bounds = space_.range(rest);
  outermostUsed_ |= space_.dependsOn(rest, outermost_) || step < 0 ||
                    (step > 0 && (bounds.low < 0 || bounds.high >= step));
  const auto [known, isNew] = slices_.try_emplace(buffer, step * elements);
  outermostUsed_ |= known->second != step * elements;
  return space_.materialize(address, *builder_, loc());
}

std::optional<llvm::SmallVector<int64_t>> KernelEvaluator::slices() const {
  if (outermost_ < 0 || outermostUsed_)
    return std::nullopt;
  llvm::SmallVector<int64_t> steps(buffers_.size(), 0);
  for (const auto &[buffer, step] : slices_)
    steps[buffer] = step;
  return steps;
}

/// The address as an index, redirected to 0 where the guard does not hold.
Value KernelEvaluator::linearAddress(unsigned buffer, const IndexExpr &address, int64_t elements,
                                     int32_t guard) {
  if (guard != 0)
    counts_.arithmetic += weight_;
  Value test = guard != 0 ? guardValue(guard) : Value();
  if (!builder_)
    return {};
  Value value = placeOf(buffer, address, elements);
  if (!test)
    return value;
  Value zero = builder_->create<arith::ConstantIndexOp>(loc(), 0);
  return builder_->create<arith::SelectOp>(loc(), test, value, zero);
}

static llvm::SmallVector<IndexExpr> addressesOf(IndexSpace &space, Layout layout,
                                                llvm::ArrayRef<IndexExpr> shape,
                                                llvm::ArrayRef<Point> points) {
  llvm::SmallVector<IndexExpr> addresses;
  for (const Point &point : points)
    addresses.push_back(linearAddress(space, layout, shape, point.index));
  return addresses;
}

/// The address of an aligned group, counted in groups.
static IndexExpr inVectors(IndexExpr address) {
  address.constant /= kLanes;
  for (auto &term : address.terms)
    term.second /= kLanes;
  return address;
}

/// One of the four elements of a group, of its component or, for bytes, of the whole word.
Value KernelEvaluator::elementOf(Value part, int64_t lane, Type element) {
  if (element.isInteger(8)) { // the first one lowest
    if (lane > 0)
      part = builder_->create<arith::ShRUIOp>(
          loc(), part, builder_->create<arith::ConstantIntOp>(loc(), 8 * lane, 32));
    return builder_->create<arith::TruncIOp>(loc(), element, part);
  }
  return part.getType() == element ? part : builder_->create<arith::TruncFOp>(loc(), element, part);
}

/// Four elements as they are stored.
Value KernelEvaluator::groupOf(llvm::ArrayRef<Value> lanes, Type type) {
  if (type.isInteger(32)) {
    Value word;
    for (auto [lane, value] : llvm::enumerate(lanes)) {
      Value byte;
      auto narrowed = value.getDefiningOp<arith::TruncIOp>();
      if (!narrowed || narrowed.getIn().getType() != type)
        byte = builder_->create<arith::ExtUIOp>(loc(), type, value);
      else if (lane + 1 == lanes.size()) // what is above is shifted out
        byte = narrowed.getIn();
      else
        byte = builder_->create<arith::AndIOp>(
            loc(), narrowed.getIn(), builder_->create<arith::ConstantIntOp>(loc(), 0xff, 32));
      if (lane > 0)
        byte = builder_->create<arith::ShLIOp>(
            loc(), byte, builder_->create<arith::ConstantIntOp>(loc(), 8 * lane, 32));
      word = word ? builder_->create<arith::OrIOp>(loc(), word, byte).getResult() : byte;
    }
    return word;
  }
  auto vectorType = cast<VectorType>(type);
  Value vector =
      builder_->create<arith::ConstantOp>(loc(), vectorType, builder_->getZeroAttr(vectorType));
  for (auto [lane, value] : llvm::enumerate(lanes))
    vector = builder_->create<vector::InsertOp>(loc(), value, vector, static_cast<int64_t>(lane));
  return vector;
}

bool KernelEvaluator::isUniform(int32_t guard) const {
  return llvm::all_of(guards_[guard],
                      [&](const IndexExpr &condition) { return space_.isUniform(condition); });
}

Value KernelEvaluator::loadShared(unsigned buffer, const IndexExpr &first, int64_t stride,
                                  int64_t count, int32_t guard) {
  counts_.vectorLoads += stride == 1 ? weight_ : kApart * weight_;
  counts_.shuffles += weight_ * count;
  IndexExpr lane = lane_;
  if (count < tile_.lanes) {
    counts_.arithmetic += weight_;
    Value clamped;
    if (builder_)
      clamped = builder_->create<arith::MinUIOp>(
          loc(), valueOf(lane_), builder_->create<arith::ConstantIndexOp>(loc(), count - 1));
    lane = space_.addVariable(clamped, 0, count - 1, true);
  }
  return loadVector(buffer, space_.add(first, space_.scale(lane, stride)), guard);
}

/// A vector of four; where its guard does not hold, zero if zeroOutside_, else anything.
Value KernelEvaluator::loadVector(unsigned buffer, const IndexExpr &index, int32_t guard) {
  Value address = linearAddress(buffer, index, kLanes, guard);
  const bool zeroed = zeroOutside_ && guard != 0;
  if (zeroed)
    counts_.arithmetic += 4 * weight_;
  if (!builder_)
    return {};
  Value vector = builder_->create<memref::LoadOp>(loc(), buffers_[buffer].vector, address);
  if (zeroed) {
    Value zero = builder_->create<arith::ConstantOp>(loc(), vector.getType(),
                                                     builder_->getZeroAttr(vector.getType()));
    vector = builder_->create<arith::SelectOp>(loc(), guardValue(guard), vector, zero);
  }
  return vector;
}

namespace {

/// Addresses (in vectors) first, first + stride, … of one guard.
struct Progression {
  int32_t guard;
  IndexExpr first;
  int64_t stride, count;
};

/// Takes vectors apart into progressions of at most `lanes`, longest first where there is a choice.
/// What is left alone is a progression of one.
std::vector<Progression> progressions(llvm::ArrayRef<std::pair<int32_t, IndexExpr>> vectors,
                                      int64_t lanes) {
  std::map<std::pair<int32_t, IndexExpr>, std::set<int64_t>> byBase;
  for (const auto &[guard, address] : vectors)
    byBase[{guard, address.base()}].insert(address.constant);
  std::vector<Progression> result;
  for (auto &[key, constants] : byBase) {
    while (!constants.empty()) {
      const int64_t first = *constants.begin();
      int64_t bestStride = 0, bestCount = 1;
      for (int64_t second : constants) {
        const int64_t stride = second - first;
        int64_t count = 1;
        while (stride > 0 && count < lanes && constants.count(first + count * stride))
          ++count;
        if (count > bestCount) {
          bestStride = stride;
          bestCount = count;
        }
        if (bestCount == lanes)
          break;
      }
      IndexExpr start = key.second;
      start.constant = first;
      result.push_back({key.first, start, bestStride, bestCount});
      for (int64_t i = 0; i < bestCount; ++i)
        constants.erase(first + i * bestStride);
    }
  }
  return result;
}

} // namespace

/// Whether neighbouring invocations access neither the same vector nor neighbouring ones. In
/// reductions without lanes this is not asked: their operands come from the caches many times over.
bool KernelEvaluator::areApart(const IndexExpr &index) const {
  if (tile_.lanes > 1)
    return !space_.isUniform(index) && !(space_.splitUniform(index).second == lane_);
  if (!tile_.reduction.empty() || lane_.isConstant())
    return false;
  for (const auto &[variable, coefficient] : index.terms)
    if (variable == lane_.terms.front().first)
      return coefficient != 1;
  return false;
}

Values KernelEvaluator::load(unsigned buffer, Value tensor, llvm::ArrayRef<Point> points,
                             bool bytesAsWords) {
  auto type = cast<RankedTensorType>(tensor.getType());
  auto addresses = addressesOf(space_, layouts_[buffer], shapeOf(tensor), points);
  Values result(points.size());
  llvm::SmallVector<bool> done(points.size(), false);

  if (hasVectorView(type, layouts_[buffer])) {
    auto groups = groupByFour(space_, addresses, points, 2);
    // Loaded by one lane for all: its vector, and which lane.
    std::map<std::pair<int32_t, IndexExpr>, std::pair<Value, int32_t>> passed;
    if (tile_.lanes > 1) {
      llvm::SmallVector<std::pair<int32_t, IndexExpr>> shared;
      for (auto &[group, members] : groups)
        if (space_.isUniform(group.start) && isUniform(group.guard))
          shared.push_back({group.guard, inVectors(group.start)});
      for (const Progression &run : progressions(shared, tile_.lanes)) {
        if (run.count == 1)
          continue;
        Value mine = loadShared(buffer, run.first, run.stride, run.count, run.guard);
        IndexExpr at = run.first;
        for (int64_t i = 0; i < run.count; ++i, at.constant += run.stride)
          passed[{run.guard, at}] = {mine, static_cast<int32_t>(i)};
      }
    }
    for (auto &[group, members] : groups) {
      const IndexExpr index = inVectors(group.start);
      auto shared = passed.find({group.guard, index});
      Value vector;
      if (shared != passed.end()) {
        vector = shared->second.first;
      } else {
        // Lanes that read far apart touch a cache line each.
        counts_.vectorLoads += areApart(index) ? kApart * weight_ : weight_;
        vector = loadVector(buffer, index, group.guard);
      }
      Value word; // passed from another lane
      for (auto [i, lane] : members) {
        done[i] = true;
        if (!builder_)
          continue;
        // A component of a vector, or the word that holds four bytes.
        const bool isWord = vector.getType().isInteger(32);
        Value part = vector;
        if (!isWord)
          part = builder_->create<vector::ExtractOp>(loc(), vector, lane);
        if (shared != passed.end()) {
          auto scope = spirv::ScopeAttr::get(builder_->getContext(), spirv::Scope::Subgroup);
          Value id = builder_->create<spirv::ConstantOp>(
              loc(), builder_->getI32Type(), builder_->getI32IntegerAttr(shared->second.second));
          if (!isWord || !word) {
            word = builder_->create<spirv::GroupNonUniformShuffleOp>(loc(), part.getType(), scope,
                                                                     part, id);
            shuffles_.push_back(word.getDefiningOp());
          }
          part = word;
        }
        result[i] = bytesAsWords ? part : elementOf(part, lane, type.getElementType());
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
      if (zeroOutside_ && points[i].guard != 0)
        counts_.arithmetic += weight_;
      Value address = linearAddress(buffer, addresses[i], 1, points[i].guard);
      if (builder_) {
        Value value = builder_->create<memref::LoadOp>(loc(), buffers_[buffer].scalar, address);
        if (isBool) { // one byte in memory, 0 or not 0
          Value zero = builder_->create<arith::ConstantIntOp>(loc(), 0, 8);
          value = builder_->create<arith::CmpIOp>(loc(), arith::CmpIPredicate::ne, value, zero);
        }
        if (zeroOutside_ && points[i].guard != 0) {
          Value zero = constantLike(builder_->getZeroAttr(value.getType()), value.getType());
          value =
              builder_->create<arith::SelectOp>(loc(), guardValue(points[i].guard), value, zero);
        }
        found->second = value;
      }
    }
    result[i] = found->second;
  }
  return result;
}

/// Whether each four points in turn are the bytes of one word of a buffer, in order.
bool KernelEvaluator::areWords(BlockArgument tensor, llvm::ArrayRef<Point> points) {
  const Layout layout = layouts_[tensor.getArgNumber()];
  if (!hasVectorView(cast<RankedTensorType>(tensor.getType()), layout))
    return false;
  const auto addresses = addressesOf(space_, layout, shapeOf(tensor), points);
  for (size_t i = 0; i < points.size(); ++i) {
    IndexExpr expected = addresses[i - i % kLanes];
    expected.constant += i % kLanes;
    if (!(addresses[i] == expected) || points[i].guard != points[i - i % kLanes].guard ||
        (i % kLanes == 0 &&
         (addresses[i].constant % kLanes != 0 || space_.baseDivisor(addresses[i]) % kLanes != 0)))
      return false;
  }
  return true;
}

void KernelEvaluator::store(Value tensor, llvm::ArrayRef<Point> points,
                            llvm::ArrayRef<Value> values) {
  if (storeThroughPool(tensor, points, values))
    resultInPool_ = true;
  else
    storeDirect(tensor, points, values);
}

void KernelEvaluator::storeDirect(Value tensor, llvm::ArrayRef<Point> points,
                                  llvm::ArrayRef<Value> values) {
  auto type = cast<RankedTensorType>(tensor.getType());
  size_t tensors = llvm::count_if(kernel_.getArgumentTypes(),
                                  [](Type type) { return isa<RankedTensorType>(type); });
  auto addresses = addressesOf(space_, layouts_[tensors], shapeOf(tensor), points);
  const Buffer &buffer = buffers_.empty() ? Buffer{} : buffers_.back();
  const auto result = static_cast<unsigned>(tensors);
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

  if (hasVectorView(type, layouts_[tensors])) {
    for (auto &[group, members] : groupByFour(space_, addresses, points, kLanes)) {
      IndexExpr index = inVectors(group.start);
      counts_.vectorStores += areApart(index) ? kApart * weight_ : weight_;
      llvm::SmallVector<Value, 4> lanes(kLanes);
      for (auto [i, lane] : members) {
        done[i] = true;
        lanes[lane] = values[i];
      }
      at(group.guard, [&, &group = group] {
        Value vector = groupOf(lanes, groupTypeOf(type.getElementType(), false));
        Value address = placeOf(result, index, kLanes);
        builder_->create<memref::StoreOp>(loc(), vector, buffer.vector, address);
      });
    }
  }
  bool isBool = type.getElementType().isInteger(1);
  for (unsigned i = 0; i < points.size(); ++i) {
    if (done[i])
      continue;
    counts_.scalarStores += weight_;
    at(points[i].guard, [&] {
      Value value = values[i];
      if (isBool)
        value = builder_->create<arith::ExtUIOp>(loc(), builder_->getI8Type(), value);
      builder_->create<memref::StoreOp>(loc(), value, buffer.scalar,
                                        placeOf(result, addresses[i], 1));
    });
  }
}

llvm::SmallVector<IndexExpr> KernelEvaluator::tileSpace() {
  auto shape = shapeOf(result_);
  llvm::SmallVector<IndexExpr> space(shape.begin(),
                                     shape.begin() + std::min<size_t>(tile_.merged, shape.size()));
  if (tile_.merged < shape.size()) {
    IndexExpr product(1);
    for (const IndexExpr &extent : llvm::drop_begin(shape, tile_.merged))
      product = space_.mul(product, extent);
    space.push_back(product);
  }
  return space;
}

/// Where the run of a tile with lanes starts: the tile's runs lie lane by lane, and those beyond
/// the extent (whole runs: it is a multiple of their length) are moved to the last one, so that
/// what is loaded for them exists. They are not stored.
IndexExpr KernelEvaluator::runStart(const IndexExpr &tileCoordinate, int64_t index,
                                    const IndexExpr &extent, IndexExpr &unclamped) {
  const int64_t runs = tile_.result[tile_.laneDim] / tile_.run;
  IndexExpr position = space_.add(space_.scale(tileCoordinate, runs * tile_.lanes),
                                  space_.add(IndexExpr(index * tile_.lanes), lane_));
  unclamped = position;
  IndexExpr last = space_.sub(space_.floorDiv(extent, IndexExpr(tile_.run)), IndexExpr(1));
  if (space_.range(space_.sub(last, position)).low >= 0)
    return space_.scale(position, tile_.run);
  counts_.arithmetic += 1;
  Value clamped;
  if (builder_)
    clamped = builder_->create<arith::MinUIOp>(loc(), valueOf(position), valueOf(last));
  return space_.scale(space_.addVariable(clamped, 0, space_.range(last).high, true), tile_.run);
}

/// The tile's last coordinate as the result's last dimensions, which the tile has as one.
void KernelEvaluator::splitMerged(Point &point) {
  auto shape = shapeOf(result_);
  if (tile_.merged >= shape.size())
    return;
  IndexExpr rest = point.index.pop_back_val();
  llvm::SmallVector<IndexExpr, 4> parts;
  for (size_t d = shape.size(); d-- > tile_.merged;) {
    parts.push_back(d == tile_.merged ? rest : space_.mod(rest, shape[d]));
    if (d > tile_.merged)
      rest = space_.floorDiv(rest, shape[d]);
  }
  point.index.append(parts.rbegin(), parts.rend());
}

void KernelEvaluator::run(ValueRange tileCoordinates, Value lane, Value subgroup) {
  if (tile_.rowLength)
    return runRows(tileCoordinates, lane);
  auto space = tileSpace();
  // Staged tiles: the invocation's place along each dimension, innermost first.
  llvm::SmallVector<IndexExpr> places(space.size(), IndexExpr(0));
  if (tile_.matrix) {
    placeMatrices(lane, subgroup);
  } else if (!tile_.threads.empty()) {
    int64_t size = 1;
    for (int64_t threads : tile_.threads)
      size *= threads;
    invocation_ = space_.addVariable(lane, 0, size - 1, true);
    places = takeApart(invocation_, tile_.threads);
  } else {
    lane_ = space_.addVariable(lane, 0, tile_.lanes - 1, true);
  }
  // A point, and under which guard it is stored: loads for points that lie outside are harmless
  // along the lanes' dimension, and redirected along others.
  std::vector<Point> points(1);
  std::vector<int32_t> stores(1, 0);
  for (size_t d = 0; d < space.size(); ++d) {
    const int64_t tile = tile_.extent(d);
    int64_t last = IndexSpace::kUnbounded;
    if (space[d].isConstant())
      last = (space[d].constant + tile - 1) / tile - 1;
    const bool byLanes = tile_.lanes > 1 && d == tile_.laneDim;
    const bool byThreads = !tile_.threads.empty();
    IndexExpr coordinate = space_.addVariable(builder_ ? tileCoordinates[d] : Value(), 0, last,
                                              tile_.lanes == 1 && !byThreads);
    places_.base.push_back(space_.scale(coordinate, tile));
    if (outermost_ < 0 && !coordinate.isConstant())
      outermost_ = coordinate.terms.front().first;
    if (tile_.lanes == 1 && !byThreads && d + 1 == space.size())
      lane_ = coordinate; // neighbouring invocations are neighbours here
    bool ragged = !space[d].isConstant() || space[d].constant % tile != 0;
    llvm::SmallVector<IndexExpr> indices, conditions;
    for (int64_t j = 0; j < tile_.result[d]; ++j) {
      if (byLanes) {
        IndexExpr unclamped;
        if (j % tile_.run == 0)
          indices.push_back(runStart(coordinate, j / tile_.run, space[d], unclamped));
        else
          indices.push_back(space_.add(indices[j - j % tile_.run], IndexExpr(j % tile_.run)));
        IndexExpr runs = space_.floorDiv(space[d], IndexExpr(tile_.run));
        conditions.push_back(j % tile_.run == 0
                                 ? space_.sub(space_.sub(runs, IndexExpr(1)), unclamped)
                                 : conditions[j - j % tile_.run]);
      } else {
        // Neighbouring invocations have neighbouring points, or fours of them.
        IndexExpr within = tile_.matrix ? placeInTile(d, j)
                           : byThreads  ? space_.add(IndexExpr(j * tile_.threads[d]), places[d])
                                        : IndexExpr(j);
        indices.push_back(space_.add(places_.base.back(), within));
        // The first point of a tile always lies inside: there is no tile without one.
        const IndexExpr tested =
            tile_.matrix ? groupStart(indices.back(), space[d]) : indices.back();
        conditions.push_back(j > 0 || byThreads
                                 ? space_.sub(space_.sub(space[d], IndexExpr(1)), tested)
                                 : IndexExpr(0));
      }
    }
    std::vector<Point> next;
    std::vector<int32_t> nextStores;
    for (size_t i = 0; i < points.size(); ++i) {
      for (int64_t j = 0; j < tile_.result[d]; ++j) {
        Point moved = points[i];
        int32_t store = stores[i];
        moved.index.push_back(indices[j]);
        if (ragged) {
          bool never = false;
          store = guardAnd(store, conditions[j], never);
          if (!byLanes)
            moved.guard = guardAnd(moved.guard, conditions[j], never);
        }
        next.push_back(std::move(moved));
        nextStores.push_back(store);
      }
    }
    points = std::move(next);
    stores = std::move(nextStores);
  }
  for (Point &point : points)
    splitMerged(point);
  if (tile_.matrix)
    places_.points = points;
  Values values = evaluate(result_, points);
  if (unsupported_)
    return;
  for (size_t i = 0; i < points.size(); ++i)
    points[i].guard = stores[i];
  store(result_, points, values);
}

} // namespace gantry::codegen
