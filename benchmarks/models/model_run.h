// A compiled model with generated inputs, which is run repeatedly to measure its time.
//
// f32 inputs are patterns in [-0.5, 0.5); all others are zero, because token 0 and false are valid
// for every model. Results are not checked here; tests do that.
//
// Threads: used by one thread. Errors: GpuError with the runtime's message.
#pragma once

#include "benchmarks/kernels/generated.h"

#include <map>
#include <string>
#include <vector>

namespace gantry::bench {

/// Parses options of the form --dim NAME=N. Throws GpuError for any other form.
std::map<std::string, int64_t> parseDims(const std::vector<std::string> &texts);

class ModelRun {
public:
  /// `dims` has the sizes of dynamic dimensions by name.
  ModelRun(Runtime &runtime, const std::string &artifact,
           const std::map<std::string, int64_t> &dims);
  ~ModelRun();
  ModelRun(const ModelRun &) = delete;
  ModelRun &operator=(const ModelRun &) = delete;

  /// Runs for at least 0.2 seconds and returns the seconds of one run, as Contestant::seconds does.
  double seconds();
  /// Runs `runs` times and returns the seconds of one run.
  double secondsOf(uint32_t runs);
  /// Number of arithmetic operations of one run.
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
