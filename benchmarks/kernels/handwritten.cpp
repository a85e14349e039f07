// Implements handwritten.h.
#include "benchmarks/kernels/handwritten.h"
#include "benchmarks/kernels/bench_shaders.h"

#include <algorithm>
#include <cmath>

namespace gantry::bench {

namespace {

struct Shader {
  const char *name;
  std::span<const uint32_t> texel, storage;
};
#define GANTRY_SHADER_ROW(name) {#name, name##_texel, name##_storage},
const Shader kShaders[] = {GANTRY_BENCH_SHADERS(GANTRY_SHADER_ROW)};

} // namespace

std::span<const uint32_t> shaderCode(const std::string &name, bool texel) {
  for (const Shader &shader : kShaders)
    if (name == shader.name)
      return texel ? shader.texel : shader.storage;
  throw GpuError("no shader " + name + " in shaders/bench");
}

const GpuBuffer *Handwritten::buffer(std::span<const float> content) {
  buffers_.push_back(std::make_unique<GpuBuffer>(gpu_, content));
  return buffers_.back().get();
}

const GpuBuffer *Handwritten::buffer(uint64_t elements) {
  const std::vector<float> zeros(elements);
  return buffer(zeros);
}

const GpuKernel *Handwritten::kernel(const std::string &shader, const std::vector<bool> &reads,
                                     const std::vector<uint32_t> &constants) {
  std::vector<Access> accesses;
  for (bool read : reads)
    accesses.push_back(read ? readAccess() : Access::kStorage);
  kernels_.push_back(std::make_unique<GpuKernel>(
      gpu_, shaderCode(shader, readAccess() == Access::kTexel), std::move(accesses), constants));
  return kernels_.back().get();
}

void Handwritten::resultIs(const GpuBuffer *buffer,
                           std::function<std::vector<float>(std::vector<float>)> unpack) {
  result_ = buffer;
  unpack_ = std::move(unpack);
}

void Handwritten::ready() {
  commands_ = std::make_unique<Commands>(gpu_, dispatches_, 1, true);
  commands_->run();
  const uint32_t repeats = repeatsOf(commands_->run());
  if (repeats > 1)
    commands_ = std::make_unique<Commands>(gpu_, dispatches_, repeats, true);
}

std::vector<float> Handwritten::result() {
  return result_ ? unpack_(result_->download()) : std::vector<float>{};
}

void dispatchStream(Handwritten &run, Gpu &gpu, const std::string &shader,
                    const std::vector<const GpuBuffer *> &buffers, uint64_t elements) {
  constexpr uint32_t kLanes = 256, kMaxGroups = 65535;
  const uint32_t vectors = gpu.info().software ? 1 : 4;
  const uint64_t tile = uint64_t{kLanes} * vectors * 4; // floats
  if (elements % tile)
    throw GpuError("a stream of " + std::to_string(elements) +
                   " floats: the number must be a multiple of " + std::to_string(tile));
  std::vector<bool> reads(buffers.size(), true);
  reads[0] = false;
  const GpuKernel *kernel = run.kernel(shader, reads, {kLanes, vectors});
  uint64_t maxFloats = gpu.info().maxStorageBufferRange / sizeof(float);
  if (run.readAccess() == Access::kTexel)
    maxFloats = std::min(maxFloats, gpu.info().maxTexelElements * 4);
  const uint64_t maxTiles = std::max<uint64_t>(std::min(maxFloats / tile, elements / tile), 1);
  for (uint64_t at = 0; at < elements / tile;) {
    // If one grid dimension is too small for all workgroups, the grid has several rows. The number
    // of workgroups is rounded down to a multiple of the rows; the next dispatch does the rest.
    uint64_t groups = std::min(maxTiles, elements / tile - at), rows = 1;
    if (groups > kMaxGroups) {
      rows = (groups + kMaxGroups - 1) / kMaxGroups;
      groups = groups / rows * rows;
    }
    std::vector<BufferRange> ranges;
    for (const GpuBuffer *buffer : buffers)
      ranges.push_back({buffer, at * tile * sizeof(float), groups * tile * sizeof(float)});
    run.dispatch({kernel,
                  std::move(ranges),
                  {static_cast<uint32_t>(groups / rows), static_cast<uint32_t>(rows), 1},
                  {}});
    at += groups;
  }
}

namespace {

CeilingRun multiplyAddRun(Gpu &gpu) {
  constexpr uint32_t kSteps = 4096, kChains = 3, kGroups = 64, kPerStep = 16;
  const uint32_t lanes = gpu.info().subgroupSize;
  auto run = std::make_unique<Handwritten>(gpu);
  // The factor is below one and the addend is positive, so that the sums stay finite and normal.
  const std::vector<float> factors = {0.999F, 0, 0, 0, 0.01F, 0, 0, 0};
  const GpuBuffer *in = run->buffer(factors);
  const GpuBuffer *out = run->buffer(uint64_t{kGroups} * lanes * 4);
  const GpuKernel *kernel =
      run->kernel("multiply_add_peak", {true, false}, {lanes, kSteps, kChains});
  run->dispatch({kernel, {{in}, {out}}, {kGroups, 1, 1}, {}});
  run->ready();
  return {2.0 * 4 * kChains * kPerStep * kSteps * kGroups * lanes, std::move(run)};
}

CeilingRun readRun(Gpu &gpu, uint64_t elements) {
  constexpr uint32_t kVectors = 64;
  // In read.comp, the subgroups of a workgroup read interleaved ranges. On a software device, a
  // core runs the subgroups of a workgroup one after another, so with several subgroups it would
  // read the memory with gaps. With one subgroup per workgroup it reads one contiguous range.
  const uint32_t lanes = gpu.info().software ? gpu.info().subgroupSize : 256;
  auto run = std::make_unique<Handwritten>(gpu);
  const auto groups = static_cast<uint32_t>(elements / 4 / lanes / kVectors);
  const GpuBuffer *a = run->buffer(elements), *sums = run->buffer(elements / kVectors);
  const GpuKernel *kernel = run->kernel("read", {true, false}, {lanes, kVectors});
  run->dispatch({kernel, {{a}, {sums}}, {groups, 1, 1}, {}});
  run->ready();
  return {4.0 * static_cast<double>(elements), std::move(run)};
}

/// Makes the measurement of a memory ceiling by a kernel that includes shaders/bench/stream.glsl.
/// `tensors` is the number of the kernel's inputs plus one for its result.
CeilingRun streamRun(Gpu &gpu, const std::string &shader, uint32_t tensors, uint64_t elements) {
  auto run = std::make_unique<Handwritten>(gpu);
  std::vector<const GpuBuffer *> buffers;
  for (uint32_t i = 0; i < tensors; ++i)
    buffers.push_back(run->buffer(elements));
  dispatchStream(*run, gpu, shader, buffers, elements);
  run->ready();
  return {4.0 * tensors * static_cast<double>(elements), std::move(run)};
}

} // namespace

CeilingRun ceilingRun(Gpu &gpu, Ceiling ceiling, uint64_t elements) {
  switch (ceiling) {
  case Ceiling::kMultiplyAdd:
    return multiplyAddRun(gpu);
  case Ceiling::kRead:
    return readRun(gpu, elements);
  case Ceiling::kCopy:
    return streamRun(gpu, "copy", 2, elements);
  case Ceiling::kTriad:
    break;
  }
  return streamRun(gpu, "triad", 3, elements);
}

} // namespace gantry::bench
