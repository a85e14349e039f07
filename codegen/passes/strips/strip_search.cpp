#include "codegen/passes/strips/strip_search.h"

#include "codegen/passes/fusion_groups.h"

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

constexpr unsigned kRowDim = 2;     // The rows of an image [n, c, h, w].
constexpr size_t kMaxTensors = 3;   // Tensors at the peak from which chains are followed.
constexpr unsigned kMaxEnds = 16;   // Ends of chains that are tried for a tensor.
constexpr size_t kMaxMembers = 32;  // Stored tensors of a chain.
constexpr unsigned kMaxChains = 96; // Chains that are examined for a tensor.
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
  /// Returns the largest storages at the peak, among those that are alive there. If the goal lowers
  /// the needed bytes, leaves out storages that could leave the arena at that time.
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

  bool isUsedBy(const TensorStorage &storage, uint32_t dispatch) const {
    return llvm::any_of(storage.tensors, [&](uint32_t tensor) {
      return tensor == dispatch || llvm::is_contained(trial_.tensors[dispatch].reads, tensor);
    });
  }

  /// Returns whether the rows of a stored tensor can be computed separately. A copy that a later
  /// pass adds is no obstacle: the chain does without it, or the pass adds it again.
  bool hasRows(uint32_t tensor) const {
    Operation *op = trial_.tensors[tensor].op;
    return !op || shapeOf(op).size() > kRowDim;
  }

  /// Tries the tensors that depend on the tensors `starts` as ends of a chain.
  void followFrom(const std::vector<uint32_t> &starts) {
    Indices reached(starts.begin(), starts.end());
    unsigned ends = 0;
    chainsLeft_ = kMaxChains;
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
        chain.erase(i); // The chain needs the whole tensor, which stays its operand.
        continue;
      }
      if (llvm::any_of(starts, isMember)) {
        --chainsLeft_;
        plan(chain);
      }
    }
  }

  /// Returns whether the chain can compute a row by itself.
  bool hasStrips(const Indices &tensors) const {
    const Chain chain = operatorsOf(tensors);
    const int64_t extent = shapeOf(chain.last())[kRowDim];
    return !ShapedType::isDynamic(extent) && extent > 0 &&
           rowsOfStrip(chain, {kRowDim, extent / 2, extent / 2 + 1});
  }

  /// Returns the operators that compute the tensors of a chain from the other stored tensors.
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
        if (!producer || isFreeValue(value) ||
            !(isComputeOp(producer) ||
              isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer)))
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
      // A strip in the middle has the largest halo. The first and the last one have less.
      const auto middle = rowsOfStrip(plan.chain, plan.strips.at(plan.strips.count() / 2));
      if (!middle)
        return;
      plan.operations = addedOperations(plan, *middle);
      plan.cost += plan.operations;
      const std::vector<uint64_t> outside = bytesOutside(tensors);
      if (runsOutside(trial_.order[peakAt_], tensors) && double(outside[peakAt_]) > goal_.maxPeak)
        return; // The chain does not lower the present peak.
      const uint64_t within =
          goal_.needed ? neededWithin(tensors, *middle) : peakWithin(tensors, *middle, outside);
      plan.peakBytes =
          std::max(within, goal_.targetBytes ? goal_.targetBytes : peakOutside(tensors, outside));
      if (plan.cost <= goal_.maxCost && double(within) <= goal_.maxPeak &&
          hasLargeStrips(tensors, *middle))
        plans_.push_back(plan);
    }
  }

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

  /// Returns the arithmetic operations of one strip.
  double operationsOfStrip(const StripRows &rows) {
    double sum = 0;
    for (const auto &[op, part] : rows)
      sum += operations(op) * double(part.count()) / double(shapeOf(op)[part.dim]);
    return sum;
  }

  double operations(Operation *op) {
    auto [entry, isNew] = operations_.try_emplace(op, 0);
    if (isNew)
      entry->second = operationsOf(op);
    return entry->second;
  }

  /// Returns the operations of all strips, less those of the operators that become unused.
  /// `middle`: the rows of a strip in the middle.
  double addedOperations(const StripPlan &plan, const StripRows &middle) {
    const int64_t count = plan.strips.count();
    const auto first = rowsOfStrip(plan.chain, plan.strips.at(0));
    const auto last = rowsOfStrip(plan.chain, plan.strips.at(count - 1));
    if (!first || !last)
      return std::numeric_limits<double>::infinity();
    double added = operationsOfStrip(*first) + operationsOfStrip(*last) +
                   double(count - 2) * operationsOfStrip(middle);
    // An operator stays if an operator outside of the chain, or one that stays, uses it.
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

  /// Returns the number of the strips' dispatches, less those of tensors that become unused.
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

  /// Returns the bytes of a chain's tensor in one strip.
  uint64_t stripBytes(uint32_t tensor, const StripRows &rows) const {
    Operation *op = trial_.tensors[tensor].op;
    auto found = op ? rows.find(op) : rows.end();
    if (found == rows.end())
      return 0;
    return wholeBytes(tensor) * found->second.count() / shapeOf(op)[found->second.dim];
  }

  /// Returns the bytes of a tensor if it is stored by itself.
  uint64_t wholeBytes(uint32_t tensor) const {
    const TensorStorage &storage = trial_.storages[trial_.tensors[tensor].storage];
    Operation *op = trial_.tensors[tensor].op;
    if (!op)
      return storage.bytes / storage.tensors.size();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    const uint64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8) * type.getNumElements();
    // narrow-floats may have halved the size.
    return storage.tensors.size() == 1 && storage.bytes > 0 ? std::min(bytes, storage.bytes)
                                                            : bytes;
  }

  /// Returns whether the strips make the whole storage superfluous.
  bool isRemoved(const TensorStorage &storage, const Indices &tensors, uint32_t end) const {
    return llvm::all_of(storage.tensors, [&](uint32_t i) {
      const StoredTensor &tensor = trial_.tensors[i];
      return i != end && tensors.count(i) > 0 && !tensor.isReturned &&
             llvm::all_of(tensor.readers, [&](uint32_t r) { return tensors.count(r) > 0; });
    });
  }

  /// Returns the largest number of bytes in strips that are alive at one moment, plus the bytes of
  /// the chain's whole result.
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

  /// Returns whether a tensor of the storage, other than the chain's result, is computed in strips,
  /// and no dispatch outside of the chain reads several tensors of the storage as a concatenation.
  /// The storage is then divided into its tensors, of which some may stay.
  bool isDivided(const TensorStorage &storage, const Indices &tensors) const {
    const auto isInside = [&](uint32_t i) {
      return i != *tensors.rbegin() && tensors.count(i) > 0;
    };
    if (llvm::none_of(storage.tensors, isInside))
      return false;
    llvm::DenseMap<uint32_t, unsigned> readCount; // By reader: how many of the tensors it reads.
    for (uint32_t i : storage.tensors)
      for (uint32_t reader : trial_.tensors[i].readers)
        if (tensors.count(reader) == 0 && ++readCount[reader] > 1)
          return false;
    return true;
  }

  /// Returns bytes_ without the storages that the strips divide (isDivided()), but with those of
  /// their tensors that are still stored whole.
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

  /// Adds the bytes of a tensor of a divided storage at the positions where it is still needed
  /// whole: for the dispatches outside of the chain, and for the strips that read it.
  void addAlone(uint32_t tensor, const Indices &tensors, std::vector<uint64_t> &bytes) const {
    SmallVector<uint32_t> uses;
    for (uint32_t reader : trial_.tensors[tensor].readers)
      if (tensors.count(reader) == 0)
        uses.push_back(position_[reader]);
    const bool isStripped = tensors.count(tensor) > 0;
    if (tensor == *tensors.rbegin() || (isStripped && uses.empty()))
      return;
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

  /// Returns whether a dispatch still runs when the chain is computed in strips: it is no member,
  /// or a dispatch outside of the chain reads its result.
  bool runsOutside(uint32_t dispatch, const Indices &tensors) const {
    return tensors.count(dispatch) == 0 ||
           (dispatch != *tensors.rbegin() &&
            llvm::any_of(trial_.tensors[dispatch].readers,
                         [&](uint32_t reader) { return tensors.count(reader) == 0; }));
  }

  /// Returns the bytes that are alive while the strips are computed. `outside`: bytesOutside().
  uint64_t peakWithin(const Indices &tensors, const StripRows &rows,
                      ArrayRef<uint64_t> outside) const {
    const uint32_t end = *tensors.rbegin(), at = position_[end];
    uint64_t late = 0; // Operands of the chain that must now stay alive until its end.
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

  /// Returns the bytes that are needed while the strips are computed.
  uint64_t neededWithin(const Indices &tensors, const StripRows &rows) const {
    const uint32_t end = *tensors.rbegin(), at = position_[end];
    uint64_t always = wholeBytes(end); // Bytes that cannot leave the arena during the strips.
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
  const std::vector<uint64_t> &bytes_; // Per position, the bytes that the goal lowers.
  const size_t peakAt_;                // The first position with the most bytes.
  std::vector<uint32_t> position_;     // Per dispatch, its position in the order.
  llvm::DenseMap<Operation *, uint32_t> tensorOf_;
  llvm::DenseMap<Operation *, double> operations_; // operationsOf() each operator.
  unsigned chainsLeft_ = 0; // Chains that may still be examined for the current tensor.
  std::vector<StripPlan> plans_;
};

} // namespace

std::vector<StripPlan> findStripPlans(const MemoryTrial &trial, const StripGoal &goal) {
  if (trial.order.empty())
    return {};
  return StripSearch(trial, goal).run();
}

} // namespace gantry::codegen
