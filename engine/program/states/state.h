// The states of programs: tensors that keep their place in device memory from run to run, such as
// parameters, optimizer moments and caches. A State holds one buffer for each state of a program.
// Sessions of several programs on the same device may be bound to one State
// (states/state_binding.h); they find its entries by name.
//
// A run changes an entry when the device executes it. All submissions of a device execute in the
// order of their submission, so runs of different sessions see each other's changes in that order.
// The functions that read or change contents first wait for all runs that use the State.
//
// Failures. A run that is refused before its submission leaves every entry as it is. If a submitted
// run fails, the entries that it writes become invalid, because the device may have changed them in
// part; if the device is lost, all entries become invalid. Every use of an invalid entry returns an
// error that names the entry, the run and the cause, until write(), restore() or bind() gives the
// entry a new value. A lost device cannot be used again: a new State on a reopened device continues
// from a save.
//
// Shapes. An entry has a type, a rank and a capacity in bytes. Its shape may change within the
// capacity: after a run, the entry has the shape of the state's output in that run.
//
// Order. The compiler may store a state with another dimension first, so that the state can grow in
// place (StatePort::order). Shapes, and the bytes that write() takes and read() returns, have the
// order of the program's ports. State files have this order too. Only a buffer that a caller binds
// has the order of the entry.
//
// Ownership: a State keeps its heap and its buffers alive. Threads: a State and the sessions that
// are bound to it are used by one thread at a time. Units: bytes.
#pragma once

#include "engine/program/arguments.h"

namespace gantry::program {

class Run;

class State : public std::enable_shared_from_this<State> {
public:
  enum class Condition {
    kUnset = 0,   // No value has been written yet.
    kValid = 1,   // The entry has a value.
    kInvalid = 2, // The value is lost.
  };
  struct Entry {
    std::string name;
    std::vector<int64_t> portDims; // As Port::dims: kDynamic for a dimension that may change.
    TensorShape shape; // The value's shape; without a value, the port's shape if that is static.
    uint64_t sizeBytes = 0;     // Size of the value.
    uint64_t capacityBytes = 0; // The largest size that the value may have.
    std::vector<uint8_t> order; // As StatePort::order.
    Condition condition = Condition::kUnset;
    Status cause;   // Why the entry is invalid.
    Storage buffer; // The value begins at `offset`.
    uint64_t offset = 0;
  };

  /// The memory kind in which the device's kernels use states best: kUnified if the host can map
  /// the device's memory and the device is no discrete GPU, otherwise kDevice.
  static device::MemoryKind kindFor(const device::Device &device);

  /// Allocates a buffer for each state of the program. Entries whose state has a first value in the
  /// artifact receive it; the others have no value. Returns kFailedPrecondition if the program has
  /// no states, and the errors of Artifact::readConstants and of Storage::allocate.
  static Result<std::shared_ptr<State>>
  create(const Program &program, std::shared_ptr<heap::Heap> heap, device::MemoryKind kind);

  const std::shared_ptr<heap::Heap> &heap() const { return heap_; }
  /// The entries. Their conditions change when runs end, and when refresh() is called.
  const std::vector<Entry> &entries() const { return entries_; }
  /// Marks all entries as invalid if the device is lost.
  void refresh();
  /// Returns the index of an entry, or kNotFound with the names of all entries.
  Result<size_t> find(std::string_view name) const;
  /// Returns the entry's error if it has no value (kFailedPrecondition) or is invalid (kDeviceLost
  /// if the device is lost, else kFailedPrecondition).
  Status check(size_t index);

  /// Gives the entry a value. Type, rank and static dimensions must equal the port's, and `bytes`
  /// must have the size of the shape, at most the capacity; otherwise returns kInvalidArgument.
  Status write(size_t index, const TensorShape &shape, std::span<const uint8_t> bytes);
  /// Copies the value to `bytes`, which has room for it; otherwise returns kInvalidArgument.
  Status read(size_t index, std::span<uint8_t> bytes);
  /// Moves the entry to a range of a buffer. The range begins at a multiple of bindAlignment() and
  /// has at least the entry's capacity. The bytes of the range, in the entry's order, become the
  /// value. The State keeps the buffer alive and releases the entry's former buffer.
  Status bind(size_t index, const TensorArgument &range);
  uint64_t bindAlignment() const;

  /// Writes all entries to a state file (state_file.h). Returns an error if an entry has no valid
  /// value.
  Status save(const std::string &path);
  /// Gives every entry the value of the same name in a state file. Other tensors of the file are
  /// ignored. If the file is damaged, or lacks an entry, or a shape does not fit, nothing changes.
  Status restore(const std::string &path);

  /// Returns text for messages: the type, and the dimensions that a value of the entry must have.
  static std::string portText(const Entry &entry);

  // ---- for StateBinding ------------------------------------------------------------------------
  /// Notes a submitted run that uses this State.
  void noteRun(const std::shared_ptr<Run> &run);
  void setShape(size_t index, const OutputShape &shape);
  /// Marks the entry as invalid, unless it is invalid already. An entry without a value stays
  /// unset, unless the cause is a lost device.
  void invalidate(size_t index, const Status &cause);

private:
  explicit State(std::shared_ptr<heap::Heap> heap) : heap_(std::move(heap)) {}
  Status writeInitial(const Program &program);
  Status checkShape(const Entry &entry, const TensorShape &shape, uint64_t sizeBytes) const;
  /// Waits for all runs that use the State, then calls refresh().
  void settle();
  /// Copies the value to `bytes`, which has its size.
  Status load(const Entry &entry, std::span<uint8_t> bytes) const;
  /// Gives the entry a value. After a failure, `isTouched` says whether the old value is lost; if
  /// so, the entry is invalid.
  Status store(Entry &entry, const TensorShape &shape, std::span<const uint8_t> bytes,
               bool &isTouched);

  std::shared_ptr<heap::Heap> heap_;
  std::vector<Entry> entries_;
  std::vector<std::weak_ptr<Run>> runs_; // Runs that have not ended, and some that have.
};

} // namespace gantry::program
