// Computes the values of a program's symbols from the shapes of a run's inputs, and checks the
// shapes against the program's ports.
//
// Threads: pure functions.
#pragma once

#include "engine/program/program.h"

namespace gantry::program {

/// Type and shape of one tensor of the caller.
struct TensorShape {
  artifact::ElementType type = artifact::ElementType::f32;
  std::vector<int64_t> dims;
};

/// Returns the text "f32 [batch, 3, 224]"; a dynamic dimension without a name is "?".
std::string shapeText(const TensorShape &shape);
std::string shapeText(const Port &port);

/// Returns the values of the symbols. Returns kInvalidArgument, naming the port, the given and the
/// expected value, if the number of inputs, a type, a rank or a dimension is wrong, if one symbol
/// has different values, or if a value is outside of the symbol's bounds.
Result<std::vector<int64_t>> bindSymbols(const Program &program,
                                         std::span<const TensorShape> inputs);

/// Checks dimensions of inputs that are expressions of several symbols. Returns kInvalidArgument if
/// a dimension differs from the value of its expression; `exprs` holds these values.
Status checkDerivedDims(const Program &program, std::span<const TensorShape> inputs,
                        std::span<const int64_t> exprs);

/// Returns the size of a dense tensor in bytes, or kInvalidArgument if it exceeds 64 bits. The name
/// is for the message.
Result<uint64_t> byteSize(const TensorShape &shape, const std::string &name);

} // namespace gantry::program
