// Implements openUnrun(): builds the trace events of an artifact that was never run.
#include "profiler_gui/model/capture/unrun_capture.h"

#include "engine/artifact/artifact.h"
#include "engine/base/device_profile.h"
#include "engine/plan/slots.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gantry::profiler {
namespace {

using namespace trace;

class UnrunCaptureBuilder {
public:
  /// `sizes` has the value of each of the program's size expressions (evaluateExprs() in
  /// engine/artifact/artifact.h). `shapes` has the values of its symbols as text.
  UnrunCaptureBuilder(const artifact::Program &program, std::vector<int64_t> sizes,
                      std::string shapes)
      : program_(program), sizes_(std::move(sizes)), shapes_(std::move(shapes)) {}

  Result<UnrunCapture> build() {
    GANTRY_RETURN_IF_ERROR(placeTransients());
    describeDevice();
    uint32_t variants = 1;
    for (const artifact::Kernel *kernel : *program_.kernels())
      variants = std::max(variants, kernel->variants()->size());
    for (uint32_t variant = 0; variant < variants; ++variant)
      addVariant(variant, variants);
    return std::move(capture_);
  }

private:
  /// Returns the id of a text, and adds the text to the name table if it is new.
  uint32_t name(const std::string &text) {
    const auto [found, isNew] = ids_.emplace(text, capture_.names.size());
    if (isNew)
      capture_.names.set(found->second, text);
    return found->second;
  }
  static std::string text(const flatbuffers::String *text) {
    return text != nullptr ? text->str() : std::string();
  }
  template <typename T> T event(EventType type) {
    T event = makeEvent<T>(type);
    event.header.timeNs = now_;
    event.header.thread = 1;
    return event;
  }
  template <typename T> void push(const T &event) { capture_.events.emplace_back(event); }
  uint64_t sizeOf(const artifact::Value &value) const {
    return static_cast<uint64_t>(sizes_[value.size()]);
  }
  uint64_t slotOffsetOf(const artifact::Value &value) const {
    return value.slot_offset() == UINT32_MAX ? 0
                                             : static_cast<uint64_t>(sizes_[value.slot_offset()]);
  }
  uint32_t commandCount() const { return program_.commands()->size(); }

  /// Sets the transients' offsets, the arena's size and its lower bound: those of the artifact, or
  /// those of a new plan if the program is dynamic and its sizes have no upper bounds.
  Status placeTransients() {
    arenaBytes_ = program_.arena_bytes();
    boundBytes_ = program_.lower_bound_bytes();
    offsets_.assign(program_.values()->size(), UINT64_MAX);
    std::unordered_map<uint32_t, size_t> itemOfSlot;
    std::vector<plan::Slot> items;
    for (uint32_t i = 0; i < program_.values()->size(); ++i) {
      const artifact::Value &value = *program_.values()->Get(i);
      if (value.storage() != artifact::Storage::transient)
        continue;
      offsets_[i] = value.byte_offset() + slotOffsetOf(value);
      if (!program_.dynamic() || program_.bounded())
        continue;
      const auto [found, isNew] = itemOfSlot.emplace(value.slot(), items.size());
      if (isNew)
        items.emplace_back();
      plan::Slot &item = items[found->second];
      item.alignment = std::max<uint64_t>(item.alignment, value.alignment());
      const Box box = artifact::hasBox(value) ? artifact::boxOf(value, sizes_)
                                              : boxOfRange(slotOffsetOf(value), sizeOf(value));
      if (!isValid(box))
        return statusf(StatusCode::kDataLoss,
                       "'%s' lies outside of its storage; the artifact is damaged, compile the "
                       "model again",
                       text(value.name()).c_str());
      const ByteRange range = rangeOf(box);
      item.uses.push_back({range.offset, range.sizeBytes, value.first_use(), value.last_use()});
    }
    if (!program_.dynamic() || program_.bounded())
      return Status::ok();
    GANTRY_ASSIGN_OR_RETURN(const plan::Plan planned, plan::planSlots(items));
    arenaBytes_ = planned.heightBytes;
    boundBytes_ = planned.lowerBoundBytes;
    for (uint32_t i = 0; i < program_.values()->size(); ++i) {
      const artifact::Value &value = *program_.values()->Get(i);
      if (value.storage() == artifact::Storage::transient)
        offsets_[i] = planned.offsets[itemOfSlot[value.slot()]] + slotOffsetOf(value);
    }
    return Status::ok();
  }

  void describeDevice() {
    ProcessEvent process = event<ProcessEvent>(EventType::kProcess);
    process.name = name(text(program_.name()) + ", not run");
    process.producer = name(text(program_.producer()));
    push(process);
    const std::string profile = text(program_.profile());
    DeviceEvent device = event<DeviceEvent>(EventType::kDevice);
    device.device = 1;
    device.name = name(profile);
    if (const Result<DeviceProfile> known = namedProfile(profile); known.isOk()) {
      device.sharedBytesLimit = known->maxSharedMemoryBytes;
      device.maxInvocations = known->maxWorkgroupInvocations;
      device.subgroupSize = known->subgroupSize;
    }
    push(device);
  }

  /// Returns the session's name: the program's name, the variant's number if there are several
  /// variants, and the way in which the variant binds buffers.
  std::string titleOf(uint32_t variant, uint32_t variants) const {
    std::string title = text(program_.name());
    if (variants > 1)
      title += " · variant " + std::to_string(variant + 1);
    for (const artifact::Kernel *kernel : *program_.kernels()) {
      if (variant < kernel->variants()->size()) {
        title += std::string(" · ") +
                 artifact::EnumNameBinding(kernel->variants()->Get(variant)->binding());
        break;
      }
    }
    return title;
  }

  /// Adds the session, the plan with its commands, and the run for one position in the kernels'
  /// lists of variants. They all have the id variant + 1.
  void addVariant(uint32_t variant, uint32_t variants) {
    const uint32_t id = variant + 1;
    SessionEvent session = event<SessionEvent>(EventType::kSession);
    session.session = id;
    session.device = 1;
    session.program = name(titleOf(variant, variants));
    session.source = name(text(program_.source()));
    session.profile = name(text(program_.profile()));
    session.constantBytes = program_.constant_bytes();
    push(session);
    PlanEvent plan = event<PlanEvent>(EventType::kPlan);
    plan.plan = id;
    plan.session = id;
    plan.arenaBytes = arenaBytes_;
    plan.lowerBoundBytes = boundBytes_;
    plan.peakCommand = program_.peak_command();
    plan.commands = commandCount();
    plan.entries = program_.values()->size();
    plan.shapes = name(shapes_);
    push(plan);
    for (uint32_t i = 0; i < program_.values()->size(); ++i)
      addEntry(id, i);
    for (uint32_t i = 0; i < commandCount(); ++i)
      addCommand(id, i, variant);
    addRun(id, variant);
  }

  void addEntry(uint32_t plan, uint32_t index) {
    const artifact::Value &value = *program_.values()->Get(index);
    PlanEntryEvent entry = event<PlanEntryEvent>(EventType::kPlanEntry);
    entry.plan = plan;
    entry.value = index;
    entry.sizeBytes = sizeOf(value);
    entry.offsetBytes =
        value.storage() == artifact::Storage::transient ? offsets_[index] : value.byte_offset();
    entry.firstUse = value.first_use();
    entry.lastUse = value.last_use();
    entry.name = name(text(value.name()));
    entry.op = name(text(value.op()));
    entry.slot = value.slot();
    // artifact::Storage has the same numbers as trace::EntryStorage.
    entry.storage = static_cast<uint8_t>(value.storage());
    push(entry);
  }

  /// Returns the kernel's variant with this index, or its last variant if it has fewer.
  static const artifact::KernelVariant &variantOf(const artifact::Kernel &kernel,
                                                  uint32_t variant) {
    return *kernel.variants()->Get(std::min(variant, kernel.variants()->size() - 1));
  }

  void addCommand(uint32_t plan, uint32_t index, uint32_t variant) {
    const artifact::Command &source = *program_.commands()->Get(index);
    CommandEvent command = event<CommandEvent>(EventType::kCommand);
    command.plan = plan;
    command.command = index;
    command.name = name(text(source.name()));
    command.location = name(text(source.location()));
    command.isCopy = source.kind() == artifact::CommandKind::copy ? 1 : 0;
    command.flops = static_cast<float>(sizes_[source.flops()]);
    command.bytesMoved = static_cast<float>(sizes_[source.bytes_moved()]);
    command.barrierBefore = source.barrier_before() ? 1 : 0;
    if (command.isCopy == 0) {
      const artifact::Kernel &kernel = *program_.kernels()->Get(source.kernel());
      const artifact::KernelVariant &chosen = variantOf(kernel, variant);
      const std::string tile = text(chosen.tile());
      const auto *size = chosen.workgroup_size();
      if (size == nullptr || size->size() != 3)
        size = kernel.workgroup_size();
      command.kernel = name(text(kernel.name()));
      command.tile = name(tile.empty() ? text(kernel.tile()) : tile);
      command.sharedBytes = chosen.shared_bytes();
      for (uint32_t axis = 0; axis < 3; ++axis)
        command.workgroupSize[axis] = static_cast<uint16_t>(size->Get(axis));
    }
    push(command);
    for (uint32_t i = 0; source.bindings() != nullptr && i < source.bindings()->size(); ++i) {
      AccessEvent access = event<AccessEvent>(EventType::kAccess);
      access.plan = plan;
      access.command = index;
      access.value = source.bindings()->Get(i);
      const bool copyTarget = command.isCopy != 0 && i == 1;
      const bool writes =
          source.writes() != nullptr && i < source.writes()->size() && source.writes()->Get(i) != 0;
      access.write = copyTarget || writes ? 1 : 0;
      push(access);
    }
  }

  void addRun(uint32_t id, uint32_t variant) {
    RunEvent run = event<RunEvent>(EventType::kRun);
    run.run = id;
    run.session = id;
    run.plan = id;
    push(run);
    const uint64_t end = now_ + kUnrunCommandNs * std::max(1u, commandCount());
    now_ = end;
    for (uint32_t i = 0; i < commandCount(); ++i) {
      const artifact::Command &source = *program_.commands()->Get(i);
      if (source.kind() == artifact::CommandKind::copy) {
        CopyEvent copy = event<CopyEvent>(EventType::kCopy);
        copy.run = id;
        copy.command = i;
        copy.device = 1;
        push(copy);
        continue;
      }
      DispatchEvent dispatch = event<DispatchEvent>(EventType::kDispatch);
      dispatch.run = id;
      dispatch.command = i;
      dispatch.device = 1;
      const artifact::Kernel &kernel = *program_.kernels()->Get(source.kernel());
      const artifact::KernelVariant &chosen = variantOf(kernel, variant);
      for (uint32_t axis = 0; axis < 3; ++axis)
        dispatch.workgroups[axis] =
            static_cast<uint32_t>(sizes_[artifact::workgroupCountOf(source, chosen, axis)]);
      push(dispatch);
    }
    run.header.type = EventType::kRunEnd;
    run.header.timeNs = now_;
    push(run);
    now_ += kUnrunCommandNs * 2;
  }

  const artifact::Program &program_;
  std::vector<int64_t> sizes_; // The value of each size expression.
  std::string shapes_;
  std::vector<uint64_t> offsets_; // The arena offset of each value; UINT64_MAX if not a transient.
  uint64_t arenaBytes_ = 0;
  uint64_t boundBytes_ = 0; // Lower bound of the arena's size.
  uint64_t now_ = 0;        // Time of the next event, in ns.
  UnrunCapture capture_;
  std::unordered_map<std::string, uint32_t> ids_ = {{"", 0}}; // Text to name id.
};

} // namespace

Result<UnrunCapture> openUnrun(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<artifact::Artifact> file,
                          artifact::Artifact::open(path));
  const artifact::Program &program = file->program();
  std::vector<int64_t> symbols;
  std::string shapes; // As in PlanEvent::shapes.
  for (const artifact::Symbol *symbol : *program.symbols()) {
    symbols.push_back(symbol->max() > 0 ? symbol->max() : std::max<int64_t>(1, symbol->min()));
    if (!shapes.empty())
      shapes.append(1, ' ');
    shapes.append(symbol->name()->str()).append(1, '=').append(std::to_string(symbols.back()));
  }
  GANTRY_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, artifact::evaluateExprs(program, symbols));
  return UnrunCaptureBuilder(program, std::move(sizes),
                             program.dynamic() ? std::move(shapes) : "fixed sizes")
      .build();
}

} // namespace gantry::profiler
