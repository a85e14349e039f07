// The memory of heaps: slabs, blocks, snapshots, budgets.
#include "profiler_gui/model/capture_model.h"

#include <algorithm>
#include <string>

namespace gantry::profiler {

using trace::Event;
using trace::EventType;

namespace {
constexpr uint32_t kNoSpace = UINT32_MAX; // a block that lies in no slab: away on the host

uint64_t slabKey(uint16_t heap, uint32_t slab) {
  return (static_cast<uint64_t>(heap) << 32) | slab;
}
} // namespace

Heap &CaptureModel::heap(uint16_t id) {
  for (Heap &heap : heaps_) {
    if (heap.id == id)
      return heap;
  }
  heaps_.emplace_back();
  heaps_.back().id = id;
  return heaps_.back();
}

void CaptureModel::onMemory(const Event &event) {
  const uint64_t now = event.header.timeNs;
  const uint16_t id = event.header.heap;
  switch (event.type()) {
  case EventType::kHeap: {
    Heap &began = heap(id);
    began.device = event.heap.device;
    began.name = event.heap.name;
    break;
  }
  case EventType::kHeapEnd:
    heap(id).ended = true;
    break;
  case EventType::kSlab:
  case EventType::kLiveSlab:
    openSlab(event.slab);
    break;
  case EventType::kSlabEnd:
    closeSlab(event.slab);
    break;
  case EventType::kAllocate:
    openBlock(event.block);
    break;
  case EventType::kLiveBlock:
    openBlock(event.block);
    break;
  case EventType::kMove:
  case EventType::kSpill:
  case EventType::kRestore:
    closeBlock(id, event.block.block, now);
    openBlock(event.block);
    break;
  case EventType::kRelease:
    closeBlock(id, event.release.block, now);
    break;
  case EventType::kSnapshotBegin:
    beginSnapshot(event.snapshot);
    break;
  case EventType::kSnapshotEnd:
    endSnapshot(event.snapshot);
    break;
  case EventType::kBudget:
    for (DeviceHeap &known : deviceHeaps_) {
      if (known.device != event.budget.device || known.index != event.budget.deviceHeap)
        continue;
      known.budget.append(std::max(now, nowNs_), event.budget.budgetBytes);
      if (event.budget.limitBytes != UINT64_MAX)
        known.limit.append(std::max(now, nowNs_), event.budget.limitBytes);
    }
    break;
  default: // totals are for checks; imports belong to no heap
    break;
  }
}

uint32_t CaptureModel::slabSpace(uint16_t heapId, uint32_t slab, uint64_t sizeBytes,
                                 uint64_t timeNs) {
  const uint64_t key = slabKey(heapId, slab);
  if (const uint64_t *known = openSlabs_.find(key))
    return static_cast<uint32_t>(*known);
  const auto index = static_cast<uint32_t>(spaces_.size());
  spaces_.emplace_back();
  AddressSpace &space = spaces_.back();
  space.heap = heapId;
  space.slab = slab;
  space.sizeBytes = sizeBytes;
  space.beginNs = timeNs;
  space.label = "heap " + std::to_string(heapId) + " · slab " + std::to_string(slab);
  openSlabs_.set(key, index);
  return index;
}

void CaptureModel::openSlab(const trace::SlabEvent &event) {
  const uint16_t id = event.header.heap;
  const uint64_t now = event.header.timeNs;
  if (openSlabs_.find(slabKey(id, event.slab)) != nullptr)
    return; // a snapshot tells it again
  slabSpace(id, event.slab, event.sizeBytes, now);
  Heap &owner = heap(id);
  owner.reserved.append(now, owner.reserved.last() + event.sizeBytes);
}

void CaptureModel::closeSlab(const trace::SlabEvent &event) {
  const uint64_t key = slabKey(event.header.heap, event.slab);
  const uint64_t *known = openSlabs_.find(key);
  if (known == nullptr) {
    ++unmatched_;
    return;
  }
  AddressSpace &space = spaces_[static_cast<size_t>(*known)];
  space.endNs = event.header.timeNs;
  Heap &owner = heap(event.header.heap);
  owner.reserved.append(space.endNs,
                        owner.reserved.last() - std::min(owner.reserved.last(), space.sizeBytes));
  openSlabs_.erase(key);
}

void CaptureModel::openBlock(const trace::BlockEvent &event) {
  const uint16_t id = event.header.heap;
  const uint64_t now = event.header.timeNs;
  const uint64_t key = blockKey(id, event.block);
  if (inSnapshot_)
    snapshotBlocks_[key] = event.block;
  if (const uint64_t *open = openBlocks_.find(key)) {
    const OpenBlock known = unpack(*open);
    const bool same = event.header.type == EventType::kLiveBlock && known.space != kNoSpace &&
                      spaces_[known.space].table.offset(known.row) == event.offsetBytes;
    if (same)
      return;
    ++unmatched_;
    closeBlock(id, event.block, now);
  }
  Heap &owner = heap(id);
  OpenBlock opened{kNoSpace, 0};
  if (event.slab != trace::kNoSlab && event.sizeBytes > 0) {
    opened.space = slabSpace(id, event.slab, event.offsetBytes + event.sizeBytes, now);
    AddressSpace &space = spaces_[opened.space];
    Block block;
    block.beginNs = now;
    block.offset = event.offsetBytes;
    block.sizeBytes = std::min(event.sizeBytes, UINT64_MAX - event.offsetBytes);
    block.name = event.name;
    block.op = event.span;
    opened.row = space.table.append(block);
    space.sizeBytes = std::max(space.sizeBytes, block.endOffset());
    owner.live.append(now, owner.live.last() + event.sizeBytes);
    growth_.taken(event.name, event.span, event.sizeBytes);
  }
  ++owner.liveBlocks;
  openBlocks_.set(key, pack(opened));
}

void CaptureModel::closeBlock(uint16_t id, uint64_t block, uint64_t timeNs) {
  const uint64_t key = blockKey(id, block);
  const uint64_t *open = openBlocks_.find(key);
  if (open == nullptr) {
    ++unmatched_;
    return;
  }
  const OpenBlock known = unpack(*open);
  Heap &owner = heap(id);
  if (known.space != kNoSpace) {
    BlockTable &table = spaces_[known.space].table;
    table.close(known.row, timeNs);
    const uint64_t size = table.sizeBytes(known.row);
    owner.live.append(timeNs, owner.live.last() - std::min(owner.live.last(), size));
    growth_.released(table.name(known.row), table.op(known.row), size);
  }
  owner.liveBlocks -= std::min<uint64_t>(owner.liveBlocks, 1);
  openBlocks_.erase(key);
  const auto bound = openBindings_.find(key);
  if (bound == openBindings_.end())
    return;
  for (const uint32_t binding : bound->second)
    bindings_[binding].releasedNs = timeNs;
  openBindings_.erase(bound);
}

void CaptureModel::beginSnapshot(const trace::SnapshotEvent &event) {
  Heap &owner = heap(event.header.heap);
  owner.device = event.device;
  owner.name = event.name;
  snapshotBlocks_.clear();
  inSnapshot_ = true;
}

void CaptureModel::endSnapshot(const trace::SnapshotEvent &event) {
  inSnapshot_ = false;
  // What the snapshot does not tell is gone; when, was lost.
  std::vector<uint64_t> gone;
  const uint16_t id = event.header.heap;
  openBlocks_.forEach([&](uint64_t key, uint64_t value) {
    const OpenBlock open = unpack(value);
    if (open.space != kNoSpace && spaces_[open.space].heap == id && !snapshotBlocks_.contains(key))
      gone.push_back(key);
  });
  for (const uint64_t key : gone)
    closeBlock(id, key ^ blockKey(id, 0), event.header.timeNs);
  snapshotBlocks_.clear();
}

} // namespace gantry::profiler
