// A program bound to a device: its kernels, constants and arena, and its runs.
//
// A run finds the plan for its shapes (made once, cached), finds a recorded command list for that
// plan and the buffers that are bound (recorded once, cached), and submits it. Runs execute in the
// order of submission. Several may be in flight; each then has a recording of its own, because a
// recording's inputs and outputs are in use until its run is done.
//
// All memory is of the device's heap. The arena is shared by all runs. It grows with the shapes;
// growing waits for the runs in flight.
//
// Threads: a session and its runs are used by one thread at a time.
#pragma once

#include "engine/program/recording.h"
#include "engine/program/session_trace.h"
#include "engine/program/shapes.h"

#include <deque>
#include <list>

namespace gantry::program {

/// One input or output: host memory (data), or a buffer from offset on.
struct TensorArgument {
  TensorShape shape; // of inputs
  void *data = nullptr;
  std::shared_ptr<Storage> buffer; // of the session's heap
  uint64_t offset = 0;
  uint64_t sizeBytes = 0; // of data, or of the stretch of buffer
};

struct OutputShape {
  TensorShape shape;
  uint64_t sizeBytes = 0;
};

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

struct DispatchInfo {
  const char *name = nullptr; // lives as long as the program
  uint64_t gpuNs = 0;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  uint32_t workgroups[3] = {0, 0, 0};
  uint32_t workgroupSize[3] = {0, 0, 0};
  uint32_t sharedBytes = 0;
  uint32_t parts = 0; // dispatches that the command is recorded as (parts.h)
  BindingChoice binding = BindingChoice::kAuto; // kAuto for copies
  const char *kernelKey = nullptr;              // null where the artifact does not tell, as for
  const char *exactTile = nullptr;              // copies; both live as long as the program
};

/// Runs of one session that may be under way: the next submit() waits for the oldest.
inline constexpr size_t kMaxRunsInFlight = 8;

class Session;

/// One run in flight. It and its session keep each other alive until it has ended: wait for it
/// before letting go of it.
class Run {
public:
  /// True once the run has ended and its outputs are in place; false when timeoutNs passed first.
  /// A run that failed returns its status, every time.
  Result<bool> wait(uint64_t timeoutNs);

  /// Gives an input's buffer up to the run, with the caller's reference; all runs of the session
  /// that are under way let go of it, too. Where nobody else holds it, its memory is free as soon
  /// as the device is through with them, and before that for work that comes after them.
  /// kInvalidArgument where the run has no such input or writes to the buffer, and then the caller
  /// keeps it. After the run's end it is a release.
  Status donate(std::shared_ptr<Storage> &buffer);

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
    std::shared_ptr<Storage> storage; // nullptr once the run has ended or it was donated
    uint64_t block;
    uint32_t value;
    bool isInput;
  };
  std::vector<Held> buffers_; // the caller's, kept until the end
  std::vector<HostOutput> hostOutputs_;
  uint64_t ticket_ = 0;
  uint32_t traceId_ = 0;
  uint64_t startNs_ = 0;
  bool ended_ = false;
  Status status_;
};

class Session : public std::enable_shared_from_this<Session> {
public:
  /// Of a whole program, takes the variant that suits the device (variant_choice.h), and logs a
  /// warning, once for each program, where none was made for it.
  static Result<std::shared_ptr<Session>> create(std::shared_ptr<const Program> program,
                                                 std::shared_ptr<heap::Heap> heap,
                                                 const SessionOptions &options);

  Result<std::vector<OutputShape>> outputShapes(std::span<const TensorShape> inputs);

  /// Starts a run. Host inputs are consumed when it returns; buffers, and host outputs, when the
  /// run has ended. shapes receives what the outputs will be.
  Result<std::shared_ptr<Run>> submit(std::span<const TensorArgument> inputs,
                                      std::span<const TensorArgument> outputs,
                                      std::vector<OutputShape> &shapes);

  Statistics statistics() const;
  /// A command of the last run; needs timestamps.
  Result<DispatchInfo> dispatch(size_t index) const;

  /// For tests: other faults from the next run on.
  Status replaceHooks(const TestHooks &hooks);
  std::vector<Slot> slotsOfLastRun() const {
    return lastPlan_ ? lastPlan_->slots : std::vector<Slot>();
  }

  /// The variant that was taken.
  const Program &program() const { return *program_; }
  const std::shared_ptr<const Program> &sharedProgram() const { return program_; }
  const std::shared_ptr<heap::Heap> &heap() const { return heap_; }

private:
  friend class Run;
  struct CachedPlan {
    std::vector<int64_t> symbols;
    std::shared_ptr<const ShapePlan> plan;
    std::vector<const artifact::KernelVariant *> variants; // per command
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
  Result<const CachedPlan *> planFor(std::vector<int64_t> symbols);
  Result<const CachedPlan *> planForInputs(std::span<const TensorShape> inputs);
  Result<std::vector<OutputShape>> outputShapesOf(const ShapePlan &plan) const;
  Status chooseVariants(CachedPlan &entry) const;
  Status requireKernels(const CachedPlan &entry);
  Status growArena(const ShapePlan &plan);
  Status reserveArena(uint64_t needed); // bytes
  Result<std::shared_ptr<Recording>> findRecording(const CachedPlan &entry,
                                                   std::span<const PortBinding> inputs,
                                                   std::span<const PortBinding> outputs);
  bool isFree(const std::shared_ptr<Recording> &recording) const;
  /// No run in flight holds the buffer any more; it is free when the last of them is through.
  void letGo(uint64_t block);
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
  std::shared_ptr<Storage> arena_;
  std::shared_ptr<Storage> away_;                    // transients that are on the host for a while
  std::list<CachedPlan> plans_;                      // most recently used first
  std::list<std::shared_ptr<Recording>> recordings_; // most recently used first
  std::deque<std::shared_ptr<Run>> inFlight_;        // oldest first
  std::shared_ptr<const ShapePlan> lastPlan_;
  // Of the last run that ended, with timestamps:
  std::shared_ptr<const ShapePlan> timedPlan_;
  std::vector<const artifact::KernelVariant *> timedVariants_;
  std::vector<uint32_t> timedParts_;
  std::vector<uint64_t> lastTimesNs_; // per command
  Statistics statistics_;
};

} // namespace gantry::program
