// A compiled model with inputs made for it: run again and again, for its time alone.
//
// Inputs are patterns (floats in [-0.5, 0.5)) and, where the type is no f32, zeros: token 0 and
// false are valid everywhere. Results are not looked at; tests judge those.
//
// Threads: used by one thread. Errors: GpuError with the runtime's message.
#pragma once

#include "benchmarks/kernels/generated.h"

#include <map>
#include <string>
#include <vector>

namespace gantry::bench {

/// The sizes that options of the form --dim NAME=N give; GpuError for any other form.
std::map<std::string, int64_t> parseDims(const std::vector<std::string> &texts);

class ModelRun {
public:
  /// dims: sizes of dynamic dimensions by their names.
  ModelRun(Runtime &runtime, const std::string &artifact,
           const std::map<std::string, int64_t> &dims);
  ~ModelRun();
  ModelRun(const ModelRun &) = delete;
  ModelRun &operator=(const ModelRun &) = delete;

  /// Runs for 0.2 seconds or longer; seconds of one run, as of Contestant::seconds.
  double seconds();
  /// The same over so many runs.
  double secondsOf(uint32_t runs);
  /// The operators' own operations of one run.
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
