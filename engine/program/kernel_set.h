// The kernels of a session: the choice of a kernel variant for each dispatch, and the compiled
// pipelines. Each pipeline is compiled once.
//
// A kernel variant is one SPIR-V form of a kernel, with one way of binding its buffers and the
// capabilities that it needs (KernelVariant in artifact.fbs). It is not a variant of the whole
// artifact (variant_choice.h).
//
// Ownership: a KernelSet owns its pipelines. Threads: chooseVariant() and the functions for names
// are pure; a KernelSet is used by one thread at a time.
#pragma once

#include "engine/device/device.h"
#include "engine/program/dispatch_split.h"
#include "engine/program/program.h"

#include <map>
#include <utility>

namespace gantry::program {

/// The binding mode that the user of a session chose. kAuto: the mode that the device prefers.
/// kTexel: texel buffers if the kernel has a variant with them and the device can bind the buffers
/// in this way, else storage buffers.
enum class BindingChoice { kAuto, kStorageBuffer, kAddress, kTexel };

/// The mode's name in descriptions and messages: "storage_buffer", "address" or "texel".
const char *bindingName(device::BindingMode mode);

/// Parses "auto", "storage-buffer" (or "storage_buffer"), "address" or "texel". Returns
/// kInvalidArgument for any other name.
Result<BindingChoice> parseBinding(const std::string &name);

/// Chooses the variant of a kernel for the given buffers. `buffers` has one element per buffer of
/// the kernel, or is empty if the sizes are not known yet; the buffers are then assumed to be
/// small. The variant has the binding mode of `choice` if possible. If the device cannot bind the
/// buffers in that mode, storage buffers replace texel buffers, and addresses replace storage
/// buffers.
///
/// Variants may be alternatives: they differ only in how the work is divided among workgroups, and
/// each is the best for some sizes (KernelVariant.alternatives in artifact.fbs). workgroups: the
/// numbers of workgroups of the dispatch, indexed by KernelVariant.grid, by which the cheapest
/// alternative is found; if it is empty, the alternative with the highest grid is taken. dims: the
/// sizes that the dispatch passes to the kernel (Command.dims); if it is empty, no variant is taken
/// that runs only if certain sizes are multiples of a number. Returns kUnsupported with the reason
/// if no variant can run.
Result<const artifact::KernelVariant *>
chooseVariant(const artifact::Kernel &kernel, BindingChoice choice, const DeviceProfile &profile,
              std::span<const BoundBuffer> buffers, std::span<const double> workgroups = {},
              std::span<const uint64_t> dims = {});

/// The pipelines of one session.
class KernelSet {
public:
  KernelSet(std::shared_ptr<const Program> program, std::shared_ptr<device::Device> device,
            std::optional<std::string> cachePath)
      : program_(std::move(program)), device_(std::move(device)), cachePath_(std::move(cachePath)) {
  }

  /// Compiles, in parallel, the variants that were not compiled before. Each pair is the index of a
  /// kernel in the program and a variant of that kernel.
  Status require(std::span<const std::pair<uint32_t, const artifact::KernelVariant *>> wanted);
  /// Returns the pipeline of a variant that was passed to require().
  device::Kernel &get(const artifact::KernelVariant *variant) const {
    return *kernels_[byVariant_.at(variant)];
  }
  size_t pipelineCount() const { return kernels_.size(); }

private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<device::Device> device_;
  std::optional<std::string> cachePath_;
  std::vector<std::unique_ptr<device::Kernel>> kernels_;
  std::map<const artifact::KernelVariant *, size_t> byVariant_; // Indices in kernels_.
  // Indices in kernels_. Variants with equal code and equal bindings share a pipeline.
  std::map<std::string, size_t> byContent_;
};

} // namespace gantry::program
