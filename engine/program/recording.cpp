// Binds inputs and outputs, and records a program's commands.
#include "engine/program/recording.h"
#include "engine/base/align.h"

#include <algorithm>
#include <cinttypes>

namespace gantry::program {

namespace {

constexpr uint64_t kIoAlignment = 256;
// Bytes from the copy of one guard (memory_check.h) to the copy of the next.
constexpr uint64_t kGuardCopyStride = 512;
static_assert(kGuardCopyBytes <= kGuardCopyStride);
constexpr int32_t kNoPort = INT32_MIN;

bool isSamePlace(const device::BufferRange &a, const device::BufferRange &b) {
  return a.memory == b.memory && a.offsetBytes == b.offsetBytes;
}

/// Returns the range to bind for a value: at least one word of 4 bytes, and whole words unless the
/// memory ends inside the last word.
device::BufferRange bindable(const device::BufferRange &range) {
  if (range.sizeBytes == 0) // An empty tensor still needs a binding.
    return {range.memory, 0, 4};
  const uint64_t size = std::max<uint64_t>(4, roundUp(range.sizeBytes, 4));
  return {range.memory, range.offsetBytes,
          std::min(size, range.memory->sizeBytes() - range.offsetBytes)};
}

/// Returns whether the host accesses a port's memory without staging. The host must not write a
/// donated input to an arena of the caller, because another session may be using that arena. With
/// checkMemory the host must not write to any arena, because the run begins by filling slots of the
/// arena with poison (memory_check.h).
bool isFilledByHost(const Recording::Context &context, bool isDonated) {
  return hostWritesDirectly(context.device, context.options) &&
         (!isDonated || (context.arena->mapped() != nullptr && !context.options.arena &&
                         !context.options.checkMemory));
}

} // namespace

bool hostWritesDirectly(const device::Device &device, const SessionOptions &options) {
  return device.info().unifiedMemory && device.info().kind != device::DeviceKind::kDiscrete &&
         !options.hooks.stageInputsAndOutputs;
}

Status Recording::allocate(const Context &context, device::MemoryKind kind, uint64_t sizeBytes,
                           const char *name, Storage &storage) {
  if (sizeBytes == 0)
    return {};
  GANTRY_ASSIGN_OR_RETURN(storage, Storage::allocate(context.heap, kind, sizeBytes, name));
  reservedBytes_ += storage.sizeBytes();
  return {};
}

Status Recording::bindPorts(const Context &context, std::span<const PortBinding> bindings,
                            bool isInput, std::vector<Port> &ports) {
  const PortLayout layout = layOutPorts(context, bindings, isInput, ports);
  const bool unified = hostWritesDirectly(context.device, context.options);
  Storage io, staged;
  GANTRY_RETURN_IF_ERROR(
      allocate(context, unified ? device::MemoryKind::kUnified : device::MemoryKind::kDevice,
               layout.ioBytes, isInput ? "inputs" : "outputs", io));
  GANTRY_RETURN_IF_ERROR(
      allocate(context, isInput ? device::MemoryKind::kUpload : device::MemoryKind::kReadback,
               layout.stagedBytes, "staging", staged));
  ioBytes_ += layout.ioBytes + layout.stagedBytes;
  for (uint32_t i = 0; i < ports.size(); ++i)
    assignMemory(context, bindings[i], layout, isInput, i, io, staged, ports[i]);
  if (io)
    storages_.push_back(std::move(io));
  if (staged)
    storages_.push_back(std::move(staged));
  return {};
}

Recording::PortLayout Recording::layOutPorts(const Context &context,
                                             std::span<const PortBinding> bindings, bool isInput,
                                             std::vector<Port> &ports) {
  const artifact::Program &program = context.program.metadata();
  const auto *sources = isInput ? program.inputs() : program.outputs();
  const bool guarded = context.options.checkMemory && !isInput;
  const uint64_t alignment = std::max<uint64_t>(16, context.device.info().bindingAlignment());
  PortLayout layout;
  layout.ioOffsets.assign(bindings.size(), kNoOffset);
  layout.stagedOffsets.assign(bindings.size(), kNoOffset);
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    const uint32_t value = sources->Get(i)->value();
    const bool duplicate = portOfValue_[value] != kNoPort; // Two outputs can be the same value.
    const bool donated = isDonated(isInput, value);
    Port port;
    port.sizeBytes = plan_->sizeBytes[value];
    port.heap = bindings[i].buffer.heap();
    port.buffer = bindings[i].buffer.handle();
    port.offset = bindings[i].offset;
    port.direct =
        port.buffer && !guarded && !duplicate && !donated && bindings[i].offset % alignment == 0;
    if (!duplicate) {
      portOfValue_[value] = isInput ? static_cast<int32_t>(i) : ~static_cast<int32_t>(i);
      if (!port.direct && !donated) {
        layout.ioOffsets[i] = layout.ioBytes;
        layout.ioBytes += roundUp(std::max<uint64_t>(port.sizeBytes, 4), kIoAlignment) +
                          (guarded ? roundUp(kGuardBytes + 4, kIoAlignment) : 0);
      }
    }
    const bool filledByHost = isFilledByHost(context, donated);
    hostFillsArena_ |= donated && filledByHost && !port.buffer;
    const bool savedFromPoison = donated && port.buffer && context.options.checkMemory;
    if (savedFromPoison || (!port.buffer && (!filledByHost || duplicate))) {
      layout.stagedOffsets[i] = layout.stagedBytes;
      layout.stagedBytes += roundUp(std::max<uint64_t>(port.sizeBytes, 4), kIoAlignment);
    }
    ports.push_back(std::move(port));
  }
  return layout;
}

void Recording::assignMemory(const Context &context, const PortBinding &binding,
                             const PortLayout &layout, bool isInput, uint32_t index,
                             const Storage &io, const Storage &staged, Port &port) const {
  const artifact::Program &program = context.program.metadata();
  const uint32_t value = (isInput ? program.inputs() : program.outputs())->Get(index)->value();
  const uint64_t ioOffset = layout.ioOffsets[index], stagedOffset = layout.stagedOffsets[index];
  const Storage &buffer = binding.buffer;
  if (isDonated(isInput, value))
    port.bound = context.arena->range(plan_->offsets[value], port.sizeBytes);
  else if (port.direct)
    port.bound = buffer.range(port.offset, port.sizeBytes);
  else if (ioOffset != kNoOffset)
    port.bound = io.range(ioOffset, port.sizeBytes);
  else // An earlier output is the same value.
    port.bound = rangeOf(context, value);
  if (buffer && !port.direct)
    port.staged = buffer.range(port.offset, port.sizeBytes);
  // The caller passed exactly these bytes of its own arena (SessionOptions::arena): no copy.
  if (isSamePlace(port.staged, port.bound))
    port.staged = {};
  if (stagedOffset != kNoOffset) {
    port.staged = staged.range(stagedOffset, port.sizeBytes);
    port.host = staged.mapped() + stagedOffset;
    if (buffer)
      port.beforePoison = buffer.range(port.offset, port.sizeBytes);
  } else if (!buffer) {
    port.host = isDonated(isInput, value) ? context.arena->mapped() + plan_->offsets[value]
                                          : io.mapped() + ioOffset;
  }
}

Result<std::shared_ptr<Recording>>
Recording::record(const Context &context, std::shared_ptr<const ShapePlan> plan,
                  std::vector<const artifact::KernelVariant *> variants,
                  std::span<const PortBinding> inputs, std::span<const PortBinding> outputs) {
  std::shared_ptr<Recording> recording(new Recording);
  recording->plan_ = std::move(plan);
  recording->timed_ = context.timed;
  recording->variants_ = std::move(variants);
  recording->portOfValue_.assign(recording->plan_->sizeBytes.size(), kNoPort);
  GANTRY_RETURN_IF_ERROR(recording->bindPorts(context, inputs, true, recording->inputs_));
  GANTRY_RETURN_IF_ERROR(recording->bindPorts(context, outputs, false, recording->outputs_));
  GANTRY_RETURN_IF_ERROR(recording->recordAll(context));
  return recording;
}

device::BufferRange Recording::rangeOf(const Context &context, uint32_t value) const {
  const uint64_t size = plan_->spanBytes[value];
  if (plan_->offsets[value] != kNoOffset)
    return context.arena->range(plan_->offsets[value], size);
  if (plan_->hostOffsets[value] != kNoOffset)
    return context.hostArena->range(plan_->hostOffsets[value], size);
  const uint64_t offset = plan_->partOffsets[value];
  const bool isPart = offset != kNoOffset;
  const int32_t port =
      portOfValue_[isPart ? context.program.metadata().values()->Get(value)->base() : value];
  if (port == kNoPort)
    return context.constants.find(value, size);
  const device::BufferRange &whole = port >= 0 ? inputs_[port].bound : outputs_[~port].bound;
  return isPart ? device::BufferRange{whole.memory, whole.offsetBytes + offset, size} : whole;
}

Status Recording::recordAll(const Context &context) {
  const artifact::Program &program = context.program.metadata();
  const SessionOptions &options = context.options;
  device::CommandListCapacity capacity;
  parts_.resize(variants_.size());
  for (uint32_t i = 0; i < variants_.size(); ++i) {
    if (!variants_[i])
      continue;
    GANTRY_ASSIGN_OR_RETURN(parts_[i], splitCommand(context, i));
    const device::Kernel &kernel = context.kernels.get(variants_[i]);
    const auto count = static_cast<uint32_t>(parts_[i].size());
    capacity.dispatches += count;
    capacity.storageBuffers += count * kernel.storageBufferCount();
    capacity.texelBuffers += count * static_cast<uint32_t>(kernel.texels().size());
  }
  capacity.timestamps = context.timed ? program.commands()->size() + 1 : 0;
  if (options.checkMemory)
    GANTRY_RETURN_IF_ERROR(allocate(context, device::MemoryKind::kReadback,
                                    (plan_->slots.size() + outputs_.size()) * kGuardCopyStride,
                                    "memory check", guardCopies_));

  GANTRY_ASSIGN_OR_RETURN(list_, context.device.createCommandList());
  GANTRY_RETURN_IF_ERROR(list_->begin(capacity));
  Recorder recorder(*list_);
  if (options.checkMemory)
    GANTRY_RETURN_IF_ERROR(recordPoisonAtStart(context, recorder));
  GANTRY_RETURN_IF_ERROR(recordCopiesIn(recorder));
  if (context.timed)
    GANTRY_RETURN_IF_ERROR(recorder.timestamp());
  for (uint32_t i = 0; i < program.commands()->size(); ++i) {
    if (options.checkMemory)
      GANTRY_RETURN_IF_ERROR(recordBefore(context, recorder, i));
    GANTRY_RETURN_IF_ERROR(recordCommand(context, recorder, i));
    if (options.checkMemory)
      GANTRY_RETURN_IF_ERROR(recordAfter(context, recorder, i));
    if (context.timed)
      GANTRY_RETURN_IF_ERROR(recorder.timestamp());
  }
  GANTRY_RETURN_IF_ERROR(recordCopiesOut(context, recorder));
  GANTRY_RETURN_IF_ERROR(list_->end());

#ifdef NDEBUG
  const bool check = options.checkMemory || options.hooks.dropBarrierBefore.has_value();
#else
  const bool check = true;
#endif
  return check ? recorder.checkHazards() : Status::ok();
}

Status Recording::recordCopiesIn(Recorder &recorder) {
  bool any = false;
  for (const Port &port : inputs_) {
    if (!port.staged.memory || port.sizeBytes == 0)
      continue;
    GANTRY_RETURN_IF_ERROR(recorder.copy(port.staged, port.bound));
    any = true;
  }
  return any ? recorder.barrier() : Status::ok();
}

Status Recording::recordCopiesOut(const Context &context, Recorder &recorder) {
  GANTRY_RETURN_IF_ERROR(recorder.barrier());
  if (context.options.checkMemory)
    for (uint32_t i = 0; i < outputs_.size(); ++i)
      GANTRY_RETURN_IF_ERROR(
          recordGuard(recorder, outputs_[i].bound, context.program.outputs()[i].name));
  for (const Port &port : outputs_)
    if (port.staged.memory && port.sizeBytes > 0)
      GANTRY_RETURN_IF_ERROR(recorder.copy(port.bound, port.staged));
  return {};
}

Status Recording::recordCommand(const Context &context, Recorder &recorder, uint32_t index) {
  if (plan_->barrierBefore[index] && context.options.hooks.dropBarrierBefore != index)
    GANTRY_RETURN_IF_ERROR(recorder.barrier());
  const artifact::Command &command = *context.program.metadata().commands()->Get(index);
  if (command.kind() == artifact::CommandKind::dispatch) {
    if (command.partial())
      GANTRY_RETURN_IF_ERROR(recordElementsToKeep(context, recorder, command));
    return recordDispatch(context, recorder, index);
  }
  const device::BufferRange source = rangeOf(context, command.bindings()->Get(0));
  const device::BufferRange target = rangeOf(context, command.bindings()->Get(1));
  return source.sizeBytes == 0 || isSamePlace(source, target) ? Status::ok()
                                                              : recorder.copy(source, target);
}

/// Prepares a command that writes only some elements of its result; the other elements are those of
/// the operand whose place the result takes (Command.in_place in artifact.fbs). If operand and
/// result lie in different memory, this function copies the operand to the result. This is the case
/// if they are the input and the output of a state and SessionOptions::checkMemory is set, because
/// each output then lies in memory of the recording.
Status Recording::recordElementsToKeep(const Context &context, Recorder &recorder,
                                       const artifact::Command &command) {
  const device::BufferRange operand = rangeOf(context, command.bindings()->Get(command.in_place()));
  for (uint32_t b = 0; b < command.bindings()->size(); ++b) {
    const device::BufferRange result = rangeOf(context, command.bindings()->Get(b));
    if (!command.writes()->Get(b) || isSamePlace(operand, result) || operand.sizeBytes == 0)
      continue;
    GANTRY_RETURN_IF_ERROR(recorder.barrier());
    GANTRY_RETURN_IF_ERROR(recorder.copy(operand, result));
    GANTRY_RETURN_IF_ERROR(recorder.barrier());
  }
  return {};
}

Status Recording::recordDispatch(const Context &context, Recorder &recorder, uint32_t index) {
  const artifact::Program &program = context.program.metadata();
  const artifact::Command &command = *program.commands()->Get(index);
  const artifact::KernelVariant &variant = *variants_[index];
  std::vector<device::BufferRange> ranges;
  std::vector<Recorder::Access> accesses;
  for (uint32_t b = 0; b < command.bindings()->size(); ++b) {
    const uint32_t value = command.bindings()->Get(b);
    const bool write = command.writes()->Get(b) != 0;
    ranges.push_back(rangeOf(context, value));
    accesses.push_back({ranges.back(), write});
    if (write && context.options.hooks.shiftOutputOfCommand == index)
      ranges.back().offsetBytes += artifact::elementSize(program.values()->Get(value)->type());
  }
  std::vector<uint64_t> dims;
  for (uint32_t expr : *command.dims()) {
    const int64_t dim = plan_->exprs[expr];
    if (dim < 0 || dim > UINT32_MAX)
      return statusf(StatusCode::kUnsupported,
                     "'%s': a kernel's dimension is %" PRId64 "; kernels take 0 to 4294967295",
                     command.name()->c_str(), dim);
    dims.push_back(static_cast<uint64_t>(dim));
  }
  device::Dispatch dispatch;
  dispatch.kernel = &context.kernels.get(&variant);
  dispatch.dims = dims;
  std::vector<device::BufferRange> buffers(ranges.size());
  for (const DispatchPart &part : parts_[index]) {
    for (uint32_t b = 0; b < ranges.size(); ++b) {
      const auto [size, offset] =
          rangeOfPart(variant, part, b, {ranges[b].sizeBytes, ranges[b].offsetBytes});
      buffers[b] = bindable({ranges[b].memory, offset, size});
    }
    dispatch.buffers = buffers;
    std::copy(part.first.begin(), part.first.end(), dispatch.firstWorkgroup);
    std::copy(part.count.begin(), part.count.end(), dispatch.workgroups);
    GANTRY_RETURN_IF_ERROR(recorder.dispatch(dispatch, accesses));
    accesses.clear();
  }
  return {};
}

/// Returns kUnsupported if the kernel's loops exceed the driver's limit of iterations
/// (DeviceProfile::maxLoopRounds). A driver with such a limit ends the loops early without an
/// error, so the results would be wrong.
static Status checkLoops(const artifact::Command &command, const artifact::KernelVariant &variant,
                         const std::vector<int64_t> &exprs, const DeviceProfile &profile) {
  if (profile.maxLoopRounds == 0)
    return {};
  auto rounds = static_cast<double>(variant.loop_rounds());
  for (uint32_t i = 0; variant.loop_dims() && i < variant.loop_dims()->size(); ++i)
    rounds *= static_cast<double>(exprs[command.dims()->Get(variant.loop_dims()->Get(i))]);
  if (rounds <= static_cast<double>(profile.maxLoopRounds))
    return {};
  return statusf(
      StatusCode::kUnsupported,
      "'%s' needs %.0f loop iterations, but this device's driver ends loops after %" PRIu64
      "; use another device",
      command.name()->c_str(), rounds, profile.maxLoopRounds);
}

Result<std::vector<DispatchPart>> Recording::splitCommand(const Context &context,
                                                          uint32_t index) const {
  const artifact::Command &command = *context.program.metadata().commands()->Get(index);
  const DeviceProfile &profile = context.device.profile();
  GANTRY_RETURN_IF_ERROR(checkLoops(command, *variants_[index], plan_->exprs, profile));
  std::array<uint32_t, 3> workgroups{};
  for (uint32_t i = 0; i < 3; ++i) {
    const int64_t count = plan_->exprs[artifact::workgroupCountOf(command, *variants_[index], i)];
    const uint32_t limit = profile.maxWorkgroupCount[i];
    if (count == 0)
      return std::vector<DispatchPart>(); // The tensor is empty, so there is nothing to compute.
    if (count > limit)
      return statusf(StatusCode::kUnsupported,
                     "'%s' needs %" PRId64 " workgroups in dimension %u; the device allows %u",
                     command.name()->c_str(), count, i, limit);
    workgroups[i] = static_cast<uint32_t>(count);
  }
  std::vector<BoundBuffer> buffers;
  for (uint32_t value : *command.bindings())
    buffers.push_back({plan_->spanBytes[value], 0});
  const auto flops = static_cast<uint64_t>(plan_->exprs[command.flops()]);
  const auto bytes = static_cast<uint64_t>(plan_->exprs[command.bytes_moved()]);
  return splitDispatch(*variants_[index], workgroups, buffers,
                       maxSlicesAtOnce(*variants_[index], profile, buffers),
                       slowEstimateNs(flops, bytes, profile), context.options.dispatchLimitNs);
}

// ---- checkMemory -------------------------------------------------------------------------------

Status Recording::recordPoisonAtStart(const Context &context, Recorder &recorder) {
  for (const Port &port : inputs_)
    if (port.beforePoison.memory && port.sizeBytes > 0)
      GANTRY_RETURN_IF_ERROR(recorder.copy(port.beforePoison, port.staged));
  GANTRY_RETURN_IF_ERROR(recorder.barrier());
  for (const Slot &slot : plan_->slots)
    if (slot.donated)
      GANTRY_RETURN_IF_ERROR(
          recordPoison(recorder, context.arena->range(slot.offset, slot.sizeBytes)));
  for (uint32_t i = 0; i < outputs_.size(); ++i) {
    const uint32_t value = context.program.metadata().outputs()->Get(i)->value();
    if (portOfValue_[value] == ~static_cast<int32_t>(i))
      GANTRY_RETURN_IF_ERROR(recordPoison(recorder, outputs_[i].bound));
  }
  return recorder.barrier();
}

Status Recording::recordGuard(Recorder &recorder, const device::BufferRange &range,
                              const std::string &name) {
  const uint64_t offset = guards_.size() * kGuardCopyStride;
  GANTRY_RETURN_IF_ERROR(
      recordGuardCopy(recorder, range, guardCopies_.range(offset, kGuardCopyBytes)));
  guards_.push_back({offset, range.sizeBytes, name});
  return {};
}

Status Recording::recordBefore(const Context &context, Recorder &recorder, uint32_t index) {
  GANTRY_RETURN_IF_ERROR(recorder.barrier());
  for (const Slot &slot : plan_->slots)
    if (slot.firstUse == index && !slot.donated)
      GANTRY_RETURN_IF_ERROR(
          recordPoison(recorder, context.arena->range(slot.offset, slot.sizeBytes)));
  return recorder.barrier();
}

Status Recording::recordAfter(const Context &context, Recorder &recorder, uint32_t index) {
  const auto &values = *context.program.metadata().values();
  GANTRY_RETURN_IF_ERROR(recorder.barrier());
  for (const Slot &slot : plan_->slots)
    if (slot.lastUse == index)
      GANTRY_RETURN_IF_ERROR(recordGuard(recorder,
                                         context.arena->range(slot.offset, slot.sizeBytes),
                                         values.Get(slot.value)->name()->str()));
  GANTRY_RETURN_IF_ERROR(recorder.barrier());
  for (uint32_t i = 0; i < plan_->slots.size(); ++i) {
    const Slot &slot = plan_->slots[i];
    if (slot.lastUse == index + (context.options.hooks.shortenLifeOfSlot == i ? 1 : 0))
      GANTRY_RETURN_IF_ERROR(
          recordPoison(recorder, context.arena->range(slot.offset, slot.sizeBytes)));
  }
  return {};
}

Status Recording::checkCanaries() const {
  for (const Guard &guard : guards_)
    GANTRY_RETURN_IF_ERROR(
        checkGuard(guardCopies_.mapped() + guard.offset, guard.valueBytes, guard.name));
  return {};
}

// ---- reuse -------------------------------------------------------------------------------------

bool Recording::matches(const ShapePlan *plan, std::span<const PortBinding> inputs,
                        std::span<const PortBinding> outputs) const {
  if (plan_.get() != plan || expired())
    return false;
  auto same = [](const std::vector<Port> &ports, std::span<const PortBinding> bindings) {
    for (size_t i = 0; i < ports.size(); ++i)
      if (ports[i].buffer != bindings[i].buffer.handle() ||
          (ports[i].buffer && ports[i].offset != bindings[i].offset))
        return false;
    return true;
  };
  return same(inputs_, inputs) && same(outputs_, outputs);
}

bool Recording::expired() const {
  for (const auto *ports : {&inputs_, &outputs_})
    for (const Port &port : *ports)
      if (port.buffer && !port.heap->isLive(port.buffer))
        return true;
  return false;
}

} // namespace gantry::program
