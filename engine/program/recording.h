// One recorded command list: a program's commands for one shape, with its inputs and outputs bound
// to certain memory. Recorded once, replayed by every run that brings the same.
//
// Inputs and outputs that are buffers of the caller's are bound as they are; the others get a place
// in memory of the recording's own: memory that the host writes and reads directly where the
// device's memory is unified, else device memory with staging memories and copies on both sides.
//
// Threads: one at a time. A recording is not destroyed while a submission of it is in flight.
#pragma once

#include "engine/program/constants.h"
#include "engine/program/memory_check.h"
#include "engine/program/session_options.h"
#include "engine/program/shape_plan.h"

namespace gantry::program {

/// Where the caller wants one input or output: no memory means host memory.
struct PortBinding {
  std::shared_ptr<Storage> buffer;
  uint64_t offset = 0;
};

/// Whether the host writes inputs, and reads outputs, where the kernels do.
bool hostWritesDirectly(const device::Device &device, const SessionOptions &options);

class Recording {
public:
  struct Context {
    const Program &program;
    const std::shared_ptr<heap::Heap> &heap;
    device::Device &device;
    const SessionOptions &options;
    const Constants &constants;
    const KernelSet &kernels;
    const Storage *arena; // of at least plan->arenaBytes; nullptr where that is 0
    const Storage *away;  // of at least plan->hostBytes; nullptr where that is 0
    bool timed;
  };

  /// variants: per command, of its kernel; nullptr for copies.
  static Result<std::shared_ptr<Recording>>
  record(const Context &context, std::shared_ptr<const ShapePlan> plan,
         std::vector<const artifact::KernelVariant *> variants, std::span<const PortBinding> inputs,
         std::span<const PortBinding> outputs);

  const std::shared_ptr<const ShapePlan> &plan() const { return plan_; }
  device::CommandList &list() { return *list_; }
  const std::vector<const artifact::KernelVariant *> &variants() const { return variants_; }
  /// How many parts a command's dispatch is recorded as.
  uint32_t partCount(uint32_t command) const {
    return static_cast<uint32_t>(parts_[command].size());
  }

  /// Where the host writes an input before, and reads an output after a run; nullptr where that is
  /// a buffer of the caller's.
  uint8_t *inputData(size_t port) const { return inputs_[port].host; }
  const uint8_t *outputData(size_t port) const { return outputs_[port].host; }
  /// Whether inputData of a donated input is in the arena: then no run may be in flight.
  bool hostFillsArena() const { return hostFillsArena_; }

  /// Whether it serves these bindings. False for ever once a bound buffer is gone.
  bool matches(const ShapePlan *plan, std::span<const PortBinding> inputs,
               std::span<const PortBinding> outputs) const;
  bool expired() const;
  /// Whether it takes the device's time around each command.
  bool isTimed() const { return timed_; }

  /// After a run with checkMemory: ok, or what the canaries tell.
  Status checkCanaries() const;

  uint64_t ioBytes() const { return ioBytes_; }
  uint64_t reservedBytes() const { return reservedBytes_; }

private:
  struct Port {
    std::weak_ptr<Storage> buffer; // the caller's
    const Storage *bufferKey = nullptr;
    uint64_t offset = 0;
    uint64_t sizeBytes = 0;
    bool direct = false;              // kernels work on the caller's buffer
    device::BufferRange bound;        // what kernels see
    device::BufferRange staged;       // the host's side of a copy; no memory if none
    device::BufferRange beforePoison; // checkMemory: a donated buffer, which is staged first
    uint8_t *host = nullptr;
  };
  struct Guard {
    uint64_t offset; // in aside_
    uint64_t valueBytes;
    std::string name;
  };

  Recording() = default;
  Status bindPorts(const Context &context, std::span<const PortBinding> bindings, bool isInput,
                   std::vector<Port> &ports);
  Status allocate(const Context &context, device::MemoryKind kind, uint64_t sizeBytes,
                  const char *name, std::shared_ptr<Storage> &storage);
  bool isDonated(bool isInput, uint32_t value) const {
    return isInput && plan_->offsets[value] != kNoOffset;
  }
  device::BufferRange rangeOf(const Context &context, uint32_t value) const;
  Status recordAll(const Context &context);
  Status recordCopiesIn(Recorder &recorder);
  Status recordCopiesOut(const Context &context, Recorder &recorder);
  Status recordCommand(const Context &context, Recorder &recorder, uint32_t index);
  Status recordDispatch(const Context &context, Recorder &recorder, uint32_t index);
  Result<std::vector<Part>> cutDispatch(const Context &context, uint32_t index) const;
  Status recordBefore(const Context &context, Recorder &recorder, uint32_t index);
  Status recordAfter(const Context &context, Recorder &recorder, uint32_t index);
  Status recordPoisonAtStart(const Context &context, Recorder &recorder);
  Status recordGuard(Recorder &recorder, const device::BufferRange &range, const std::string &name);

  std::shared_ptr<const ShapePlan> plan_;
  std::vector<const artifact::KernelVariant *> variants_;
  std::vector<std::vector<Part>> parts_; // by command
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  std::vector<int32_t> portOfValue_; // ~i: output i, i: input i, INT32_MIN: neither
  std::vector<std::shared_ptr<Storage>> storages_;
  std::shared_ptr<Storage> aside_; // copies of guards
  std::vector<Guard> guards_;
  std::unique_ptr<device::CommandList> list_;
  bool timed_ = false;
  bool hostFillsArena_ = false;
  uint64_t ioBytes_ = 0;
  uint64_t reservedBytes_ = 0;
};

} // namespace gantry::program
