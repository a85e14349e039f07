// validateSlots(): checks each slot alone, then sweeps over the bytes of the arena and compares the
// lifetimes of the slots that use a byte.
#include "engine/plan/slots.h"

#include <algorithm>
#include <map>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

/// The start or the end of a use in the arena.
struct Edge {
  uint64_t offset;
  bool isStart; // At equal offsets, ends come before starts.
  uint32_t slot;
  const SlotUse *use;

  bool operator<(const Edge &other) const {
    return std::pair(offset, isStart) < std::pair(other.offset, other.isStart);
  }
};

/// Checks a slot alone and appends the edges of its uses.
Status checkSlot(const Slot &slot, uint32_t number, const Plan &plan, std::vector<Edge> &edges) {
  const uint64_t offset = plan.offsets[number];
  if (slot.alignment == 0 || offset % slot.alignment != 0)
    return statusf(StatusCode::kInternal,
                   "the plan puts slot %u at %llu, which is no multiple of its alignment %llu",
                   number, static_cast<Printable>(offset), static_cast<Printable>(slot.alignment));
  for (const SlotUse &use : slot.uses) {
    if (use.firstUse > use.lastUse)
      return statusf(StatusCode::kInternal, "a use of slot %u ends before it begins", number);
    if (use.sizeBytes == 0)
      continue;
    const uint64_t end = use.offset + use.sizeBytes;
    if (end < use.offset || offset > plan.heightBytes || end > plan.heightBytes - offset)
      return statusf(StatusCode::kInternal,
                     "the plan puts slot %u, of %llu bytes or more, at %llu, outside of the plan's "
                     "height %llu",
                     number, static_cast<Printable>(end), static_cast<Printable>(offset),
                     static_cast<Printable>(plan.heightBytes));
    edges.push_back({offset + use.offset, true, number, &use});
    edges.push_back({offset + end, false, number, &use});
  }
  return {};
}

/// The slots that use the byte that the sweep over the arena has reached.
class SlotsAtByte {
public:
  explicit SlotsAtByte(size_t slots) : uses_(slots) {}

  /// Moves across an edge. Returns an error if two slots use the next byte at the same command.
  Status cross(const Edge &edge) {
    std::vector<const SlotUse *> &uses = uses_[edge.slot];
    if (!uses.empty())
      lifetimes_.erase(firstOf(uses));
    if (edge.isStart)
      uses.push_back(edge.use);
    else
      uses.erase(std::find(uses.begin(), uses.end(), edge.use));
    if (uses.empty())
      return {};
    // The lifetimes in the map are disjoint, so it is enough to compare the new one with its two
    // neighbours.
    const Lifetime added{lastOf(uses), edge.slot};
    const auto next = lifetimes_.lower_bound(firstOf(uses));
    if (next != lifetimes_.end() && next->first <= added.last)
      return overlap(edge, next->second.slot, next->first);
    if (next != lifetimes_.begin() && std::prev(next)->second.last >= firstOf(uses))
      return overlap(edge, std::prev(next)->second.slot, firstOf(uses));
    lifetimes_.emplace(firstOf(uses), added);
    return {};
  }

private:
  struct Lifetime {
    uint32_t last; // The last command that uses the byte.
    uint32_t slot;
  };

  static uint32_t firstOf(const std::vector<const SlotUse *> &uses) {
    return (*std::min_element(
                uses.begin(), uses.end(),
                [](const auto *a, const auto *b) { return a->firstUse < b->firstUse; }))
        ->firstUse;
  }
  static uint32_t lastOf(const std::vector<const SlotUse *> &uses) {
    return (*std::max_element(uses.begin(), uses.end(),
                              [](const auto *a, const auto *b) { return a->lastUse < b->lastUse; }))
        ->lastUse;
  }
  static Status overlap(const Edge &edge, uint32_t other, uint32_t command) {
    return statusf(StatusCode::kInternal,
                   "the plan lets slots %u and %u use byte %llu of the arena at command %u",
                   std::min(edge.slot, other), std::max(edge.slot, other),
                   static_cast<Printable>(edge.offset), command);
  }

  std::vector<std::vector<const SlotUse *>> uses_; // Per slot: its uses that contain the byte.
  std::map<uint32_t, Lifetime> lifetimes_;         // By the first command that uses the byte.
};

} // namespace

Status validateSlots(const std::vector<Slot> &slots, const Plan &plan) {
  if (plan.offsets.size() != slots.size())
    return statusf(StatusCode::kInternal, "the plan has %zu offsets for %zu slots",
                   plan.offsets.size(), slots.size());
  std::vector<Edge> edges;
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    GANTRY_RETURN_IF_ERROR(checkSlot(slots[slot], slot, plan, edges));
  std::sort(edges.begin(), edges.end());
  SlotsAtByte byte(slots.size());
  for (const Edge &edge : edges)
    GANTRY_RETURN_IF_ERROR(byte.cross(edge));
  return {};
}

} // namespace gantry::plan
