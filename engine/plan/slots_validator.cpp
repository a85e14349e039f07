// validateSlots(): checks each slot alone, then sweeps over the bytes of the arena and compares the
// lifetimes of the slots that use a byte.
#include "engine/plan/slots.h"

#include <algorithm>
#include <map>
#include <set>

namespace gantry::plan {

namespace {

using Printable = unsigned long long;

/// The start or the end of a use in the arena.
struct Edge {
  uint64_t offset;
  bool isStart; // At equal offsets, ends come before starts.
  uint32_t slot;
  const SlotUse *use;
};

/// Checks a slot alone and appends the edges of its uses.
Status checkSlot(const Slot &slot, uint32_t number, const Plan &plan, std::vector<Edge> &edges) {
  const uint64_t offset = plan.offsets[number];
  if (slot.alignment == 0 || offset % slot.alignment != 0)
    return statusf(StatusCode::kInternal,
                   "the plan puts slot %u at %llu, which is no multiple of its alignment %llu",
                   number, Printable{offset}, Printable{slot.alignment});
  for (const SlotUse &use : slot.uses) {
    if (use.firstUse > use.lastUse)
      return statusf(StatusCode::kInternal, "a use of slot %u ends before it begins", number);
    if (use.sizeBytes == 0)
      continue;
    const uint64_t end = use.offset + use.sizeBytes;
    if (end < use.offset || offset > plan.heightBytes || end > plan.heightBytes - offset)
      return statusf(StatusCode::kInternal,
                     "the plan puts slot %u, of at least %llu bytes, at %llu; its height is %llu",
                     number, Printable{end}, Printable{offset}, Printable{plan.heightBytes});
    edges.push_back({offset + use.offset, true, number, &use});
    edges.push_back({offset + end, false, number, &use});
  }
  return {};
}

/// The uses of one slot that contain the byte that the sweep over the arena has reached. The slot
/// occupies the byte from the first use's begin to the last use's end.
struct UsesAtByte {
  std::multiset<uint32_t> firstUses, lastUses;
};

/// The last command at which a slot occupies the byte.
struct Lifetime {
  uint32_t last, slot;
};

} // namespace

Status validateSlots(const std::vector<Slot> &slots, const Plan &plan) {
  if (plan.offsets.size() != slots.size())
    return statusf(StatusCode::kInternal, "the plan has %zu offsets for %zu slots",
                   plan.offsets.size(), slots.size());
  std::vector<Edge> edges;
  for (uint32_t slot = 0; slot < slots.size(); ++slot)
    GANTRY_RETURN_IF_ERROR(checkSlot(slots[slot], slot, plan, edges));
  std::sort(edges.begin(), edges.end(), [](const Edge &a, const Edge &b) {
    return std::pair(a.offset, a.isStart) < std::pair(b.offset, b.isStart);
  });
  std::vector<UsesAtByte> usesOf(slots.size());
  std::map<uint32_t, Lifetime> lifetimes; // By first command; they are disjoint.
  for (const Edge &edge : edges) {
    auto &[firstUses, lastUses] = usesOf[edge.slot];
    if (!firstUses.empty())
      lifetimes.erase(*firstUses.begin());
    if (edge.isStart) {
      firstUses.insert(edge.use->firstUse);
      lastUses.insert(edge.use->lastUse);
    } else {
      firstUses.erase(firstUses.find(edge.use->firstUse));
      lastUses.erase(lastUses.find(edge.use->lastUse));
    }
    if (firstUses.empty())
      continue;
    const uint32_t first = *firstUses.begin(), last = *lastUses.rbegin();
    // The lifetimes are disjoint, so only the two neighbours of the new one can overlap it.
    auto other = lifetimes.lower_bound(first);
    if ((other == lifetimes.end() || other->first > last) && other != lifetimes.begin())
      --other;
    if (other != lifetimes.end() && other->first <= last && other->second.last >= first)
      return statusf(StatusCode::kInternal,
                     "the plan lets slots %u and %u use byte %llu of the arena at command %u",
                     std::min(edge.slot, other->second.slot),
                     std::max(edge.slot, other->second.slot), Printable{edge.offset},
                     std::max(first, other->first));
    lifetimes.emplace(first, Lifetime{last, edge.slot});
  }
  return {};
}

} // namespace gantry::plan
