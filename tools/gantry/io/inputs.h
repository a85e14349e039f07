// Makes the inputs of a run, from files or from a seed.
//
// The shape of every input is decided first: from its file, from --shape, or from the program. In
// the last case, dynamic dimensions get their sizes from --dim, or from the file or the --shape of
// another input that has a dimension of the same name. Inputs without a file are filled afterwards.
//
// Threads: pure functions, except for reading files. Equal seeds give equal values on every
// machine.
#pragma once

#include "tools/gantry/io/tensor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gantry::tool {

/// The description of one input or output of a program.
struct Port {
  std::string name;
  gantry_type_t type = GANTRY_TYPE_F32;
  std::vector<int64_t> dims;         // Sizes in elements; GANTRY_DYNAMIC for a dynamic dimension.
  std::vector<std::string> dimNames; // One per dimension; "" for a dimension without a name.
  bool donated = false;              // Whether a run may reuse the input's memory.
  /// The name of the state, a buffer that keeps its value from run to run, that the port reads or
  /// writes; "" for other ports.
  std::string state;
};

/// Returns a port's name, type and shape: "'x' (f32 1x3x224x224)".
std::string portText(const Port &port);

/// How inputs without a file are filled. With kNone, such an input is an error.
enum class Filling { kNone, kRandom, kArange };

/// The values of the options that describe inputs.
struct InputRequest {
  std::vector<std::string> files;   // "FILE", in the order of the inputs, or "NAME=FILE"
  std::vector<std::string> shapes;  // "NAME=1x3x224x224"
  std::vector<std::string> dims;    // "batch=3"
  Filling filling = Filling::kNone; // Values of inputs without a file.
  uint64_t seed = 0;
  uint64_t intRange = 10; // Generated integers are in [0, intRange).
};

/// Splits "NAME=VALUE" after the longest name of `names` that it begins with (names may contain
/// '='), or at the first '=' if it begins with none. Returns nothing if there is no '='.
std::optional<std::pair<std::string, std::string>>
splitAssignment(const std::string &text, const std::vector<std::string> &names);

/// Assigns each "NAME=FILE" to the port of that name, and each "FILE" to the next port without one.
/// Returns one path per port, empty if a port has none. `what` is "input" or "output", for
/// messages. Throws ToolError(kBadInput).
std::vector<std::string> assignFiles(const std::vector<Port> &ports,
                                     const std::vector<std::string> &files, const char *what);

/// The range of sizes of a dynamic dimension that a model is compiled for.
struct DimRange {
  std::string name;
  int64_t min = 1, max = 1;
};

/// Parses "batch=3" (exactly 3), "time=..64" (1 to 64), "time=8..64". Throws ToolError(kBadInput).
std::vector<DimRange> parseDimRanges(const std::vector<std::string> &texts);

/// Parses texts such as "batch=3" into a map from names to sizes, which are at least 0. Throws
/// ToolError(kBadInput).
std::map<std::string, int64_t> parseDims(const std::vector<std::string> &dims);

/// A function that reads a tensor from a file. It is a parameter of makeInputs(), so that this file
/// does not depend on the compiler, which reads .pb files.
using TensorReader = Tensor (*)(const std::string &path);

/// Returns one tensor per port. Throws ToolError(kBadInput) with the input's name and the remedy.
std::vector<Tensor> makeInputs(const std::vector<Port> &ports, const InputRequest &request,
                               TensorReader read);

/// Fills a tensor with random values: floats uniform in [-1, 1), integers uniform in [0, intRange),
/// booleans with equal probability.
Tensor randomTensor(gantry_type_t type, const std::vector<int64_t> &dims, uint64_t seed,
                    uint64_t intRange);
/// Fills element i of n: floats with i / n, integers with i modulo intRange, booleans with i odd.
Tensor arangeTensor(gantry_type_t type, const std::vector<int64_t> &dims, uint64_t intRange);

} // namespace gantry::tool
