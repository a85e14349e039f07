// A capture as the profiler shows it: devices, address spaces full of blocks, plans, runs,
// dispatches and host spans. This class distributes the events of a trace to the parts that own the
// data, and gives read access to all of them:
//
//   DeviceTable      devices, their memory heaps (as the driver reports them), budgets, clocks
//   MemoryHistory    Gantry's heaps, slabs, arenas, blocks, bindings (which block held a value of a
//                    run), suspected leaks
//   ProgramHistory   sessions, plans, runs, dispatches
//   HostTimeline     host spans, marks
//
// Slabs (allocations of a heap from the driver) and arenas (the memory in which a plan places the
// values of a session) are the address spaces, in which blocks lie (block_table.h). A session is a
// compiled program that is bound to a device, a run one execution of it, and a dispatch one kernel
// launch of a run. A host span is a named interval of a thread's work, and a mark is a moment that
// the application named.
//
// A complete capture is finished with finish(), which sorts the blocks of every space and thereby
// changes the numbers of their rows in BlockTable. A live capture is kept current with update(),
// which keeps the row numbers.
//
// A trace may contain events that refer to unknown objects, for example the release of a block that
// was never allocated, or a dispatch of an unknown run. Such events are counted in unmatched() and
// ignored; they are not errors.
//
// Times are nanoseconds from the capture's start. Texts are ids of the name table; text() resolves
// them. The model does not read files or sockets: load_capture.h and live_capture.h do.
// Threads: one at a time.
#pragma once

#include "engine/trace/events.h"
#include "engine/trace/wire/capture.h"
#include "profiler_gui/model/capture/device_table.h"
#include "profiler_gui/model/capture/host_timeline.h"
#include "profiler_gui/model/capture/memory_history.h"
#include "profiler_gui/model/capture/program_history.h"

#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <vector>

namespace gantry::profiler {

class CaptureModel {
public:
  /// Adds events, which must be in order of time. `names` resolves their text ids; it must outlive
  /// the model and stay at its address.
  void ingest(std::span<const trace::Event> events, const trace::NameTable &names);
  /// Completes the model of a capture whose events have all been added: sorts the blocks of each
  /// space. Uses up to four threads for large captures. No ingest() may follow.
  void finish();
  /// Adds the new blocks to the indices that find blocks in a window (BlockIndex), and updates the
  /// end times in hostRow(). Call this after ingest() if the capture is live.
  void update();

  /// Adds to droppedEvents().
  void countDropped(uint64_t events) { dropped_ += events; }
  /// Marks the events as those of an artifact, a compiled model, that was never run
  /// (unrun_capture.h). Their order is the program's order; their times are invented.
  void setModelled() { modelled_ = true; }
  bool modelled() const { return modelled_; }

  /// The text with this id; "" if the id is unknown.
  std::string_view text(uint32_t name) const {
    return names_ == nullptr ? std::string_view() : (*names_)[name];
  }
  /// One more than the largest known text id.
  uint32_t nameCount() const { return names_ == nullptr ? 0 : names_->size(); }
  /// Time of the latest event; 0 without events.
  uint64_t nowNs() const { return nowNs_; }
  /// Time of the earliest event; UINT64_MAX without events.
  uint64_t firstNs() const { return firstNs_; }
  /// Time of the first block or run; nowNs() if there is none.
  uint64_t firstActivityNs() const;
  uint64_t eventCount() const { return events_; }
  /// Number of events that were lost before they reached the model.
  uint64_t droppedEvents() const { return dropped_; }
  /// Number of events that refer to unknown objects.
  uint64_t unmatched() const {
    return memory_.unmatched() + program_.unmatched() + host_.unmatched();
  }
  /// Number of runs that have ended and have device times (ProgramHistory::timedRuns()).
  uint64_t timedRuns() const { return program_.timedRuns(); }
  const trace::ProcessEvent &process() const { return process_; }

  const std::vector<Device> &devices() const { return devices_.devices(); }
  const std::vector<DeviceHeap> &deviceHeaps() const { return devices_.heaps(); }
  const std::deque<Heap> &heaps() const { return memory_.heaps(); }
  /// The heaps that ever held a slab or a block; all heaps if none did.
  std::vector<const Heap *> heapsInUse() const;
  const std::deque<AddressSpace> &spaces() const { return memory_.spaces(); }
  const std::vector<Binding> &bindings() const { return memory_.bindings(); }
  const GrowthWatch &growth() const { return memory_.growth(); }
  const std::vector<Session> &sessions() const { return program_.sessions(); }
  const std::vector<Plan> &plans() const { return program_.plans(); }
  const std::vector<PlanEntry> &planEntries() const { return program_.entries(); }
  const std::vector<Run> &runs() const { return program_.runs(); }
  const DispatchTable &dispatches() const { return program_.dispatches(); }
  const std::vector<HostSpan> &hostSpans() const { return host_.spans(); }
  const HostRow &hostRow() const { return host_.row(); }
  const std::vector<Mark> &marks() const { return host_.marks(); }

  /// The session or device with this id, or nullptr.
  const Session *session(uint32_t id) const { return program_.session(id); }
  const Device *device(uint32_t id) const { return devices_.find(id); }
  /// The entry of a value in a plan of plans(), or nullptr.
  const PlanEntry *entryOf(const Plan &plan, uint32_t value) const {
    return program_.entryOf(plan, value);
  }
  /// The command that a dispatch executed, or nullptr if its plan does not have it.
  const PlanCommand *commandOf(const Dispatch &dispatch) const {
    return program_.commandOf(dispatch);
  }
  /// The time at which a run of runs() executed a command: measured if possible, else estimated.
  TimeRange commandTimes(const Run &run, uint32_t command) const {
    return program_.commandTimes(run, command, nowNs_);
  }

  /// Bytes allocated by the model.
  uint64_t memoryBytes() const;

private:
  void ingestOne(const trace::Event &event, const trace::NameTable &names);
  void ingestProcess(const trace::Event &event);

  const trace::NameTable *names_ = nullptr;
  uint64_t nowNs_ = 0;
  uint64_t firstNs_ = UINT64_MAX;
  uint64_t events_ = 0;
  uint64_t dropped_ = 0;
  bool modelled_ = false;
  trace::ProcessEvent process_;
  DeviceTable devices_;
  MemoryHistory memory_;
  ProgramHistory program_;
  HostTimeline host_;
};

} // namespace gantry::profiler
