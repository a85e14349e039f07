// Generates allocation traces with typical patterns, for machines without recorded traces.
#include "benchmarks/heap/trace.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace gantry::bench {
namespace {

// Appends operations to a trace and keeps the list of live allocations.
class Generator {
public:
  Generator(const char *name, uint64_t seed) : random_(seed) { trace_.name = name; }

  size_t live() const { return live_.size(); }
  uint64_t liveBytes() const { return liveBytes_; }
  uint64_t below(uint64_t bound) { return random_() % bound; }

  /// Log-uniform in [low, high).
  uint64_t logUniform(double low, double high) {
    const double unit = static_cast<double>(random_() >> 11) * 0x1p-53;
    return static_cast<uint64_t>(low * std::pow(high / low, unit));
  }

  /// Returns the index of the new allocation in the list of live ones.
  size_t allocate(uint64_t bytes) {
    const uint32_t slot = freeSlots_.empty() ? trace_.slots++ : freeSlots_.back();
    if (!freeSlots_.empty())
      freeSlots_.pop_back();
    trace_.ops.push_back({bytes, slot, 256});
    live_.push_back({slot, bytes});
    liveBytes_ += bytes;
    trace_.peakLiveBytes = std::max(trace_.peakLiveBytes, liveBytes_);
    return live_.size() - 1;
  }
  /// Frees the live allocation at this index. The last live allocation moves to this index.
  void free(size_t at) {
    trace_.ops.push_back({0, live_[at].slot, 1});
    freeSlots_.push_back(live_[at].slot);
    liveBytes_ -= live_[at].bytes;
    live_[at] = live_.back();
    live_.pop_back();
  }
  void freeLast() { free(live_.size() - 1); }
  Trace take() { return std::move(trace_); }

private:
  struct Live {
    uint32_t slot;
    uint64_t bytes;
  };
  std::mt19937_64 random_;
  Trace trace_;
  std::vector<Live> live_;
  std::vector<uint32_t> freeSlots_;
  uint64_t liveBytes_ = 0;
};

// Log-uniform random sizes from 256 bytes to `high`. Each of `ops` operations allocates while fewer
// than `target` bytes are live; otherwise it allocates or frees with equal probability.
Trace randomSizes(const char *name, uint64_t seed, double high, uint64_t target, int ops) {
  Generator g(name, seed);
  for (int i = 0; i < ops; ++i) {
    if (g.liveBytes() < target || g.below(2) == 0)
      g.allocate(g.logUniform(256, high));
    else
      g.free(g.below(g.live()));
  }
  return g.take();
}

// Training of a network with `layers` layers. The weights stay allocated. In each step, the forward
// pass allocates the activations, and the backward pass frees them in reverse order. Both passes
// also allocate scratch buffers and free each of them before the next allocation. `unit` scales all
// large buffers: a weight takes 16 or 64 times `unit` bytes, an activation 1 to 4 times. If
// `varying`, the large activations and scratch buffers of a step are smaller by a random factor of
// up to two, which is the same for the whole step.
Trace trainingSteps(const char *name, uint64_t seed, uint64_t unit, int layers, int steps,
                    bool varying) {
  Generator g(name, seed);
  for (int layer = 0; layer < layers; ++layer) {
    for (const uint64_t factor : {16, 16, 64})
      g.allocate(unit * factor);
    g.allocate(2048);
  }
  for (int step = 0; step < steps; ++step) {
    const uint64_t scale = varying ? 8 + g.below(9) : 16;
    const size_t persistent = g.live();
    for (int layer = 0; layer < layers; ++layer) {
      for (const uint64_t factor : {1, 3, 4, 2}) {
        g.allocate(unit * factor * scale / 16);
        g.allocate(1024 + 64 * scale);
        g.allocate(unit * 4 * scale / 16);
        g.freeLast();
      }
    }
    while (g.live() > persistent) {
      g.allocate(unit * 2 * scale / 16);
      g.freeLast();
      g.freeLast();
    }
  }
  return g.take();
}

// Rendering: each of `count` frames allocates 60 to 99 temporary buffers and frees them at its end.
// In a third of the frames, one of 40 long-lived buffers (textures, meshes) is replaced.
Trace frames(uint64_t seed, int count) {
  Generator g("frame", seed);
  for (int i = 0; i < 40; ++i)
    g.allocate(g.logUniform(65536, 16 << 20));
  for (int frame = 0; frame < count; ++frame) {
    const size_t assets = g.live();
    for (uint64_t i = 60 + g.below(40); i > 0; --i)
      g.allocate(g.logUniform(256, 2 << 20));
    while (g.live() > assets)
      g.freeLast();
    if (g.below(3) == 0) {
      g.free(g.below(g.live()));
      g.allocate(g.logUniform(65536, 16 << 20));
    }
  }
  return g.take();
}

// Seven phases. Each phase allocates random sizes in [high / 8, high), until it has allocated about
// 512 * high bytes or 800 MiB are live. It then frees 60 to 90 % of all live allocations (the last
// phase 90 %), chosen at random. `high` is 2 KiB in the first phase, and in each phase four times
// as large as in the one before.
Trace churn(uint64_t seed) {
  Generator g("churn", seed);
  double high = 2048;
  for (int phase = 0; phase < 7; ++phase, high *= 4) {
    const uint64_t target = g.liveBytes() + (static_cast<uint64_t>(high) << 9);
    while (g.liveBytes() < std::min<uint64_t>(target, 800 << 20))
      g.allocate(g.logUniform(high / 8, high));
    const size_t keep = g.live() * (phase == 6 ? 10 : 10 + g.below(30)) / 100;
    while (g.live() > keep)
      g.free(g.below(g.live()));
  }
  return g.take();
}

} // namespace

std::vector<Trace> generateTraces(uint64_t seed) {
  std::vector<Trace> traces;
  traces.push_back(randomSizes("rand_small", seed, 65536, 200 << 20, 200000));
  traces.push_back(randomSizes("rand_wide", seed + 1, 64 << 20, 900 << 20, 100000));
  traces.push_back(trainingSteps("train_fixed", seed + 2, 262144, 8, 60, false));
  traces.push_back(trainingSteps("train_var", seed + 3, 262144, 8, 60, true));
  traces.push_back(frames(seed + 4, 600));
  traces.push_back(churn(seed + 5));
  return traces;
}

} // namespace gantry::bench
