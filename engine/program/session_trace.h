// What a session tells engine/trace: its plans with their values, commands and accesses, where its
// memory lies, its runs and, with the device's own times, their dispatches.
//
// A viewer that attaches late hears of the session and of all plans that are cached (source.h).
// Texts are interned when somebody listens, so a session that nobody watches pays for none. The
// device's clock is related to the host's at the first run with times after a viewer has attached,
// and then once a second at most: by the driver, where it reads both together, else by a submission
// that only takes the time, between two readings of the host's clock. The driver's memory budgets
// are recorded once a second at most, too.
//
// A software device's times are dear: each makes the driver wake a thread and wait for it (13.5 us
// of CPU with Mesa 22.3). There a session rests after a run with times, so long that they take one
// part in 500 of the time: short runs in a loop have theirs now and then, long ones always.
// GANTRY_TRACE_TIMES=all takes them in every run.
//
// Threads: the session's, but for the description of a late viewer, which any thread may ask for.
#pragma once

#include "engine/program/program.h"
#include "engine/program/shape_plan.h"
#include "engine/program/storage.h"
#include "engine/trace/source.h"

#include <atomic>
#include <mutex>

namespace gantry::program {

class SessionTrace {
public:
  SessionTrace(std::shared_ptr<const Program> program, std::shared_ptr<heap::Heap> heap);
  /// The session is gone.
  ~SessionTrace();
  SessionTrace(const SessionTrace &) = delete;
  SessionTrace &operator=(const SessionTrace &) = delete;

  /// Whether the next run should take the device's times for whoever listens.
  bool wantsTimes() const;

  void addPlan(std::shared_ptr<const ShapePlan> plan,
               std::vector<const artifact::KernelVariant *> variants);
  void removePlan(const ShapePlan *plan);
  /// The block that a stretch of the session's memory is; nullptr: it has none any more.
  void setArena(const Storage *storage) { setPlace(arena_, storage, "arena"); }
  void setAway(const Storage *storage) { setPlace(away_, storage, "away on the host"); }
  void setConstants(const Storage *storage) { setPlace(constants_, storage, "constants"); }

  /// A run has been submitted that takes so many of the device's times.
  void noteTimes(uint32_t timestamps);
  /// A run begins; returns its id, 0 where nobody listens.
  uint32_t beginRun(const ShapePlan *plan, uint64_t ticket);
  /// In this run the value lies in a buffer of the caller's.
  void bind(uint32_t run, uint32_t value, const Storage &storage, uint64_t offsetBytes);
  /// The caller has given the buffer, in which the value lies, up to the run.
  void donate(uint32_t run, uint32_t value, const Storage &storage);
  /// It ended. timesNs: of the device, one more than commands; empty where they were not taken.
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
  template <typename Emit> void tellSession(trace::EventType type, Emit &&emit) const;
  template <typename Emit> void tellPlan(const Plan &plan, Emit &&emit) const;
  template <typename Emit> void tellCommand(const Plan &plan, uint32_t index, Emit &&emit) const;
  template <typename Emit>
  void tellPlace(trace::EventType type, const Place &place, const char *name, Emit &&emit) const;
  void setPlace(Place &place, const Storage *storage, const char *name);
  const Plan *find(const ShapePlan *plan) const;
  void correlateClocks();
  void correlateBySubmission();

  std::shared_ptr<const Program> program_;
  std::shared_ptr<heap::Heap> heap_;
  uint32_t id_;
  const bool everyRunTimed_;
  trace::Source source_;
  mutable std::mutex mutex_; // of what follows; the session's thread alone writes it
  std::vector<Plan> plans_;
  Place arena_;
  Place away_;
  Place constants_;
  std::atomic<bool> clockWanted_{false}; // Set when a new viewer hears of the session.
  // The session's thread alone:
  uint64_t lastClockNs_ = 0;
  uint64_t lastBudgetsNs_ = 0;
  uint64_t restUntilNs_ = 0; // no run needs to take times before
};

} // namespace gantry::program
