// The events that a session records with engine/trace: its plans with their values, commands and
// accesses; the heap blocks that it uses; its runs; and the device times of their dispatches.
//
// A viewer (a program that shows the trace, such as the profiler) that attaches late receives a
// description of the session and of all cached plans (trace/record/source.h). Names are entered in
// the trace's table of names only while something receives the trace. A clock record relates the
// device's clock to the host's clock. The session writes one at the first timed run after a viewer
// has attached, and then at most one per second. If the driver can read both clocks together, the
// record holds that reading. Otherwise the session submits a command list that only records a
// timestamp, and reads the host's clock before and after it. The driver's memory budgets are also
// recorded at most once per second.
//
// Timestamps are expensive on a software device: for each one the driver wakes a thread and waits
// for it (13.5 µs of CPU time with Mesa 22.3). After a timed run on such a device, the session
// therefore times no run for 500 times the duration of that run's timestamps. Short runs in a loop
// are timed now and then; long runs are always timed. GANTRY_TRACE_TIMES=all times every run.
//
// Threads: the session's thread calls all functions except describe(), which the collector of
// engine/trace calls on its own thread.
#pragma once

#include "engine/program/program.h"
#include "engine/program/shape_plan.h"
#include "engine/program/storage.h"
#include "engine/trace/record/source.h"

#include <atomic>
#include <mutex>

namespace gantry::program {

/// The trace of one session.
class SessionTrace {
public:
  SessionTrace(std::shared_ptr<const Program> program, std::shared_ptr<heap::Heap> heap);
  /// Records the end of the session.
  ~SessionTrace();
  SessionTrace(const SessionTrace &) = delete;
  SessionTrace &operator=(const SessionTrace &) = delete;

  /// Returns whether the next run should record timestamps for the trace.
  bool wantsTimes() const;

  void addPlan(std::shared_ptr<const ShapePlan> plan,
               std::vector<const artifact::KernelVariant *> variants);
  void removePlan(const ShapePlan *plan);
  /// Records which buffer of the heap is the session's arena, its host arena (shape_plan.h), or the
  /// block that holds all of its constants (Constants::block). An empty storage means that there is
  /// none any more.
  void setArena(const Storage &storage) { setPlace(arena_, storage, "arena"); }
  void setHostArena(const Storage &storage) { setPlace(hostArena_, storage, "away on the host"); }
  void setConstants(const Storage &storage) { setPlace(constants_, storage, "constants"); }

  /// Notes that a submitted run records this number of timestamps.
  void noteTimes(uint32_t timestamps);
  /// Records the begin of a run. Returns the run's id in the trace; 0 if nothing receives the
  /// trace.
  uint32_t beginRun(const ShapePlan *plan, uint64_t ticket);
  /// Records that the value lies in a buffer of the caller in this run.
  void bind(uint32_t run, uint32_t value, const Storage &storage, uint64_t offsetBytes);
  /// Records that the caller has donated the buffer of the value to the run.
  void donate(uint32_t run, uint32_t value, const Storage &storage);
  /// Records the end of a run. timesNs holds the device's timestamps, one more than the program has
  /// commands; it is empty if the run was not timed.
  void endRun(uint32_t run, const ShapePlan *plan, uint64_t ticket, StatusCode status,
              std::span<const uint64_t> timesNs);

private:
  struct Plan {
    uint32_t id;
    std::shared_ptr<const ShapePlan> plan;
    std::vector<const artifact::KernelVariant *> variants;
  };
  struct Place {
    uint64_t block = 0;
    uint64_t sizeBytes = 0;
  };
  static void describe(void *user, trace::Describer &describer);
  template <typename Emit> void emitSession(trace::EventType type, Emit &&emit) const;
  template <typename Emit> void emitPlan(const Plan &plan, Emit &&emit) const;
  template <typename Emit> void emitCommand(const Plan &plan, uint32_t index, Emit &&emit) const;
  template <typename Emit>
  void emitPlace(trace::EventType type, const Place &place, const char *name, Emit &&emit) const;
  void setPlace(Place &place, const Storage &storage, const char *name);
  const Plan *find(const ShapePlan *plan) const;
  void correlateClocks();
  void correlateBySubmission();

  std::shared_ptr<const Program> program_;
  std::shared_ptr<heap::Heap> heap_;
  uint32_t id_;
  const bool everyRunTimed_;
  trace::Source source_;
  // Protects the next four members, which only the session's thread writes.
  mutable std::mutex mutex_;
  std::vector<Plan> plans_;
  Place arena_;
  Place hostArena_;
  Place constants_;
  std::atomic<bool> clockWanted_{false}; // Set when the session is described to a new viewer.
  // Only the session's thread uses the next three members.
  uint64_t lastClockNs_ = 0;
  uint64_t lastBudgetsNs_ = 0;
  uint64_t restUntilNs_ = 0; // Software devices: no run is timed before this time.
};

} // namespace gantry::program
