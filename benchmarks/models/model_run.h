// A compiled model with generated inputs, which is run repeatedly to measure its time.
//
// f32 inputs have pseudo-random values in [-0.5, 0.5). Inputs of all other types are zero, because
// the token 0 and false are valid for every model. Results are not checked here; the project's
// tests check them.
//
// Threads: used by one thread. Errors: GpuError with the runtime's message.
#pragma once

#include "benchmarks/kernels/generated.h"

#include <map>
#include <string>
#include <vector>

namespace gantry::bench {

/// Parses the values of --dim options, of the form NAME=N with N ≥ 1. Throws GpuError for any other
/// form.
std::map<std::string, int64_t> parseDims(const std::vector<std::string> &texts);

/// A loaded artifact (compiled model) with a session, which binds it to the device and runs it, and
/// with buffers of its own.
class ModelRun {
public:
  /// `artifact` is the path of a compiled model; `dims` has the sizes of dynamic dimensions by
  /// name. `runtime` must outlive this object.
  ModelRun(Runtime &runtime, const std::string &artifact,
           const std::map<std::string, int64_t> &dims);
  ~ModelRun();
  ModelRun(const ModelRun &) = delete;
  ModelRun &operator=(const ModelRun &) = delete;

  /// Runs the model for about 0.2 seconds and returns the seconds of one run: CPU seconds of this
  /// process on a software device, the device's own time on a GPU.
  double seconds();
  /// Runs `runs` times and returns the seconds of one run.
  double secondsOf(uint32_t runs);
  /// Returns the number of arithmetic operations of one run.
  double flops() const { return flops_; }
  uint64_t dispatches() const { return dispatches_; }
  gantry_statistics_t statistics() const;

private:
  void bindInputs(const std::map<std::string, int64_t> &dims);
  void bindOutputs();
  void readCommands(const std::map<std::string, int64_t> &dims);
  gantry_buffer_t *buffer(uint64_t bytes);
  void runOnce();

  Runtime &runtime_;
  gantry_program_t *program_ = nullptr;
  gantry_session_t *session_ = nullptr;
  std::vector<gantry_buffer_t *> buffers_;
  std::vector<gantry_tensor_t> inputs_, outputs_;
  double flops_ = 0;
  uint64_t dispatches_ = 0;
  uint32_t repeats_ = 1;
};

} // namespace gantry::bench
