// The objects of the fake driver (fake_device.h): memory, kernels and command lists.
#pragma once

#include "tests/support/fake_device.h"

namespace gantry::test {

inline constexpr uint32_t kMaxKernelArguments = 16; // Limit of a kernel's buffers, and of its dims.

/// Host memory. The object owns its mapping, except for imported host pointers.
class FakeMemory final : public device::Memory {
public:
  FakeMemory(std::shared_ptr<FakeDevice> device, device::MemoryKind kind, uint64_t sizeBytes);
  ~FakeMemory() override;
  uint8_t *bytes() const { return bytes_; }
  int descriptor() const { return fd_; }

  void setType(uint32_t type, uint32_t heap);
  /// Records that sizeBytes() of the heap were taken. The destructor gives them back.
  void place(uint32_t type, uint32_t heap);
  /// Maps fd and takes ownership of it, or maps new memory if fd is -1. exportable: the new memory
  /// gets a descriptor.
  Status map(int fd, bool exportable);
  /// Reserves addresses without storage.
  Status reserve(uint32_t type, uint32_t heap);
  /// Uses memory that the caller owns.
  void adopt(uint8_t *bytes, uint32_t type, uint32_t heap);

private:
  void publish();

  std::shared_ptr<FakeDevice> device_;
  uint8_t *bytes_ = nullptr;
  int fd_ = -1;
  bool mappedHere_ = false;
  bool taken_ = false;
};

class FakeKernel final : public device::Kernel {
public:
  FakeKernel(std::shared_ptr<FakeDevice> device, const device::KernelSource &source,
             HostKernel function);
  ~FakeKernel() override;
  const HostKernel &function() const { return function_; }

private:
  std::shared_ptr<FakeDevice> device_;
  HostKernel function_;
};

/// A command list that stores commands as plain records, in an array that grows without throwing.
class FakeList final : public device::CommandList {
public:
  explicit FakeList(std::shared_ptr<FakeDevice> device);
  ~FakeList() override;
  void run(uint64_t &clockNs);
  bool uses(const FakeMemory &memory) const;
  void enqueue(uint64_t ticket) { ticket_ = ticket; }
  uint64_t ticket() const { return ticket_; }
  FakeList *&nextPending() { return next_; }

private:
  struct Command {
    enum class Type { kDispatch, kCopy, kFill, kUpdate, kTimestamp } type;
    device::BufferRange source, target;
    uint32_t word = 0;
    uint8_t *bytes = nullptr; // The data of an update; owned by the list.
    const FakeKernel *kernel = nullptr;
    uint32_t bufferCount = 0, dimCount = 0;
    device::BufferRange buffers[kMaxKernelArguments];
    uint64_t dims[kMaxKernelArguments];
    uint32_t workgroups[3], firstWorkgroup[3];
  };
  Status add(const Command &command);
  void runOne(const Command &command, uint64_t &clockNs);
  bool check(const device::BufferRange &range);
  Status doBegin(const device::CommandListCapacity &capacity) override;
  Status doDispatch(const device::Dispatch &dispatch) override;
  Status doCopy(const device::BufferRange &source, device::Memory &target,
                uint64_t targetOffset) override;
  Status doFill(const device::BufferRange &range, uint32_t word) override;
  Status doUpdate(const device::BufferRange &range, std::span<const uint8_t> bytes) override;
  Status doBarrier() override { return {}; }
  Status doTimestamp(uint32_t index) override;
  Status doEnd() override { return {}; }
  Result<std::vector<uint64_t>> doTimestampsNs(uint32_t count) override;

  std::shared_ptr<FakeDevice> device_;
  Command *commands_ = nullptr;
  uint32_t count_ = 0, capacity_ = 0;
  uint64_t ticket_ = 0; // Ticket of the list's last submission; 0: none.
  FakeList *next_ = nullptr;
  std::vector<uint64_t> times_;
};

} // namespace gantry::test
