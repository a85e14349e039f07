// Implements piecesOf() and planSlots().
#include "engine/plan/slots.h"

#include "engine/base/align.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace gantry::plan {

namespace {

/// If all slots together have this many bytes or more, they are planned as rectangles only. Below
/// this limit, sums of a few offsets fit 63 bits.
constexpr uint64_t kMaxBytes = uint64_t{1} << 60;

uint64_t endOf(const Slot &slot) {
  uint64_t end = 0;
  for (const SlotUse &use : slot.uses)
    end = std::max(end, use.offset + use.sizeBytes);
  return end;
}

/// Returns the rectangle that covers all uses of a slot.
Value wholeOf(const Slot &slot) {
  Value whole{endOf(slot), slot.alignment, UINT32_MAX, 0};
  for (const SlotUse &use : slot.uses) {
    whole.firstUse = std::min(whole.firstUse, use.firstUse);
    whole.lastUse = std::max(whole.lastUse, use.lastUse);
  }
  return whole;
}

/// Appends the pieces of a slot.
void divide(const Slot &slot, uint32_t number, SlotPieces &pieces) {
  const uint64_t end = endOf(slot);
  std::vector<uint64_t> bounds{0, end};
  for (const SlotUse &use : slot.uses) {
    bounds.push_back(roundDown(use.offset, slot.alignment));
    bounds.push_back(std::min(end, roundUp(use.offset + use.sizeBytes, slot.alignment)));
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  const size_t first = pieces.values.size();
  for (size_t b = 0; b + 1 < bounds.size(); ++b) {
    Value piece{bounds[b + 1] - bounds[b], slot.alignment, UINT32_MAX, 0};
    for (const SlotUse &use : slot.uses)
      if (use.offset < bounds[b + 1] && bounds[b] < use.offset + use.sizeBytes) {
        piece.firstUse = std::min(piece.firstUse, use.firstUse);
        piece.lastUse = std::max(piece.lastUse, use.lastUse);
      }
    if (piece.firstUse > piece.lastUse)
      continue; // Nothing uses these bytes.
    Value *last = pieces.values.size() > first ? &pieces.values.back() : nullptr;
    if (last && last->firstUse == piece.firstUse && last->lastUse == piece.lastUse &&
        pieces.offsets.back() + last->sizeBytes == bounds[b]) {
      last->sizeBytes += piece.sizeBytes;
      continue;
    }
    pieces.values.push_back(piece);
    pieces.slots.push_back(number);
    pieces.offsets.push_back(bounds[b]);
  }
  if (pieces.values.size() == first) { // A slot without bytes.
    pieces.values.push_back(wholeOf(slot));
    pieces.slots.push_back(number);
    pieces.offsets.push_back(0);
  }
}

/// Places the slots again and again, each time in a changed order.
class LowestFit {
public:
  LowestFit(const std::vector<Slot> &slots, const SlotPieces &pieces, uint64_t workLimit)
      : slots_(slots), pieces_(pieces), workLeft_(workLimit), piecesOf_(slots.size()),
        order_(slots.size()) {
    std::vector<uint64_t> bytes(slots.size());
    for (uint32_t p = 0; p < pieces.values.size(); ++p) {
      piecesOf_[pieces.slots[p]].push_back(p);
      bytes[pieces.slots[p]] += pieces.values[p].sizeBytes;
    }
    for (const Slot &slot : slots)
      granule_ = std::min(granule_, slot.alignment);
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return bytes[a] > bytes[b]; });
  }

  /// After each placement, moves one of the slots that reach the height to an earlier place in the
  /// order. Stops when the height is at most `enoughBytes`, when the work limit is used up, or when
  /// only the order's first slot reaches the height. Stores each plan that is lower in `plan`.
  void improve(uint64_t enoughBytes, Plan &plan) {
    std::mt19937 random(1);
    uint64_t bestHeight = UINT64_MAX;
    std::vector<uint32_t> bestOrder = order_;
    while (true) {
      const uint64_t height = place();
      if (height <= bestHeight) {
        bestHeight = height;
        bestOrder = order_;
      } else if (random() % 8 == 0) {
        order_ = bestOrder;
      }
      if (height < plan.heightBytes) {
        plan.heightBytes = height;
        plan.offsets = offsets_;
      }
      if (plan.heightBytes <= enoughBytes || workLeft_ == 0)
        return;
      std::vector<size_t> highest; // Indices in order_.
      for (size_t at = 1; at < order_.size(); ++at)
        if (tops_[order_[at]] == height)
          highest.push_back(at);
      if (highest.empty())
        return;
      const size_t from = highest[random() % highest.size()], to = random() % from;
      std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
    }
  }

private:
  /// Places each slot at the lowest offset at which its pieces overlap no piece of an earlier one.
  /// Returns the height.
  uint64_t place() {
    offsets_.assign(slots_.size(), 0);
    tops_.assign(slots_.size(), 0);
    placed_.clear();
    for (const uint32_t slot : order_) {
      offsets_[slot] = lowestOffset(slot);
      for (const uint32_t p : piecesOf_[slot]) {
        placed_.push_back(p);
        tops_[slot] = std::max(tops_[slot], endOf(p));
      }
    }
    return *std::max_element(tops_.begin(), tops_.end());
  }

  uint64_t lowestOffset(uint32_t slot) {
    // Each entry {from, to} forbids the offsets strictly between from and to, because two pieces
    // would overlap there.
    forbidden_.clear();
    for (const uint32_t own : piecesOf_[slot])
      for (const uint32_t other : placed_)
        if (const Value &a = pieces_.values[own], &b = pieces_.values[other];
            a.firstUse <= b.lastUse && b.firstUse <= a.lastUse) {
          const auto end = static_cast<int64_t>(endOf(other) - pieces_.offsets[own]);
          forbidden_.emplace_back(
              end - static_cast<int64_t>(occupiedBytes(own) + occupiedBytes(other)), end);
        }
    const uint64_t work = piecesOf_[slot].size() * placed_.size() + 16 * forbidden_.size() + 1;
    workLeft_ -= std::min(workLeft_, work);
    std::sort(forbidden_.begin(), forbidden_.end());
    uint64_t offset = 0;
    for (const auto &[from, to] : forbidden_)
      if (from < static_cast<int64_t>(offset) && static_cast<int64_t>(offset) < to)
        offset = roundUp(static_cast<uint64_t>(to), slots_[slot].alignment);
    return offset;
  }

  uint64_t endOf(uint32_t piece) const {
    return offsets_[pieces_.slots[piece]] + pieces_.offsets[piece] + occupiedBytes(piece);
  }

  uint64_t occupiedBytes(uint32_t piece) const {
    return roundUp(pieces_.values[piece].sizeBytes, granule_);
  }

  const std::vector<Slot> &slots_;
  const SlotPieces &pieces_;
  uint64_t granule_ = UINT64_MAX; // The smallest alignment (plan.h explains occupied bytes).
  // Each comparison of two pieces costs 1, and 16 more if the pieces are alive at the same time.
  uint64_t workLeft_;
  std::vector<std::vector<uint32_t>> piecesOf_;
  std::vector<uint32_t> order_;
  std::vector<uint64_t> offsets_, tops_;
  std::vector<uint32_t> placed_; // Pieces.
  std::vector<std::pair<int64_t, int64_t>> forbidden_;
};

} // namespace

SlotPieces piecesOf(const std::vector<Slot> &slots) {
  SlotPieces pieces;
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    divide(slots[slot], slot, pieces);
  return pieces;
}

Result<Plan> planSlots(const std::vector<Slot> &slots, const PlanRequest &request) {
  std::vector<Value> wholes;
  uint64_t totalBytes = 0;
  for (const Slot &slot : slots) {
    wholes.push_back(wholeOf(slot));
    totalBytes += wholes.back().sizeBytes;
  }
  GANTRY_ASSIGN_OR_RETURN(Plan best, planArena(wholes, request));
  const SlotPieces pieces = piecesOf(slots);
  if (pieces.values.size() == slots.size() || totalBytes >= kMaxBytes)
    return best;
  best.lowerBoundBytes = best.provenBoundBytes = lowerBound(pieces.values, &best.peakCommand);
  LowestFit(slots, pieces, request.workLimit / 8)
      .improve(std::max(best.lowerBoundBytes, request.enoughBytes), best);
  return best;
}

} // namespace gantry::plan
