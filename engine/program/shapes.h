// From the shapes of the inputs to the values of a program's symbols, with every check of the
// inputs against the ports.
//
// Threads: pure functions.
#pragma once

#include "engine/program/program.h"

namespace gantry::program {

/// Type and shape of one tensor that the caller brings.
struct TensorShape {
  artifact::ElementType type = artifact::ElementType::f32;
  std::vector<int64_t> dims;
};

/// "f32 [batch, 3, 224]"; unknown dims without a name are "?".
std::string shapeText(const TensorShape &shape);
std::string shapeText(const Port &port);

/// The symbols' values. kInvalidArgument names the port, what is expected and what is given, for a
/// wrong count, type, rank or dimension, for equal symbols with unequal values and for values
/// outside of a symbol's bounds.
Result<std::vector<int64_t>> bindSymbols(const Program &program,
                                         std::span<const TensorShape> inputs);

/// Dimensions of inputs that are expressions of symbols must have the expressions' values.
Status checkDerivedDims(const Program &program, std::span<const TensorShape> inputs,
                        std::span<const int64_t> exprs);

/// Bytes of a dense tensor; kInvalidArgument where they exceed 64 bits.
Result<uint64_t> byteSize(const TensorShape &shape, const std::string &name);

} // namespace gantry::program
