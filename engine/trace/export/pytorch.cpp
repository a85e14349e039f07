// Export to PyTorch's memory snapshot: a pickle (protocol 4) of a dictionary with the segments that
// are alive at the end ("segments") and the list of allocations and releases ("device_traces").
// PyTorch's torch/cuda/_memory_viz.py and pytorch.org/memory_viz read this format.
#include "engine/trace/export/event_visitor.h"
#include "engine/trace/export/export_text.h"
#include "engine/trace/export/formats.h"

#include <cstring>
#include <map>
#include <utility>
#include <vector>

namespace gantry::trace {
namespace {

/// Writes the few pickle opcodes that dictionaries, lists, texts and numbers need.
class Pickle {
public:
  explicit Pickle(AtomicFile &file) : text_(file) { text_.add(std::string_view("\x80\x04", 2)); }
  void beginDict() { text_.add("}("); } // An empty dictionary and a mark; the pairs follow.
  void endDict() { text_.add("u"); }
  void beginList() { text_.add("]("); } // An empty list and a mark; the items follow.
  void endList() { text_.add("e"); }
  void text(std::string_view value) {
    const auto length = static_cast<uint32_t>(value.size());
    char bytes[4];
    std::memcpy(bytes, &length, 4);
    text_.add("X");
    text_.add({bytes, 4});
    text_.add(value);
  }
  void number(uint64_t value) {
    char bytes[11] = {'\x8a', 9}; // LONG1 with nine bytes, so that the sign bit is never set.
    std::memcpy(bytes + 2, &value, 8);
    text_.add({bytes, 11});
  }
  void pair(std::string_view key, uint64_t value) {
    text(key);
    number(value);
  }
  void pair(std::string_view key, std::string_view value) {
    text(key);
    text(value);
  }
  Status finish() {
    text_.add(".");
    return text_.finish();
  }

private:
  ExportText text_;
};

struct LiveBlock {
  uint64_t address = 0;
  uint64_t sizeBytes = 0;
  uint32_t name = 0;
};

uint64_t slabKey(uint16_t heap, uint32_t slab) { return (uint64_t{heap} << 32) | slab; }

/// Writes PyTorch's memory snapshot. Keeps track of the slabs and blocks that are alive.
class SnapshotWriter {
public:
  SnapshotWriter(const NameTable &names, AtomicFile &file) : names_(names), out_(file) {}

  Status write(CaptureReader &reader) {
    out_.beginDict();
    out_.text("device_traces");
    out_.beginList();
    out_.beginList(); // The trace of device 0, to which all heaps are written.
    GANTRY_RETURN_IF_ERROR(forEachEvent(reader, [&](const Event &event) { addEvent(event); }));
    for (const auto &[heap, events] : listed_) // Snapshots whose end the capture lacks.
      addListed(events);
    out_.endList();
    out_.endList();
    out_.text("segments");
    out_.beginList();
    for (const auto &[key, slab] : slabs_)
      addSegment(static_cast<uint16_t>(key >> 32), slab);
    out_.endList();
    out_.endDict();
    return out_.finish();
  }

private:
  using BlockKey = std::pair<uint16_t, uint64_t>; // Heap id, block id.

  void addEvent(const Event &event);
  void keepOnly(const EventHeader &header, const std::vector<Event> &listed);
  void addListed(const std::vector<Event> &listed);
  void addSlab(const Event &event);
  void addBlock(const Event &event);
  void release(BlockKey key, uint64_t timeNs);
  void releaseSlab(uint64_t key, uint64_t timeNs);
  /// Returns the device address of a slab (an allocation of the driver). For a slab without an
  /// address, returns one that no other such slab has: 2^40 times a number from 1 on.
  uint64_t addressOf(uint16_t heap, const SlabEvent &slab) {
    if (slab.address != 0)
      return slab.address;
    const uint64_t next = standIns_.size() + 1;
    return standIns_.try_emplace(slabKey(heap, slab.slab), next).first->second << 40;
  }
  void addAction(std::string_view action, uint64_t address, uint64_t sizeBytes, uint64_t timeNs,
                 uint32_t name);
  void addFrames(uint32_t name);
  void addSegment(uint16_t heap, const SlabEvent &slab);
  void addSegmentBlock(uint64_t address, uint64_t sizeBytes, std::string_view state, uint32_t name);

  const NameTable &names_;
  Pickle out_;
  std::map<uint64_t, SlabEvent> slabs_;   // By slabKey().
  std::map<uint64_t, uint64_t> standIns_; // By slabKey(): the number of a slab without an address.
  std::map<BlockKey, LiveBlock> blocks_;
  /// By heap with a snapshot that has not ended: the snapshot's kLiveSlab and kLiveBlock events.
  std::map<uint16_t, std::vector<Event>> listed_;
};

void SnapshotWriter::addEvent(const Event &event) {
  switch (event.type()) {
  case EventType::kSnapshotBegin:
    listed_[event.header.heap].clear();
    break;
  case EventType::kLiveSlab:
  case EventType::kLiveBlock:
    listed_[event.header.heap].push_back(event);
    break;
  case EventType::kSnapshotEnd:
    keepOnly(event.header, listed_[event.header.heap]);
    addListed(listed_[event.header.heap]);
    listed_.erase(event.header.heap);
    break;
  case EventType::kHeapEnd:
    listed_.erase(event.header.heap);
    keepOnly(event.header, {});
    break;
  case EventType::kSlab:
    addSlab(event);
    break;
  case EventType::kSlabEnd:
    releaseSlab(slabKey(event.header.heap, event.slab.slab), event.header.timeNs);
    break;
  case EventType::kMove:
  case EventType::kSpill:
  case EventType::kRestore:
  case EventType::kAllocate:
    addBlock(event);
    break;
  case EventType::kRelease:
    release({event.header.heap, event.release.block}, event.header.timeNs);
    break;
  default:
    break;
  }
}

/// Releases all blocks and slabs of the heap except those that a snapshot lists at the same place.
/// The release events of the others were lost, or their heap was destroyed.
void SnapshotWriter::keepOnly(const EventHeader &header, const std::vector<Event> &listed) {
  const uint16_t heap = header.heap;
  std::map<uint64_t, SlabEvent> slabs;
  std::map<BlockKey, const BlockEvent *> blocks;
  for (const Event &event : listed)
    if (event.type() == EventType::kLiveSlab)
      slabs[slabKey(heap, event.slab.slab)] = event.slab;
    else
      blocks[{heap, event.block.block}] = &event.block;
  std::vector<BlockKey> lostBlocks;
  for (auto at = blocks_.lower_bound({heap, 0}); at != blocks_.end() && at->first.first == heap;
       ++at) {
    const auto block = blocks.find(at->first);
    const auto slab =
        block == blocks.end() ? slabs.end() : slabs.find(slabKey(heap, block->second->slab));
    if (slab == slabs.end() ||
        addressOf(heap, slab->second) + block->second->offsetBytes != at->second.address)
      lostBlocks.push_back(at->first);
  }
  for (const BlockKey &key : lostBlocks)
    release(key, header.timeNs);
  std::vector<uint64_t> lostSlabs;
  for (auto at = slabs_.lower_bound(slabKey(heap, 0));
       at != slabs_.end() && at->first <= slabKey(heap, UINT32_MAX); ++at) {
    const auto slab = slabs.find(at->first);
    if (slab == slabs.end() || addressOf(heap, slab->second) != addressOf(heap, at->second) ||
        slab->second.sizeBytes != at->second.sizeBytes)
      lostSlabs.push_back(at->first);
  }
  for (const uint64_t key : lostSlabs)
    releaseSlab(key, header.timeNs);
}

/// Adds those slabs and blocks of a snapshot that are not known yet.
void SnapshotWriter::addListed(const std::vector<Event> &listed) {
  for (const Event &event : listed)
    if (event.type() == EventType::kLiveSlab)
      addSlab(event);
    else
      addBlock(event);
}

void SnapshotWriter::addSlab(const Event &event) {
  const uint16_t heap = event.header.heap;
  if (slabs_.insert_or_assign(slabKey(heap, event.slab.slab), event.slab).second)
    addAction("segment_alloc", addressOf(heap, event.slab), event.slab.sizeBytes,
              event.header.timeNs, 0);
}

void SnapshotWriter::releaseSlab(uint64_t key, uint64_t timeNs) {
  const auto found = slabs_.find(key);
  if (found == slabs_.end())
    return;
  addAction("segment_free", addressOf(static_cast<uint16_t>(key >> 32), found->second),
            found->second.sizeBytes, timeNs, 0);
  slabs_.erase(found);
}

/// Adds the allocation of a new block. For a block with a new place, adds a release at the old
/// place and an allocation at the new one.
void SnapshotWriter::addBlock(const Event &event) {
  const uint16_t heap = event.header.heap;
  const BlockKey key(heap, event.block.block);
  const bool isNew = event.type() == EventType::kAllocate || event.type() == EventType::kLiveBlock;
  if (isNew && blocks_.contains(key))
    return; // The capture's own snapshots (kLiveBlock) repeat blocks that are known already.
  release(key, event.header.timeNs);
  const auto slab = slabs_.find(slabKey(heap, event.block.slab));
  if (slab == slabs_.end())
    return; // The block is in host memory.
  const LiveBlock block{addressOf(heap, slab->second) + event.block.offsetBytes,
                        event.block.sizeBytes, event.block.name};
  addAction("alloc", block.address, block.sizeBytes, event.header.timeNs, block.name);
  blocks_.emplace(key, block);
}

void SnapshotWriter::release(BlockKey key, uint64_t timeNs) {
  const auto found = blocks_.find(key);
  if (found == blocks_.end())
    return;
  const LiveBlock &block = found->second;
  addAction("free_requested", block.address, block.sizeBytes, timeNs, block.name);
  addAction("free_completed", block.address, block.sizeBytes, timeNs, block.name);
  blocks_.erase(found);
}

void SnapshotWriter::addAction(std::string_view action, uint64_t address, uint64_t sizeBytes,
                               uint64_t timeNs, uint32_t name) {
  out_.beginDict();
  out_.pair("action", action);
  out_.pair("addr", address);
  out_.pair("size", sizeBytes);
  out_.pair("stream", uint64_t{0});
  out_.pair("time_us", timeNs / 1000);
  addFrames(name);
  out_.endDict();
}

/// Adds a stack of one frame with the block's name, which the viewer shows as the block's origin.
void SnapshotWriter::addFrames(uint32_t name) {
  out_.text("frames");
  out_.beginList();
  if (name != 0) {
    out_.beginDict();
    out_.pair("filename", "");
    out_.pair("line", uint64_t{0});
    out_.pair("name", names_[name]);
    out_.endDict();
  }
  out_.endList();
}

/// Adds a slab that is alive at the end, with its blocks and the gaps between them.
void SnapshotWriter::addSegment(uint16_t heap, const SlabEvent &slab) {
  const uint64_t begin = addressOf(heap, slab);
  const uint64_t end = begin + slab.sizeBytes;
  std::map<uint64_t, LiveBlock> inside;
  uint64_t used = 0;
  for (const auto &[key, block] : blocks_)
    if (key.first == heap && block.address >= begin && block.address < end) {
      inside.emplace(block.address, block);
      used += block.sizeBytes;
    }
  out_.beginDict();
  out_.pair("device", uint64_t{0});
  out_.pair("address", begin);
  out_.pair("total_size", slab.sizeBytes);
  out_.pair("allocated_size", used);
  out_.pair("active_size", used);
  out_.pair("stream", uint64_t{0});
  out_.pair("segment_type", slab.dedicated != 0 ? "large" : "small");
  out_.text("blocks");
  out_.beginList();
  uint64_t at = begin;
  for (const auto &[address, block] : inside) {
    addSegmentBlock(at, address > at ? address - at : 0, "inactive", 0);
    addSegmentBlock(address, block.sizeBytes, "active_allocated", block.name);
    at = address + block.sizeBytes;
  }
  addSegmentBlock(at, end > at ? end - at : 0, "inactive", 0);
  out_.endList();
  out_.endDict();
}

void SnapshotWriter::addSegmentBlock(uint64_t address, uint64_t sizeBytes, std::string_view state,
                                     uint32_t name) {
  if (sizeBytes == 0)
    return;
  out_.beginDict();
  out_.pair("address", address);
  out_.pair("size", sizeBytes);
  out_.pair("requested_size", sizeBytes);
  out_.pair("state", state);
  addFrames(name);
  out_.endDict();
}

} // namespace

Status exportPytorch(CaptureReader &reader, AtomicFile &file) {
  return SnapshotWriter(reader.names(), file).write(reader);
}

} // namespace gantry::trace
