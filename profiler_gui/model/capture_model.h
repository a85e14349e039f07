// A capture as the profiler shows it: address spaces full of blocks, heaps with their curves,
// plans, runs, dispatches, host spans. Made from the events of engine/trace, one after the other.
//
// Address spaces. Each slab of each heap is one. Each session has one for its arena, in which every
// run puts the values of its plan: from the begin of the first command that uses a value to the end
// of the last, at the planned offset, or where the run says that the value really lay.
//
// A model from a file is complete after finish(), which sorts every space's blocks (rows change).
// Live, update() keeps the indices current, and rows stay.
//
// A stream may be damaged in its meaning: a release of a block that nobody took, a dispatch of an
// unknown run. Such events are counted (unmatched()) and otherwise ignored; they never end a
// session.
//
// Times are ns from the capture's start. Texts are ids of names(). Threads: one at a time.
#pragma once

#include "engine/trace/capture.h"
#include "engine/trace/events.h"
#include "profiler_gui/model/block_index.h"
#include "profiler_gui/model/block_table.h"
#include "profiler_gui/model/dispatches.h"
#include "profiler_gui/model/flat_map.h"
#include "profiler_gui/model/plans.h"
#include "profiler_gui/model/step_curve.h"
#include "profiler_gui/model/watch.h"

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gantry::profiler {

struct Device {
  uint32_t id = 0;
  uint32_t name = 0;
  uint32_t driver = 0;
  uint32_t backend = 0;
  uint32_t sharedBytesLimit = 0; // of one workgroup
  uint32_t maxInvocations = 0;
  uint64_t hostMinusDeviceNs = 0; // modulo 2^64; of the last clock record
  uint64_t clockErrorNs = 0;
  bool hasClock = false;
};

/// What the driver allows for one memory heap of a device.
struct DeviceHeap {
  uint32_t device = 0; // id
  uint32_t index = 0;
  uint64_t sizeBytes = 0;
  bool deviceLocal = false;
  StepCurve budget, limit;
};

struct Heap {
  uint16_t id = 0;
  uint32_t device = 0; // id
  uint32_t name = 0;
  bool ended = false;
  StepCurve live;     // bytes of blocks
  StepCurve reserved; // bytes of slabs
  uint64_t liveBlocks = 0;
  uint64_t lastSequence = 0;
};

enum class SpaceKind : uint8_t { kSlab, kArena };

struct AddressSpace {
  SpaceKind kind = SpaceKind::kSlab;
  uint16_t heap = 0;
  uint32_t slab = 0;    // of kSlab
  uint32_t session = 0; // of kArena: its id
  uint64_t sizeBytes = 0;
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld;
  std::string label; // "slab 3", "arena of squeezenet"
  BlockTable table;
  BlockIndex index;
};

struct Session {
  uint32_t id = 0;
  uint32_t device = 0; // id
  uint32_t program = 0;
  uint32_t source = 0;
  uint32_t profile = 0;
  uint64_t constantBytes = 0;
  uint32_t arenaSpace = UINT32_MAX; // index in spaces()
};

struct Run {
  uint32_t id = 0;
  uint32_t session = 0;       // id
  uint32_t plan = UINT32_MAX; // index in plans()
  uint32_t firstDispatch = 0; // index in dispatches(); the run's follow each other
  uint32_t dispatchCount = 0;
  uint32_t status = 0;
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld;
};

/// In one run a value lay in a block of a heap: what really happened, beside the plan.
struct Binding {
  uint32_t run = 0; // index in runs()
  uint32_t value = 0;
  uint64_t block = 0;
  uint64_t blockOffset = 0; // where in the block
  uint64_t sizeBytes = 0;   // of the block
  uint64_t takenNs = 0;     // of the block
  uint64_t releasedNs = kStillHeld;
  uint16_t heap = 0;
  bool donated = false;
  bool inArena = false; // the block is a session's arena; sizeBytes is the whole arena's
};

struct HostSpan {
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld;
  uint32_t name = 0;
  uint32_t thread = 0;
  uint32_t depth = 0;
};

/// The spans that no other encloses, of all threads, in the order of their begins; and for each the
/// latest end among it and those before it, so that the next one that reaches beyond a moment is
/// found by bisection.
struct HostRow {
  std::vector<uint32_t> spans; // indices in hostSpans()
  std::vector<uint64_t> latestEndNs;

  /// The first place whose span ends after this moment and lies at `from` or later.
  size_t firstReaching(size_t from, uint64_t timeNs) const;
};

struct Mark {
  uint64_t timeNs = 0;
  uint32_t name = 0;
  int64_t value = 0;
};

class CaptureModel {
public:
  /// Takes events in the order of time. `names` has the texts of their ids.
  void ingest(std::span<const trace::Event> events, const trace::NameTable &names);
  /// No more events will come: sorts all spaces.
  void finish();
  /// After ingest() of a live capture: brings the indices up to date.
  void update();

  void countDropped(uint64_t events) { dropped_ += events; }
  /// The events are those of an artifact that was never run (unrun.h): their order is the
  /// program's, their times are invented.
  void setModelled() { modelled_ = true; }
  bool modelled() const { return modelled_; }

  std::string_view text(uint32_t name) const {
    return names_ == nullptr ? std::string_view() : (*names_)[name];
  }
  uint32_t nameCount() const { return names_ == nullptr ? 0 : names_->size(); }
  uint64_t nowNs() const { return nowNs_; } // the last event's time
  uint64_t firstNs() const { return firstNs_; }
  /// When the first slab, block or dispatch was there; nowNs() where none was.
  uint64_t firstActivityNs() const;
  uint64_t eventCount() const { return events_; }
  uint64_t droppedEvents() const { return dropped_; }
  uint64_t unmatched() const { return unmatched_; }
  /// Runs that ended and have times of the device's.
  uint64_t timedRuns() const { return timedRuns_; }
  const trace::ProcessEvent &process() const { return process_; }

  const std::vector<Device> &devices() const { return devices_; }
  const std::vector<DeviceHeap> &deviceHeaps() const { return deviceHeaps_; }
  const std::deque<Heap> &heaps() const { return heaps_; }
  /// Those that ever held a slab or a block; all where none did.
  std::vector<const Heap *> heapsInUse() const;
  const std::deque<AddressSpace> &spaces() const { return spaces_; }
  const std::vector<Session> &sessions() const { return sessions_; }
  const std::vector<Plan> &plans() const { return plans_; }
  const std::vector<PlanEntry> &planEntries() const { return entries_; }
  const std::vector<Run> &runs() const { return runs_; }
  const std::vector<Binding> &bindings() const { return bindings_; }
  const DispatchTable &dispatches() const { return dispatches_; }
  const std::vector<HostSpan> &hostSpans() const { return spans_; }
  const HostRow &hostRow() const { return hostRow_; }
  const std::vector<Mark> &marks() const { return marks_; }
  const GrowthWatch &growth() const { return growth_; }

  const Session *session(uint32_t id) const;
  const Device *device(uint32_t id) const;
  /// The entry of a value in a plan, or nullptr.
  const PlanEntry *entryOf(const Plan &plan, uint32_t value) const;
  /// The command that a dispatch ran, or nullptr where its plan does not tell.
  const PlanCommand *commandOf(const Dispatch &dispatch) const;
  /// The moments at which a run's command began and ended.
  struct Moments {
    uint64_t beginNs = 0;
    uint64_t endNs = 0;
  };
  Moments commandTimes(const Run &run, uint32_t command) const;

  uint64_t memoryBytes() const;

private:
  struct OpenBlock { // packed into a FlatMap value
    uint32_t space = 0;
    uint32_t row = 0;
  };
  void ingestOne(const trace::Event &event);
  void onProcessOrDevice(const trace::Event &event);
  void onMemory(const trace::Event &event);
  void onProgram(const trace::Event &event);
  void onHost(const trace::Event &event);

  Heap &heap(uint16_t id);
  uint32_t slabSpace(uint16_t heap, uint32_t slab, uint64_t sizeBytes, uint64_t timeNs);
  void openSlab(const trace::SlabEvent &event);
  void closeSlab(const trace::SlabEvent &event);
  void openBlock(const trace::BlockEvent &event);
  void closeBlock(uint16_t heap, uint64_t block, uint64_t timeNs);
  void beginSnapshot(const trace::SnapshotEvent &event);
  void endSnapshot(const trace::SnapshotEvent &event);
  void onArena(const trace::ArenaEvent &event);
  void onDispatch(uint32_t run, uint32_t command, uint32_t device, const trace::GpuTimes &gpu,
                  const uint32_t *workgroups);
  void onBinding(const trace::RunBindingEvent &event);
  void endRun(const trace::RunEvent &event);
  void noteTimes(uint32_t runIndex);
  void takeShares(Plan &plan);
  void fillHostRow();
  void shrinkLists();
  void fillArena(uint32_t run);
  uint32_t arenaSpaceOf(uint32_t session, uint64_t arenaBytes);

  static uint64_t blockKey(uint16_t heap, uint64_t block) {
    return block ^ (static_cast<uint64_t>(heap) * 0xd1342543de82ef95u);
  }
  static uint64_t pack(OpenBlock block) {
    return (static_cast<uint64_t>(block.space) << 32) | block.row;
  }
  static OpenBlock unpack(uint64_t value) {
    return {static_cast<uint32_t>(value >> 32), static_cast<uint32_t>(value)};
  }

  const trace::NameTable *names_ = nullptr;
  uint64_t nowNs_ = 0;
  uint64_t firstNs_ = UINT64_MAX;
  uint64_t events_ = 0;
  uint64_t dropped_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t timedRuns_ = 0;
  bool modelled_ = false;
  trace::ProcessEvent process_;

  std::vector<Device> devices_;
  std::vector<DeviceHeap> deviceHeaps_;
  std::deque<Heap> heaps_;
  std::deque<AddressSpace> spaces_;
  FlatMap openSlabs_;                                     // heap and slab → space
  FlatMap openBlocks_;                                    // heap and block → space and row
  std::unordered_map<uint64_t, uint64_t> snapshotBlocks_; // those seen in a snapshot in progress
  bool inSnapshot_ = false;

  std::vector<Session> sessions_;
  std::vector<Plan> plans_;
  std::vector<PlanEntry> entries_;
  std::unordered_map<uint32_t, uint32_t> planOfId_;
  std::unordered_map<uint64_t, uint32_t> entryOfValue_; // plan and value → entry
  std::vector<Run> runs_;
  std::unordered_map<uint32_t, uint32_t> openRuns_; // id → index
  std::vector<Binding> bindings_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> openBindings_; // block → bindings
  std::unordered_map<uint64_t, uint32_t> arenaBlocks_;               // block → session
  DispatchTable dispatches_;
  std::vector<HostSpan> spans_;
  std::map<uint32_t, std::vector<uint32_t>> openSpans_; // thread → indices in spans_
  HostRow hostRow_;
  std::vector<Mark> marks_;
  GrowthWatch growth_;
};

} // namespace gantry::profiler
