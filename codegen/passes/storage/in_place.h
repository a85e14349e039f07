// Decides when the result of a dispatch (one kernel launch) may take the storage of one of its
// operands.
//
// The storage of a tensor is the tensor that it views through reshapes, or the tensor itself
// (viewedTensor() in tensor_dims.h).
#pragma once

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

/// Returns whether `storage` is a donated input of the program: the caller gives up the input, so a
/// run may reuse its memory.
bool isDonatedInput(mlir::Value storage);

/// A state is a tensor that the program keeps between runs: an input has its value, and a result of
/// the program is its next value. Returns whether operand `i` is a state's input, and the result of
/// the dispatch is the next value of this state.
bool isNextState(DispatchOp dispatch, unsigned i);

/// Returns whether the result may be written over operand `i`, provided that nothing reads the
/// operand after the dispatch. The operand must have the type, size and layout of the result, and
/// must not share its storage with another operand of the dispatch. Neither the operand nor the
/// result may lie in the storage of a concatenation. An element of the operand may be read only by
/// the invocation that writes the same element of the result.
bool mayOverwrite(DispatchOp dispatch, unsigned i);

/// Returns whether the result may take the storage of operand `i`: the operand is a transient (a
/// tensor that only dispatches of the same run read) or a donated input, and mayOverwrite() holds.
bool mayTakeStorage(DispatchOp dispatch, unsigned i);

/// Returns whether `storage`, or a view of it, is returned or is read by an operation after
/// `dispatch`.
bool isUsedAfter(mlir::Value storage, mlir::Operation *dispatch);

/// A scatter is a dispatch that replaces rows of an operand in place (gantry.scatter). Several
/// scatters form a chain if each replaces rows of the result of the one before. Returns the operand
/// of the first scatter of the chain that ends with `dispatch`; all of them write into its storage.
/// Returns null if the dispatch is no scatter.
mlir::Value startOfScatters(DispatchOp dispatch);

} // namespace gantry::codegen
