// Export to CSV: one row for each event. docs/capture-csv.md describes the columns.
//
// A cell is empty if the event has no such value. Numbers that mean "none" in an event (no slab, no
// limit, no thread) are never written.
#include "engine/trace/export/event_visitor.h"
#include "engine/trace/export/export_text.h"
#include "engine/trace/export/formats.h"

#include <array>
#include <optional>
#include <unordered_map>

namespace gantry::trace {
namespace {

constexpr const char *kHeader =
    "time_ns,thread,type,heap,sequence,block,slab,offset,size,name,duration_ns,device,session,plan,"
    "run,command,value,used,budget,limit\n";

/// The numeric columns. The texts (type, name) and the time are written separately.
enum Column {
  kThread,
  kHeap,
  kSequence,
  kBlock,
  kSlab,
  kOffset,
  kSize,
  kDuration,
  kDevice,
  kSession,
  kPlan,
  kRun,
  kCommand,
  kValue,
  kUsed,
  kBudget,
  kLimit,
  kCsvColumns
};

/// The cells of one event.
struct Row {
  std::array<std::optional<int64_t>, kCsvColumns> numbers;
  std::string_view name;
  void set(Column column, uint64_t value) { numbers[column] = static_cast<int64_t>(value); }
  /// Sets a cell unless the value is `none`.
  void set(Column column, uint64_t value, uint64_t none) {
    if (value != none)
      set(column, value);
  }
};

/// Returns the text as a CSV cell, in quotes if its characters require it.
std::string csvText(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos)
    return std::string(text);
  std::string quoted(1, '"');
  for (const char c : text) {
    if (c == '"')
      quoted += '"';
    quoted += c;
  }
  quoted += '"';
  return quoted;
}

uint64_t key(uint32_t a, uint32_t b) { return (uint64_t{a} << 32) | b; }

/// Makes rows from events in two passes over the capture. collect() gathers the data that other
/// events refer to: the names of commands, programs, values and devices, and the begin and the end
/// of each run. row() then makes the rows.
class CsvMaker {
public:
  explicit CsvMaker(const NameTable &names) : names_(names) {}

  void collect(const Event &event) {
    switch (event.type()) {
    case EventType::kSession:
      programs_[event.session.session] = event.session.program;
      break;
    case EventType::kCommand:
      commands_[key(event.command.plan, event.command.command)] = event.command.name;
      break;
    case EventType::kPlanEntry:
      values_[key(event.planEntry.plan, event.planEntry.value)] = event.planEntry.name;
      break;
    case EventType::kRun:
      runs_[event.run.run] = {event.run.session, event.run.plan, event.header.timeNs, {}};
      break;
    case EventType::kRunEnd:
      if (const auto run = runs_.find(event.run.run); run != runs_.end())
        run->second.endNs = event.header.timeNs;
      break;
    case EventType::kDevice:
      devices_[event.device.device] = event.device.name;
      break;
    default:
      break;
    }
  }

  /// Returns the row of an event with its line break.
  std::string row(const Event &event) {
    Row row;
    row.set(kThread, event.header.thread, 0);
    row.set(kHeap, event.header.heap, 0);
    fill(event, row);
    std::string line = std::to_string(event.header.timeNs);
    auto cell = [&](Column column) {
      line += ',';
      if (row.numbers[column])
        line += std::to_string(*row.numbers[column]);
    };
    cell(kThread);
    line += ',';
    line += eventTypeName(event.type());
    for (const Column column : {kHeap, kSequence, kBlock, kSlab, kOffset, kSize})
      cell(column);
    line += ',';
    line += csvText(row.name);
    for (const Column column :
         {kDuration, kDevice, kSession, kPlan, kRun, kCommand, kValue, kUsed, kBudget, kLimit})
      cell(column);
    line += '\n';
    return line;
  }

private:
  struct Run {
    uint32_t session = 0, plan = 0;
    uint64_t beginNs = 0;
    std::optional<uint64_t> endNs;
  };

  std::string_view nameIn(const std::unordered_map<uint64_t, uint32_t> &table, uint64_t id) const {
    const auto found = table.find(id);
    return found == table.end() ? std::string_view() : names_[found->second];
  }

  /// Sets the cells of a run. Returns the run, or nullptr if the capture does not contain the run's
  /// begin.
  const Run *setRun(uint32_t id, Row &row) const {
    row.set(kRun, id);
    const auto found = runs_.find(id);
    if (found == runs_.end())
      return nullptr;
    row.set(kSession, found->second.session);
    row.set(kPlan, found->second.plan);
    return &found->second;
  }

  /// Sets the cells of a command that ran on the device.
  void setWork(uint32_t run, uint32_t command, uint32_t device, const GpuTimes &gpu, Row &row) {
    if (const Run *found = setRun(run, row))
      row.name = nameIn(commands_, key(found->plan, command));
    row.set(kCommand, command);
    row.set(kDevice, device);
    if (gpu.endNs != 0) // It is 0 if no timestamps were taken.
      row.set(kDuration, gpu.endNs - gpu.beginNs);
  }

  /// Each of these functions sets the cells of its group of events. fill() calls the others.
  void fill(const Event &event, Row &row);
  void fillMemory(const Event &event, Row &row);
  void fillProgram(const Event &event, Row &row);
  void fillRun(const Event &event, Row &row);

  const NameTable &names_;
  // Name ids of programs (key: session), commands and values (key(plan, index)), and devices (id).
  std::unordered_map<uint64_t, uint32_t> programs_, commands_, values_, devices_;
  std::unordered_map<uint32_t, Run> runs_;
};

void CsvMaker::fillMemory(const Event &event, Row &row) {
  switch (event.type()) {
  case EventType::kAllocate:
  case EventType::kLiveBlock:
  case EventType::kMove:
  case EventType::kSpill:
  case EventType::kRestore:
    row.set(kSequence, event.block.sequence);
    row.set(kBlock, event.block.block);
    row.set(kSlab, event.block.slab, kNoSlab);
    if (event.block.slab != kNoSlab)
      row.set(kOffset, event.block.offsetBytes);
    row.set(kSize, event.block.sizeBytes);
    row.name = names_[event.block.name];
    break;
  case EventType::kRelease:
    row.set(kSequence, event.release.sequence);
    row.set(kBlock, event.release.block);
    break;
  case EventType::kSlab:
  case EventType::kSlabEnd:
  case EventType::kLiveSlab:
    row.set(kSequence, event.slab.sequence);
    row.set(kSlab, event.slab.slab);
    row.set(kSize, event.slab.sizeBytes);
    break;
  case EventType::kSnapshotBegin:
  case EventType::kSnapshotEnd:
    row.set(kSequence, event.snapshot.sequence);
    row.set(kSize, event.snapshot.sizeBytes);
    row.set(kDevice, event.snapshot.device);
    row.name = names_[event.snapshot.name];
    break;
  case EventType::kHeapTotals:
    row.set(kSequence, event.heapTotals.sequence, 0);
    row.set(kValue, event.heapTotals.kind);
    row.set(kUsed, event.heapTotals.liveBytes);
    row.set(kSize, event.heapTotals.reservedBytes);
    break;
  case EventType::kBudget:
    row.set(kDevice, event.budget.device);
    row.set(kValue, event.budget.deviceHeap);
    row.set(kUsed, event.budget.usedBytes);
    row.set(kBudget, event.budget.budgetBytes);
    row.set(kLimit, event.budget.limitBytes, UINT64_MAX);
    row.name = nameIn(devices_, event.budget.device);
    break;
  case EventType::kImport:
  case EventType::kImportEnd:
    row.set(kDevice, event.import.device);
    row.set(kSize, event.import.sizeBytes);
    row.name = names_[event.import.name];
    break;
  default:
    break;
  }
}

void CsvMaker::fillProgram(const Event &event, Row &row) {
  switch (event.type()) {
  case EventType::kSession:
  case EventType::kSessionEnd:
    row.set(kSession, event.session.session);
    row.set(kDevice, event.session.device);
    row.set(kSize, event.session.constantBytes);
    row.name = names_[event.session.program];
    break;
  case EventType::kPlan:
    row.set(kPlan, event.plan.plan);
    row.set(kSession, event.plan.session);
    row.set(kSize, event.plan.arenaBytes);
    row.name = names_[event.plan.shapes];
    break;
  case EventType::kPlanEntry:
    row.set(kPlan, event.planEntry.plan);
    row.set(kValue, event.planEntry.value);
    row.set(kOffset, event.planEntry.offsetBytes, UINT64_MAX);
    row.set(kSize, event.planEntry.sizeBytes);
    row.name = names_[event.planEntry.name];
    break;
  case EventType::kCommand:
    row.set(kPlan, event.command.plan);
    row.set(kCommand, event.command.command);
    row.name = names_[event.command.name];
    break;
  case EventType::kAccess:
    row.set(kPlan, event.access.plan);
    row.set(kCommand, event.access.command);
    row.set(kValue, event.access.value);
    row.name = nameIn(values_, key(event.access.plan, event.access.value));
    break;
  case EventType::kArena:
  case EventType::kArenaEnd:
    row.set(kSession, event.arena.session);
    row.set(kBlock, event.arena.block);
    row.set(kSize, event.arena.sizeBytes);
    row.name = names_[event.arena.name];
    break;
  default:
    break;
  }
}

void CsvMaker::fillRun(const Event &event, Row &row) {
  switch (event.type()) {
  case EventType::kRun:
  case EventType::kRunEnd:
    row.name = nameIn(programs_, event.run.session);
    row.set(kSession, event.run.session);
    row.set(kPlan, event.run.plan);
    if (const Run *run = setRun(event.run.run, row); run != nullptr && run->endNs)
      row.set(kDuration, *run->endNs - run->beginNs);
    break;
  case EventType::kDispatch:
    setWork(event.dispatch.run, event.dispatch.command, event.dispatch.device, event.dispatch.gpu,
            row);
    break;
  case EventType::kCopy:
    setWork(event.copy.run, event.copy.command, event.copy.device, event.copy.gpu, row);
    row.set(kSize, event.copy.sizeBytes);
    break;
  case EventType::kDonation:
    if (const Run *found = setRun(event.donation.run, row))
      row.name = nameIn(values_, key(found->plan, event.donation.value));
    row.set(kBlock, event.donation.block);
    row.set(kSize, event.donation.sizeBytes);
    row.set(kValue, event.donation.value);
    break;
  case EventType::kRunBinding:
    if (const Run *found = setRun(event.runBinding.run, row))
      row.name = nameIn(values_, key(found->plan, event.runBinding.value));
    row.set(kBlock, event.runBinding.block);
    row.set(kOffset, event.runBinding.offsetBytes);
    row.set(kValue, event.runBinding.value);
    break;
  default:
    break;
  }
}

void CsvMaker::fill(const Event &event, Row &row) {
  switch (event.type()) {
  case EventType::kProcess:
    row.name = names_[event.process.name];
    break;
  case EventType::kThread:
    row.name = names_[event.thread.name];
    break;
  case EventType::kDevice:
    row.set(kDevice, event.device.device);
    row.name = names_[event.device.name];
    break;
  case EventType::kDeviceHeap:
    row.set(kDevice, event.deviceHeap.device);
    row.set(kValue, event.deviceHeap.index);
    row.set(kSize, event.deviceHeap.sizeBytes);
    row.name = nameIn(devices_, event.deviceHeap.device);
    break;
  case EventType::kClock:
    row.set(kDevice, event.clock.device);
    break;
  case EventType::kDrops:
    row.set(kValue, event.drops.events);
    break;
  case EventType::kHeap:
  case EventType::kHeapEnd:
    row.set(kDevice, event.heap.device);
    row.name = names_[event.heap.name];
    break;
  case EventType::kSpanBegin:
  case EventType::kSpanEnd:
    row.name = names_[event.host.name];
    break;
  case EventType::kMark:
  case EventType::kCounter:
    row.numbers[kValue] = event.host.value;
    row.name = names_[event.host.name];
    break;
  default:
    fillMemory(event, row);
    fillProgram(event, row);
    fillRun(event, row);
  }
}

} // namespace

Status exportCsv(CaptureReader &reader, AtomicFile &file) {
  CsvMaker maker(reader.names());
  GANTRY_RETURN_IF_ERROR(forEachEvent(reader, [&](const Event &event) { maker.collect(event); }));
  ExportText out(file);
  out.add(kHeader);
  GANTRY_RETURN_IF_ERROR(
      forEachEvent(reader, [&](const Event &event) { out.add(maker.row(event)); }));
  return out.finish();
}

} // namespace gantry::trace
