// PyTorch's memory snapshot: a pickle (protocol 4) of a dictionary with the segments that are alive
// at the end and the trace of what happened (torch/cuda/_memory_viz.py reads it).
#include "engine/trace/export_parts.h"

#include <cstring>

namespace gantry::trace {
namespace {

/// The few opcodes that dictionaries, lists, texts and numbers need.
class Pickle {
public:
  explicit Pickle(AtomicFile &file) : text_(file) { text_.add(std::string_view("\x80\x04", 2)); }
  void beginDict() { text_.add("}("); } // an empty one, and a mark: pairs follow
  void endDict() { text_.add("u"); }
  void beginList() { text_.add("]("); }
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
    char bytes[11] = {'\x8a', 9}; // LONG1: nine bytes, so that the sign is never taken for one
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

/// Where a slab lies: its address, or, where it has none, a stretch of its own.
uint64_t addressOf(uint16_t heap, const SlabEvent &slab) {
  return slab.address != 0 ? slab.address
                           : (uint64_t{heap} << 56) | (uint64_t{slab.slab + 1} << 40);
}

} // namespace

Status exportPytorch(CaptureReader &reader, AtomicFile &file) {
  const NameTable &names = reader.names();
  std::map<uint64_t, SlabEvent> slabs;
  std::map<std::pair<uint16_t, uint64_t>, LiveBlock> blocks;
  Pickle out(file);
  auto frames = [&](uint32_t name) {
    out.text("frames");
    out.beginList();
    if (name != 0) {
      out.beginDict();
      out.pair("filename", "");
      out.pair("line", uint64_t{0});
      out.pair("name", names[name]);
      out.endDict();
    }
    out.endList();
  };
  auto action = [&](std::string_view what, uint64_t address, uint64_t sizeBytes, uint64_t timeNs,
                    uint32_t name) {
    out.beginDict();
    out.pair("action", what);
    out.pair("addr", address);
    out.pair("size", sizeBytes);
    out.pair("stream", uint64_t{0});
    out.pair("time_us", timeNs / 1000);
    frames(name);
    out.endDict();
  };
  auto release = [&](std::pair<uint16_t, uint64_t> key, uint64_t timeNs) {
    const auto found = blocks.find(key);
    if (found == blocks.end())
      return;
    action("free_requested", found->second.address, found->second.sizeBytes, timeNs,
           found->second.name);
    action("free_completed", found->second.address, found->second.sizeBytes, timeNs,
           found->second.name);
    blocks.erase(found);
  };

  out.beginDict();
  out.text("device_traces");
  out.beginList();
  out.beginList(); // of device 0
  GANTRY_RETURN_IF_ERROR(forEachEvent(reader, [&](const Event &event) {
    const uint16_t heap = event.header.heap;
    const uint64_t time = event.header.timeNs;
    switch (event.type()) {
    case EventType::kSlab:
    case EventType::kLiveSlab:
      if (slabs.insert_or_assign(slabKey(heap, event.slab.slab), event.slab).second)
        action("segment_alloc", addressOf(heap, event.slab), event.slab.sizeBytes, time, 0);
      break;
    case EventType::kSlabEnd:
      action("segment_free", addressOf(heap, event.slab), event.slab.sizeBytes, time, 0);
      slabs.erase(slabKey(heap, event.slab.slab));
      break;
    case EventType::kMove:
    case EventType::kSpill:
    case EventType::kRestore:
    case EventType::kAllocate:
    case EventType::kLiveBlock: {
      const std::pair<uint16_t, uint64_t> key(heap, event.block.block);
      const auto slab = slabs.find(slabKey(heap, event.block.slab));
      const bool known = blocks.contains(key);
      if (known && (event.type() == EventType::kAllocate || event.type() == EventType::kLiveBlock))
        break; // told twice
      release(key, time);
      if (slab == slabs.end())
        break; // on the host
      const LiveBlock block{addressOf(heap, slab->second) + event.block.offsetBytes,
                            event.block.sizeBytes, event.block.name};
      action("alloc", block.address, block.sizeBytes, time, block.name);
      blocks.emplace(key, block);
      break;
    }
    case EventType::kRelease:
      release({heap, event.release.block}, time);
      break;
    default:
      break;
    }
  }));
  out.endList();
  out.endList();

  out.text("segments");
  out.beginList();
  for (const auto &[key, slab] : slabs) {
    const auto heap = static_cast<uint16_t>(key >> 32);
    const uint64_t begin = addressOf(heap, slab);
    std::map<uint64_t, LiveBlock> inside;
    uint64_t used = 0;
    for (const auto &[id, block] : blocks)
      if (id.first == heap && block.address >= begin && block.address < begin + slab.sizeBytes) {
        inside.emplace(block.address, block);
        used += block.sizeBytes;
      }
    out.beginDict();
    out.pair("device", uint64_t{0});
    out.pair("address", begin);
    out.pair("total_size", slab.sizeBytes);
    out.pair("allocated_size", used);
    out.pair("active_size", used);
    out.pair("stream", uint64_t{0});
    out.pair("segment_type", slab.dedicated != 0 ? "large" : "small");
    out.text("blocks");
    out.beginList();
    uint64_t at = begin;
    auto add = [&](uint64_t address, uint64_t sizeBytes, std::string_view state, uint32_t name) {
      if (sizeBytes == 0)
        return;
      out.beginDict();
      out.pair("address", address);
      out.pair("size", sizeBytes);
      out.pair("requested_size", sizeBytes);
      out.pair("state", state);
      frames(name);
      out.endDict();
    };
    for (const auto &[address, block] : inside) {
      add(at, address > at ? address - at : 0, "inactive", 0);
      add(address, block.sizeBytes, "active_allocated", block.name);
      at = address + block.sizeBytes;
    }
    add(at, begin + slab.sizeBytes > at ? begin + slab.sizeBytes - at : 0, "inactive", 0);
    out.endList();
    out.endDict();
  }
  out.endList();
  out.endDict();
  return out.finish();
}

} // namespace gantry::trace
