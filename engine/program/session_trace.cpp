// Emits the session's events, relates the clocks, and limits the cost of timestamps.
#include "engine/program/session_trace.h"

#include "engine/base/log.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace gantry::program {
namespace {

using trace::EventType;

// Min interval between two clock records, and between two budget records.
constexpr uint64_t kMinIntervalNs = 1'000'000'000;
constexpr uint64_t kTimestampNs = 13'500; // Cost of one timestamp on Mesa 22.3's software device.
constexpr uint64_t kTimestampShare = 500; // Timestamps take at most 1/500 of the time.

bool wantsAllTimes() {
  const char *value = std::getenv("GANTRY_TRACE_TIMES");
  if (value == nullptr || std::strcmp(value, "sampled") == 0)
    return false;
  if (std::strcmp(value, "all") == 0)
    return true;
  logf(LogLevel::kWarn, "GANTRY_TRACE_TIMES is \"%s\"; it must be all or sampled; using sampled",
       value);
  return false;
}

uint32_t textOf(const flatbuffers::String *text) {
  return trace::intern({text->c_str(), text->size()});
}

/// Returns the values of the symbols (sizes that a run chooses) as text: "batch=4 length=128".
std::string shapesOf(const artifact::Program &program, const ShapePlan &plan) {
  std::string words;
  std::vector<int64_t> values(program.symbols()->size(), -1);
  for (uint32_t i = 0; i < program.exprs()->size() && i < plan.exprs.size(); ++i) {
    const artifact::Expr &expr = *program.exprs()->Get(i);
    if (expr.op() == artifact::ExprOp::symbol &&
        static_cast<uint64_t>(expr.value()) < values.size())
      values[static_cast<size_t>(expr.value())] = plan.exprs[i];
  }
  for (uint32_t i = 0; i < values.size(); ++i) {
    if (i != 0)
      words.append(1, ' ');
    words.append(program.symbols()->Get(i)->name()->c_str());
    words.append(1, '=');
    words.append(std::to_string(values[i]));
  }
  return words;
}

const auto kRecordEvent = [](const auto &event) { trace::record(event); };

} // namespace

SessionTrace::SessionTrace(std::shared_ptr<const Program> program, std::shared_ptr<heap::Heap> heap)
    : program_(std::move(program)), heap_(std::move(heap)),
      id_(trace::newId(trace::IdKind::kSession)), everyRunTimed_(wantsAllTimes()) {
  source_.order = 2;
  source_.user = this;
  source_.describe = describe;
  trace::addSource(source_);
  if (trace::isOn())
    emitSession(EventType::kSession, kRecordEvent);
}

SessionTrace::~SessionTrace() {
  trace::removeSource(source_);
  if (trace::isOn())
    emitSession(EventType::kSessionEnd, kRecordEvent);
}

bool SessionTrace::wantsTimes() const {
  const device::DeviceInfo &info = heap_->device().info();
  return trace::isOn() && info.timestamps &&
         (info.kind != device::DeviceKind::kSoftware || everyRunTimed_ ||
          trace::monotonicNs() >= restUntilNs_);
}

// ---- the description of a session --------------------------------------------------------------

template <typename Emit> void SessionTrace::emitSession(EventType type, Emit &&emit) const {
  const artifact::Program &metadata = program_->metadata();
  trace::SessionEvent event = trace::makeEvent<trace::SessionEvent>(type);
  event.header.heap = heap_->traceId();
  event.session = id_;
  event.device = heap_->device().number();
  event.program = textOf(metadata.name());
  event.source = textOf(metadata.source());
  event.profile = textOf(metadata.profile());
  event.constantBytes = metadata.constant_bytes();
  emit(event);
}

template <typename Emit> void SessionTrace::emitPlan(const Plan &plan, Emit &&emit) const {
  const artifact::Program &metadata = program_->metadata();
  const ShapePlan &shape = *plan.plan;
  trace::PlanEvent event = trace::makeEvent<trace::PlanEvent>(EventType::kPlan);
  event.plan = plan.id;
  event.session = id_;
  event.arenaBytes = shape.arenaBytes;
  event.lowerBoundBytes = shape.lowerBoundBytes;
  event.peakCommand = shape.peakCommand;
  event.commands = metadata.commands()->size();
  event.entries = metadata.values()->size();
  event.shapes = trace::intern(shapesOf(metadata, shape));
  emit(event);
  for (uint32_t i = 0; i < metadata.values()->size(); ++i) {
    const artifact::Value &value = *metadata.values()->Get(i);
    trace::PlanEntryEvent entry = trace::makeEvent<trace::PlanEntryEvent>(EventType::kPlanEntry);
    entry.plan = plan.id;
    entry.value = i;
    entry.offsetBytes = value.storage() == artifact::Storage::constant ? value.byte_offset()
                        : shape.offsets[i] != kNoOffset                ? shape.offsets[i]
                                                                       : shape.hostOffsets[i];
    entry.sizeBytes = shape.sizeBytes[i];
    entry.firstUse = value.first_use();
    entry.lastUse = value.last_use();
    entry.name = textOf(value.name());
    entry.op = textOf(value.op());
    entry.slot = value.slot();
    entry.storage = static_cast<uint8_t>(value.storage());
    emit(entry);
  }
  for (uint32_t i = 0; i < metadata.commands()->size(); ++i)
    emitCommand(plan, i, emit);
}

template <typename Emit>
void SessionTrace::emitCommand(const Plan &plan, uint32_t index, Emit &&emit) const {
  const artifact::Program &metadata = program_->metadata();
  const ShapePlan &shape = *plan.plan;
  const artifact::Command &command = *metadata.commands()->Get(index);
  trace::CommandEvent event = trace::makeEvent<trace::CommandEvent>(EventType::kCommand);
  event.plan = plan.id;
  event.command = index;
  event.name = textOf(command.name());
  event.location = textOf(command.location());
  event.flops = static_cast<float>(shape.exprs[command.flops()]);
  event.bytesMoved = static_cast<float>(shape.exprs[command.bytes_moved()]);
  event.barrierBefore = shape.barrierBefore[index] ? 1 : 0;
  event.isCopy = 1;
  if (const artifact::KernelVariant *variant = plan.variants[index]) {
    const artifact::Kernel &kernel = *metadata.kernels()->Get(command.kernel());
    event.isCopy = 0;
    event.kernel = textOf(kernel.name());
    const flatbuffers::String *tile = variant->tile();
    event.tile = textOf(tile != nullptr && tile->size() > 0 ? tile : kernel.tile());
    event.sharedBytes = variant->shared_bytes();
    for (uint32_t i = 0; i < 3; ++i)
      event.workgroupSize[i] =
          static_cast<uint16_t>(artifact::workgroupSizeOf(kernel, *variant, i));
  }
  emit(event);
  for (uint32_t i = 0; i < command.bindings()->size(); ++i) {
    trace::AccessEvent access = trace::makeEvent<trace::AccessEvent>(EventType::kAccess);
    access.plan = plan.id;
    access.command = index;
    access.value = command.bindings()->Get(i);
    // The second binding of a copy is its target.
    access.write = plan.variants[index] != nullptr ? command.writes()->Get(i) != 0 : i == 1;
    emit(access);
  }
}

template <typename Emit>
void SessionTrace::emitPlace(EventType type, const Place &place, const char *name,
                             Emit &&emit) const {
  if (place.block == 0)
    return;
  trace::ArenaEvent event = trace::makeEvent<trace::ArenaEvent>(type);
  event.header.heap = heap_->traceId();
  event.block = place.block;
  event.sizeBytes = place.sizeBytes;
  event.session = id_;
  event.name = trace::intern(name);
  emit(event);
}

void SessionTrace::describe(void *user, trace::Describer &describer) {
  auto *self = static_cast<SessionTrace *>(user);
  const auto add = [&](const auto &event) { describer.add(event); };
  self->clockWanted_.store(true);
  const std::lock_guard<std::mutex> locked(self->mutex_);
  self->emitSession(EventType::kSession, add);
  self->emitPlace(EventType::kArena, self->arena_, "arena", add);
  self->emitPlace(EventType::kArena, self->hostArena_, "away on the host", add);
  self->emitPlace(EventType::kArena, self->constants_, "constants", add);
  for (const Plan &plan : self->plans_)
    self->emitPlan(plan, add);
}

// ---- changes of plans and memory ---------------------------------------------------------------

void SessionTrace::addPlan(std::shared_ptr<const ShapePlan> plan,
                           std::vector<const artifact::KernelVariant *> variants) {
  const std::lock_guard<std::mutex> locked(mutex_);
  plans_.push_back({trace::newId(trace::IdKind::kPlan), std::move(plan), std::move(variants)});
  if (trace::isOn())
    emitPlan(plans_.back(), kRecordEvent);
}

void SessionTrace::removePlan(const ShapePlan *plan) {
  const std::lock_guard<std::mutex> locked(mutex_);
  std::erase_if(plans_, [&](const Plan &known) { return known.plan.get() == plan; });
}

void SessionTrace::setPlace(Place &place, const Storage &storage, const char *name) {
  const std::lock_guard<std::mutex> locked(mutex_);
  if (trace::isOn())
    emitPlace(EventType::kArenaEnd, place, name, kRecordEvent);
  place = {};
  if (!storage)
    return;
  place = {storage.block(), storage.sizeBytes()};
  if (trace::isOn())
    emitPlace(EventType::kArena, place, name, kRecordEvent);
}

const SessionTrace::Plan *SessionTrace::find(const ShapePlan *plan) const {
  for (const Plan &known : plans_)
    if (known.plan.get() == plan)
      return &known;
  return nullptr;
}

// ---- runs --------------------------------------------------------------------------------------

void SessionTrace::noteTimes(uint32_t timestamps) {
  restUntilNs_ = trace::monotonicNs() + timestamps * kTimestampNs * kTimestampShare;
}

uint32_t SessionTrace::beginRun(const ShapePlan *plan, uint64_t ticket) {
  const Plan *known = trace::isOn() ? find(plan) : nullptr;
  if (known == nullptr)
    return 0;
  const uint32_t run = trace::newId(trace::IdKind::kRun);
  trace::RunEvent event = trace::makeEvent<trace::RunEvent>(EventType::kRun);
  event.run = run;
  event.session = id_;
  event.plan = known->id;
  event.ticket = ticket;
  trace::record(event);
  return run;
}

void SessionTrace::bind(uint32_t run, uint32_t value, const Storage &storage,
                        uint64_t offsetBytes) {
  trace::RunBindingEvent event = trace::makeEvent<trace::RunBindingEvent>(EventType::kRunBinding);
  event.header.heap = heap_->traceId();
  event.block = storage.block();
  event.offsetBytes = offsetBytes;
  event.run = run;
  event.value = value;
  trace::record(event);
}

void SessionTrace::donate(uint32_t run, uint32_t value, const Storage &storage) {
  if (run == 0 || !trace::isOn())
    return;
  trace::DonationEvent event = trace::makeEvent<trace::DonationEvent>(EventType::kDonation);
  event.header.heap = heap_->traceId();
  event.block = storage.block();
  event.sizeBytes = storage.sizeBytes();
  event.run = run;
  event.value = value;
  trace::record(event);
}

void SessionTrace::endRun(uint32_t run, const ShapePlan *plan, uint64_t ticket, StatusCode status,
                          std::span<const uint64_t> timesNs) {
  const Plan *known = run != 0 && trace::isOn() ? find(plan) : nullptr;
  if (known == nullptr)
    return;
  // The clock record comes first, because viewers need it to convert the times.
  if (!timesNs.empty() &&
      (clockWanted_.exchange(false) || trace::monotonicNs() - lastClockNs_ > kMinIntervalNs)) {
    correlateClocks();
    lastClockNs_ = trace::monotonicNs();
  }
  const artifact::Program &metadata = program_->metadata();
  const uint32_t device = heap_->device().number();
  for (uint32_t i = 0; i < known->variants.size() && i + 1 < timesNs.size(); ++i) {
    const artifact::Command &command = *metadata.commands()->Get(i);
    if (known->variants[i] == nullptr) {
      trace::CopyEvent copy = trace::makeEvent<trace::CopyEvent>(EventType::kCopy);
      copy.run = run;
      copy.command = i;
      copy.device = device;
      copy.sizeBytes = known->plan->sizeBytes[command.bindings()->Get(0)];
      copy.gpu = {timesNs[i], timesNs[i + 1]};
      trace::record(copy);
      continue;
    }
    trace::DispatchEvent dispatch = trace::makeEvent<trace::DispatchEvent>(EventType::kDispatch);
    dispatch.run = run;
    dispatch.command = i;
    for (uint32_t d = 0; d < 3; ++d)
      dispatch.workgroups[d] = static_cast<uint32_t>(
          known->plan->exprs[artifact::workgroupCountOf(command, *known->variants[i], d)]);
    dispatch.device = device;
    dispatch.gpu = {timesNs[i], timesNs[i + 1]};
    trace::record(dispatch);
  }
  trace::RunEvent event = trace::makeEvent<trace::RunEvent>(EventType::kRunEnd);
  event.run = run;
  event.session = id_;
  event.plan = known->id;
  event.status = static_cast<uint32_t>(status);
  event.ticket = ticket;
  trace::record(event);
  if (trace::monotonicNs() - lastBudgetsNs_ <= kMinIntervalNs)
    return;
  lastBudgetsNs_ = trace::monotonicNs();
  heap_->traceBudgets();
}

void SessionTrace::correlateClocks() {
  device::Device &device = heap_->device();
  if (!device.info().calibratedClocks) {
    correlateBySubmission();
    return;
  }
  const Result<device::ClockReading> reading = device.readClocks();
  if (!reading.isOk())
    return;
  trace::ClockEvent event = trace::makeEvent<trace::ClockEvent>(EventType::kClock);
  event.device = device.number();
  event.source = 1;
  event.hostNs = reading->hostNs;
  event.deviceNs = reading->deviceNs;
  event.errorNs = reading->errorNs;
  trace::record(event);
}

/// Relates the clocks by a submission that records a timestamp. The device takes the timestamp
/// between the two readings of the host's clock.
void SessionTrace::correlateBySubmission() {
  device::Device &device = heap_->device();
  const auto list = device.createCommandList();
  if (!list.isOk())
    return;
  device::CommandListCapacity capacity;
  capacity.timestamps = 1;
  if (!(*list)->begin(capacity).isOk() || !(*list)->timestamp().isOk() || !(*list)->end().isOk())
    return;
  const uint64_t before = trace::monotonicNs();
  const Result<uint64_t> ticket = device.submit(**list);
  if (!ticket.isOk() || !device.wait(*ticket, UINT64_MAX).isOk())
    return;
  const uint64_t after = trace::monotonicNs();
  const Result<std::vector<uint64_t>> times = (*list)->deviceTimesNs();
  if (!times.isOk())
    return;
  trace::ClockEvent event = trace::makeEvent<trace::ClockEvent>(EventType::kClock);
  event.device = device.number();
  event.source = 2;
  event.hostNs = before + (after - before) / 2;
  event.deviceNs = times->front();
  event.errorNs = (after - before + 1) / 2;
  trace::record(event);
}

} // namespace gantry::program
