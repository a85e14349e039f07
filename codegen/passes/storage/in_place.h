// Decides when a dispatch's result may take the storage of one of its operands.
//
// The storage of a tensor is the tensor whose bytes it views (tensor_dims.h).
#pragma once

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

/// Returns whether `storage` is an input of the program whose memory a run may reuse.
bool isDonatedInput(mlir::Value storage);

/// Returns whether operand `i` is the input of a state and the result is the state's next value.
bool isNextState(DispatchOp dispatch, unsigned i);

/// Returns whether the result may be written over operand `i`, provided that nothing reads the
/// operand afterwards. The operand must have the type, size and layout of the result, and share its
/// storage with no other operand. Only the invocation that writes an element of the result may read
/// the same element of the operand.
bool mayOverwrite(DispatchOp dispatch, unsigned i);

/// Returns mayOverwrite() for an operand that is a transient or a donated input: the result may
/// take its storage.
bool mayTakeStorage(DispatchOp dispatch, unsigned i);

/// Returns whether `storage`, or a view of it, is returned or is read by an operation after
/// `dispatch`.
bool isUsedAfter(mlir::Value storage, mlir::Operation *dispatch);

/// A scatter is a dispatch that replaces rows of an operand in place (gantry.scatter). Returns the
/// tensor in whose storage a chain of scatters writes its rows, where `dispatch` is the last of
/// them. Returns null if the dispatch is no scatter.
mlir::Value startOfScatters(DispatchOp dispatch);

} // namespace gantry::codegen
