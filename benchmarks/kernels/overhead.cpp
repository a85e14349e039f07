// Implements overhead.h.
#include "benchmarks/kernels/overhead.h"

#include "tests/support/test_model.h"
#include "tests/support/twice_storage.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unistd.h>

namespace gantry::bench {

namespace {

constexpr uint32_t kElements = 64;
constexpr uint32_t kDispatches = 1000; // Chain length; large, so that the cost of a run is small.

/// A name for a temporary file that no other process uses. The destructor removes the file.
class ScratchFile {
public:
  explicit ScratchFile(const std::string &name)
      : path_(std::filesystem::temp_directory_path() /
              ("kernel_bench_" + std::to_string(getpid()) + "_" + name)) {}
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchFile(const ScratchFile &) = delete;
  ScratchFile &operator=(const ScratchFile &) = delete;
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path path_;
};

std::unique_ptr<Contestant> runtimeChain(Runtime &runtime, uint32_t length) {
  test::TestModel model("chain");
  uint32_t value = model.input("x", test::ElementType::f32, {model.number(kElements)});
  for (uint32_t i = 0; i < length; ++i)
    value = model.apply(test::TestKernel::kTwice, {value}, "Twice_" + std::to_string(i));
  model.output("y", value);
  model.onlyBinding(artifact::Binding::storage_buffer);
  const ScratchFile file(std::to_string(length) + ".gantry");
  const Status written = model.write(file.path());
  if (!written.isOk())
    throw GpuError(written.message());
  const std::vector<Tensor> inputs = {{{kElements}, std::vector<float>(kElements)}};
  return std::make_unique<Generated>(runtime, file.path(), inputs);
}

/// The chain of dispatches (overhead.h) recorded by hand. Each dispatch reads one of two buffers
/// and writes the other.
class RawChain : public Contestant {
public:
  RawChain(Gpu &gpu, uint32_t length)
      : a_(gpu, std::vector<float>(kElements)), b_(gpu, std::vector<float>(kElements)),
        kernel_(gpu, kTwiceStorage, {Access::kStorage, Access::kStorage}, {}, 2 * sizeof(uint32_t)),
        commands_(gpu, chain(length), 1, true) {
    commands_.run();
  }
  double seconds() override {
    constexpr uint32_t kRuns = 20;
    double total = 0;
    for (uint32_t i = 0; i < kRuns; ++i)
      total += commands_.run();
    return total / kRuns;
  }
  std::vector<float> result() override { return b_.download(); }

private:
  std::vector<Dispatch> chain(uint32_t length) const {
    std::vector<Dispatch> dispatches;
    for (uint32_t i = 0; i < length; ++i)
      dispatches.push_back(
          {&kernel_, {{i % 2 ? &b_ : &a_}, {i % 2 ? &a_ : &b_}}, {1, 1, 1}, {kElements, 0}});
    return dispatches;
  }

  GpuBuffer a_, b_;
  GpuKernel kernel_;
  Commands commands_;
};

} // namespace

Overhead measureOverhead(Gpu &gpu, Runtime &runtime, uint32_t rounds) {
  RawChain raw(gpu, kDispatches);
  const auto ours = runtimeChain(runtime, kDispatches);
  // The minimum of the rounds counts, because other load on the machine only adds time.
  double rawSeconds = INFINITY, ourSeconds = INFINITY;
  for (uint32_t round = 0; round < rounds; ++round) {
    rawSeconds = std::min(rawSeconds, raw.seconds());
    ourSeconds = std::min(ourSeconds, ours->seconds());
  }
  return {ourSeconds / kDispatches * 1e9, rawSeconds / kDispatches * 1e9, ourSeconds / rawSeconds};
}

} // namespace gantry::bench
