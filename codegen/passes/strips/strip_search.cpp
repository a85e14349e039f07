// Implements the search for chains of operators that should be computed in strips. A position is an
// index in MemoryTrial::order, the dispatches in the order in which they run. A stored tensor is
// the result of a dispatch; it has the number of its dispatch. The members of a chain are given as
// the set of their stored tensors (Indices), whose last one is the chain's result, its `end`.
#include "codegen/passes/strips/strip_search.h"

#include "codegen/passes/fusion_groups.h"
#include "codegen/passes/tensor_dims.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr unsigned kRowDim = 2;       // The rows of an image [n, c, h, w].
constexpr size_t kMaxTensors = 3;     // Tensors at the peak from which chains are followed.
constexpr unsigned kMaxEnds = 16;     // Ends of chains that are tried for a tensor at the peak.
constexpr size_t kMaxMembers = 32;    // Stored tensors of a chain.
constexpr unsigned kMaxExamined = 96; // Chains that are examined for a tensor at the peak.
// The numbers of strips that are tried for a chain.
constexpr unsigned kCounts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
constexpr double kEqualPeaks = 1.02; // Peaks within this factor count as equal.

using Indices = std::set<uint32_t>;

ArrayRef<int64_t> shapeOf(Operation *op) {
  return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
}

class StripSearch {
public:
  StripSearch(const MemoryTrial &trial, const StripGoal &goal)
      : trial_(trial), goal_(goal), bytes_(trial.bytes(goal.needed)),
        peakAt_(std::max_element(bytes_.begin(), bytes_.end()) - bytes_.begin()),
        position_(trial.order.size()) {
    for (uint32_t at = 0; at < trial.order.size(); ++at)
      position_[trial.order[at]] = at;
    for (uint32_t i = 0; i < trial.tensors.size(); ++i)
      if (Operation *op = trial.tensors[i].op)
        tensorOf_[op] = i;
  }

  std::vector<StripPlan> run() {
    for (uint32_t storage : largestAtPeak())
      followFrom(trial_.storages[storage].tensors);
    if (plans_.empty())
      return {};
    const auto lowest = std::min_element(plans_.begin(), plans_.end(), [](auto &a, auto &b) {
                          return a.peakBytes < b.peakBytes;
                        })->peakBytes;
    // The rank of a peak is its ratio to the lowest peak, in steps of the factor kEqualPeaks. Peaks
    // of the same rank count as equal.
    const auto rank = [&](const StripPlan &plan) {
      return int(std::log(double(plan.peakBytes + 1) / double(lowest + 1)) / std::log(kEqualPeaks));
    };
    std::stable_sort(plans_.begin(), plans_.end(), [&](const StripPlan &a, const StripPlan &b) {
      return std::tuple(rank(a), a.cost, b.strips.rows) <
             std::tuple(rank(b), b.cost, a.strips.rows);
    });
    return std::move(plans_);
  }

private:
  /// Returns the largest of the storages that are alive at the peak: at most kMaxTensors, each with
  /// at least 1/16 of the bytes at the peak. If the goal is to lower the needed bytes
  /// (MemoryTrial::neededBytes), leaves out the storages that the pass fit-budget may take out of
  /// the arena at that time, because they do not count there.
  SmallVector<uint32_t> largestAtPeak() const {
    SmallVector<uint32_t> found;
    for (uint32_t i = 0; i < trial_.storages.size(); ++i) {
      const TensorStorage &storage = trial_.storages[i];
      if (storage.first <= peakAt_ && peakAt_ <= storage.last &&
          storage.bytes * 16 >= bytes_[peakAt_] &&
          (!goal_.needed || !storage.mayLeave || isUsedBy(storage, trial_.order[peakAt_])))
        found.push_back(i);
    }
    std::stable_sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
      return trial_.storages[a].bytes > trial_.storages[b].bytes;
    });
    if (found.size() > kMaxTensors)
      found.resize(kMaxTensors);
    return found;
  }

  /// Returns whether the dispatch writes or reads a tensor of the storage.
  bool isUsedBy(const TensorStorage &storage, uint32_t dispatch) const {
    return llvm::any_of(storage.tensors, [&](uint32_t tensor) {
      return tensor == dispatch || llvm::is_contained(trial_.tensors[dispatch].reads, tensor);
    });
  }

  /// Returns whether the rows of a stored tensor can be computed separately. A copy that a pass of
  /// the trial has added (`op` is null) does not prevent strips: when the passes run on the program
  /// with strips, they add the copy again if it is still necessary.
  bool hasRows(uint32_t tensor) const {
    Operation *op = trial_.tensors[tensor].op;
    return !op || shapeOf(op).size() > kRowDim;
  }

  /// Tries the tensors that depend on the tensors `starts` as ends of a chain. `starts` are the
  /// tensors of one storage that is alive at the peak.
  void followFrom(const std::vector<uint32_t> &starts) {
    Indices reached(starts.begin(), starts.end());
    unsigned ends = 0;
    chainsLeft_ = kMaxExamined;
    for (uint32_t i = *reached.begin() + 1; i < trial_.tensors.size() && ends < kMaxEnds; ++i) {
      const StoredTensor &tensor = trial_.tensors[i];
      if (reached.count(i) || !hasRows(i) ||
          llvm::none_of(tensor.reads, [&](uint32_t read) { return reached.count(read) > 0; }))
        continue;
      reached.insert(i);
      if (tensor.op) {
        ++ends;
        goBack(i, starts);
      }
    }
  }

  /// Makes plans for the chains that end with the tensor `end` and contain one of the tensors
  /// `starts`.
  void goBack(uint32_t end, const std::vector<uint32_t> &starts) {
    Indices chain{end};
    for (uint32_t i = end; i-- > 0 && chain.size() < kMaxMembers && chainsLeft_ > 0;) {
      const StoredTensor &tensor = trial_.tensors[i];
      const auto isMember = [&](uint32_t reader) { return chain.count(reader) > 0; };
      if (!hasRows(i) || llvm::none_of(tensor.readers, isMember) ||
          (!goal_.mayRepeat && (tensor.isReturned || !llvm::all_of(tensor.readers, isMember))))
        continue;
      chain.insert(i);
      if (!hasStrips(chain)) {
        chain.erase(i); // The chain needs the whole tensor, so the tensor stays an operand of it.
        continue;
      }
      if (llvm::any_of(starts, isMember)) {
        --chainsLeft_;
        plan(chain);
      }
    }
  }

  /// Returns whether the chain can compute a single row of its result. Tries the middle row.
  bool hasStrips(const Indices &tensors) const {
    const Chain chain = operatorsOf(tensors);
    const int64_t extent = shapeOf(chain.last())[kRowDim];
    return !ShapedType::isDynamic(extent) && extent > 0 &&
           rowsOfStrip(chain, {kRowDim, extent / 2, extent / 2 + 1});
  }

  /// Returns the operators that compute the tensors of a chain from the stored tensors that are not
  /// in the chain.
  Chain operatorsOf(const Indices &tensors) const {
    Chain chain;
    SmallVector<Operation *> open{trial_.tensors[*tensors.rbegin()].op};
    llvm::SetVector<Operation *> members;
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!members.insert(op))
        continue;
      for (Value value : usedValues(op)) {
        Operation *producer = value.getDefiningOp();
        if (!producer || isFreeValue(value) || !(isComputeOp(producer) || isReshape(producer)))
          continue;
        auto stored = tensorOf_.find(producer);
        if (stored == tensorOf_.end() || tensors.count(stored->second) > 0)
          open.push_back(producer);
      }
    }
    SmallVector<Operation *> sorted(members.getArrayRef());
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    chain.members.insert(sorted.begin(), sorted.end());
    return chain;
  }

  /// Adds to plans_ the plans for this chain that meet the goal, one for each number of strips.
  void plan(const Indices &tensors) {
    StripPlan plan;
    plan.chain = operatorsOf(tensors);
    Operation *last = plan.chain.last();
    const int64_t extent = shapeOf(last)[kRowDim];
    if (last != trial_.tensors[*tensors.rbegin()].op || ShapedType::isDynamic(extent))
      return;
    plan.strips = {kRowDim, extent, extent};
    for (unsigned count : kCounts) {
      const int64_t rows = (extent + count - 1) / count;
      if (rows < goal_.minRows || rows == plan.strips.rows)
        continue;
      plan.strips.rows = rows;
      plan.cost = goal_.dispatchCost * double(addedDispatches(tensors, plan));
      if (plan.cost > goal_.maxCost)
        break; // More strips cost even more.
      // A strip in the middle has the largest halo (rows that neighbouring strips compute too).
      const auto middle = rowsOfStrip(plan.chain, plan.strips.at(plan.strips.count() / 2));
      if (!middle)
        return;
      plan.operations = addedOperations(plan, *middle);
      plan.cost += plan.operations;
      const std::vector<uint64_t> outside = bytesOutside(tensors);
      if (runsOutside(trial_.order[peakAt_], tensors) && double(outside[peakAt_]) > goal_.maxPeak)
        return; // The dispatch at the peak still runs, and its bytes exceed the limit.
      const uint64_t within =
          goal_.needed ? neededWithin(tensors, *middle) : peakWithin(tensors, *middle, outside);
      plan.peakBytes =
          std::max(within, goal_.targetBytes ? goal_.targetBytes : peakOutside(tensors, outside));
      if (plan.cost <= goal_.maxCost && double(within) <= goal_.maxPeak &&
          hasLargeStrips(tensors, *middle))
        plans_.push_back(plan);
    }
  }

  /// Returns whether a strip of each tensor has at least goal_.minStripElements elements.
  bool hasLargeStrips(const Indices &tensors, const StripRows &rows) const {
    return llvm::all_of(tensors, [&](uint32_t i) {
      Operation *op = trial_.tensors[i].op;
      auto found = op ? rows.find(op) : rows.end();
      if (found == rows.end())
        return true;
      const auto shape = shapeOf(op);
      int64_t elements = found->second.count();
      for (auto [dim, extent] : llvm::enumerate(shape))
        elements *= dim == found->second.dim ? 1 : extent;
      return elements >= goal_.minStripElements;
    });
  }

  /// Returns the number of arithmetic operations of one strip.
  double operationsOfStrip(const StripRows &rows) {
    double sum = 0;
    for (const auto &[op, part] : rows)
      sum += operations(op) * double(part.count()) / double(shapeOf(op)[part.dim]);
    return sum;
  }

  /// Returns operationsOf(op), from a cache.
  double operations(Operation *op) {
    auto [entry, isNew] = operations_.try_emplace(op, 0);
    if (isNew)
      entry->second = operationsOf(op);
    return entry->second;
  }

  /// Returns by how much the number of arithmetic operations grows: the operations of all strips,
  /// less those of the operators that nothing uses any more. `middle`: the rows of a strip in the
  /// middle, which stands for all strips except the first and the last.
  double addedOperations(const StripPlan &plan, const StripRows &middle) {
    const int64_t count = plan.strips.count();
    const auto first = rowsOfStrip(plan.chain, plan.strips.at(0));
    const auto last = rowsOfStrip(plan.chain, plan.strips.at(count - 1));
    if (!first || !last)
      return std::numeric_limits<double>::infinity();
    double added = operationsOfStrip(*first) + operationsOfStrip(*last) +
                   double(count - 2) * operationsOfStrip(middle);
    // An operator is unused if it is the last one, which the strips replace, or if all its users
    // are unused.
    llvm::DenseSet<Operation *> unused;
    for (Operation *op : llvm::reverse(plan.chain.members))
      if (op == plan.chain.last() || llvm::all_of(op->getUsers(), [&](Operation *user) {
            return unused.contains(op->getBlock()->findAncestorOpInBlock(*user));
          })) {
        unused.insert(op);
        added -= operations(op);
      }
    return std::max(added, 0.0);
  }

  /// Returns by how much the number of dispatches grows: each tensor of the chain gets one dispatch
  /// per strip, less the dispatch of the whole tensor if that is not needed any more.
  int64_t addedDispatches(const Indices &tensors, const StripPlan &plan) const {
    int64_t added = 0;
    for (uint32_t i : tensors) {
      const TensorStorage &storage = trial_.storages[trial_.tensors[i].storage];
      const bool isUnused =
          i == *tensors.rbegin() || isRemoved(storage, tensors, *tensors.rbegin());
      added += plan.strips.count() - (isUnused ? 1 : 0);
    }
    return added;
  }

  /// Returns the bytes of the rows of a chain's tensor that one strip computes.
  uint64_t stripBytes(uint32_t tensor, const StripRows &rows) const {
    Operation *op = trial_.tensors[tensor].op;
    auto found = op ? rows.find(op) : rows.end();
    if (found == rows.end())
      return 0;
    return wholeBytes(tensor) * found->second.count() / shapeOf(op)[found->second.dim];
  }

  /// Returns the bytes that a whole tensor takes in a storage of its own.
  uint64_t wholeBytes(uint32_t tensor) const {
    const TensorStorage &storage = trial_.storages[trial_.tensors[tensor].storage];
    Operation *op = trial_.tensors[tensor].op;
    if (!op)
      return storage.bytes / storage.tensors.size();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    const uint64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8) * type.getNumElements();
    // The pass narrow-floats, which stores f32 as f16, may have halved the size of the storage.
    return storage.tensors.size() == 1 && storage.bytes > 0 ? std::min(bytes, storage.bytes)
                                                            : bytes;
  }

  /// Returns whether no whole tensor of the storage is needed any more once the chain is computed
  /// in strips. `end`: the chain's result.
  bool isRemoved(const TensorStorage &storage, const Indices &tensors, uint32_t end) const {
    return llvm::all_of(storage.tensors, [&](uint32_t i) {
      const StoredTensor &tensor = trial_.tensors[i];
      return i != end && tensors.count(i) > 0 && !tensor.isReturned &&
             llvm::all_of(tensor.readers, [&](uint32_t r) { return tensors.count(r) > 0; });
    });
  }

  /// Returns the largest number of bytes that are alive at one moment within the computation of a
  /// strip, plus the bytes of the chain's whole result, into which the strips are written.
  uint64_t bytesWithinStrip(const Indices &tensors, const StripRows &rows) const {
    const uint32_t end = *tensors.rbegin();
    uint64_t peak = 0;
    for (uint32_t now : tensors) {
      uint64_t alive = 0;
      for (uint32_t i : tensors) {
        const auto &readers = trial_.tensors[i].readers;
        const bool isNeeded = i == now || llvm::any_of(readers, [&](uint32_t reader) {
                                return reader >= now && tensors.count(reader) > 0;
                              });
        if (i <= now && i != end && isNeeded)
          alive += stripBytes(i, rows);
      }
      peak = std::max(peak, alive);
    }
    return peak + wholeBytes(end);
  }

  /// Returns whether the strips divide a storage, so that its tensors no longer share one. This
  /// happens if a tensor of the storage, other than the chain's result, is computed in strips, and
  /// no dispatch outside of the chain reads several tensors of the storage as a concatenation. A
  /// tensor of a divided storage that is still needed whole then has a storage of its own.
  bool isDivided(const TensorStorage &storage, const Indices &tensors) const {
    const auto isInside = [&](uint32_t i) {
      return i != *tensors.rbegin() && tensors.count(i) > 0;
    };
    if (llvm::none_of(storage.tensors, isInside))
      return false;
    // For each reader outside of the chain, how many of the tensors it reads.
    llvm::DenseMap<uint32_t, unsigned> readCount;
    for (uint32_t i : storage.tensors)
      for (uint32_t reader : trial_.tensors[i].readers)
        if (tensors.count(reader) == 0 && ++readCount[reader] > 1)
          return false;
    return true;
  }

  /// Returns the bytes at each position (bytes_) after the strips have divided storages
  /// (isDivided()): without these storages, but with those of their tensors that are still stored
  /// whole. The bytes of single strips are not included.
  std::vector<uint64_t> bytesOutside(const Indices &tensors) const {
    std::vector<uint64_t> bytes(bytes_);
    for (const TensorStorage &storage : trial_.storages) {
      if (!isDivided(storage, tensors) || (goal_.needed && storage.mayLeave))
        continue;
      for (uint32_t p = storage.first; p <= storage.last; ++p)
        bytes[p] -= std::min(bytes[p], storage.bytes);
      for (uint32_t i : storage.tensors)
        addAlone(i, tensors, bytes);
    }
    return bytes;
  }

  /// Adds to `bytes` the bytes of a tensor of a divided storage, at the positions where the whole
  /// tensor still counts. It is still used by the dispatches outside of the chain that read it, and
  /// by the strips if it is an operand of the chain. If the goal is to lower the needed bytes, only
  /// the positions of its uses count, otherwise all positions from the first use to the last.
  void addAlone(uint32_t tensor, const Indices &tensors, std::vector<uint64_t> &bytes) const {
    SmallVector<uint32_t> uses;
    for (uint32_t reader : trial_.tensors[tensor].readers)
      if (tensors.count(reader) == 0)
        uses.push_back(position_[reader]);
    const bool isStripped = tensors.count(tensor) > 0;
    const bool isReturned = trial_.tensors[tensor].isReturned;
    if (tensor == *tensors.rbegin() || (isStripped && uses.empty() && !isReturned))
      return;
    if (isReturned)
      uses.push_back(static_cast<uint32_t>(bytes.size()) - 1);
    if (!isStripped && uses.size() < trial_.tensors[tensor].readers.size())
      uses.push_back(position_[*tensors.rbegin()]); // The strips read it.
    uses.push_back(position_[tensor]);
    llvm::sort(uses);
    if (goal_.needed)
      for (uint32_t p : uses)
        bytes[p] += wholeBytes(tensor);
    else
      for (uint32_t p = uses.front(); p <= uses.back(); ++p)
        bytes[p] += wholeBytes(tensor);
  }

  /// Returns the largest entry of `bytes` while a dispatch outside of the chain runs.
  uint64_t peakOutside(const Indices &tensors, ArrayRef<uint64_t> bytes) const {
    uint64_t peak = 0;
    for (uint32_t p = 0; p < bytes.size(); ++p) {
      if (runsOutside(trial_.order[p], tensors))
        peak = std::max(peak, bytes[p]);
    }
    return peak;
  }

  /// Returns whether a dispatch still runs when the chain is computed in strips: its result is not
  /// in the chain, or the function returns it, or a dispatch outside of the chain reads it. The
  /// chain's end does not run any more, because the strips compute it.
  bool runsOutside(uint32_t dispatch, const Indices &tensors) const {
    const StoredTensor &result = trial_.tensors[dispatch];
    return tensors.count(dispatch) == 0 ||
           (dispatch != *tensors.rbegin() &&
            (result.isReturned || llvm::any_of(result.readers, [&](uint32_t reader) {
               return tensors.count(reader) == 0;
             })));
  }

  /// Returns the largest number of bytes that are alive while the strips are computed. A tensor is
  /// alive from the dispatch that writes it to the last one that reads it. `outside`: the result of
  /// bytesOutside().
  uint64_t peakWithin(const Indices &tensors, const StripRows &rows,
                      ArrayRef<uint64_t> outside) const {
    const uint32_t end = *tensors.rbegin(), at = position_[end];
    // The bytes of the operands of the chain that must now stay alive until its end, because each
    // strip reads them.
    uint64_t late = 0;
    for (const TensorStorage &storage : trial_.storages) {
      const bool isOperand = llvm::any_of(storage.tensors, [&](uint32_t i) {
        return tensors.count(i) == 0 && llvm::any_of(trial_.tensors[i].readers, [&](uint32_t r) {
                 return tensors.count(r) > 0;
               });
      });
      if (isOperand && storage.last < at && !isDivided(storage, tensors))
        late += storage.bytes;
    }
    const TensorStorage &result = trial_.storages[trial_.tensors[end].storage];
    const uint64_t others =
        outside[at] - std::min(outside[at], result.tensors.size() == 1 ? result.bytes : 0) + late;
    return others + bytesWithinStrip(tensors, rows);
  }

  /// Returns the largest number of bytes that are needed while the strips are computed. A dispatch
  /// needs its result, its operands, and the live storages that fit-budget may not take out of the
  /// arena.
  uint64_t neededWithin(const Indices &tensors, const StripRows &rows) const {
    const uint32_t end = *tensors.rbegin(), at = position_[end];
    // The bytes that are in the arena during all strips: the chain's result, and storages that may
    // not leave the arena.
    uint64_t always = wholeBytes(end);
    for (const TensorStorage &storage : trial_.storages)
      if (!storage.mayLeave && storage.first <= at && at <= storage.last &&
          !isDivided(storage, tensors))
        always += storage.bytes;
    uint64_t peak = 0;
    for (uint32_t i : tensors) {
      uint64_t need = always + (i == end ? 0 : stripBytes(i, rows));
      for (uint32_t read : trial_.tensors[i].reads)
        need += tensors.count(read) > 0 ? stripBytes(read, rows) : wholeBytes(read);
      peak = std::max(peak, need);
    }
    return peak;
  }

  const MemoryTrial &trial_;
  const StripGoal &goal_;
  const std::vector<uint64_t>
      &bytes_;                     // For each position, the live or needed bytes (goal_.needed).
  const size_t peakAt_;            // The first position with the most bytes.
  std::vector<uint32_t> position_; // For each dispatch, its position.
  llvm::DenseMap<Operation *, uint32_t> tensorOf_; // The stored tensor that an operator computes.
  llvm::DenseMap<Operation *, double> operations_; // The results of operationsOf().
  unsigned chainsLeft_ = 0; // Chains that may still be examined for the current tensor at the peak.
  std::vector<StripPlan> plans_;
};

} // namespace

std::vector<StripPlan> findStripPlans(const MemoryTrial &trial, const StripGoal &goal) {
  if (trial.order.empty())
    return {};
  return StripSearch(trial, goal).run();
}

} // namespace gantry::codegen
