// The memory of a capture over time: heaps, address spaces with their blocks, and the blocks that
// runs used for their values.
//
// Built from the trace's heap, slab and block events. A slab is an allocation that a heap has made
// from the driver; a block is a part of a slab. Every slab is one address space. Arenas are address
// spaces too: an arena is the memory in which the plan of a session, a program that is bound to a
// device, places the values of each run. ProgramHistory adds the arenas, and adds the values to
// them as blocks.
//
// A snapshot in the trace lists all live blocks of a heap again. A block that is live in this
// history but missing from the snapshot was released by an event that was lost; the block ends at
// the snapshot's time.
//
// A release of a block that was never allocated is counted in unmatched() and otherwise ignored.
//
// Names are ids in the capture's name table. Sizes are bytes, times nanoseconds from the capture's
// start. Threads: one writer, or several readers.
#pragma once

#include "engine/trace/events.h"
#include "profiler_gui/model/analysis/growth_watch.h"
#include "profiler_gui/model/capture/block_table.h"
#include "profiler_gui/model/capture/flat_map.h"
#include "profiler_gui/model/capture/step_curve.h"
#include "profiler_gui/model/index/block_index.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gantry::profiler {

/// A Gantry heap.
struct Heap {
  uint16_t id = 0;
  uint32_t device = 0; // The device's id.
  uint32_t name = 0;
  bool ended = false; // Whether the heap was destroyed.
  StepCurve live;     // Sum of the sizes of the live blocks.
  StepCurve reserved; // Sum of the sizes of the slabs.
  uint64_t liveBlocks = 0;
};

enum class SpaceKind : uint8_t { kSlab, kArena };

/// A range of addresses that starts at 0 and holds blocks.
struct AddressSpace {
  SpaceKind kind = SpaceKind::kSlab;
  uint16_t heap = 0;    // The heap's id, for slabs.
  uint32_t slab = 0;    // The slab's number in its heap, for slabs.
  uint32_t session = 0; // The session's id, for arenas.
  uint64_t sizeBytes = 0;
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld;
  std::string label; // Shown to the user: "heap 1 · slab 3", "arena · squeezenet".
  BlockTable table;
  BlockIndex index;
};

/// The actual placement of a value during a run: the heap's block that held the value, and the
/// value's offset in that block. plan_check.h compares it with the plan.
struct Binding {
  uint32_t run = 0;                 // Index in CaptureModel::runs().
  uint32_t value = 0;               // The value's number in the run's plan.
  uint64_t block = 0;               // The block's id in its heap.
  uint64_t blockOffset = 0;         // Offset of the value in the block.
  uint64_t sizeBytes = 0;           // Size of the block; 0 if it was spilled to the host.
  uint64_t takenNs = 0;             // Time at which the block was allocated; 0 if it was spilled.
  uint64_t releasedNs = kStillHeld; // Time at which the block was released, moved or spilled.
  uint16_t heap = 0;                // The heap's id.
  bool donated = false;             // Whether the caller gave the block up to the run.
  bool inArena = false;             // Whether the block holds a session's arena.
};

class MemoryHistory {
public:
  static constexpr uint32_t kNoSpace = UINT32_MAX;

  /// The row of a live block. `space` is kNoSpace while the block is spilled, which means that its
  /// contents are in host memory and it has no place in a slab.
  struct OpenBlock {
    uint32_t space = kNoSpace; // Index in spaces().
    uint32_t row = 0;          // Row in the space's table.
  };

  /// Takes the events whose type is in the range from kHeap to kSnapshotEnd of trace::EventType;
  /// ignores others.
  void ingest(const trace::Event &event);
  /// Adds the new blocks of each address space to its index, which finds blocks in a window of time
  /// × address (BlockIndex). Call this after ingest() if the capture is live.
  void update();
  /// Appends the tasks that complete the history after the last event: they sort the blocks of each
  /// space, which renumbers rows, and free unused memory. The tasks are independent of each other
  /// and may run on several threads; `this` must outlive them. No ingest() may follow.
  void appendFinishTasks(std::vector<std::function<void()>> *tasks);

  /// A key for a block among the blocks of all heaps: the exclusive or (XOR) of the block's id and
  /// a large number that depends on the heap. The halves of a block id are two small numbers, the
  /// slot and the generation of a handle. The XOR of the numbers of two heaps has large halves, so
  /// two keys of different heaps are not equal in practice. key ^ blockKey(heap, 0) is the block's
  /// id.
  static uint64_t blockKey(uint16_t heap, uint64_t block) {
    return block ^ (static_cast<uint64_t>(heap) * 0xd1342543de82ef95u);
  }
  /// The live block with this key, if there is one.
  std::optional<OpenBlock> findOpen(uint64_t key) const;
  /// Sets the hue (which selects the block's colour), name and plan entry (Block in block_table.h)
  /// of a live block. A name that the block has already is kept. Does nothing for a spilled block.
  void identify(OpenBlock block, BlockHue hue, uint32_t name, uint32_t entry);
  /// Adds an empty arena and returns its index in spaces().
  uint32_t addArena(uint32_t session, std::string label);
  /// Makes an arena at least sizeBytes large.
  void growArena(uint32_t space, uint64_t sizeBytes);
  /// Adds a block to an arena and makes the arena large enough for it.
  void appendToArena(uint32_t space, const Block &block);
  /// Adds a binding of the live block with this key. The release of the block will set the
  /// binding's releasedNs.
  void bind(uint64_t key, const Binding &binding);
  /// The bindings of the live block with this key, as indices in bindings(); nullptr if none.
  const std::vector<uint32_t> *openBindings(uint64_t key) const;
  void markDonated(uint32_t binding) { bindings_[binding].donated = true; }
  /// Tells the growth watch, which finds suspected leaks (growth_watch.h), that a step ended at
  /// timeNs. A step is a run or, in a capture without runs, the time up to a mark, a moment that
  /// the application named.
  void endStep(uint64_t timeNs) { growth_.stepEnded(timeNs); }

  const std::deque<Heap> &heaps() const { return heaps_; }
  const std::deque<AddressSpace> &spaces() const { return spaces_; }
  const std::vector<Binding> &bindings() const { return bindings_; }
  const GrowthWatch &growth() const { return growth_; }
  /// Number of events that release an unknown block, end an unknown slab, or allocate a block that
  /// is still live.
  uint64_t unmatched() const { return unmatched_; }
  /// Bytes allocated by the blocks, indices, curves and bindings.
  uint64_t memoryBytes() const;

private:
  Heap &heap(uint16_t id);
  uint32_t slabSpace(uint16_t heap, uint32_t slab, uint64_t sizeBytes, uint64_t timeNs);
  void openSlab(const trace::SlabEvent &event);
  void closeSlab(const trace::SlabEvent &event);
  void openBlock(const trace::BlockEvent &event);
  uint32_t appendToSlab(uint32_t space, const trace::BlockEvent &event);
  void closeBlock(uint16_t heap, uint64_t block, uint64_t timeNs);
  void releaseBindings(uint64_t key, uint64_t timeNs);
  void beginSnapshot(const trace::SnapshotEvent &event);
  void endSnapshot(const trace::SnapshotEvent &event);

  std::deque<Heap> heaps_;
  std::deque<AddressSpace> spaces_;
  FlatMap openSlabs_;                           // Heap and slab to the index of their space.
  FlatMap openBlocks_;                          // Block key to a packed OpenBlock.
  std::unordered_set<uint64_t> snapshotBlocks_; // Keys of the blocks in the current snapshot.
  bool inSnapshot_ = false;
  std::vector<Binding> bindings_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> openBindings_; // Block key to bindings.
  GrowthWatch growth_;
  uint64_t unmatched_ = 0;
};

} // namespace gantry::profiler
