// Implements ProgramHistory: sessions, plans, runs, dispatches and the contents of arenas.
#include "profiler_gui/model/capture/program_history.h"

#include "profiler_gui/model/capture/shrink.h"

#include <algorithm>
#include <string>
#include <utility>

namespace gantry::profiler {

using trace::Event;
using trace::EventType;

namespace {

/// Upper limit on command numbers. It bounds the memory that the profiler allocates for a damaged
/// trace.
constexpr uint32_t kMaxCommands = 1u << 22;

uint64_t valueKey(uint32_t plan, uint32_t value) {
  return (static_cast<uint64_t>(plan) << 32) | value;
}

PlanCommand commandFrom(const trace::CommandEvent &event) {
  PlanCommand command;
  command.name = event.name;
  command.location = event.location;
  command.kernel = event.kernel;
  command.tile = event.tile;
  command.sharedBytes = event.sharedBytes;
  command.registers = event.registers;
  command.flops = event.flops;
  command.bytesMoved = event.bytesMoved;
  for (size_t axis = 0; axis < 3; ++axis)
    command.workgroupSize[axis] = event.workgroupSize[axis];
  command.isCopy = event.isCopy != 0;
  command.barrierBefore = event.barrierBefore != 0;
  return command;
}

BlockHue hueOf(const PlanEntry &entry) {
  switch (entry.storage) {
  case Storage::kInput:
    return BlockKind::kInput;
  case Storage::kOutput:
    return BlockKind::kOutput;
  case Storage::kConstant:
    return BlockKind::kConstant;
  case Storage::kTransient:
    return entry.writer;
  case Storage::kHost:
    return BlockKind::kCache;
  }
  return BlockKind::kOther;
}

/// Divides [beginNs, beginNs + lengthNs) into `count` equal parts, one per command, and returns the
/// part of command number `command`, counted from 0.
TimeRange evenShare(uint64_t beginNs, double lengthNs, uint32_t command, double count) {
  const double share = lengthNs / count;
  return {beginNs + static_cast<uint64_t>(share * command),
          beginNs + static_cast<uint64_t>(share * (command + 1.0))};
}

} // namespace

void ProgramHistory::ingest(const Event &event, const Context &context) {
  switch (event.type()) {
  case EventType::kSession:
    addSession(event.session);
    break;
  case EventType::kPlan:
    addPlan(event.plan);
    break;
  case EventType::kPlanEntry:
    addEntry(event.planEntry, context.names);
    break;
  case EventType::kCommand:
    addCommand(event.command, context.names);
    break;
  case EventType::kAccess:
    addAccess(event.access);
    break;
  case EventType::kArena:
  case EventType::kArenaEnd:
    identifyArena(event.arena, context);
    break;
  case EventType::kRun:
    beginRun(event.run);
    break;
  case EventType::kRunEnd:
    endRun(event.run, context);
    break;
  case EventType::kDispatch:
    addDispatch(event.dispatch, context);
    break;
  case EventType::kCopy:
    addCopy(event.copy, context);
    break;
  case EventType::kDonation:
    noteDonation(event.donation, context.memory);
    break;
  case EventType::kRunBinding:
    addBinding(event.runBinding, context.memory);
    break;
  default:
    break;
  }
}

void ProgramHistory::appendFinishTasks(std::vector<std::function<void()>> *tasks) {
  tasks->emplace_back([this] { dispatches_.shrink(); });
  tasks->emplace_back([this] { shrink(runs_); });
}

void ProgramHistory::addSession(const trace::SessionEvent &event) {
  if (session(event.session) == nullptr)
    sessions_.push_back({event.session, event.device, event.program, event.source, event.profile,
                         event.constantBytes, UINT32_MAX});
}

void ProgramHistory::addPlan(const trace::PlanEvent &event) {
  if (planOfId_.contains(event.plan))
    return; // The process sends its plans again for each viewer that attaches.
  Plan plan;
  plan.id = event.plan;
  plan.session = event.session;
  plan.arenaBytes = event.arenaBytes;
  plan.lowerBoundBytes = event.lowerBoundBytes;
  plan.peakCommand = event.peakCommand;
  plan.shapes = event.shapes;
  planOfId_[plan.id] = static_cast<uint32_t>(plans_.size());
  plans_.push_back(std::move(plan));
}

Plan *ProgramHistory::findPlan(uint32_t id) {
  const auto found = planOfId_.find(id);
  return found == planOfId_.end() ? nullptr : &plans_[found->second];
}

void ProgramHistory::addEntry(const trace::PlanEntryEvent &event, const trace::NameTable &names) {
  const auto plan = planOfId_.find(event.plan);
  if (plan == planOfId_.end() || event.storage > static_cast<uint8_t>(Storage::kHost)) {
    ++unmatched_;
    return;
  }
  const auto index = static_cast<uint32_t>(entries_.size());
  if (!entryOfValue_.emplace(valueKey(plan->second, event.value), index).second)
    return;
  PlanEntry entry;
  entry.plan = plan->second;
  entry.value = event.value;
  entry.offset = event.offsetBytes;
  entry.sizeBytes = event.sizeBytes;
  entry.firstUse = event.firstUse;
  entry.lastUse = event.lastUse;
  entry.name = event.name;
  entry.op = event.op;
  entry.slot = event.slot;
  entry.storage = static_cast<Storage>(event.storage);
  entry.writer = opKindOf(names[event.op]);
  entries_.push_back(entry);
  plans_[plan->second].entries.push_back(index);
}

void ProgramHistory::addCommand(const trace::CommandEvent &event, const trace::NameTable &names) {
  Plan *plan = findPlan(event.plan);
  if (plan == nullptr || event.command >= kMaxCommands) {
    ++unmatched_;
    return;
  }
  if (event.command >= plan->commands.size())
    plan->commands.resize(event.command + 1);
  PlanCommand &command = plan->commands[event.command];
  command = commandFrom(event);
  command.kind = opKindOf(names[command.name]);
}

void ProgramHistory::addAccess(const trace::AccessEvent &event) {
  Plan *plan = findPlan(event.plan);
  if (plan == nullptr) {
    ++unmatched_;
    return;
  }
  plan->accesses.push_back({event.command, event.value, event.write != 0});
}

void ProgramHistory::identifyArena(const trace::ArenaEvent &event, const Context &context) {
  const uint64_t key = MemoryHistory::blockKey(event.header.heap, event.block);
  if (event.header.type == EventType::kArenaEnd) {
    arenaBlocks_.erase(key);
    return;
  }
  const std::string_view name = context.names[event.name];
  const bool isArena = name == "arena";
  if (isArena)
    arenaBlocks_.insert(key);
  const BlockKind kind = isArena               ? BlockKind::kArena
                         : name == "constants" ? BlockKind::kConstant
                                               : BlockKind::kCache;
  if (const auto block = context.memory.findOpen(key))
    context.memory.identify(*block, kind, event.name, 0);
}

void ProgramHistory::beginRun(const trace::RunEvent &event) {
  Run run;
  run.id = event.run;
  run.session = event.session;
  run.beginNs = event.header.timeNs;
  run.firstDispatch = dispatches_.size();
  if (const auto plan = planOfId_.find(event.plan); plan != planOfId_.end())
    run.plan = plan->second;
  openRuns_[run.id] = static_cast<uint32_t>(runs_.size());
  runs_.push_back(run);
}

void ProgramHistory::endRun(const trace::RunEvent &event, const Context &context) {
  const auto open = openRuns_.find(event.run);
  if (open == openRuns_.end()) {
    ++unmatched_;
    return;
  }
  const uint32_t index = open->second;
  openRuns_.erase(open);
  runs_[index].endNs = event.header.timeNs;
  runs_[index].status = event.status;
  noteTimes(index);
  fillArena(index, context);
  context.memory.endStep(event.header.timeNs);
}

void ProgramHistory::addDispatch(const trace::DispatchEvent &event, const Context &context) {
  Dispatch dispatch;
  dispatch.command = event.command;
  for (size_t axis = 0; axis < 3; ++axis)
    dispatch.workgroups[axis] = event.workgroups[axis];
  addToRun(event.run, event.device, event.gpu, dispatch, context);
}

void ProgramHistory::addCopy(const trace::CopyEvent &event, const Context &context) {
  Dispatch copy;
  copy.command = event.command;
  copy.isCopy = true;
  addToRun(event.run, event.device, event.gpu, copy, context);
}

/// Completes a dispatch with its run, device, times and shared memory, and adds it to the run.
void ProgramHistory::addToRun(uint32_t runId, uint32_t deviceId, const trace::GpuTimes &gpu,
                              Dispatch dispatch, const Context &context) {
  const auto open = openRuns_.find(runId);
  if (open == openRuns_.end()) {
    ++unmatched_;
    return;
  }
  Run &run = runs_[open->second];
  dispatch.run = open->second;
  const Device *device = context.devices.find(deviceId);
  if (device != nullptr)
    dispatch.device = static_cast<uint32_t>(device - context.devices.devices().data());
  uint32_t commands = dispatch.command + 1;
  if (run.plan < plans_.size()) {
    const Plan &plan = plans_[run.plan];
    commands = std::max(commands, static_cast<uint32_t>(plan.commands.size()));
    if (dispatch.command < plan.commands.size() && !dispatch.isCopy)
      dispatch.sharedBytes = plan.commands[dispatch.command].sharedBytes;
  }
  if (device != nullptr && device->hasClock && gpu.endNs > 0) {
    dispatch.beginNs = gpu.beginNs + device->hostMinusDeviceNs;
    dispatch.endNs = gpu.endNs + device->hostMinusDeviceNs;
  }
  if (dispatch.endNs <= dispatch.beginNs || dispatch.beginNs > context.nowNs) {
    // The device reported no times, or impossible ones.
    const TimeRange share =
        evenShare(run.beginNs, static_cast<double>(context.nowNs - run.beginNs), dispatch.command,
                  static_cast<double>(std::max(commands, 1u)));
    dispatch.beginNs = share.beginNs;
    dispatch.endNs = share.endNs;
    dispatch.estimated = true;
  }
  const uint32_t index = dispatches_.append(dispatch);
  if (run.dispatchCount == 0)
    run.firstDispatch = index;
  ++run.dispatchCount;
}

void ProgramHistory::noteDonation(const trace::DonationEvent &event, MemoryHistory &memory) {
  const auto *open = memory.openBindings(MemoryHistory::blockKey(event.header.heap, event.block));
  if (open == nullptr)
    return;
  for (const uint32_t binding : *open) {
    if (runs_[memory.bindings()[binding].run].id == event.run)
      memory.markDonated(binding);
  }
}

void ProgramHistory::addBinding(const trace::RunBindingEvent &event, MemoryHistory &memory) {
  const auto run = openRuns_.find(event.run);
  const uint64_t key = MemoryHistory::blockKey(event.header.heap, event.block);
  const auto block = memory.findOpen(key);
  if (run == openRuns_.end() || !block) {
    ++unmatched_;
    return;
  }
  Binding binding;
  binding.run = run->second;
  binding.value = event.value;
  binding.block = event.block;
  binding.blockOffset = event.offsetBytes;
  binding.heap = event.header.heap;
  binding.inArena = arenaBlocks_.contains(key);
  if (block->space < memory.spaces().size()) {
    const BlockTable &table = memory.spaces()[block->space].table;
    binding.sizeBytes = table.sizeBytes(block->row);
    binding.takenNs = table.beginNs(block->row);
    const uint32_t plan = runs_[run->second].plan;
    const PlanEntry *entry =
        plan < plans_.size() && !binding.inArena ? entryOf(plans_[plan], event.value) : nullptr;
    if (entry != nullptr)
      memory.identify(*block, hueOf(*entry), entry->name,
                      static_cast<uint32_t>(entry - entries_.data()) + 1);
  }
  memory.bind(key, binding);
}

/// Counts a run with device times, or updates the estimates (Plan::shares) for a run without.
void ProgramHistory::noteTimes(uint32_t runIndex) {
  const Run &run = runs_[runIndex];
  timedRuns_ += run.dispatchCount > 0 ? 1 : 0;
  if (run.plan >= plans_.size())
    return;
  Plan &plan = plans_[run.plan];
  if (run.dispatchCount > 0 && run.dispatchCount == plan.commands.size())
    plan.lastTimedRun = runIndex;
  else if (run.dispatchCount == 0 && plan.lastTimedRun != plan.sharesOfRun)
    takeShares(plan);
}

/// Sets plan.shares from plan.lastTimedRun. Keeps the previous shares if the dispatches of that run
/// are not measured or not in the order of the commands.
void ProgramHistory::takeShares(Plan &plan) {
  plan.sharesOfRun = plan.lastTimedRun;
  const Run &run = runs_[plan.lastTimedRun];
  const auto length = static_cast<double>(std::max<uint64_t>(run.endNs - run.beginNs, 1));
  const auto fraction = [&](uint64_t atNs) {
    const double since = static_cast<double>(atNs) - static_cast<double>(run.beginNs);
    return static_cast<float>(std::clamp(since / length, 0.0, 1.0));
  };
  std::vector<std::array<float, 2>> shares(run.dispatchCount);
  for (uint32_t i = 0; i < run.dispatchCount; ++i) {
    const Dispatch &dispatch = dispatches_[run.firstDispatch + i];
    if (dispatch.run != plan.lastTimedRun || dispatch.command != i || dispatch.estimated)
      return;
    shares[i] = {fraction(dispatch.beginNs), fraction(dispatch.endNs)};
  }
  plan.shares = std::move(shares);
}

/// Returns the arena of a session as an index in CaptureModel::spaces(); UINT32_MAX for an unknown
/// session. Adds the arena if there is none, and makes it at least arenaBytes large.
uint32_t ProgramHistory::arenaSpaceOf(uint32_t sessionId, uint64_t arenaBytes,
                                      const Context &context) {
  for (Session &session : sessions_) {
    if (session.id != sessionId)
      continue;
    if (session.arenaSpace == UINT32_MAX)
      session.arenaSpace = context.memory.addArena(
          sessionId, "arena · " + std::string(context.names[session.program]));
    context.memory.growArena(session.arenaSpace, arenaBytes);
    return session.arenaSpace;
  }
  return UINT32_MAX;
}

/// Adds the transients of a run that has ended to the arena of its session.
void ProgramHistory::fillArena(uint32_t runIndex, const Context &context) {
  const Run &run = runs_[runIndex];
  if (run.plan >= plans_.size())
    return;
  const Plan &plan = plans_[run.plan];
  const uint32_t space = arenaSpaceOf(plan.session, plan.arenaBytes, context);
  if (space == UINT32_MAX)
    return;
  // The values whose actual offset the run reported. If no other run has begun after this one, its
  // bindings are at the end of the list.
  const std::vector<Binding> &bindings = context.memory.bindings();
  std::vector<std::pair<uint32_t, uint64_t>> moved;
  for (size_t end = bindings.size(); end > 0 && bindings[end - 1].run == runIndex; --end) {
    if (bindings[end - 1].inArena)
      moved.emplace_back(bindings[end - 1].value, bindings[end - 1].blockOffset);
  }
  for (const uint32_t index : plan.entries) {
    const PlanEntry &entry = entries_[index];
    if (entry.storage != Storage::kTransient || entry.sizeBytes == 0)
      continue;
    Block block;
    block.beginNs = commandTimes(run, entry.firstUse, context.nowNs).beginNs;
    block.endNs = std::max(block.beginNs, commandTimes(run, entry.lastUse, context.nowNs).endNs);
    block.offset = entry.offset;
    for (const auto &[value, offset] : moved) {
      if (value == entry.value)
        block.offset = offset;
    }
    block.sizeBytes = std::min(entry.sizeBytes, UINT64_MAX - block.offset);
    block.name = entry.name;
    block.op = entry.op;
    block.entry = index + 1;
    block.hue = hueOf(entry);
    if (block.sizeBytes > 0)
      context.memory.appendToArena(space, block);
  }
}

TimeRange ProgramHistory::commandTimes(const Run &run, uint32_t command, uint64_t nowNs) const {
  // Dispatches are normally in the order of the commands, so position `command` is tried first. If
  // some commands are missing, all dispatches of the run are searched.
  for (const bool direct : {true, false}) {
    const uint32_t first = direct ? command : 0;
    const uint32_t last = direct ? std::min(command + 1, run.dispatchCount) : run.dispatchCount;
    for (uint32_t i = first; i < last; ++i) {
      const uint32_t index = run.firstDispatch + i;
      if (index < dispatches_.size() && dispatches_[index].command == command &&
          &runs_[dispatches_[index].run] == &run)
        return {dispatches_[index].beginNs, dispatches_[index].endNs};
    }
  }
  const uint64_t end = run.endNs == kStillHeld ? nowNs : run.endNs;
  const size_t commands = run.plan < plans_.size() ? plans_[run.plan].commands.size() : 0;
  if (commands == 0)
    return {run.beginNs, end};
  const auto length = static_cast<double>(end - run.beginNs);
  if (const auto &shares = plans_[run.plan].shares; command < shares.size())
    return {run.beginNs + static_cast<uint64_t>(length * shares[command][0]),
            run.beginNs + static_cast<uint64_t>(length * shares[command][1])};
  return evenShare(run.beginNs, length, command, static_cast<double>(commands));
}

const Session *ProgramHistory::session(uint32_t id) const {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(),
                                  [&](const Session &session) { return session.id == id; });
  return found == sessions_.end() ? nullptr : &*found;
}

const PlanCommand *ProgramHistory::commandOf(const Dispatch &dispatch) const {
  const Run &run = runs_[dispatch.run];
  if (run.plan >= plans_.size() || dispatch.command >= plans_[run.plan].commands.size())
    return nullptr;
  return &plans_[run.plan].commands[dispatch.command];
}

const PlanEntry *ProgramHistory::entryOf(const Plan &plan, uint32_t value) const {
  const auto index = static_cast<uint32_t>(&plan - plans_.data());
  const auto found = entryOfValue_.find(valueKey(index, value));
  return found == entryOfValue_.end() ? nullptr : &entries_[found->second];
}

uint64_t ProgramHistory::memoryBytes() const {
  return dispatches_.memoryBytes() + runs_.capacity() * sizeof(Run) +
         entries_.capacity() * sizeof(PlanEntry);
}

} // namespace gantry::profiler
