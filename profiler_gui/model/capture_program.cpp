// Sessions, plans, runs and dispatches, and what lay in the arenas.
#include "profiler_gui/model/capture_model.h"

#include <algorithm>
#include <string>
#include <utility>

namespace gantry::profiler {

using trace::Event;
using trace::EventType;

namespace {

uint64_t valueKey(uint32_t plan, uint32_t value) {
  return (static_cast<uint64_t>(plan) << 32) | value;
}

PlanCommand describedBy(const trace::CommandEvent &event) {
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

/// A command list is as long as its commands say; a hostile number must not make it longer.
constexpr uint32_t kMostCommands = 1u << 22;

} // namespace

void CaptureModel::onProgram(const Event &event) {
  switch (event.type()) {
  case EventType::kSession: {
    const trace::SessionEvent &told = event.session;
    if (session(told.session) == nullptr)
      sessions_.push_back({told.session, told.device, told.program, told.source, told.profile,
                           told.constantBytes, UINT32_MAX});
    break;
  }
  case EventType::kPlan: {
    if (planOfId_.contains(event.plan.plan))
      break; // told again to a late viewer
    Plan plan;
    plan.id = event.plan.plan;
    plan.session = event.plan.session;
    plan.arenaBytes = event.plan.arenaBytes;
    plan.lowerBoundBytes = event.plan.lowerBoundBytes;
    plan.peakCommand = event.plan.peakCommand;
    plan.shapes = event.plan.shapes;
    planOfId_[plan.id] = static_cast<uint32_t>(plans_.size());
    plans_.push_back(std::move(plan));
    break;
  }
  case EventType::kPlanEntry: {
    const trace::PlanEntryEvent &told = event.planEntry;
    const auto plan = planOfId_.find(told.plan);
    if (plan == planOfId_.end() || told.storage > static_cast<uint8_t>(Storage::kHost)) {
      ++unmatched_;
      break;
    }
    const auto index = static_cast<uint32_t>(entries_.size());
    if (!entryOfValue_.emplace(valueKey(plan->second, told.value), index).second)
      break;
    PlanEntry entry;
    entry.plan = plan->second;
    entry.value = told.value;
    entry.offset = told.offsetBytes;
    entry.sizeBytes = told.sizeBytes;
    entry.firstUse = told.firstUse;
    entry.lastUse = told.lastUse;
    entry.name = told.name;
    entry.op = told.op;
    entry.slot = told.slot;
    entry.storage = static_cast<Storage>(told.storage);
    entry.writer = opKindOf(text(told.op));
    entries_.push_back(entry);
    plans_[plan->second].entries.push_back(index);
    break;
  }
  case EventType::kCommand: {
    const auto plan = planOfId_.find(event.command.plan);
    if (plan == planOfId_.end() || event.command.command >= kMostCommands) {
      ++unmatched_;
      break;
    }
    std::vector<PlanCommand> &commands = plans_[plan->second].commands;
    if (event.command.command >= commands.size())
      commands.resize(event.command.command + 1);
    PlanCommand &command = commands[event.command.command];
    command = describedBy(event.command);
    command.kind = opKindOf(text(command.name));
    break;
  }
  case EventType::kAccess: {
    const auto plan = planOfId_.find(event.access.plan);
    if (plan == planOfId_.end()) {
      ++unmatched_;
      break;
    }
    plans_[plan->second].accesses.push_back(
        {event.access.command, event.access.value, event.access.write != 0});
    break;
  }
  case EventType::kArena:
  case EventType::kArenaEnd:
    onArena(event.arena);
    break;
  case EventType::kRun: {
    Run run;
    run.id = event.run.run;
    run.session = event.run.session;
    run.beginNs = event.header.timeNs;
    run.firstDispatch = dispatches_.size();
    if (const auto plan = planOfId_.find(event.run.plan); plan != planOfId_.end())
      run.plan = plan->second;
    openRuns_[run.id] = static_cast<uint32_t>(runs_.size());
    runs_.push_back(run);
    break;
  }
  case EventType::kRunEnd:
    endRun(event.run);
    break;
  case EventType::kDispatch:
    onDispatch(event.dispatch.run, event.dispatch.command, event.dispatch.device,
               event.dispatch.gpu, event.dispatch.workgroups);
    break;
  case EventType::kCopy:
    onDispatch(event.copy.run, event.copy.command, event.copy.device, event.copy.gpu, nullptr);
    break;
  case EventType::kDonation: {
    const auto bound = openBindings_.find(blockKey(event.header.heap, event.donation.block));
    if (bound == openBindings_.end())
      break;
    for (const uint32_t binding : bound->second) {
      if (runs_[bindings_[binding].run].id == event.donation.run)
        bindings_[binding].donated = true;
    }
    break;
  }
  case EventType::kRunBinding:
    onBinding(event.runBinding);
    break;
  default:
    break;
  }
}

void CaptureModel::onArena(const trace::ArenaEvent &event) {
  const uint64_t key = blockKey(event.header.heap, event.block);
  if (event.header.type == EventType::kArenaEnd) {
    arenaBlocks_.erase(key);
    return;
  }
  const std::string_view name = text(event.name);
  const bool isArena = name == "arena";
  if (isArena)
    arenaBlocks_[key] = event.session;
  const uint64_t *open = openBlocks_.find(key);
  if (open == nullptr)
    return;
  const OpenBlock block = unpack(*open);
  if (block.space >= spaces_.size())
    return;
  const BlockKind kind = isArena               ? BlockKind::kArena
                         : name == "constants" ? BlockKind::kConstant
                                               : BlockKind::kCache;
  BlockTable &table = spaces_[block.space].table;
  table.identify(block.row, kind, table.name(block.row) != 0 ? table.name(block.row) : event.name,
                 table.op(block.row), 0);
}

void CaptureModel::onBinding(const trace::RunBindingEvent &event) {
  const auto run = openRuns_.find(event.run);
  const uint64_t key = blockKey(event.header.heap, event.block);
  const uint64_t *open = openBlocks_.find(key);
  if (run == openRuns_.end() || open == nullptr) {
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
  const OpenBlock block = unpack(*open);
  if (block.space < spaces_.size()) {
    BlockTable &table = spaces_[block.space].table;
    binding.sizeBytes = table.sizeBytes(block.row);
    binding.takenNs = table.beginNs(block.row);
    const Run &of = runs_[run->second];
    const auto entry = of.plan < plans_.size() ? entryOfValue_.find(valueKey(of.plan, event.value))
                                               : entryOfValue_.end();
    if (entry != entryOfValue_.end() && !binding.inArena) {
      const PlanEntry &value = entries_[entry->second];
      const uint32_t name = table.name(block.row) != 0 ? table.name(block.row) : value.name;
      table.identify(block.row, hueOf(value), name, table.op(block.row), entry->second + 1);
    }
  }
  openBindings_[key].push_back(static_cast<uint32_t>(bindings_.size()));
  bindings_.push_back(binding);
}

void CaptureModel::onDispatch(uint32_t runId, uint32_t command, uint32_t deviceId,
                              const trace::GpuTimes &gpu, const uint32_t *workgroups) {
  const auto open = openRuns_.find(runId);
  if (open == openRuns_.end()) {
    ++unmatched_;
    return;
  }
  Run &run = runs_[open->second];
  Dispatch dispatch;
  dispatch.run = open->second;
  dispatch.command = command;
  dispatch.isCopy = workgroups == nullptr;
  for (size_t axis = 0; axis < 3 && workgroups != nullptr; ++axis)
    dispatch.workgroups[axis] = workgroups[axis];
  const auto device = std::find_if(devices_.begin(), devices_.end(),
                                   [&](const Device &d) { return d.id == deviceId; });
  dispatch.device = static_cast<uint32_t>(device - devices_.begin());
  if (device == devices_.end())
    dispatch.device = 0;
  uint32_t commands = command + 1;
  if (run.plan < plans_.size()) {
    const Plan &plan = plans_[run.plan];
    commands = std::max(commands, static_cast<uint32_t>(plan.commands.size()));
    if (command < plan.commands.size() && !dispatch.isCopy)
      dispatch.sharedBytes = plan.commands[command].sharedBytes;
  }
  if (device != devices_.end() && device->hasClock && gpu.endNs > 0) {
    dispatch.beginNs = gpu.beginNs + device->hostMinusDeviceNs;
    dispatch.endNs = gpu.endNs + device->hostMinusDeviceNs;
  }
  if (dispatch.endNs <= dispatch.beginNs || dispatch.beginNs > nowNs_) {
    // No times, or none that can be: the command's even share of what has passed.
    const double share =
        static_cast<double>(nowNs_ - run.beginNs) / static_cast<double>(std::max(commands, 1u));
    dispatch.beginNs = run.beginNs + static_cast<uint64_t>(share * command);
    dispatch.endNs = run.beginNs + static_cast<uint64_t>(share * (command + 1.0));
    dispatch.estimated = true;
  }
  const uint32_t index = dispatches_.append(dispatch);
  if (run.dispatchCount == 0)
    run.firstDispatch = index;
  ++run.dispatchCount;
}

void CaptureModel::endRun(const trace::RunEvent &event) {
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
  fillArena(index);
  growth_.stepEnded(event.header.timeNs);
}

/// Not all runs have times (engine/trace/README.md): those without are taken to go like the last
/// one with.
void CaptureModel::noteTimes(uint32_t runIndex) {
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

void CaptureModel::takeShares(Plan &plan) {
  plan.sharesOfRun = plan.lastTimedRun;
  const Run &run = runs_[plan.lastTimedRun];
  const auto length = static_cast<double>(std::max<uint64_t>(run.endNs - run.beginNs, 1));
  const auto part = [&](uint64_t atNs) {
    const double since = static_cast<double>(atNs) - static_cast<double>(run.beginNs);
    return static_cast<float>(std::clamp(since / length, 0.0, 1.0));
  };
  std::vector<std::array<float, 2>> shares(run.dispatchCount);
  for (uint32_t i = 0; i < run.dispatchCount; ++i) {
    const Dispatch &dispatch = dispatches_[run.firstDispatch + i];
    if (dispatch.run != plan.lastTimedRun || dispatch.command != i || dispatch.estimated)
      return;
    shares[i] = {part(dispatch.beginNs), part(dispatch.endNs)};
  }
  plan.shares = std::move(shares);
}

uint32_t CaptureModel::arenaSpaceOf(uint32_t sessionId, uint64_t arenaBytes) {
  for (Session &session : sessions_) {
    if (session.id != sessionId)
      continue;
    if (session.arenaSpace == UINT32_MAX) {
      session.arenaSpace = static_cast<uint32_t>(spaces_.size());
      spaces_.emplace_back();
      AddressSpace &space = spaces_.back();
      space.kind = SpaceKind::kArena;
      space.session = sessionId;
      space.label = "arena · " + std::string(text(session.program));
    }
    AddressSpace &space = spaces_[session.arenaSpace];
    space.sizeBytes = std::max(space.sizeBytes, arenaBytes);
    return session.arenaSpace;
  }
  return UINT32_MAX;
}

CaptureModel::Moments CaptureModel::commandTimes(const Run &run, uint32_t command) const {
  // A run's dispatches come in the order of its commands as a rule; some commands may be missing.
  for (uint32_t guess = 0; guess < 2; ++guess) {
    const uint32_t first = guess == 0 ? command : 0;
    const uint32_t last = guess == 0 ? std::min(command + 1, run.dispatchCount) : run.dispatchCount;
    for (uint32_t i = first; i < last; ++i) {
      const uint32_t index = run.firstDispatch + i;
      if (index < dispatches_.size() && dispatches_[index].command == command &&
          &runs_[dispatches_[index].run] == &run)
        return {dispatches_[index].beginNs, dispatches_[index].endNs};
    }
  }
  const uint64_t end = run.endNs == kStillHeld ? nowNs_ : run.endNs;
  const size_t commands = run.plan < plans_.size() ? plans_[run.plan].commands.size() : 0;
  if (commands == 0)
    return {run.beginNs, end};
  const auto length = static_cast<double>(end - run.beginNs);
  if (const auto &shares = plans_[run.plan].shares; command < shares.size())
    return {run.beginNs + static_cast<uint64_t>(length * shares[command][0]),
            run.beginNs + static_cast<uint64_t>(length * shares[command][1])};
  const double share = length / static_cast<double>(commands);
  return {run.beginNs + static_cast<uint64_t>(share * command),
          run.beginNs + static_cast<uint64_t>(share * (command + 1.0))};
}

void CaptureModel::fillArena(uint32_t runIndex) {
  const Run &run = runs_[runIndex];
  if (run.plan >= plans_.size())
    return;
  const Plan &plan = plans_[run.plan];
  const uint32_t spaceIndex = arenaSpaceOf(plan.session, plan.arenaBytes);
  if (spaceIndex == UINT32_MAX)
    return;
  AddressSpace &space = spaces_[spaceIndex];
  // Values that the run put elsewhere in the arena than planned. Bindings of a run are the latest.
  std::vector<std::pair<uint32_t, uint64_t>> moved;
  for (size_t i = bindings_.size(); i-- > 0 && bindings_[i].run == runIndex;) {
    if (bindings_[i].inArena)
      moved.emplace_back(bindings_[i].value, bindings_[i].blockOffset);
  }
  for (const uint32_t index : plan.entries) {
    const PlanEntry &entry = entries_[index];
    if (entry.storage != Storage::kTransient || entry.sizeBytes == 0)
      continue;
    Block block;
    block.beginNs = commandTimes(run, entry.firstUse).beginNs;
    block.endNs = std::max(block.beginNs, commandTimes(run, entry.lastUse).endNs);
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
    if (block.sizeBytes == 0)
      continue;
    space.table.append(block);
    space.sizeBytes = std::max(space.sizeBytes, block.endOffset());
  }
}

const PlanCommand *CaptureModel::commandOf(const Dispatch &dispatch) const {
  const Run &run = runs_[dispatch.run];
  if (run.plan >= plans_.size() || dispatch.command >= plans_[run.plan].commands.size())
    return nullptr;
  return &plans_[run.plan].commands[dispatch.command];
}

const PlanEntry *CaptureModel::entryOf(const Plan &plan, uint32_t value) const {
  const auto index = static_cast<uint32_t>(&plan - plans_.data());
  const auto found = entryOfValue_.find(valueKey(index, value));
  return found == entryOfValue_.end() ? nullptr : &entries_[found->second];
}

} // namespace gantry::profiler
