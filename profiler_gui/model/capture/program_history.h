// The programs of a capture over time: sessions, plans, runs and dispatches.
//
// Built from the trace's program events. A session is a compiled program that is bound to a device,
// a run one execution of it, and a dispatch one kernel launch of a run. The session's plan places
// the transients, the values that exist only during a run, in the session's arena (plans.h). When a
// run ends, the transients of its plan are added as blocks to the arena. Such a block lives from
// the begin of the first command that uses the value to the end of the last one. It lies at the
// offset that the run reported for the value, or else at the planned offset.
//
// Not every run has device times, because timestamps are expensive on some devices
// (engine/trace/README.md). The commands of a run without times are assumed to take the same
// fractions of the run as in the plan's last run with times, or equal fractions if no run had
// times.
//
// A dispatch of an unknown run or an entry of an unknown plan is counted in unmatched() and
// ignored.
//
// Names are ids in the capture's name table. Sizes are bytes, times nanoseconds from the capture's
// start. Threads: one writer, or several readers.
#pragma once

#include "engine/trace/events.h"
#include "engine/trace/wire/capture.h"
#include "profiler_gui/model/capture/device_table.h"
#include "profiler_gui/model/capture/dispatch_table.h"
#include "profiler_gui/model/capture/memory_history.h"
#include "profiler_gui/model/capture/plans.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace gantry::profiler {

/// A program that was bound to a device.
struct Session {
  uint32_t id = 0;
  uint32_t device = 0;  // The device's id.
  uint32_t program = 0; // Name of the program.
  uint32_t source = 0;  // Path of the model's file.
  uint32_t profile = 0; // Name of the device profile that the program was compiled for.
  uint64_t constantBytes = 0;
  // The address space of the session's arena: an index in CaptureModel::spaces(). UINT32_MAX: no
  // event has mentioned the arena yet.
  uint32_t arenaSpace = UINT32_MAX;
};

/// One execution of a session's program.
struct Run {
  uint32_t id = 0;
  uint32_t session = 0;       // The session's id.
  uint32_t plan = UINT32_MAX; // Index in CaptureModel::plans(); UINT32_MAX: unknown.
  /// Index in CaptureModel::dispatches() of the run's first dispatch or copy. The run's other
  /// dispatches and copies normally follow it directly; Dispatch::run shows whether they do.
  uint32_t firstDispatch = 0;
  /// Number of dispatches and copies in the capture. 0 for a run without device times, because
  /// their events are recorded when the device times are known.
  uint32_t dispatchCount = 0;
  uint32_t status = 0; // 0, or the StatusCode with which the run failed.
  uint64_t beginNs = 0;
  uint64_t endNs = kStillHeld; // kStillHeld while the run is in progress.
};

/// A half-open range of time.
struct TimeRange {
  uint64_t beginNs = 0;
  uint64_t endNs = 0;
};

class ProgramHistory {
public:
  /// The other parts of the capture that an event refers to.
  struct Context {
    const trace::NameTable &names;
    const DeviceTable &devices;
    /// Receives the bindings (the blocks in which a run has its inputs and outputs; Binding in
    /// memory_history.h), the blocks of arenas, and the end of each run, which ends a step in the
    /// search for leaks (growth_watch.h).
    MemoryHistory &memory;
    uint64_t nowNs; // Time of the capture's latest event.
  };

  /// Takes the events whose type is in the range from kSession to kRunBinding of trace::EventType;
  /// ignores others.
  void ingest(const trace::Event &event, const Context &context);
  /// Appends independent tasks that free unused memory; `this` must outlive them. No ingest() may
  /// follow.
  void appendFinishTasks(std::vector<std::function<void()>> *tasks);

  const std::vector<Session> &sessions() const { return sessions_; }
  const std::vector<Plan> &plans() const { return plans_; }
  const std::vector<PlanEntry> &entries() const { return entries_; }
  const std::vector<Run> &runs() const { return runs_; }
  const DispatchTable &dispatches() const { return dispatches_; }
  /// Number of ended runs with device times: those with at least one dispatch or copy. For an
  /// artifact, a compiled model, that was never run (unrun_capture.h), all runs count, although
  /// their times are invented.
  uint64_t timedRuns() const { return timedRuns_; }
  /// Number of events that refer to an unknown plan, run or block.
  uint64_t unmatched() const { return unmatched_; }

  /// The session with this id, or nullptr.
  const Session *session(uint32_t id) const;
  /// The entry of a value in a plan of plans(), or nullptr.
  const PlanEntry *entryOf(const Plan &plan, uint32_t value) const;
  /// The command that a dispatch executed, or nullptr if its plan does not have it.
  const PlanCommand *commandOf(const Dispatch &dispatch) const;
  /// The time at which a run of runs() executed a command: measured if possible, else estimated. A
  /// run that is in progress is assumed to end at nowNs.
  TimeRange commandTimes(const Run &run, uint32_t command, uint64_t nowNs) const;
  /// Bytes allocated for runs, plan entries and dispatches.
  uint64_t memoryBytes() const;

private:
  void addSession(const trace::SessionEvent &event);
  void addPlan(const trace::PlanEvent &event);
  void addEntry(const trace::PlanEntryEvent &event, const trace::NameTable &names);
  void addCommand(const trace::CommandEvent &event, const trace::NameTable &names);
  void addAccess(const trace::AccessEvent &event);
  void identifyArena(const trace::ArenaEvent &event, const Context &context);
  void beginRun(const trace::RunEvent &event);
  void endRun(const trace::RunEvent &event, const Context &context);
  void addDispatch(const trace::DispatchEvent &event, const Context &context);
  void addCopy(const trace::CopyEvent &event, const Context &context);
  void addToRun(uint32_t runId, uint32_t deviceId, const trace::GpuTimes &gpu, Dispatch dispatch,
                const Context &context);
  void noteDonation(const trace::DonationEvent &event, MemoryHistory &memory);
  void addBinding(const trace::RunBindingEvent &event, MemoryHistory &memory);
  Plan *findPlan(uint32_t id);
  void noteTimes(uint32_t runIndex);
  void takeShares(Plan &plan);
  void fillArena(uint32_t runIndex, const Context &context);
  uint32_t arenaSpaceOf(uint32_t sessionId, uint64_t arenaBytes, const Context &context);

  std::vector<Session> sessions_;
  std::vector<Plan> plans_;
  std::vector<PlanEntry> entries_;
  std::unordered_map<uint32_t, uint32_t> planOfId_;     // Plan id to index in plans_.
  std::unordered_map<uint64_t, uint32_t> entryOfValue_; // Plan index and value to entry.
  std::vector<Run> runs_;
  std::unordered_map<uint32_t, uint32_t> openRuns_; // Run id to index in runs_.
  std::unordered_set<uint64_t> arenaBlocks_;        // Block keys (blockKey()) of sessions' arenas.
  DispatchTable dispatches_;
  uint64_t timedRuns_ = 0;
  uint64_t unmatched_ = 0;
};

} // namespace gantry::profiler
