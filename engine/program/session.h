// A program bound to a device: its kernels, constants and arena, and its runs.
//
// submit() looks up the memory plan (shape_plan.h) for the input shapes, and a recording
// (recording.h), which is a recorded command list for that plan and the bound buffers. It makes the
// plan or the recording if the cache does not have it, and submits the list. Runs execute in the
// order of submission. Each run in flight has a recording of its own, because a recording's inputs
// and outputs are in use until its run has ended.
//
// All memory comes from the device's heap. All runs share the arena, the memory for the values
// that commands pass to each other. If a plan needs a larger arena, the session waits for the runs
// in flight and replaces the arena. A state is an input and an output that share one buffer across
// runs; this buffer belongs to a State object (states/state.h).
//
// Errors: kInvalidArgument for wrong inputs and outputs, kUnsupported if the device cannot run the
// program, kDataLoss if the artifact is damaged, kOutOfMemory, kDeviceLost, and kInternal if
// SessionOptions::checkMemory is set and a check finds an error of the compiler.
// Threads: a session and its runs are used by one thread at a time. Units: bytes and nanoseconds.
#pragma once

#include "engine/program/arguments.h"
#include "engine/program/recording.h"
#include "engine/program/session_trace.h"
#include "engine/program/states/state_binding.h"

#include <deque>
#include <list>

namespace gantry::program {

/// The figures of gantry_statistics_t; gantry.h describes each.
struct Statistics {
  uint64_t constantBytes = 0;
  uint64_t arenaBytes = 0;
  uint64_t lowerBoundBytes = 0;
  uint64_t ioBytes = 0;
  uint64_t reservedBytes = 0;
  uint64_t runs = 0;
  uint64_t plans = 0;
  uint64_t recordings = 0;
  uint64_t pipelines = 0;
  uint64_t loadNs = 0;
  uint64_t lastRunNs = 0;
  uint64_t lastRunGpuNs = 0;
};

/// One command of the last run that ended. The strings are valid while the program exists.
struct DispatchInfo {
  const char *name = nullptr;
  uint64_t gpuNs = 0;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint32_t workgroups[3] = {0, 0, 0};
  uint32_t workgroupSize[3] = {0, 0, 0};
  uint32_t sharedBytes = 0;
  uint32_t parts = 0; // Number of dispatches that the command was split into (dispatch_split.h).
  BindingChoice binding = BindingChoice::kAuto; // kAuto for copies.
  // The names of the kernel and of its tile (the part of the result that one workgroup computes) in
  // tables of measured tiles (docs/tuning.md). Null for copies, and if the artifact lacks them.
  const char *kernelKey = nullptr;
  const char *exactTile = nullptr;
};

/// The largest number of runs of a session in flight. If there are this many, submit() waits for
/// the oldest.
inline constexpr size_t kMaxRunsInFlight = 8;

class Session;

/// One run. Until the run has ended, it and its session keep each other alive. wait() must be
/// called before the last reference is dropped; otherwise neither is ever freed.
class Run {
public:
  /// Waits for the run. Returns true when it has ended and its outputs are in place, and false if
  /// timeoutNs passed first (UINT64_MAX: no timeout). A failed run returns its status on every
  /// call.
  Result<bool> wait(uint64_t timeoutNs);

  /// Donates the buffer of an input: takes the caller's reference, and drops the references that
  /// the session's runs in flight hold. The memory becomes free as soon as the device has finished
  /// these runs. If the call fails, the caller keeps its reference. Returns kInvalidArgument if the
  /// run has no input in this buffer or writes to it, and kFailedPrecondition if something else
  /// holds the buffer: a run of another session, a State or an arena. After the end of the run the
  /// call only drops the caller's reference. callersReferences is the number of references that the
  /// caller owns, `buffer` among them.
  Status donate(Storage &buffer, uint32_t callersReferences = 1);

  /// Returns whether wait() has reported the end.
  bool hasEnded() const { return ended_; }
  /// Text for messages, such as "run 3 of program 'resnet'". A session counts its runs from 1.
  std::string name() const;

private:
  friend class Session;
  struct HostOutput {
    size_t port;
    void *data;
    uint64_t sizeBytes;
  };
  std::shared_ptr<Session> session_;
  std::shared_ptr<const Program> program_;
  std::shared_ptr<Recording> recording_;
  struct Held {
    Storage storage; // Empty after the run has ended or the buffer was donated.
    uint64_t block;
    uint32_t value;
    bool isInput;
  };
  std::vector<Held> buffers_; // The caller's buffers, which the run keeps alive until it has ended.
  std::vector<HostOutput> hostOutputs_;
  uint64_t number_ = 0; // Counts the runs of the session from 1.
  uint64_t ticket_ = 0;
  uint32_t traceId_ = 0;
  uint64_t startNs_ = 0;
  bool ended_ = false;
  Status status_;
};

/// A program bound to a device.
class Session : public std::enable_shared_from_this<Session> {
public:
  /// Creates a session in the heap of a device. If program->isWhole(), the session chooses the
  /// variant for the device (variant_choice.h), and logs a warning, once per program, if no variant
  /// was compiled for the device's profile.
  static Result<std::shared_ptr<Session>> create(std::shared_ptr<const Program> program,
                                                 std::shared_ptr<heap::Heap> heap,
                                                 const SessionOptions &options);

  /// Computes the shapes of the outputs for the given input shapes.
  Result<std::vector<OutputShape>> outputShapes(std::span<const TensorShape> inputs);

  /// Starts a run and stores the shapes of its outputs in `shapes`. Inputs in host memory are
  /// copied before the function returns. Buffers, and outputs in host memory, are in use until the
  /// run has ended. The arguments of a state's ports have no memory; their shapes are ignored.
  Result<std::shared_ptr<Run>> submit(std::span<const TensorArgument> inputs,
                                      std::span<const TensorArgument> outputs,
                                      std::vector<OutputShape> &shapes);

  Statistics statistics() const;
  /// Returns a command of the last run that ended. Returns kNotFound if there is no such command,
  /// and kFailedPrecondition if the session has no timestamps or no run has ended.
  Result<DispatchInfo> dispatch(size_t index) const;

  /// For tests: waits for all runs, and replaces the injected faults for later runs.
  Status replaceHooks(const TestHooks &hooks);
  std::vector<Slot> slotsOfLastRun() const {
    return lastPlan_ ? lastPlan_->slots : std::vector<Slot>();
  }

  /// The variant of the program that the session runs.
  const Program &program() const { return *program_; }
  const std::shared_ptr<const Program> &sharedProgram() const { return program_; }
  const std::shared_ptr<heap::Heap> &heap() const { return heap_; }
  /// The values of the program's states; null if it has none.
  const std::shared_ptr<State> &state() const { return states_.state(); }

private:
  friend class Run;
  struct CachedPlan {
    std::vector<int64_t> symbols;
    std::shared_ptr<const ShapePlan> plan;
    std::vector<const artifact::KernelVariant *> variants; // Per command; nullptr for copies.
  };

  Session(std::shared_ptr<const Program> program, std::shared_ptr<heap::Heap> heap,
          const SessionOptions &options)
      : program_(std::move(program)), heap_(std::move(heap)),
        device_(heap_->device().shared_from_this()), options_(options),
        kernels_(program_, device_, options.cachePath), trace_(program_, heap_) {}

  static Result<std::shared_ptr<Session>> createFor(std::shared_ptr<const Program> variant,
                                                    std::shared_ptr<heap::Heap> heap,
                                                    const SessionOptions &options,
                                                    uint64_t startNs);
  Status load();
  Status bindStates();
  /// Submits a prepared run to the device.
  Status start(const std::shared_ptr<Run> &run, std::span<const PortBinding> inputs,
               std::span<const PortBinding> outputs);
  Result<const CachedPlan *> planFor(std::vector<int64_t> symbols);
  Result<const CachedPlan *> planForInputs(std::span<const TensorShape> inputs);
  Result<std::vector<OutputShape>> outputShapesOf(const ShapePlan &plan) const;
  Status chooseVariants(CachedPlan &entry) const;
  Status requireKernels(const CachedPlan &entry);
  Status growArena(const ShapePlan &plan);
  Status reserveArena(uint64_t neededBytes);
  Result<std::shared_ptr<Recording>> findRecording(const CachedPlan &entry,
                                                   std::span<const PortBinding> inputs,
                                                   std::span<const PortBinding> outputs);
  bool isFree(const std::shared_ptr<Recording> &recording) const;
  /// The number of references that the runs in flight hold to the buffer.
  uint32_t countHolders(uint64_t block) const;
  /// Drops the references of all runs in flight to the buffer. The memory becomes free when the
  /// device has finished these runs.
  void releaseBuffer(uint64_t block);
  std::string arenaRemedy(const ShapePlan &plan) const;
  Status waitForAll();
  void endRun(Run &run, Status status);
  Status collect(Run &run);
  void traceRun(Run &run, std::span<const PortBinding> inputs,
                std::span<const PortBinding> outputs);

  std::shared_ptr<const Program> program_;
  std::shared_ptr<heap::Heap> heap_;
  std::shared_ptr<device::Device> device_;
  SessionOptions options_;
  KernelSet kernels_;
  SessionTrace trace_;
  Constants constants_;
  StateBinding states_;
  Storage arena_;
  Storage hostArena_;           // The host arena (shape_plan.h), for transients moved to the host.
  std::list<CachedPlan> plans_; // Most recently used first.
  std::list<std::shared_ptr<Recording>> recordings_; // Most recently used first.
  std::deque<std::shared_ptr<Run>> inFlight_;        // Oldest first.
  std::shared_ptr<const ShapePlan> lastPlan_;
  // The next four members describe the last run that ended, if the session has timestamps.
  std::shared_ptr<const ShapePlan> timedPlan_;
  std::vector<const artifact::KernelVariant *> timedVariants_;
  std::vector<uint32_t> timedParts_;
  std::vector<uint64_t> lastTimesNs_; // Per command.
  uint64_t submittedRuns_ = 0;
  Statistics statistics_;
};

} // namespace gantry::program
