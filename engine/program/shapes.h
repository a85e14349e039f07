// Computes the values of a program's symbols from the shapes of a run's inputs, and checks these
// shapes against the program's input ports. A symbol is a size that each run may choose, such as a
// batch size.
//
// Threads: pure functions.
#pragma once

#include "engine/program/program.h"

namespace gantry::program {

/// The type and the shape of one of the caller's tensors.
struct TensorShape {
  artifact::ElementType type = artifact::ElementType::f32;
  std::vector<int64_t> dims;
};

/// Returns text such as "f32 [batch, 3, 224]". A dynamic dimension without a name is shown as "?".
std::string shapeText(const TensorShape &shape);
std::string shapeText(const Port &port);

/// Binds the symbols: reads their values from the dimensions of the inputs. Returns
/// kInvalidArgument if the number of inputs, a type, a rank or a dimension is wrong, if two
/// dimensions give a symbol different values, or if the value of a symbol that is a whole dimension
/// is outside the symbol's bounds (evaluateExprs() checks the bounds of the others). The message
/// names the given and the expected value and, unless the number of inputs is wrong, the input.
Result<std::vector<int64_t>> bindSymbols(const Program &program,
                                         std::span<const TensorShape> inputs);

/// Checks that each dimension of each input equals the value of its expression (Expr in
/// artifact.fbs); bindSymbols() does not check dimensions that are computed from symbols. `exprs`
/// holds the values of the expressions. Returns kInvalidArgument if a dimension differs.
Status checkDerivedDims(const Program &program, std::span<const TensorShape> inputs,
                        std::span<const int64_t> exprs);

/// Returns the size of a dense tensor in bytes, or kInvalidArgument if it exceeds 64 bits. The
/// message names the tensor `name`.
Result<uint64_t> byteSize(const TensorShape &shape, const std::string &name);

} // namespace gantry::program
