// States: their buffers, values and conditions.
#include "engine/program/states/state.h"

#include "engine/base/align.h"
#include "engine/base/file.h"
#include "engine/base/out_of_memory.h"
#include "engine/program/session.h"
#include "engine/program/states/state_file.h"
#include "engine/program/states/transfer.h"

#include <algorithm>
#include <cinttypes>

namespace gantry::program {

namespace {

/// Returns the bytes of a constant of the artifact, after a check of their checksums.
Result<std::vector<uint8_t>> readConstant(const Program &program, uint32_t index) {
  const artifact::Value &value = *program.metadata().values()->Get(index);
  const auto size = static_cast<uint64_t>(program.knownExprs()[value.size()].value_or(0));
  std::vector<uint8_t> bytes;
  GANTRY_RETURN_IF_ERROR(tryResize(bytes, size, "a state's first value"));
  if (value.fill()) {
    for (uint64_t i = 0; i < size; ++i)
      bytes[i] = static_cast<uint8_t>(value.fill_word() >> (8 * (i % 4)));
    return bytes;
  }
  const uint64_t begin = value.byte_offset();
  const auto take = [&](uint64_t offset, std::span<const uint8_t> chunk) {
    const uint64_t from = std::max(offset, begin);
    const uint64_t to = std::min(offset + chunk.size(), begin + size);
    if (from < to)
      std::copy_n(chunk.begin() + static_cast<ptrdiff_t>(from - offset), to - from,
                  bytes.begin() + static_cast<ptrdiff_t>(from - begin));
    return Status::ok();
  };
  const auto isWanted = [&](uint64_t offset, uint64_t length) {
    return offset < begin + size && begin < offset + length;
  };
  GANTRY_RETURN_IF_ERROR(program.artifact().readConstants(take, isWanted));
  return bytes;
}

bool isStatic(const std::vector<int64_t> &dims) {
  return std::find(dims.begin(), dims.end(), kDynamic) == dims.end();
}

} // namespace

device::MemoryKind State::kindFor(const device::Device &device) {
  return device.info().unifiedMemory && device.info().kind != device::DeviceKind::kDiscrete
             ? device::MemoryKind::kUnified
             : device::MemoryKind::kDevice;
}

Result<std::shared_ptr<State>>
State::create(const Program &program, std::shared_ptr<heap::Heap> heap, device::MemoryKind kind) {
  if (program.states().empty())
    return Status(StatusCode::kFailedPrecondition,
                  "the program has no states; declare them when the model is compiled (gantry "
                  "compile --state INPUT=OUTPUT)");
  std::shared_ptr<State> state(new State(std::move(heap)));
  for (const StatePort &source : program.states()) {
    const Port &port = program.inputs()[source.input];
    Entry entry;
    entry.name = source.name;
    entry.portDims = port.dims;
    entry.shape.type = port.type;
    entry.capacityBytes = source.capacityBytes;
    entry.order = source.order;
    if (isStatic(port.dims)) {
      entry.shape.dims = port.dims;
      GANTRY_ASSIGN_OR_RETURN(entry.sizeBytes, byteSize(entry.shape, entry.name));
    }
    GANTRY_ASSIGN_OR_RETURN(entry.buffer,
                            Storage::allocate(state->heap_, kind,
                                              std::max<uint64_t>(entry.capacityBytes, 1),
                                              "state " + entry.name));
    state->entries_.push_back(std::move(entry));
  }
  GANTRY_RETURN_IF_ERROR(state->writeInitial(program));
  return state;
}

Status State::writeInitial(const Program &program) {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const std::optional<uint32_t> initial = program.states()[i].initial;
    if (!initial)
      continue;
    GANTRY_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, readConstant(program, *initial));
    GANTRY_RETURN_IF_ERROR(write(i, entries_[i].shape, bytes));
  }
  return {};
}

Result<size_t> State::find(std::string_view name) const {
  std::string known;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].name == name)
      return i;
    known += (known.empty() ? "'" : ", '") + entries_[i].name + "'";
  }
  return Status(StatusCode::kNotFound,
                "there is no state '" + std::string(name) + "'; there are " + known);
}

// ---- conditions --------------------------------------------------------------------------------

void State::refresh() {
  const device::Device &device = heap_->device();
  if (!device.isLost())
    return;
  for (size_t i = 0; i < entries_.size(); ++i)
    invalidate(i, Status(StatusCode::kDeviceLost,
                         "the device '" + device.info().name + "' was lost, with its memory"));
}

void State::settle() {
  std::vector<std::weak_ptr<Run>> runs;
  runs.swap(runs_);
  for (const std::weak_ptr<Run> &run : runs)
    if (const std::shared_ptr<Run> alive = run.lock())
      (void)alive->wait(UINT64_MAX); // A failed run invalidates its entries.
  refresh();
}

void State::noteRun(const std::shared_ptr<Run> &run) {
  std::erase_if(runs_, [](const std::weak_ptr<Run> &old) {
    const std::shared_ptr<Run> alive = old.lock();
    return !alive || alive->hasEnded();
  });
  runs_.push_back(run);
}

void State::setShape(size_t index, const OutputShape &shape) {
  entries_[index].shape = shape.shape;
  entries_[index].sizeBytes = shape.sizeBytes;
}

void State::invalidate(size_t index, const Status &cause) {
  Entry &entry = entries_[index];
  if (entry.condition == Condition::kInvalid)
    return;
  if (entry.condition == Condition::kUnset && cause.code() != StatusCode::kDeviceLost)
    return; // An entry without a value stays unset.
  entry.condition = Condition::kInvalid;
  entry.cause = cause;
}

Status State::check(size_t index) {
  refresh();
  const Entry &entry = entries_[index];
  switch (entry.condition) {
  case Condition::kValid:
    return {};
  case Condition::kUnset:
    return Status(StatusCode::kFailedPrecondition,
                  "the state '" + entry.name +
                      "' has no value yet; write one (gantry_state_write) or restore a save "
                      "(gantry_state_restore)");
  case Condition::kInvalid:
    break;
  }
  const bool lost = heap_->device().isLost();
  return Status(lost ? StatusCode::kDeviceLost : StatusCode::kFailedPrecondition,
                "the state '" + entry.name + "' is not valid: " + entry.cause.message() +
                    (lost ? "; open the device again, create a session, and restore the last save "
                            "(gantry_state_restore)"
                          : "; restore a save (gantry_state_restore) or write a new value "
                            "(gantry_state_write)"));
}

// ---- values ------------------------------------------------------------------------------------

std::string State::portText(const Entry &entry) {
  Port port;
  port.type = entry.shape.type;
  port.dims = entry.portDims;
  port.dimNames.resize(port.dims.size());
  return shapeText(port);
}

Status State::checkShape(const Entry &entry, const TensorShape &shape, uint64_t sizeBytes) const {
  bool fits = shape.type == entry.shape.type && shape.dims.size() == entry.portDims.size();
  for (size_t d = 0; fits && d < shape.dims.size(); ++d)
    fits =
        shape.dims[d] >= 0 && (entry.portDims[d] == kDynamic || entry.portDims[d] == shape.dims[d]);
  if (!fits) {
    return statusf(StatusCode::kInvalidArgument, "the state '%s' must be %s, not %s",
                   entry.name.c_str(), portText(entry).c_str(), shapeText(shape).c_str());
  }
  GANTRY_ASSIGN_OR_RETURN(const uint64_t needed, byteSize(shape, entry.name));
  if (needed > entry.capacityBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' has room for %" PRIu64 " bytes, but %s has %" PRIu64,
                   entry.name.c_str(), entry.capacityBytes, shapeText(shape).c_str(), needed);
  if (sizeBytes != needed)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s': %" PRIu64 " bytes given, but %s has %" PRIu64,
                   entry.name.c_str(), sizeBytes, shapeText(shape).c_str(), needed);
  return {};
}

Status State::store(Entry &entry, const TensorShape &shape, std::span<const uint8_t> bytes,
                    bool &isTouched) {
  std::vector<uint8_t> ordered;
  if (!entry.order.empty()) {
    GANTRY_RETURN_IF_ERROR(tryResize(ordered, bytes.size(), "a state"));
    permuteDims(bytes, shape.dims, entry.order, artifact::elementSize(shape.type), ordered);
    bytes = ordered;
  }
  Status copied = writeBuffer(heap_, entry.buffer, entry.offset, bytes, isTouched);
  if (!copied.isOk()) {
    if (!isTouched)
      return copied;
    entry.condition = Condition::kInvalid;
    entry.cause = Status(copied.code(), "a write of its value failed (" + copied.message() + ")");
    return copied;
  }
  entry.shape = shape;
  entry.sizeBytes = bytes.size();
  entry.condition = Condition::kValid;
  entry.cause = {};
  return {};
}

Status State::write(size_t index, const TensorShape &shape, std::span<const uint8_t> bytes) {
  Entry &entry = entries_[index];
  GANTRY_RETURN_IF_ERROR(checkShape(entry, shape, bytes.size()));
  settle();
  if (heap_->device().isLost())
    return check(index);
  bool isTouched = false; // An output of store() that is not needed here.
  return store(entry, shape, bytes, isTouched);
}

Status State::read(size_t index, std::span<uint8_t> bytes) {
  settle();
  GANTRY_RETURN_IF_ERROR(check(index));
  const Entry &entry = entries_[index];
  if (bytes.size() < entry.sizeBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' has %" PRIu64 " bytes, but there is room for %zu",
                   entry.name.c_str(), entry.sizeBytes, bytes.size());
  return load(entry, bytes.first(entry.sizeBytes));
}

Status State::load(const Entry &entry, std::span<uint8_t> bytes) const {
  if (entry.order.empty())
    return readBuffer(heap_, entry.buffer, entry.offset, bytes);
  std::vector<uint8_t> ordered;
  GANTRY_RETURN_IF_ERROR(tryResize(ordered, bytes.size(), "a state"));
  GANTRY_RETURN_IF_ERROR(readBuffer(heap_, entry.buffer, entry.offset, ordered));
  // The inverse permutation: dimension order[i] of the result is dimension i of the buffer.
  std::vector<int64_t> dims(entry.order.size());
  std::vector<uint8_t> inverse(entry.order.size());
  for (size_t i = 0; i < entry.order.size(); ++i) {
    dims[i] = entry.shape.dims[entry.order[i]];
    inverse[entry.order[i]] = static_cast<uint8_t>(i);
  }
  permuteDims(ordered, dims, inverse, artifact::elementSize(entry.shape.type), bytes);
  return {};
}

uint64_t State::bindAlignment() const {
  return std::max<uint64_t>(16, heap_->device().info().bindingAlignment());
}

Status State::bind(size_t index, const TensorArgument &range) {
  Entry &entry = entries_[index];
  const char *name = entry.name.c_str();
  GANTRY_ASSIGN_OR_RETURN(const uint64_t size, byteSize(range.shape, entry.name));
  GANTRY_RETURN_IF_ERROR(checkShape(entry, range.shape, size));
  if (range.offset % bindAlignment() != 0)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s': the offset %" PRIu64 " is no multiple of %" PRIu64, name,
                   range.offset, bindAlignment());
  if (range.sizeBytes < entry.capacityBytes)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' needs a range of %" PRIu64 " bytes, its capacity; %" PRIu64
                   " bytes given",
                   name, entry.capacityBytes, range.sizeBytes);
  for (const Entry &other : entries_)
    if (&other != &entry && other.buffer.block() == range.buffer.block() &&
        range.offset < other.offset + other.capacityBytes &&
        other.offset < range.offset + entry.capacityBytes)
      return statusf(StatusCode::kInvalidArgument,
                     "the state '%s' would overlap the state '%s' in the same buffer", name,
                     other.name.c_str());
  settle();
  if (heap_->device().isLost())
    return check(index);
  entry.buffer = range.buffer;
  entry.offset = range.offset;
  entry.shape = range.shape;
  entry.sizeBytes = size;
  entry.condition = Condition::kValid;
  entry.cause = {};
  return {};
}

// ---- files -------------------------------------------------------------------------------------

Status State::save(const std::string &path) {
  settle();
  uint64_t total = 0;
  for (size_t i = 0; i < entries_.size(); ++i) {
    GANTRY_RETURN_IF_ERROR(check(i));
    total += entries_[i].sizeBytes;
  }
  std::vector<uint8_t> bytes;
  GANTRY_RETURN_IF_ERROR(tryResize(bytes, total, "a state"));
  std::vector<SavedTensor> tensors;
  uint64_t begin = 0;
  for (const Entry &entry : entries_) {
    const auto part = std::span(bytes).subspan(begin, entry.sizeBytes);
    GANTRY_RETURN_IF_ERROR(load(entry, part));
    tensors.push_back({entry.name, entry.shape, part});
    begin += entry.sizeBytes;
  }
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  return writeStateFile(path, tensors);
}

Status State::restore(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  GANTRY_ASSIGN_OR_RETURN(const std::vector<SavedTensor> saved, parseStateFile(file.bytes(), path));
  std::vector<const SavedTensor *> found;
  for (const Entry &entry : entries_) {
    const auto at = std::find_if(saved.begin(), saved.end(), [&](const SavedTensor &tensor) {
      return tensor.name == entry.name;
    });
    if (at == saved.end())
      return Status(StatusCode::kInvalidArgument,
                    "'" + path + "' has no tensor for the state '" + entry.name + "'");
    if (Status fits = checkShape(entry, at->shape, at->bytes.size()); !fits.isOk())
      return Status(fits.code(), "'" + path + "': " + fits.message());
    found.push_back(&*at);
  }
  settle();
  if (heap_->device().isLost())
    return check(0);
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  for (size_t i = 0; i < entries_.size(); ++i) {
    bool isTouched = false;
    Status stored = store(entries_[i], found[i]->shape, found[i]->bytes, isTouched);
    if (stored.isOk())
      continue;
    // If anything was copied, some entries have their new value and others their old one. No run
    // has produced this combination, so all entries that have a value become invalid.
    const bool anyCopied = i > 0 || isTouched;
    for (size_t j = 0; j < entries_.size() && anyCopied; ++j)
      invalidate(j, Status(stored.code(),
                           "the restoration of '" + path + "' failed (" + stored.message() + ")"));
    return stored;
  }
  return {};
}

} // namespace gantry::program
