#include "tests/support/synthetic_capture.h"

#include "engine/base/align.h"
#include "engine/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace gantry::test {
namespace {

using namespace trace;

constexpr uint64_t kMiB = 1u << 20;
constexpr uint64_t kSlabBytes = 64 * kMiB;
constexpr uint64_t kDeviceClockAhead = 5'000'000'000; // Device time minus host time, in ns.

/// One tensor of the model, with its entry in the plan.
struct Tensor {
  std::string name, op;
  uint64_t sizeBytes;
  uint32_t firstUse, lastUse;
  EntryStorage storage = EntryStorage::kTransient;
  uint64_t offset = UINT64_MAX;
};

/// A command of the model. Each run executes all commands.
struct Step {
  std::string name;
  std::string kernel;
  uint32_t sharedBytes;
  uint64_t lengthNs;
  bool secondStream;
  std::vector<std::pair<uint32_t, bool>> accesses; // Tensor, and whether it is written.
};

class Maker {
public:
  explicit Maker(const SyntheticOptions &options) : options_(options), random_(options.seed) {}

  SyntheticCapture make() {
    describeProcess();
    makeModel();
    openSession();
    for (step_ = 0; step_ < options_.steps; ++step_)
      runStep();
    made_.liveBytesAtEnd = liveBytes_;
    std::stable_sort(made_.events.begin(), made_.events.end(), [](const Event &a, const Event &b) {
      return a.header.timeNs < b.header.timeNs;
    });
    return std::move(made_);
  }

private:
  // ---- events ----------------------------------------------------------------------------------
  uint32_t name(const std::string &text) {
    const auto [at, fresh] = ids_.emplace(text, made_.names.size());
    if (fresh)
      made_.names.set(at->second, text);
    return at->second;
  }
  template <typename T> T event(EventType type, uint64_t timeNs, uint16_t heap = 0) {
    T made = makeEvent<T>(type);
    made.header.timeNs = timeNs;
    made.header.heap = heap;
    made.header.thread = 1;
    return made;
  }
  template <typename T> void push(const T &told) { made_.events.emplace_back(told); }
  void tick(uint64_t ns) { now_ += ns; }

  // ---- memory ----------------------------------------------------------------------------------
  struct Held {
    uint32_t slab;
    uint64_t offset, sizeBytes;
  };
  uint64_t take(uint64_t sizeBytes, const std::string &what, const std::string &span) {
    const uint64_t need = roundUp(sizeBytes, 256);
    Held held{UINT32_MAX, 0, sizeBytes};
    for (uint32_t slab = 0; slab < free_.size() && held.slab == UINT32_MAX; ++slab) {
      for (auto range = free_[slab].begin(); range != free_[slab].end(); ++range) {
        if (range->second < need)
          continue;
        held.slab = slab;
        held.offset = range->first;
        const uint64_t rest = range->second - need;
        free_[slab].erase(range);
        if (rest > 0)
          free_[slab][held.offset + need] = rest;
        break;
      }
    }
    if (held.slab == UINT32_MAX) {
      held.slab = static_cast<uint32_t>(free_.size());
      const uint64_t size = std::max(kSlabBytes, roundUp(need, kMiB));
      SlabEvent slab = event<SlabEvent>(EventType::kSlab, now_, 1);
      slab.sequence = ++sequence_;
      slab.sizeBytes = size;
      slab.address = 0x7f0000000000 + held.slab * 0x100000000;
      slab.slab = held.slab;
      push(slab);
      tick(40000);
      free_.emplace_back();
      if (size > need)
        free_.back()[need] = size - need;
    }
    const uint64_t block = ++lastBlock_;
    held_[block] = held;
    liveBytes_ += sizeBytes;
    BlockEvent told = event<BlockEvent>(EventType::kAllocate, now_, 1);
    told.sequence = ++sequence_;
    told.block = block;
    told.offsetBytes = held.offset;
    told.sizeBytes = sizeBytes;
    told.slab = held.slab;
    told.name = name(what);
    told.span = name(span);
    push(told);
    tick(200 + random_.below(800));
    return block;
  }
  void give(uint64_t block) {
    const Held held = held_[block];
    held_.erase(block);
    liveBytes_ -= held.sizeBytes;
    auto &ranges = free_[held.slab];
    auto range = ranges.emplace(held.offset, roundUp(held.sizeBytes, 256)).first;
    if (const auto next = std::next(range);
        next != ranges.end() && range->first + range->second == next->first) {
      range->second += next->second;
      ranges.erase(next);
    }
    if (range != ranges.begin()) {
      const auto before = std::prev(range);
      if (before->first + before->second == range->first) {
        before->second += range->second;
        ranges.erase(range);
      }
    }
    ReleaseEvent told = event<ReleaseEvent>(EventType::kRelease, now_, 1);
    told.sequence = ++sequence_;
    told.block = block;
    push(told);
    tick(100 + random_.below(300));
  }

  // ---- the model -------------------------------------------------------------------------------
  uint32_t addTensor(const std::string &what, const std::string &op, uint64_t bytes,
                     EntryStorage storage = EntryStorage::kTransient) {
    tensors_.push_back({what, op, bytes, UINT32_MAX, 0, storage});
    return static_cast<uint32_t>(tensors_.size() - 1);
  }
  void addStep(const std::string &what, const std::string &kernel, uint32_t shared,
               std::vector<uint32_t> reads, std::vector<uint32_t> writes, bool second = false) {
    Step step{what, kernel, shared, 20000 + random_.below(180000), second, {}};
    const auto at = static_cast<uint32_t>(steps_.size());
    const auto touch = [&](uint32_t tensor, bool written) {
      step.accesses.emplace_back(tensor, written);
      tensors_[tensor].firstUse = std::min(tensors_[tensor].firstUse, at);
      tensors_[tensor].lastUse = std::max(tensors_[tensor].lastUse, at);
    };
    for (const uint32_t tensor : reads)
      touch(tensor, false);
    for (const uint32_t tensor : writes)
      touch(tensor, true);
    steps_.push_back(std::move(step));
  }

  /// Adds forward convolutions and their gradients. Each activation is kept until its
  /// gradient has been computed.
  void makeModel() {
    const uint32_t batch = addTensor("batch", "", 6 * kMiB, EntryStorage::kInput);
    const uint32_t loss = addTensor("loss", "SoftmaxCrossEntropy_0", 4096, EntryStorage::kOutput);
    std::vector<uint32_t> activations = {batch};
    std::vector<uint32_t> weights;
    for (uint32_t layer = 0; layer < options_.layers; ++layer) {
      const std::string number = std::to_string(layer);
      const uint64_t bytes = (1 + random_.below(24)) * kMiB / 4 + 256 * random_.below(64);
      weights.push_back(addTensor("conv" + number + ".weight", "",
                                  (1 + random_.below(12)) * kMiB / 8, EntryStorage::kConstant));
      const std::string op = "Conv_" + number + " + Relu_" + number;
      const uint32_t out = addTensor("relu" + number + "_out", op, bytes);
      addStep(op, "conv3x3_tile32", 8192 + 1024 * random_.below(24),
              {activations.back(), weights[layer]}, {out});
      activations.push_back(out);
    }
    uint32_t gradient = addTensor("grad_logits", "SoftmaxCrossEntropyGrad_0", kMiB);
    addStep("SoftmaxCrossEntropy_0", "softmax_rows", 2048, {activations.back()}, {loss, gradient});
    for (uint32_t layer = options_.layers; layer-- > 0;) {
      const std::string number = std::to_string(layer);
      const std::string op = "ConvGradInput_" + number;
      const uint32_t columns =
          addTensor("im2col" + number, "Im2Col_" + number, (1 + random_.below(16)) * kMiB / 2);
      addStep("Im2Col_" + number, "im2col", 0, {activations[layer]}, {columns});
      const uint32_t next =
          addTensor("grad_relu" + number, op, tensors_[activations[layer]].sizeBytes);
      addStep(op, "conv3x3_grad", 16384 + 1024 * random_.below(32),
              {gradient, weights[layer], activations[layer + 1]}, {next});
      addStep("ConvGradWeight_" + number, "matmul_tile64", 24576 + 1024 * random_.below(8),
              {columns, gradient}, {weights[layer]}, options_.twoStreams);
      gradient = next;
    }
    std::vector<plan::Value> values;
    std::vector<uint32_t> placed;
    for (uint32_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].storage != EntryStorage::kTransient)
        continue;
      values.push_back({tensors_[i].sizeBytes, 256, tensors_[i].firstUse, tensors_[i].lastUse});
      placed.push_back(i);
    }
    plan_ = plan::planArena(values).take();
    for (size_t i = 0; i < placed.size(); ++i)
      tensors_[placed[i]].offset = plan_.offsets[i];
  }

  // ---- the capture -----------------------------------------------------------------------------
  void describeProcess() {
    ProcessEvent process = event<ProcessEvent>(EventType::kProcess, 0);
    process.processId = 4242;
    process.name = name("train_convnet");
    process.commandLine = name("train_convnet --batch 32");
    process.producer = name("gantry 0.1.0");
    push(process);
    DeviceEvent device = event<DeviceEvent>(EventType::kDevice, 0);
    device.device = 1;
    device.name = name("Example GPU (synthetic)");
    device.driver = name("synthetic");
    device.backend = name("vulkan");
    device.maxAllocationBytes = 1u << 30;
    device.sharedBytesLimit = 49152;
    device.maxInvocations = 1024;
    device.subgroupSize = 32;
    device.memoryHeaps = 1;
    push(device);
    DeviceHeapEvent memory = event<DeviceHeapEvent>(EventType::kDeviceHeap, 0);
    memory.device = 1;
    memory.sizeBytes = 512 * kMiB;
    memory.deviceLocal = 1;
    push(memory);
    HeapEvent heap = event<HeapEvent>(EventType::kHeap, 0, 1);
    heap.device = 1;
    heap.name = name("device memory");
    push(heap);
    if (options_.quietNs > 0) {
      HeapEvent unused = event<HeapEvent>(EventType::kHeap, 0, 2);
      unused.device = 1;
      unused.name = name("never used");
      push(unused);
    }
    budget(0, 320 * kMiB);
    clock(1000);
  }
  void budget(uint64_t timeNs, uint64_t bytes) {
    BudgetEvent told = event<BudgetEvent>(EventType::kBudget, timeNs);
    told.device = 1;
    told.budgetBytes = bytes;
    told.usedBytes = liveBytes_;
    told.limitBytes = UINT64_MAX;
    push(told);
  }
  void clock(uint64_t timeNs) {
    ClockEvent told = event<ClockEvent>(EventType::kClock, timeNs);
    told.device = 1;
    told.source = 1;
    told.hostNs = timeNs;
    told.deviceNs = timeNs + kDeviceClockAhead;
    told.errorNs = 850;
    push(told);
  }
  void openSession() {
    now_ = options_.quietNs + 500000;
    SessionEvent session = event<SessionEvent>(EventType::kSession, now_, 1);
    session.session = 1;
    session.device = 1;
    session.program = name("convnet");
    session.source = name("convnet.onnx");
    session.profile = name("vulkan:generic");
    for (const Tensor &tensor : tensors_)
      session.constantBytes += tensor.storage == EntryStorage::kConstant ? tensor.sizeBytes : 0;
    push(session);
    arena(take(session.constantBytes, "constants", "load convnet"), session.constantBytes,
          "constants");
    arenaBlock_ = take(plan_.heightBytes, "arena", "open session");
    arena(arenaBlock_, plan_.heightBytes, "arena");

    PlanEvent plan = event<PlanEvent>(EventType::kPlan, now_);
    plan.plan = 1;
    plan.session = 1;
    plan.arenaBytes = plan_.heightBytes;
    plan.lowerBoundBytes = plan_.lowerBoundBytes;
    plan.peakCommand = plan_.peakCommand;
    plan.commands = static_cast<uint32_t>(steps_.size());
    plan.entries = static_cast<uint32_t>(tensors_.size());
    plan.shapes = name("batch=32");
    push(plan);
    uint64_t constantOffset = 0;
    for (uint32_t i = 0; i < tensors_.size(); ++i) {
      const Tensor &tensor = tensors_[i];
      PlanEntryEvent entry = event<PlanEntryEvent>(EventType::kPlanEntry, now_);
      entry.plan = 1;
      entry.value = i;
      entry.sizeBytes = tensor.sizeBytes;
      entry.offsetBytes = tensor.offset;
      if (tensor.storage == EntryStorage::kConstant) {
        entry.offsetBytes = constantOffset;
        constantOffset += tensor.sizeBytes;
      }
      entry.firstUse = tensor.firstUse;
      entry.lastUse = tensor.lastUse;
      entry.name = name(tensor.name);
      entry.op = name(tensor.op);
      entry.slot = i;
      entry.storage = static_cast<uint8_t>(tensor.storage);
      push(entry);
    }
    for (uint32_t i = 0; i < steps_.size(); ++i)
      describeCommand(i);
  }
  void describeCommand(uint32_t i) {
    CommandEvent command = event<CommandEvent>(EventType::kCommand, now_);
    command.plan = 1;
    command.command = i;
    command.name = name(steps_[i].name);
    command.location = name("convnet.onnx:" + std::to_string(12 + 3 * i));
    command.kernel = name(steps_[i].kernel);
    command.sharedBytes = steps_[i].sharedBytes;
    command.registers = 32 + 8 * random_.below(8);
    command.flops = static_cast<float>(steps_[i].lengthNs) * 900.0f;
    command.bytesMoved = static_cast<float>(steps_[i].lengthNs) * 60.0f;
    command.workgroupSize[0] = 128;
    command.workgroupSize[1] = command.workgroupSize[2] = 1;
    command.barrierBefore = steps_[i].secondStream ? 0 : 1;
    command.tile = name("tile 64x64x16");
    push(command);
    for (const auto &[tensor, written] : steps_[i].accesses) {
      AccessEvent access = event<AccessEvent>(EventType::kAccess, now_);
      access.plan = 1;
      access.command = i;
      access.value = tensor;
      access.write = written ? 1 : 0;
      push(access);
    }
  }
  void arena(uint64_t block, uint64_t bytes, const char *what) {
    ArenaEvent told = event<ArenaEvent>(EventType::kArena, now_, 1);
    told.block = block;
    told.sizeBytes = bytes;
    told.session = 1;
    told.name = name(what);
    push(told);
  }
  void span(EventType type, const char *what) {
    HostEvent told = event<HostEvent>(type, now_);
    told.name = name(what);
    push(told);
  }
  void bind(uint32_t run, uint32_t value, uint64_t block, uint64_t offset) {
    RunBindingEvent told = event<RunBindingEvent>(EventType::kRunBinding, now_, 1);
    told.block = block;
    told.offsetBytes = offset;
    told.run = run;
    told.value = value;
    push(told);
  }

  bool faultyStep() const { return step_ == options_.steps / 2; }

  void runStep() {
    const uint32_t run = step_ + 1;
    span(EventType::kSpanBegin, "step");
    span(EventType::kSpanBegin, "load batch");
    std::vector<uint64_t> scratch;
    for (uint32_t i = 0; i < options_.scratchPerStep; ++i) {
      const auto bytes = static_cast<uint64_t>(std::exp2(8 + random_.unit() * 10));
      scratch.push_back(take(bytes, "decode scratch", "load batch"));
      tick(random_.below(20000));
      if (scratch.size() > 12 || random_.below(3) == 0) {
        const uint32_t which = random_.below(scratch.size());
        give(scratch[which]);
        scratch.erase(scratch.begin() + which);
      }
    }
    const uint64_t batch = take(tensors_[0].sizeBytes, "batch", "load batch");
    for (const uint64_t block : scratch)
      give(block);
    span(EventType::kSpanEnd, "load batch");
    if (step_ < 3)
      take(512 * 1024 + 4096 * random_.below(64), "augmentation cache", "warm up");
    const bool oversize = options_.fault == Fault::kOversize && faultyStep();
    const uint64_t loss = take(oversize ? 4 * kMiB : tensors_[1].sizeBytes, "loss", "run");
    if (oversize)
      made_.expectedOp = tensors_[1].op;

    RunEvent begin = event<RunEvent>(EventType::kRun, now_);
    begin.run = run;
    begin.session = 1;
    begin.plan = 1;
    begin.ticket = run;
    push(begin);
    bind(run, 0, batch, 0);
    bind(run, 1, loss, 0);
    bindFaults(run);
    DonationEvent donation = event<DonationEvent>(EventType::kDonation, now_, 1);
    donation.block = batch;
    donation.sizeBytes = tensors_[0].sizeBytes;
    donation.run = run;
    donation.value = 0;
    push(donation);
    tick(30000);
    runDispatches(run, batch);
    RunEvent end = begin;
    end.header.type = EventType::kRunEnd;
    end.header.timeNs = now_;
    push(end);
    tick(5000);
    if (keptBatch_ != 0 && options_.fault == Fault::kLateFree && !faultyStep()) {
      give(keptBatch_);
      keptBatch_ = 0;
    }
    if (faultyStep() &&
        (options_.fault == Fault::kLateFree || options_.fault == Fault::kDonationKept)) {
      keptBatch_ = batch;
      made_.expectedOp = steps_[tensors_[0].lastUse].name;
    }
    if (options_.fault == Fault::kLeak) {
      take(options_.leakBytes, "gradient norm", "log metrics");
      made_.expectedOp = "log metrics";
    }
    give(loss);
    clock(now_);
    tick(100000 + random_.below(200000));
    span(EventType::kSpanEnd, "step");
  }

  /// Applies the faults kOffsetShifted and kIllegalAlias: adds a RunBindingEvent (the block and
  /// offset of a value in a run) that gives a transient another offset than the planned one.
  void bindFaults(uint32_t run) {
    if (!faultyStep())
      return;
    std::vector<uint32_t> placed;
    for (uint32_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].storage == EntryStorage::kTransient)
        placed.push_back(i);
    }
    if (options_.fault == Fault::kOffsetShifted) {
      // The new offset lies above all planned tensors, so that it overlaps no tensor.
      const uint32_t value = placed[random_.below(placed.size())];
      bind(run, value, arenaBlock_, plan_.heightBytes + 4096);
      made_.expectedOp = tensors_[value].op;
    }
    if (options_.fault == Fault::kIllegalAlias) {
      for (const uint32_t value : placed) {
        const uint32_t other = placed[random_.below(placed.size())];
        const bool together = tensors_[value].firstUse <= tensors_[other].lastUse &&
                              tensors_[other].firstUse <= tensors_[value].lastUse;
        if (other == value || !together)
          continue;
        // The later tensor gets the offset of the earlier one, so that they overlap.
        const uint32_t late = tensors_[value].firstUse < tensors_[other].firstUse ? other : value;
        const uint32_t early = late == value ? other : value;
        bind(run, late, arenaBlock_, tensors_[early].offset);
        made_.expectedOp = tensors_[late].op;
        return;
      }
    }
  }

  void runDispatches(uint32_t run, uint64_t batch) {
    const uint64_t begin = now_;
    uint64_t main = begin;
    uint64_t batchDone = 0;
    GpuTimes before{begin, begin};
    std::vector<DispatchEvent> told;
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      const uint64_t length = steps_[i].lengthNs * (95 + random_.below(10)) / 100;
      // A dispatch of the second stream runs during the previous dispatch and does not outlast it.
      // If it did, the next dispatch could overwrite bytes that it still reads, because the plan
      // assumes that dispatches run one after another.
      GpuTimes times{main, main + length};
      if (steps_[i].secondStream)
        times = {before.beginNs, std::min(before.beginNs + length, before.endNs)};
      else
        main = times.endNs + 900;
      before = times;
      DispatchEvent dispatch = event<DispatchEvent>(EventType::kDispatch, 0);
      dispatch.run = run;
      dispatch.command = i;
      dispatch.workgroups[0] = 64 + 16 * (i % 7);
      dispatch.workgroups[1] = 4;
      dispatch.workgroups[2] = 1;
      dispatch.device = 1;
      dispatch.gpu = {times.beginNs + kDeviceClockAhead, times.endNs + kDeviceClockAhead};
      if (i == tensors_[0].lastUse)
        batchDone = times.endNs;
      told.push_back(dispatch);
    }
    now_ = main + 2000;
    const bool kept = faultyStep() && (options_.fault == Fault::kLateFree ||
                                       options_.fault == Fault::kDonationKept);
    if (!kept) {
      // The batch is donated, so it is freed when its last reader has finished, during the run.
      const uint64_t after = now_;
      now_ = std::max(batchDone, begin);
      give(batch);
      now_ = after;
    }
    for (DispatchEvent &dispatch : told) {
      dispatch.header.timeNs = now_;
      push(dispatch);
    }
  }

  SyntheticOptions options_;
  plan::Random random_;
  SyntheticCapture made_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<std::map<uint64_t, uint64_t>> free_; // Per slab: free bytes by offset.
  std::unordered_map<uint64_t, Held> held_;
  std::vector<Tensor> tensors_;
  std::vector<Step> steps_;
  plan::Plan plan_;
  uint64_t now_ = 0;
  uint64_t sequence_ = 0;
  uint64_t lastBlock_ = 0;
  uint64_t liveBytes_ = 0;
  uint64_t arenaBlock_ = 0;
  uint64_t keptBatch_ = 0;
  uint32_t step_ = 0;
};

} // namespace

SyntheticCapture makeSyntheticCapture(const SyntheticOptions &options) {
  return Maker(options).make();
}

Status SyntheticCapture::save(const std::string &path) const {
  GANTRY_ASSIGN_OR_RETURN(const std::unique_ptr<trace::CaptureWriter> writer,
                          trace::CaptureWriter::create(path));
  for (uint32_t id = 0; id < names.size(); ++id)
    writer->setName(id, names[id]);
  GANTRY_RETURN_IF_ERROR(writer->append(events));
  return writer->finish();
}

} // namespace gantry::test
