// Tests sessions on a device that is lost at each of its calls in turn. The device is simulated in
// host memory. Every call of the session must return a status, and every object must be releasable.
#include "engine/program/session.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <gtest/gtest.h>

namespace gantry::program {
namespace {

class HostMemory final : public device::Memory {
public:
  HostMemory(device::MemoryKind kind, uint64_t size) : Memory(kind, size), bytes_(size) {
    mapped_ = bytes_.data();
  }

private:
  std::vector<uint8_t> bytes_;
};

class NamedKernel final : public device::Kernel {
public:
  explicit NamedKernel(const device::KernelSource &source) : Kernel(source) {}
};

class EmptyList final : public device::CommandList {
public:
  explicit EmptyList(const device::Device &device) : CommandList(device) {}

private:
  Status doBegin(const device::CommandListCapacity &) override { return {}; }
  Status doDispatch(const device::Dispatch &) override { return {}; }
  Status doCopy(const device::BufferRange &, device::Memory &, uint64_t) override { return {}; }
  Status doFill(const device::BufferRange &, uint32_t) override { return {}; }
  Status doUpdate(const device::BufferRange &, std::span<const uint8_t>) override { return {}; }
  Status doBarrier() override { return {}; }
  Status doTimestamp(uint32_t) override { return {}; }
  Status doEnd() override { return {}; }
  Result<std::vector<uint64_t>> doTimestampsNs(uint32_t count) override {
    return std::vector<uint64_t>(count, 0);
  }
};

/// A device that is lost at its n-th call; callsUntilLost is n.
class FailingDevice final : public device::Device {
public:
  FailingDevice() {
    info_.name = "failing";
    info_.profile = namedProfile("vulkan:lavapipe").take();
  }
  int callsUntilLost = -1; // -1: never.

private:
  Status call() {
    if (callsUntilLost > 0)
      --callsUntilLost;
    return callsUntilLost == 0 ? Status(StatusCode::kDeviceLost, "device 'failing' was lost")
                               : Status::ok();
  }
  Result<std::unique_ptr<device::Memory>> doAllocate(device::MemoryKind kind, uint64_t size,
                                                     const device::AllocateOptions &) override {
    GANTRY_RETURN_IF_ERROR(call());
    return std::unique_ptr<device::Memory>(new HostMemory(kind, size));
  }
  Result<std::vector<std::unique_ptr<device::Kernel>>>
  doCreateKernels(std::span<const device::KernelSource> sources,
                  const std::optional<std::string> &) override {
    GANTRY_RETURN_IF_ERROR(call());
    std::vector<std::unique_ptr<device::Kernel>> kernels;
    for (const device::KernelSource &source : sources)
      kernels.push_back(std::make_unique<NamedKernel>(source));
    return kernels;
  }
  Result<std::unique_ptr<device::CommandList>> doCreateCommandList() override {
    GANTRY_RETURN_IF_ERROR(call());
    return std::unique_ptr<device::CommandList>(new EmptyList(*this));
  }
  Result<uint64_t> doSubmit(device::CommandList &) override {
    GANTRY_RETURN_IF_ERROR(call());
    return ++ticket_;
  }
  Result<bool> doWait(uint64_t, uint64_t) override {
    GANTRY_RETURN_IF_ERROR(call());
    return true;
  }
  Result<uint64_t> doCompleted() override {
    GANTRY_RETURN_IF_ERROR(call());
    return ticket_;
  }
  uint64_t ticket_ = 0;
};

/// Creates a session, starts three runs of two sizes and waits for them. Returns the first failure.
Status exercise(const std::shared_ptr<const Program> &program,
                const std::shared_ptr<FailingDevice> &device) {
  SessionOptions options;
  options.checkMemory = false;
  GANTRY_ASSIGN_OR_RETURN(heap::HeapPtr heap, heap::Heap::create(device, {}));
  GANTRY_ASSIGN_OR_RETURN(auto session, Session::create(program, std::move(heap), options));
  std::vector<float> in(200), out(200);
  std::vector<std::shared_ptr<Run>> runs;
  Status first;
  for (int64_t n : {100, 100, 200}) {
    TensorArgument input, output;
    input.shape.dims = {n};
    input.data = in.data();
    output.data = out.data();
    input.sizeBytes = output.sizeBytes = 800;
    std::vector<OutputShape> shapes;
    auto run = session->submit({&input, 1}, {&output, 1}, shapes);
    if (run.isOk())
      runs.push_back(run.take());
    else if (first.isOk())
      first = run.status();
  }
  for (const auto &run : runs) {
    auto done = run->wait(UINT64_MAX);
    if (!done.isOk() && first.isOk())
      first = done.status();
  }
  return first;
}

TEST(DeviceLost, AtEachCallInTurn) {
  test::ScratchFolder scratch;
  test::TestModel model;
  test::buildChain(model, model.symbol("n", 0, 0), std::vector<float>(200));
  ASSERT_TRUE(model.write(scratch.path("m.gantry")).isOk());
  const auto program = Program::load(scratch.path("m.gantry")).take();

  auto healthy = std::make_shared<FailingDevice>();
  ASSERT_TRUE(exercise(program, healthy).isOk());
  int calls = 1;
  for (; calls < 1000; ++calls) {
    auto device = std::make_shared<FailingDevice>();
    device->callsUntilLost = calls;
    const std::weak_ptr<FailingDevice> watched = device;
    const Status status = exercise(program, device);
    const bool reached = device->callsUntilLost == 0;
    device.reset();
    EXPECT_TRUE(watched.expired()) << "call " << calls << ": an object still owns the device";
    if (!reached)
      break;
    EXPECT_EQ(status.code(), StatusCode::kDeviceLost) << "call " << calls;
  }
  EXPECT_GT(calls, 15);
  EXPECT_LT(calls, 1000);
}

} // namespace
} // namespace gantry::program
