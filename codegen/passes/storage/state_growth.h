// Finds the states that grow. A state is an input that shares its buffer with a result of the
// function, its next value. It grows if the next value is the state with new rows after it, as in a
// cache of a language model.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace gantry::codegen {

class StateAttr;

/// Returns whether the next value of a state of the function is `tensor` or a reshape of it, and
/// the function returns the tensor only as that.
bool isNextOf(StateAttr state, mlir::func::FuncOp function, mlir::Value tensor);

/// Returns the only operation, apart from reshapes, that uses the elements of a tensor or of its
/// reshapes; null if there are several or none.
mlir::Operation *onlyUserOf(mlir::Value tensor);

/// Returns the concatenation that appends rows to the argument, if the argument is a state whose
/// next value is the result, and nothing else reads the argument. The number of rows must be
/// dynamic, and each other dimension either has one fixed size in the state, the new rows and the
/// result, or is dynamic in all of them. Otherwise returns null.
mlir::tensor::ConcatOp growthOf(mlir::BlockArgument argument);

} // namespace gantry::codegen
