// Sessions: loading, caches of plans and recordings, runs, statistics.
#include "engine/program/session.h"
#include "engine/base/align.h"
#include "engine/base/log.h"
#include "engine/base/out_of_memory.h"
#include "engine/program/arguments.h"
#include "engine/program/storage_check.h"
#include "engine/program/variant_choice.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace gantry::program {

namespace {

constexpr size_t kMaxPlans = 64;
constexpr size_t kMaxRecordings = 16;

/// Returns kDataLoss if the size of an input or output is not the size of its shape.
Status checkPortSizes(const artifact::Program &program, const ShapePlan &plan) {
  for (const auto *ports : {program.inputs(), program.outputs()})
    for (const artifact::Port *port : *ports) {
      TensorShape shape;
      shape.type = port->type();
      for (uint32_t expr : *port->dims())
        shape.dims.push_back(plan.exprs[expr]);
      GANTRY_ASSIGN_OR_RETURN(const uint64_t size, byteSize(shape, port->name()->str()));
      if (size != plan.sizeBytes[port->value()])
        return statusf(StatusCode::kDataLoss,
                       "the artifact is damaged: it gives '%s' (%s) %llu bytes, but this shape has "
                       "%llu",
                       port->name()->c_str(), shapeText(shape).c_str(),
                       static_cast<unsigned long long>(plan.sizeBytes[port->value()]),
                       static_cast<unsigned long long>(size));
    }
  return {};
}

BindingChoice choiceOf(artifact::Binding binding) {
  switch (binding) {
  case artifact::Binding::address:
    return BindingChoice::kAddress;
  case artifact::Binding::texel:
    return BindingChoice::kTexel;
  case artifact::Binding::storage_buffer:
    break;
  }
  return BindingChoice::kStorageBuffer;
}

/// Returns a value's offset in the arena, in the host arena, or in the output that it is a part of.
/// It is 0 for all other values, which begin at aligned addresses.
uint64_t offsetOf(const ShapePlan &plan, uint32_t value) {
  if (plan.offsets[value] != kNoOffset)
    return plan.offsets[value];
  if (plan.partOffsets[value] != kNoOffset)
    return plan.partOffsets[value];
  return plan.hostOffsets[value] != kNoOffset ? plan.hostOffsets[value] : 0;
}

uint64_t nowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

} // namespace

// ---- loading -----------------------------------------------------------------------------------

Result<std::shared_ptr<Session>> Session::create(std::shared_ptr<const Program> program,
                                                 std::shared_ptr<heap::Heap> heap,
                                                 const SessionOptions &options) {
  const uint64_t start = nowNs();
  const device::Device &device = heap->device();
  if (options.timestamps && !device.info().timestamps)
    return statusf(StatusCode::kUnsupported, "device '%s' has no timestamps",
                   device.info().name.c_str());
  if (options.binding == BindingChoice::kAddress && !device.profile().features.bufferDeviceAddress)
    return statusf(StatusCode::kUnsupported,
                   "device '%s' has no bufferDeviceAddress; bind storage buffers",
                   device.info().name.c_str());
  if (!program->isWhole())
    return createFor(std::move(program), std::move(heap), options, start);
  // Use the first variant that the device can run. After kUnsupported, the next variant is tried.
  Status refusal;
  for (const size_t index : variantOrder(*program, device.profile())) {
    GANTRY_ASSIGN_OR_RETURN(auto variant, program->variant(index));
    auto session = createFor(std::move(variant), heap, options, start);
    if (session.isOk()) {
      const std::string advice =
          variantAdvice(*program, index, device.profile(), device.info().name, refusal.message());
      if (!advice.empty() && program->claimAdvice())
        logf(LogLevel::kWarn, "%s", advice.c_str());
      return session;
    }
    if (refusal.isOk())
      refusal = session.status();
    if (session.status().code() != StatusCode::kUnsupported)
      break;
  }
  return refusal;
}

Result<std::shared_ptr<Session>> Session::createFor(std::shared_ptr<const Program> variant,
                                                    std::shared_ptr<heap::Heap> heap,
                                                    const SessionOptions &options,
                                                    uint64_t startNs) {
  std::shared_ptr<Session> session(new Session(std::move(variant), std::move(heap), options));
  GANTRY_RETURN_IF_ERROR(session->load());
  session->statistics_.loadNs = nowNs() - startNs;
  return session;
}

Status Session::load() {
  const artifact::Program &metadata = program_->metadata();
  if (!metadata.dynamic()) { // All sizes are known, so plan, kernels and arena are made now.
    GANTRY_ASSIGN_OR_RETURN(const CachedPlan *entry, planFor({}));
    GANTRY_RETURN_IF_ERROR(requireKernels(*entry));
    GANTRY_RETURN_IF_ERROR(growArena(*entry->plan));
    lastPlan_ = entry->plan;
  } else {
    // Compile the kernel variants that chooseVariant() chooses for small buffers. findRecording()
    // compiles others if the sizes of a run need them.
    std::vector<std::pair<uint32_t, const artifact::KernelVariant *>> wanted;
    for (uint32_t i = 0; i < metadata.kernels()->size(); ++i) {
      GANTRY_ASSIGN_OR_RETURN(
          const artifact::KernelVariant *variant,
          chooseVariant(*metadata.kernels()->Get(i), options_.binding, device_->profile(), {}));
      wanted.push_back({i, variant});
    }
    GANTRY_RETURN_IF_ERROR(kernels_.require(wanted));
    // The artifact states the arena's size. The session cannot compute it from the upper bounds of
    // the symbols, because the model possibly does not accept all upper bounds at once. With
    // checkMemory the session makes its own plan for each set of sizes.
    if (metadata.bounded() && !options_.checkMemory)
      GANTRY_RETURN_IF_ERROR(reserveArena(roundUp(metadata.arena_bytes(), 256)));
  }
  GANTRY_ASSIGN_OR_RETURN(constants_, Constants::upload(*program_, heap_));
  trace_.setConstants(constants_.block());
  return bindStates();
}

Status Session::bindStates() {
  if (program_->states().empty() && !options_.state)
    return {};
  std::shared_ptr<State> state = options_.state;
  if (!state) {
    const device::MemoryKind kind = hostWritesDirectly(*device_, options_)
                                        ? device::MemoryKind::kUnified
                                        : device::MemoryKind::kDevice;
    GANTRY_ASSIGN_OR_RETURN(state, State::create(*program_, heap_, kind));
  }
  GANTRY_ASSIGN_OR_RETURN(states_, StateBinding::create(program_, std::move(state)));
  return {};
}

/// Returns the numbers of workgroups of a dispatch, indexed by KernelVariant.grid (artifact.fbs).
static std::vector<double> workgroupsOf(const artifact::Command &command, const ShapePlan &plan) {
  std::vector<double> numbers;
  const auto add = [&](const flatbuffers::Vector<uint32_t> &counts, uint32_t first) {
    double number = 1;
    for (uint32_t d = 0; d < 3; ++d)
      number *= static_cast<double>(plan.exprs[counts.Get(first + d)]);
    numbers.push_back(number);
  };
  add(*command.workgroups(), 0);
  for (uint32_t i = 0; command.other_workgroups() && i < command.other_workgroups()->size(); i += 3)
    add(*command.other_workgroups(), i);
  return numbers;
}

Status Session::chooseVariants(CachedPlan &entry) const {
  const artifact::Program &metadata = program_->metadata();
  for (const artifact::Command *command : *metadata.commands()) {
    const artifact::KernelVariant *variant = nullptr;
    if (command->kind() == artifact::CommandKind::dispatch) {
      std::vector<BoundBuffer> buffers;
      for (uint32_t value : *command->bindings())
        buffers.push_back({entry.plan->spanBytes[value], offsetOf(*entry.plan, value)});
      std::vector<uint64_t> dims;
      for (uint32_t expr : *command->dims())
        dims.push_back(static_cast<uint64_t>(entry.plan->exprs[expr]));
      GANTRY_ASSIGN_OR_RETURN(variant, chooseVariant(*metadata.kernels()->Get(command->kernel()),
                                                     options_.binding, device_->profile(), buffers,
                                                     workgroupsOf(*command, *entry.plan), dims));
    }
    entry.variants.push_back(variant);
  }
  return {};
}

Status Session::requireKernels(const CachedPlan &entry) {
  std::vector<std::pair<uint32_t, const artifact::KernelVariant *>> wanted;
  for (uint32_t i = 0; i < entry.variants.size(); ++i)
    if (entry.variants[i])
      wanted.push_back({program_->metadata().commands()->Get(i)->kernel(), entry.variants[i]});
  return kernels_.require(wanted);
}

Status Session::growArena(const ShapePlan &plan) {
  const uint64_t needed = arenaBytesOf(plan);
  if (needed < plan.arenaBytes)
    return statusf(StatusCode::kOutOfMemory,
                   "an arena of %llu bytes, in steps of 256, exceeds 64 bits",
                   static_cast<unsigned long long>(plan.arenaBytes));
  // The size of a host arena (shape_plan.h) is fixed, because only static programs have one.
  if (plan.hostBytes > 0 && !hostArena_) {
    GANTRY_ASSIGN_OR_RETURN(hostArena_, Storage::allocate(heap_, device::MemoryKind::kReadback,
                                                          plan.hostBytes, "away on the host"));
    trace_.setHostArena(hostArena_);
  }
  Status reserved = reserveArena(needed);
  if (reserved.code() != StatusCode::kOutOfMemory || options_.arena)
    return reserved;
  return Status(reserved.code(), reserved.message() + arenaRemedy(plan));
}

/// Returns text for messages: the largest tensor in the arena, and how to make the arena smaller.
std::string Session::arenaRemedy(const ShapePlan &plan) const {
  const auto *values = program_->metadata().values();
  const artifact::Value *largest = nullptr;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < values->size(); ++i)
    if (plan.offsets[i] != kNoOffset && plan.sizeBytes[i] > bytes) {
      largest = values->Get(i);
      bytes = plan.sizeBytes[i];
    }
  if (largest == nullptr)
    return {};
  std::string text = ". The largest tensor in the arena is '" + largest->name()->str() + "' (" +
                     std::to_string(bytes) + " bytes";
  if (largest->op() != nullptr && largest->op()->size() > 0)
    text += ", made by " + largest->op()->str();
  return text + "); compile the model with a budget for the arena: gantry compile --memory-budget "
                "SIZE, or gantry_compile_options_t.memory_budget_bytes";
}

Status Session::reserveArena(uint64_t neededBytes) {
  if (neededBytes == 0 || (arena_ && arena_.sizeBytes() >= neededBytes))
    return {};
  if (options_.arena) {
    if (options_.arena.sizeBytes() < neededBytes)
      return statusf(StatusCode::kOutOfMemory,
                     "the caller's arena has %llu bytes, but the plan needs %llu; pass a larger "
                     "buffer",
                     static_cast<unsigned long long>(options_.arena.sizeBytes()),
                     static_cast<unsigned long long>(neededBytes));
    arena_ = options_.arena;
    trace_.setArena(arena_);
    return {};
  }
  GANTRY_RETURN_IF_ERROR(waitForAll());
  recordings_.clear(); // The recordings refer to the old arena.
  trace_.setArena({});
  arena_.reset();
  const bool donated = std::any_of(program_->inputs().begin(), program_->inputs().end(),
                                   [](const Port &port) { return port.donated; });
  const device::MemoryKind kind = donated && hostWritesDirectly(*device_, options_)
                                      ? device::MemoryKind::kUnified
                                      : device::MemoryKind::kDevice;
  GANTRY_ASSIGN_OR_RETURN(arena_, Storage::allocate(heap_, kind, neededBytes, "arena"));
  trace_.setArena(arena_);
  return {};
}

// ---- plans and recordings ----------------------------------------------------------------------

Result<const Session::CachedPlan *> Session::planFor(std::vector<int64_t> symbols) {
  for (auto at = plans_.begin(); at != plans_.end(); ++at) {
    if (at->symbols != symbols)
      continue;
    plans_.splice(plans_.begin(), plans_, at);
    return &plans_.front();
  }
  ShapePlanOptions planOptions;
  planOptions.guardBytes = options_.checkMemory ? kGuardBytes : 0;
  planOptions.minAlignment = device_->info().bindingAlignment();
  GANTRY_ASSIGN_OR_RETURN(ShapePlan plan,
                          makeShapePlan(program_->metadata(), symbols, planOptions));
  GANTRY_RETURN_IF_ERROR(checkPortSizes(program_->metadata(), plan));
  if (options_.checkMemory && program_->metadata().knows_storage())
    GANTRY_RETURN_IF_ERROR(checkStorage(program_->metadata(), plan));
  CachedPlan entry;
  entry.symbols = std::move(symbols);
  entry.plan = std::make_shared<const ShapePlan>(std::move(plan));
  GANTRY_RETURN_IF_ERROR(chooseVariants(entry));
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  trace_.addPlan(entry.plan, entry.variants);
  plans_.push_front(std::move(entry));
  if (plans_.size() > kMaxPlans) {
    trace_.removePlan(plans_.back().plan.get());
    plans_.pop_back();
  }
  statistics_.plans += 1;
  return &plans_.front();
}

Result<const Session::CachedPlan *> Session::planForInputs(std::span<const TensorShape> inputs) {
  GANTRY_ASSIGN_OR_RETURN(std::vector<int64_t> symbols, bindSymbols(*program_, inputs));
  GANTRY_ASSIGN_OR_RETURN(const CachedPlan *entry, planFor(std::move(symbols)));
  GANTRY_RETURN_IF_ERROR(checkDerivedDims(*program_, inputs, entry->plan->exprs));
  return entry;
}

Result<std::vector<OutputShape>> Session::outputShapesOf(const ShapePlan &plan) const {
  std::vector<OutputShape> shapes;
  for (const artifact::Port *port : *program_->metadata().outputs()) {
    OutputShape output;
    output.shape.type = port->type();
    for (uint32_t expr : *port->dims())
      output.shape.dims.push_back(plan.exprs[expr]);
    GANTRY_ASSIGN_OR_RETURN(output.sizeBytes, byteSize(output.shape, port->name()->str()));
    shapes.push_back(std::move(output));
  }
  return shapes;
}

Result<std::vector<OutputShape>> Session::outputShapes(std::span<const TensorShape> inputs) {
  std::vector<TensorShape> shapes(inputs.begin(), inputs.end());
  GANTRY_RETURN_IF_ERROR(states_.fillShapes(shapes));
  GANTRY_ASSIGN_OR_RETURN(const CachedPlan *entry, planForInputs(shapes));
  return outputShapesOf(*entry->plan);
}

Status Session::replaceHooks(const TestHooks &hooks) {
  GANTRY_RETURN_IF_ERROR(waitForAll());
  recordings_.clear();
  options_.hooks = hooks;
  return {};
}

bool Session::isFree(const std::shared_ptr<Recording> &recording) const {
  for (const auto &run : inFlight_)
    if (run->recording_ == recording)
      return false;
  return true;
}

Result<std::shared_ptr<Recording>> Session::findRecording(const CachedPlan &entry,
                                                          std::span<const PortBinding> inputs,
                                                          std::span<const PortBinding> outputs) {
  recordings_.remove_if([&](const auto &r) { return r->expired() && isFree(r); });
  const bool timed = options_.timestamps || trace_.wantsTimes();
  for (auto at = recordings_.begin(); at != recordings_.end(); ++at) {
    if (!isFree(*at) || (*at)->isTimed() != timed ||
        !(*at)->matches(entry.plan.get(), inputs, outputs))
      continue;
    recordings_.splice(recordings_.begin(), recordings_, at);
    return recordings_.front();
  }
  // Evict the least recently used free recordings before a new one is made, so that the old and the
  // new recording do not occupy memory at the same time.
  for (auto at = recordings_.end();
       recordings_.size() >= kMaxRecordings && at != recordings_.begin();) {
    --at;
    if (isFree(*at))
      at = recordings_.erase(at);
  }
  GANTRY_RETURN_IF_ERROR(requireKernels(entry));
  const Recording::Context context{*program_,
                                   heap_,
                                   *device_,
                                   options_,
                                   constants_,
                                   kernels_,
                                   arena_ ? &arena_ : nullptr,
                                   hostArena_ ? &hostArena_ : nullptr,
                                   timed};
  GANTRY_ASSIGN_OR_RETURN(auto recording,
                          Recording::record(context, entry.plan, entry.variants, inputs, outputs));
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  statistics_.recordings += 1;
  recordings_.push_front(recording);
  return recording;
}

// ---- runs --------------------------------------------------------------------------------------

Result<std::shared_ptr<Run>> Session::submit(std::span<const TensorArgument> inputs,
                                             std::span<const TensorArgument> outputs,
                                             std::vector<OutputShape> &shapes) {
  std::vector<TensorArgument> filledInputs, filledOutputs;
  if (states_) {
    filledInputs.assign(inputs.begin(), inputs.end());
    filledOutputs.assign(outputs.begin(), outputs.end());
    GANTRY_RETURN_IF_ERROR(states_.fillArguments(filledInputs, filledOutputs));
    inputs = filledInputs;
    outputs = filledOutputs;
  }
  std::vector<TensorShape> inputShapes;
  for (const TensorArgument &input : inputs)
    inputShapes.push_back(input.shape);
  GANTRY_ASSIGN_OR_RETURN(const CachedPlan *entry, planForInputs(inputShapes));
  GANTRY_ASSIGN_OR_RETURN(std::vector<OutputShape> outputShapes, outputShapesOf(*entry->plan));
  GANTRY_RETURN_IF_ERROR(states_.checkCapacity(outputShapes));
  GANTRY_RETURN_IF_ERROR(checkArguments(*program_, inputs, outputs, outputShapes));

  if (inFlight_.size() >= kMaxRunsInFlight) {
    const std::shared_ptr<Run> oldest = inFlight_.front();
    (void)oldest->wait(UINT64_MAX); // The run keeps a failure and reports it to its own caller.
  }
  GANTRY_RETURN_IF_ERROR(growArena(*entry->plan));
  std::vector<PortBinding> inputBindings, outputBindings;
  auto run = std::make_shared<Run>();
  const artifact::Program &metadata = program_->metadata();
  auto bind = [&](const TensorArgument &argument, std::vector<PortBinding> &bindings,
                  uint32_t value, bool isInput) {
    bindings.push_back({argument.buffer, argument.buffer ? argument.offset : 0});
    if (argument.buffer)
      run->buffers_.push_back({argument.buffer, argument.buffer.block(), value, isInput});
  };
  for (uint32_t i = 0; i < inputs.size(); ++i)
    bind(inputs[i], inputBindings, metadata.inputs()->Get(i)->value(), true);
  for (uint32_t i = 0; i < outputs.size(); ++i)
    bind(outputs[i], outputBindings, metadata.outputs()->Get(i)->value(), false);
  GANTRY_ASSIGN_OR_RETURN(run->recording_, findRecording(*entry, inputBindings, outputBindings));

  if (run->recording_->hostFillsArena())
    GANTRY_RETURN_IF_ERROR(waitForAll());
  for (uint32_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].data && !inputs[i].buffer)
      if (const uint64_t size = entry->plan->sizeBytes[metadata.inputs()->Get(i)->value()])
        std::memcpy(run->recording_->inputData(i), inputs[i].data, size);
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].buffer)
      run->hostOutputs_.push_back({i, outputs[i].data, outputShapes[i].sizeBytes});
  // The last check for failed host allocations (out_of_memory.h) before work is submitted.
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  GANTRY_RETURN_IF_ERROR(start(run, inputBindings, outputBindings));
  states_.noteRun(run, outputShapes);
  shapes = std::move(outputShapes);
  return run;
}

Status Session::start(const std::shared_ptr<Run> &run, std::span<const PortBinding> inputs,
                      std::span<const PortBinding> outputs) {
  run->program_ = program_;
  run->number_ = ++submittedRuns_;
  run->startNs_ = nowNs();
  auto ticket = device_->submit(run->recording_->list());
  if (!ticket.isOk()) {
    // A device that was lost may have executed a part of the run. Otherwise nothing was executed.
    if (device_->isLost())
      states_.noteFailure(run->name(), ticket.status());
    return ticket.status();
  }
  run->ticket_ = *ticket;
  if (run->recording_->isTimed())
    trace_.noteTimes(program_->metadata().commands()->size() + 1);
  if (trace::isOn())
    traceRun(*run, inputs, outputs);
  run->session_ = shared_from_this();
  inFlight_.push_back(run);
  lastPlan_ = run->recording_->plan();
  return {};
}

uint32_t Session::countHolders(uint64_t block) const {
  uint32_t count = 0;
  for (const auto &run : inFlight_)
    for (const Run::Held &held : run->buffers_)
      count += held.block == block && held.storage ? 1 : 0;
  return count;
}

void Session::releaseBuffer(uint64_t block) {
  for (const auto &run : inFlight_)
    for (Run::Held &held : run->buffers_)
      if (held.block == block && held.storage) {
        held.storage.freeAfter(run->ticket_);
        held.storage.reset();
      }
}

void Session::traceRun(Run &run, std::span<const PortBinding> inputs,
                       std::span<const PortBinding> outputs) {
  run.traceId_ = trace_.beginRun(run.recording_->plan().get(), run.ticket_);
  const artifact::Program &metadata = program_->metadata();
  for (uint32_t i = 0; i < inputs.size() && run.traceId_ != 0; ++i)
    if (inputs[i].buffer && run.recording_->plan()->offsets[metadata.inputs()->Get(i)->value()] ==
                                kNoOffset) // Otherwise the input was copied into the arena.
      trace_.bind(run.traceId_, metadata.inputs()->Get(i)->value(), inputs[i].buffer,
                  inputs[i].offset);
  for (uint32_t i = 0; i < outputs.size() && run.traceId_ != 0; ++i)
    if (outputs[i].buffer)
      trace_.bind(run.traceId_, metadata.outputs()->Get(i)->value(), outputs[i].buffer,
                  outputs[i].offset);
}

Status Session::collect(Run &run) {
  statistics_.runs += 1;
  statistics_.lastRunNs = nowNs() - run.startNs_;
  std::vector<uint64_t> times;
  if (run.recording_->isTimed()) {
    auto read = run.recording_->list().deviceTimesNs();
    if (!read.isOk()) {
      trace_.endRun(run.traceId_, run.recording_->plan().get(), run.ticket_, read.status().code(),
                    {});
      return read.status();
    }
    times = read.take();
  }
  trace_.endRun(run.traceId_, run.recording_->plan().get(), run.ticket_, StatusCode::kOk, times);
  if (options_.timestamps) {
    timedPlan_ = run.recording_->plan();
    timedVariants_ = run.recording_->variants();
    timedParts_.clear();
    for (uint32_t i = 0; i < timedVariants_.size(); ++i)
      timedParts_.push_back(run.recording_->partCount(i));
    lastTimesNs_.clear();
    for (size_t i = 1; i < times.size(); ++i)
      lastTimesNs_.push_back(times[i] - times[i - 1]);
    statistics_.lastRunGpuNs = times.back() - times.front();
  }
  if (options_.checkMemory)
    GANTRY_RETURN_IF_ERROR(run.recording_->checkCanaries());
  for (const Run::HostOutput &output : run.hostOutputs_)
    if (output.sizeBytes > 0)
      std::memcpy(output.data, run.recording_->outputData(output.port), output.sizeBytes);
  return {};
}

void Session::endRun(Run &run, Status status) {
  if (!status.isOk())
    states_.noteFailure(run.name(), status);
  run.ended_ = true;
  run.status_ = std::move(status);
  run.recording_.reset();
  for (Run::Held &held : run.buffers_)
    held.storage.reset();
  run.session_.reset();
  std::erase_if(inFlight_, [&](const auto &other) { return other.get() == &run; });
}

Status Session::waitForAll() {
  while (!inFlight_.empty()) {
    const std::shared_ptr<Run> oldest = inFlight_.front();
    const Result<bool> done = oldest->wait(UINT64_MAX);
    if (!done.isOk() && done.status().code() == StatusCode::kDeviceLost)
      return done.status();
  }
  return {};
}

// ---- statistics --------------------------------------------------------------------------------

Statistics Session::statistics() const {
  Statistics result = statistics_;
  result.constantBytes = program_->metadata().constant_bytes();
  if (lastPlan_) {
    result.arenaBytes = lastPlan_->arenaBytes;
    result.lowerBoundBytes = lastPlan_->lowerBoundBytes;
  }
  result.reservedBytes = constants_.reservedBytes() + (arena_ ? arena_.sizeBytes() : 0) +
                         (hostArena_ ? hostArena_.sizeBytes() : 0);
  for (const auto &recording : recordings_) {
    result.ioBytes += recording->ioBytes();
    result.reservedBytes += recording->reservedBytes();
  }
  result.pipelines = kernels_.pipelineCount();
  return result;
}

Result<DispatchInfo> Session::dispatch(size_t index) const {
  const artifact::Program &metadata = program_->metadata();
  if (index >= metadata.commands()->size())
    return statusf(StatusCode::kNotFound,
                   "there is no command %zu; the program has %u, numbered from 0", index,
                   metadata.commands()->size());
  if (!options_.timestamps)
    return Status(StatusCode::kFailedPrecondition,
                  "times of dispatches need a session with the option timestamps");
  if (lastTimesNs_.empty())
    return Status(StatusCode::kFailedPrecondition, "no run has ended yet");
  const artifact::Command &command = *metadata.commands()->Get(static_cast<uint32_t>(index));
  DispatchInfo info;
  info.name = command.name()->c_str();
  info.gpuNs = lastTimesNs_[index];
  info.flops = static_cast<uint64_t>(timedPlan_->exprs[command.flops()]);
  info.bytes = static_cast<uint64_t>(timedPlan_->exprs[command.bytes_moved()]);
  if (const artifact::KernelVariant *variant = timedVariants_[index]) {
    const artifact::Kernel &kernel = *metadata.kernels()->Get(command.kernel());
    for (uint32_t i = 0; i < 3; ++i) {
      info.workgroups[i] = static_cast<uint32_t>(
          timedPlan_->exprs[artifact::workgroupCountOf(command, *variant, i)]);
      info.workgroupSize[i] = artifact::workgroupSizeOf(kernel, *variant, i);
    }
    info.sharedBytes = variant->shared_bytes();
    info.parts = timedParts_[index];
    info.binding = choiceOf(variant->binding());
    info.kernelKey = kernel.key() ? kernel.key()->c_str() : nullptr;
    info.exactTile = variant->exact_tile() ? variant->exact_tile()->c_str() : nullptr;
  }
  return info;
}

} // namespace gantry::program
