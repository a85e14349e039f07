// Layout and upload of constants.
#include "engine/program/constants.h"
#include "engine/base/align.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace gantry::program {

namespace {

constexpr uint64_t kStagingBytes = uint64_t{16} << 20;
constexpr uint64_t kAlignment = artifact::kConstantAlignment;

/// Returns a constant's size in bytes. It never depends on symbols (sizes that each run may
/// choose); the reader of artifacts checks that.
uint64_t sizeOf(const Program &program, uint32_t value) {
  const artifact::Value &constant = *program.metadata().values()->Get(value);
  return static_cast<uint64_t>(program.knownExprs()[constant.size()].value_or(0));
}

/// Submits a command list and waits until it is done.
Status finish(device::Device &device, device::CommandList &list) {
  GANTRY_RETURN_IF_ERROR(list.end());
  GANTRY_ASSIGN_OR_RETURN(const uint64_t ticket, device.submit(list));
  return device.wait(ticket, UINT64_MAX).status();
}

/// Collects bytes in the staging buffer and copies them to their targets when it is full.
class Uploader {
public:
  Uploader(device::Device &device, const Storage &staging) : device_(device), staging_(staging) {}

  Status add(std::span<const uint8_t> bytes, const Storage &target, uint64_t offset) {
    while (!bytes.empty()) {
      if (used_ == staging_.sizeBytes())
        GANTRY_RETURN_IF_ERROR(flush());
      const uint64_t size = std::min<uint64_t>(bytes.size(), staging_.sizeBytes() - used_);
      std::memcpy(staging_.mapped() + used_, bytes.data(), size);
      copies_.push_back({&target, offset, used_, size});
      used_ += size;
      offset += size;
      bytes = bytes.subspan(size);
    }
    return {};
  }

  Status flush() {
    if (copies_.empty())
      return {};
    GANTRY_ASSIGN_OR_RETURN(auto list, device_.createCommandList());
    GANTRY_RETURN_IF_ERROR(list->begin({}));
    for (const Copy &copy : copies_) {
      const device::BufferRange target = copy.target->range(copy.targetOffset, copy.size);
      GANTRY_RETURN_IF_ERROR(list->copy(staging_.range(copy.stagingOffset, copy.size),
                                        *target.memory, target.offsetBytes));
    }
    copies_.clear();
    used_ = 0;
    return finish(device_, *list);
  }

private:
  struct Copy {
    const Storage *target;
    uint64_t targetOffset;
    uint64_t stagingOffset;
    uint64_t size;
  };
  device::Device &device_;
  const Storage &staging_;
  uint64_t used_ = 0;
  std::vector<Copy> copies_;
};

/// Returns for each value whether it is the first value of a state and no command reads it. Only
/// the State object (states/state.h) uploads such a constant; the session needs no copy.
std::vector<bool> onlyFirstValues(const Program &program) {
  std::vector<bool> only(program.metadata().values()->size(), false);
  bool any = false;
  for (const StatePort &state : program.states())
    if (state.initial)
      any = only[*state.initial] = true;
  if (any)
    for (const artifact::Command *command : *program.metadata().commands())
      for (uint32_t value : *command->bindings())
        only[value] = false;
  return only;
}

} // namespace

Result<ConstantLayout> layoutConstants(const Program &program, uint64_t maxBytes) {
  const auto &values = *program.metadata().values();
  const std::vector<bool> left = onlyFirstValues(program);
  ConstantLayout layout;
  layout.places.resize(values.size());
  std::vector<uint32_t> stored, fills;
  for (uint32_t i = 0; i < values.size(); ++i) {
    const artifact::Value &value = *values.Get(i);
    if (value.storage() != artifact::Storage::constant || left[i])
      continue;
    if (sizeOf(program, i) > maxBytes - kAlignment)
      return statusf(StatusCode::kUnsupported,
                     "constant '%s' has %" PRIu64 " bytes; a constant can have at most %" PRIu64
                     " on this device",
                     value.name()->c_str(), sizeOf(program, i), maxBytes - kAlignment);
    (value.fill() ? fills : stored).push_back(i);
  }
  auto offsetOf = [&](uint32_t i) { return values.Get(i)->byte_offset(); };
  std::stable_sort(stored.begin(), stored.end(),
                   [&](uint32_t a, uint32_t b) { return offsetOf(a) < offsetOf(b); });

  for (uint32_t i : stored) {
    const uint64_t begin = offsetOf(i), end = begin + sizeOf(program, i);
    const uint64_t from = begin / kAlignment * kAlignment;
    const ConstantLayout::SectionRange *last =
        layout.ranges.empty() ? nullptr : &layout.ranges.back();
    // Gaps between the ranges hold constants of other variants, or first values that only a State
    // needs, and are not copied. Constants can overlap in the section, because equal bytes are
    // stored once; such constants share a range. If they do not fit into one block, each block gets
    // its own copy of the common bytes, so that no constant spans two blocks.
    const bool joins = last && begin <= roundUp(last->sectionEnd, kAlignment);
    const uint64_t grown =
        joins ? last->offset + std::max(last->sectionEnd, end) - last->sectionBegin
              : (layout.blocks.empty() ? 0 : layout.blocks.back().sizeBytes) + end - from;
    const bool fits = !layout.blocks.empty() && grown <= maxBytes - kAlignment;
    if (!fits)
      layout.blocks.push_back({});
    const auto index = static_cast<uint32_t>(layout.blocks.size() - 1);
    ConstantLayout::Block &block = layout.blocks.back();
    if (!fits || !joins)
      layout.ranges.push_back({from, end, index, block.sizeBytes});
    ConstantLayout::SectionRange &range = layout.ranges.back();
    range.sectionEnd = std::max(range.sectionEnd, end);
    block.sizeBytes = roundUp(range.offset + range.sectionEnd - range.sectionBegin, kAlignment);
    layout.places[i] = {index, range.offset + begin - range.sectionBegin};
  }
  bool first = true;
  for (uint32_t i : fills) {
    const uint64_t size = roundUp(sizeOf(program, i), kAlignment);
    if (first || layout.blocks.back().sizeBytes + size > maxBytes)
      layout.blocks.push_back({});
    first = false;
    layout.places[i] = {static_cast<uint32_t>(layout.blocks.size() - 1),
                        layout.blocks.back().sizeBytes};
    layout.blocks.back().sizeBytes += size;
  }
  for (ConstantLayout::Block &block : layout.blocks)
    block.sizeBytes = std::max(block.sizeBytes, kAlignment);
  return layout;
}

Result<Constants> Constants::upload(const Program &program,
                                    const std::shared_ptr<heap::Heap> &heap) {
  device::Device &device = heap->device();
  Constants constants;
  GANTRY_ASSIGN_OR_RETURN(constants.layout_,
                          layoutConstants(program, device.profile().maxAllocationBytes));
  const ConstantLayout &layout = constants.layout_;
  for (const ConstantLayout::Block &block : layout.blocks) {
    GANTRY_ASSIGN_OR_RETURN(auto storage, Storage::allocate(heap, device::MemoryKind::kDevice,
                                                            block.sizeBytes, "constants"));
    constants.blocks_.push_back(std::move(storage));
  }

  uint64_t storedBytes = 0;
  for (const ConstantLayout::SectionRange &range : layout.ranges)
    storedBytes += range.sectionEnd - range.sectionBegin;
  if (storedBytes > 0) {
    GANTRY_ASSIGN_OR_RETURN(auto staging,
                            Storage::allocate(heap, device::MemoryKind::kUpload,
                                              std::min(kStagingBytes, storedBytes), "staging"));
    Uploader uploader(device, staging);
    auto addChunk = [&](uint64_t chunkOffset, std::span<const uint8_t> bytes) -> Status {
      for (const ConstantLayout::SectionRange &range : layout.ranges) {
        const uint64_t begin = std::max(chunkOffset, range.sectionBegin);
        const uint64_t end = std::min(chunkOffset + bytes.size(), range.sectionEnd);
        if (begin < end)
          GANTRY_RETURN_IF_ERROR(uploader.add(bytes.subspan(begin - chunkOffset, end - begin),
                                              constants.blocks_[range.block],
                                              range.offset + begin - range.sectionBegin));
      }
      return {};
    };
    auto isUsed = [&](uint64_t offset, uint64_t size) {
      return std::any_of(layout.ranges.begin(), layout.ranges.end(),
                         [&](const ConstantLayout::SectionRange &range) {
                           return offset < range.sectionEnd && range.sectionBegin < offset + size;
                         });
    };
    GANTRY_RETURN_IF_ERROR(program.artifact().readConstants(addChunk, isUsed));
    GANTRY_RETURN_IF_ERROR(uploader.flush());
  }

  GANTRY_ASSIGN_OR_RETURN(auto list, device.createCommandList());
  GANTRY_RETURN_IF_ERROR(list->begin({}));
  bool anyFill = false;
  for (uint32_t i = 0; i < program.metadata().values()->size(); ++i) {
    const artifact::Value &value = *program.metadata().values()->Get(i);
    const uint64_t size = value.fill() ? sizeOf(program, i) : 0;
    if (size == 0 || layout.places[i].block == UINT32_MAX)
      continue;
    GANTRY_RETURN_IF_ERROR(list->fill(constants.find(i, size), value.fill_word()));
    anyFill = true;
  }
  if (anyFill)
    GANTRY_RETURN_IF_ERROR(finish(device, *list));
  return constants;
}

uint64_t Constants::reservedBytes() const {
  uint64_t bytes = 0;
  for (const auto &block : blocks_)
    bytes += block.sizeBytes();
  return bytes;
}

} // namespace gantry::program
