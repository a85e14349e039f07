// Implements MemoryHistory: heaps, slabs, blocks, snapshots and bindings.
#include "profiler_gui/model/capture/memory_history.h"

#include "profiler_gui/model/capture/shrink.h"

#include <algorithm>
#include <utility>

namespace gantry::profiler {

using trace::Event;
using trace::EventType;

namespace {

uint64_t slabKey(uint16_t heap, uint32_t slab) {
  return (static_cast<uint64_t>(heap) << 32) | slab;
}

// FlatMap stores 64-bit values, so an OpenBlock is packed into 64 bits.
uint64_t pack(MemoryHistory::OpenBlock block) {
  return (static_cast<uint64_t>(block.space) << 32) | block.row;
}
MemoryHistory::OpenBlock unpack(uint64_t value) {
  return {static_cast<uint32_t>(value >> 32), static_cast<uint32_t>(value)};
}

/// Returns value - by, or 0 if `by` is larger: a damaged trace may release more than it allocated.
uint64_t reduced(uint64_t value, uint64_t by) { return value - std::min(value, by); }

} // namespace

Heap &MemoryHistory::heap(uint16_t id) {
  for (Heap &heap : heaps_) {
    if (heap.id == id)
      return heap;
  }
  heaps_.emplace_back();
  heaps_.back().id = id;
  return heaps_.back();
}

void MemoryHistory::ingest(const Event &event) {
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
  case EventType::kLiveBlock:
    openBlock(event.block);
    break;
  case EventType::kMove:
  case EventType::kSpill:
  case EventType::kRestore:
    closeBlock(id, event.block.block, event.header.timeNs);
    openBlock(event.block);
    break;
  case EventType::kRelease:
    closeBlock(id, event.release.block, event.header.timeNs);
    break;
  case EventType::kSnapshotBegin:
    beginSnapshot(event.snapshot);
    break;
  case EventType::kSnapshotEnd:
    endSnapshot(event.snapshot);
    break;
  default: // kHeapTotals repeats the sums of the block events. The events of imported memory, which
           // the application owns, belong to no heap.
    break;
  }
}

void MemoryHistory::update() {
  for (AddressSpace &space : spaces_)
    space.index.update(space.table);
}

void MemoryHistory::appendFinishTasks(std::vector<std::function<void()>> *tasks) {
  for (AddressSpace &space : spaces_)
    tasks->emplace_back([&space] { space.index.rebuild(space.table); });
  for (Heap &heap : heaps_)
    tasks->emplace_back([&heap] {
      heap.live.shrink();
      heap.reserved.shrink();
    });
  tasks->emplace_back([this] {
    openBlocks_ = FlatMap();
    openSlabs_ = FlatMap();
    openBindings_.clear();
    shrink(bindings_);
  });
}

uint32_t MemoryHistory::slabSpace(uint16_t heapId, uint32_t slab, uint64_t sizeBytes,
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

void MemoryHistory::openSlab(const trace::SlabEvent &event) {
  const uint16_t id = event.header.heap;
  const uint64_t now = event.header.timeNs;
  if (openSlabs_.find(slabKey(id, event.slab)) != nullptr)
    return; // A snapshot repeats a slab that is already known.
  slabSpace(id, event.slab, event.sizeBytes, now);
  Heap &owner = heap(id);
  owner.reserved.append(now, owner.reserved.last() + event.sizeBytes);
}

void MemoryHistory::closeSlab(const trace::SlabEvent &event) {
  const uint64_t key = slabKey(event.header.heap, event.slab);
  const uint64_t *known = openSlabs_.find(key);
  if (known == nullptr) {
    ++unmatched_;
    return;
  }
  AddressSpace &space = spaces_[static_cast<size_t>(*known)];
  space.endNs = event.header.timeNs;
  Heap &owner = heap(event.header.heap);
  owner.reserved.append(space.endNs, reduced(owner.reserved.last(), space.sizeBytes));
  openSlabs_.erase(key);
}

void MemoryHistory::openBlock(const trace::BlockEvent &event) {
  const uint16_t id = event.header.heap;
  const uint64_t now = event.header.timeNs;
  const uint64_t key = blockKey(id, event.block);
  if (inSnapshot_)
    snapshotBlocks_.insert(key);
  if (const std::optional<OpenBlock> known = findOpen(key)) {
    const bool same = event.header.type == EventType::kLiveBlock && known->space != kNoSpace &&
                      spaces_[known->space].table.offset(known->row) == event.offsetBytes;
    if (same)
      return;
    ++unmatched_;
    closeBlock(id, event.block, now);
  }
  Heap &owner = heap(id);
  OpenBlock opened;
  if (event.slab != trace::kNoSlab && event.sizeBytes > 0) {
    opened.space = slabSpace(id, event.slab, event.offsetBytes + event.sizeBytes, now);
    opened.row = appendToSlab(opened.space, event);
    owner.live.append(now, owner.live.last() + event.sizeBytes);
    growth_.taken(event.name, event.span, event.sizeBytes);
  }
  ++owner.liveBlocks;
  openBlocks_.set(key, pack(opened));
}

uint32_t MemoryHistory::appendToSlab(uint32_t space, const trace::BlockEvent &event) {
  Block block;
  block.beginNs = event.header.timeNs;
  block.offset = event.offsetBytes;
  block.sizeBytes = std::min(event.sizeBytes, UINT64_MAX - event.offsetBytes);
  block.name = event.name;
  block.op = event.span;
  spaces_[space].sizeBytes = std::max(spaces_[space].sizeBytes, block.endOffset());
  return spaces_[space].table.append(block);
}

void MemoryHistory::closeBlock(uint16_t id, uint64_t block, uint64_t timeNs) {
  const uint64_t key = blockKey(id, block);
  const std::optional<OpenBlock> open = findOpen(key);
  if (!open) {
    ++unmatched_;
    return;
  }
  Heap &owner = heap(id);
  if (open->space != kNoSpace) {
    BlockTable &table = spaces_[open->space].table;
    table.close(open->row, timeNs);
    const uint64_t size = table.sizeBytes(open->row);
    owner.live.append(timeNs, reduced(owner.live.last(), size));
    growth_.released(table.name(open->row), table.op(open->row), size);
  }
  owner.liveBlocks = reduced(owner.liveBlocks, 1);
  openBlocks_.erase(key);
  releaseBindings(key, timeNs);
}

void MemoryHistory::beginSnapshot(const trace::SnapshotEvent &event) {
  Heap &owner = heap(event.header.heap);
  owner.device = event.device;
  owner.name = event.name;
  snapshotBlocks_.clear();
  inSnapshot_ = true;
}

void MemoryHistory::endSnapshot(const trace::SnapshotEvent &event) {
  inSnapshot_ = false;
  const uint16_t id = event.header.heap;
  std::vector<uint64_t> gone;
  openBlocks_.forEach([&](uint64_t key, uint64_t value) {
    const OpenBlock open = unpack(value);
    if (open.space != kNoSpace && spaces_[open.space].heap == id && !snapshotBlocks_.contains(key))
      gone.push_back(key);
  });
  for (const uint64_t key : gone)
    closeBlock(id, key ^ blockKey(id, 0), event.header.timeNs);
  snapshotBlocks_.clear();
}

std::optional<MemoryHistory::OpenBlock> MemoryHistory::findOpen(uint64_t key) const {
  const uint64_t *open = openBlocks_.find(key);
  return open == nullptr ? std::nullopt : std::optional<OpenBlock>(unpack(*open));
}

void MemoryHistory::identify(OpenBlock block, BlockHue hue, uint32_t name, uint32_t entry) {
  if (block.space >= spaces_.size())
    return;
  BlockTable &table = spaces_[block.space].table;
  const uint32_t known = table.name(block.row);
  table.identify(block.row, hue, known != 0 ? known : name, table.op(block.row), entry);
}

uint32_t MemoryHistory::addArena(uint32_t session, std::string label) {
  spaces_.emplace_back();
  AddressSpace &space = spaces_.back();
  space.kind = SpaceKind::kArena;
  space.session = session;
  space.label = std::move(label);
  return static_cast<uint32_t>(spaces_.size() - 1);
}

void MemoryHistory::growArena(uint32_t space, uint64_t sizeBytes) {
  spaces_[space].sizeBytes = std::max(spaces_[space].sizeBytes, sizeBytes);
}

void MemoryHistory::appendToArena(uint32_t space, const Block &block) {
  spaces_[space].table.append(block);
  growArena(space, block.endOffset());
}

void MemoryHistory::bind(uint64_t key, const Binding &binding) {
  openBindings_[key].push_back(static_cast<uint32_t>(bindings_.size()));
  bindings_.push_back(binding);
}

const std::vector<uint32_t> *MemoryHistory::openBindings(uint64_t key) const {
  const auto found = openBindings_.find(key);
  return found == openBindings_.end() ? nullptr : &found->second;
}

void MemoryHistory::releaseBindings(uint64_t key, uint64_t timeNs) {
  const auto found = openBindings_.find(key);
  if (found == openBindings_.end())
    return;
  for (const uint32_t binding : found->second)
    bindings_[binding].releasedNs = timeNs;
  openBindings_.erase(found);
}

uint64_t MemoryHistory::memoryBytes() const {
  uint64_t bytes = bindings_.capacity() * sizeof(Binding);
  for (const AddressSpace &space : spaces_)
    bytes += space.table.memoryBytes() + space.index.memoryBytes();
  for (const Heap &heap : heaps_)
    bytes += heap.live.memoryBytes() + heap.reserved.memoryBytes();
  return bytes;
}

} // namespace gantry::profiler
