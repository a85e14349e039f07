// A recorded command list: the commands of a program for one shape plan (shape_plan.h), with the
// inputs and outputs bound to fixed memory. The list is recorded once, and every run with the same
// plan and the same bindings submits it again.
//
// A buffer of the caller is bound directly if its offset is aligned. Every other input or output
// gets memory of the recording. On devices with unified memory the host reads and writes this
// memory directly; on other devices it is device memory, and the command list copies from and to
// staging memory. An exception is a donated input (Port::donated in program.h): it is copied into
// the arena, the memory for the values that commands pass to each other.
//
// Ownership: a recording owns its memory and its command list. The session's arena, constants and
// kernels must outlive it. It keeps the handles of the caller's buffers, but no references to them.
// A recording must not be destroyed while a submission of its list is in flight.
// Units: bytes. Threads: a recording is used by one thread at a time.
#pragma once

#include "engine/program/constants.h"
#include "engine/program/memory_check.h"
#include "engine/program/session_options.h"
#include "engine/program/shape_plan.h"

namespace gantry::program {

/// The caller's buffer for one input or output; a null buffer means host memory.
struct PortBinding {
  Storage buffer;
  uint64_t offset = 0;
};

/// Returns whether the host writes inputs and reads outputs in the memory that kernels use, without
/// staging.
bool hostWritesDirectly(const device::Device &device, const SessionOptions &options);

/// A recorded command list with its bound memory.
class Recording {
public:
  /// The objects of the session that record() needs. The recording keeps no reference to the
  /// struct.
  struct Context {
    const Program &program;
    const std::shared_ptr<heap::Heap> &heap;
    device::Device &device;
    const SessionOptions &options;
    const Constants &constants;
    const KernelSet &kernels;
    const Storage *arena; // At least plan->arenaBytes; nullptr if that is 0.
    // The host arena (shape_plan.h): at least plan->hostBytes; nullptr if that is 0.
    const Storage *hostArena;
    bool timed; // Whether to record a timestamp before the first and after each command.
  };

  /// Records the commands. `variants` holds the kernel variant of each command; nullptr for copies.
  static Result<std::shared_ptr<Recording>>
  record(const Context &context, std::shared_ptr<const ShapePlan> plan,
         std::vector<const artifact::KernelVariant *> variants, std::span<const PortBinding> inputs,
         std::span<const PortBinding> outputs);

  const std::shared_ptr<const ShapePlan> &plan() const { return plan_; }
  device::CommandList &list() { return *list_; }
  const std::vector<const artifact::KernelVariant *> &variants() const { return variants_; }
  /// The number of dispatches that a command was split into (dispatch_split.h).
  uint32_t partCount(uint32_t command) const {
    return static_cast<uint32_t>(parts_[command].size());
  }

  /// The memory to which the host writes an input before a run, and from which it reads an output
  /// after a run; nullptr if the port is bound to a buffer of the caller.
  uint8_t *inputData(size_t port) const { return inputs_[port].host; }
  const uint8_t *outputData(size_t port) const { return outputs_[port].host; }
  /// Returns whether inputData() of a donated input lies in the arena. The host may then write it
  /// only while no run is in flight.
  bool hostFillsArena() const { return hostFillsArena_; }

  /// Returns whether this recording can serve a run with this plan and these bindings.
  bool matches(const ShapePlan *plan, std::span<const PortBinding> inputs,
               std::span<const PortBinding> outputs) const;
  /// Returns whether a bound buffer of the caller has no references left. The recording can then
  /// serve no further run.
  bool expired() const;
  /// Returns whether the command list records timestamps.
  bool isTimed() const { return timed_; }

  /// Checks the guards after a run with checkMemory (memory_check.h).
  Status checkCanaries() const;

  uint64_t ioBytes() const { return ioBytes_; }
  uint64_t reservedBytes() const { return reservedBytes_; }

private:
  struct Port {
    heap::Heap *heap = nullptr; // Heap of the caller's buffer; nullptr: host memory.
    heap::BufferHandle buffer;  // The caller's buffer, without a reference to it.
    uint64_t offset = 0;        // Offset in the caller's buffer.
    uint64_t sizeBytes = 0;
    bool direct = false;        // Whether kernels use the caller's buffer.
    device::BufferRange bound;  // The memory that kernels use.
    device::BufferRange staged; // Source or target of the copy to or from `bound`; null: no copy.
    // With checkMemory, the caller's buffer of a donated input. The list copies it to `staged`
    // before it fills slots of the arena with poison (memory_check.h).
    device::BufferRange beforePoison;
    uint8_t *host = nullptr; // inputData() or outputData().
  };
  struct Guard {
    uint64_t offset; // Offset in guardCopies_.
    uint64_t valueBytes;
    std::string name;
  };
  /// The offsets of all inputs, or of all outputs, in the recording's own memory. A port without a
  /// place there has kNoOffset.
  struct PortLayout {
    uint64_t ioBytes = 0;     // Memory that kernels use.
    uint64_t stagedBytes = 0; // Staging memory.
    std::vector<uint64_t> ioOffsets;
    std::vector<uint64_t> stagedOffsets;
  };

  Recording() = default;
  /// Binds all inputs or all outputs, in two steps: layOutPorts() and assignMemory().
  Status bindPorts(const Context &context, std::span<const PortBinding> bindings, bool isInput,
                   std::vector<Port> &ports);
  /// Decides for each port whether kernels use the caller's buffer, and where the port lies in the
  /// recording's own memory. Fills `ports`.
  PortLayout layOutPorts(const Context &context, std::span<const PortBinding> bindings,
                         bool isInput, std::vector<Port> &ports);
  /// Assigns the memory of one port. `io` is the recording's memory that kernels use; `staged` is
  /// its staging memory.
  void assignMemory(const Context &context, const PortBinding &binding, const PortLayout &layout,
                    bool isInput, uint32_t index, const Storage &io, const Storage &staged,
                    Port &port) const;
  Status allocate(const Context &context, device::MemoryKind kind, uint64_t sizeBytes,
                  const char *name, Storage &storage);
  bool isDonated(bool isInput, uint32_t value) const {
    return isInput && plan_->offsets[value] != kNoOffset;
  }
  device::BufferRange rangeOf(const Context &context, uint32_t value) const;
  Status recordAll(const Context &context);
  Status recordCopiesIn(Recorder &recorder);
  Status recordCopiesOut(const Context &context, Recorder &recorder);
  Status recordCommand(const Context &context, Recorder &recorder, uint32_t index);
  Status recordElementsToKeep(const Context &context, Recorder &recorder,
                              const artifact::Command &command);
  Status recordDispatch(const Context &context, Recorder &recorder, uint32_t index);
  Result<std::vector<DispatchPart>> splitCommand(const Context &context, uint32_t index) const;
  Status recordBefore(const Context &context, Recorder &recorder, uint32_t index);
  Status recordAfter(const Context &context, Recorder &recorder, uint32_t index);
  Status recordPoisonAtStart(const Context &context, Recorder &recorder);
  Status recordGuard(Recorder &recorder, const device::BufferRange &range, const std::string &name);

  std::shared_ptr<const ShapePlan> plan_;
  std::vector<const artifact::KernelVariant *> variants_;
  std::vector<std::vector<DispatchPart>> parts_; // Per command.
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
  // Per value: i for input i, ~i for output i, INT32_MIN for other values.
  std::vector<int32_t> portOfValue_;
  std::vector<Storage> storages_;
  Storage guardCopies_; // Copies of the guards, with checkMemory.
  std::vector<Guard> guards_;
  std::unique_ptr<device::CommandList> list_;
  bool timed_ = false;
  bool hostFillsArena_ = false;
  uint64_t ioBytes_ = 0;
  uint64_t reservedBytes_ = 0;
};

} // namespace gantry::program
