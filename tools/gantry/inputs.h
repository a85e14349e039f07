// Where a run's inputs come from: files, or values made from a seed.
//
// First every input's shape is settled: from its file, from --shape, or from the program with its
// dynamic dimensions taken from --dim or from another input's file that has the same named
// dimension. Then inputs without a file are filled.
//
// Threads: pure functions. Deterministic on every machine: equal seeds give equal values.
#pragma once

#include "tools/gantry/tensor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

/// What the program says of one of its inputs or outputs.
struct Port {
  std::string name;
  gantry_type_t type = GANTRY_TYPE_F32;
  std::vector<int64_t> dims; // GANTRY_DYNAMIC where the inputs decide
  std::vector<std::string> dimNames;
  bool donated = false;
};

/// "input 'x' (f32 1x3x224x224)".
std::string portText(const Port &port);

enum class Filling { kNone, kRandom, kArange };

struct InputRequest {
  std::vector<std::string> files;   // "FILE", in order, or "NAME=FILE"
  std::vector<std::string> shapes;  // "NAME=1x3x224x224"
  std::vector<std::string> dims;    // "batch=3"
  Filling filling = Filling::kNone; // of inputs without a file
  uint64_t seed = 0;
  uint64_t intRange = 10; // integers are drawn from [0, intRange)
};

/// "NAME=VALUE" split where NAME is one of `names`; else at the first '='. Nothing without an '='.
std::optional<std::pair<std::string, std::string>>
splitAssignment(const std::string &text, const std::vector<std::string> &names);

/// "NAME=FILE" and "FILE" in order, given to the ports: an empty path where a port has none.
/// what: "input" or "output", for the messages. Throws ToolError(kBadInput).
std::vector<std::string> assignFiles(const std::vector<Port> &ports,
                                     const std::vector<std::string> &files, const char *what);

/// Sizes that a dynamic dimension will have when it is compiled for.
struct DimRange {
  std::string name;
  int64_t least = 1, most = 1;
};

/// "batch=3" (least and most 3), "time=..64" (1 to 64), "time=8..64". Throws ToolError(kBadInput).
std::vector<DimRange> parseDimRanges(const std::vector<std::string> &texts);

/// "batch=3" to a map; sizes of at least 0. Throws ToolError(kBadInput).
std::map<std::string, int64_t> parseDims(const std::vector<std::string> &dims);

/// Reads one tensor; called with the path. Passed in, so that this file needs no compiler for .pb.
using TensorReader = Tensor (*)(const std::string &path);

/// One tensor for each port. Throws ToolError(kBadInput) naming the input, with the remedy.
std::vector<Tensor> makeInputs(const std::vector<Port> &ports, const InputRequest &request,
                               TensorReader read);

/// Floats uniform in [-1, 1); integers uniform in [0, intRange); booleans even.
Tensor randomTensor(gantry_type_t type, const std::vector<int64_t> &dims, uint64_t seed,
                    uint64_t intRange);
/// Floats i / n for element i of n; integers i modulo intRange; booleans i odd.
Tensor arangeTensor(gantry_type_t type, const std::vector<int64_t> &dims, uint64_t intRange);

} // namespace gantry::tool
