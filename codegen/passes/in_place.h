// Decides when a dispatch's result may take the storage of one of its operands.
//
// The storage of a tensor is the tensor whose bytes it views (tensor_dims.h).
#pragma once

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

/// Returns whether `storage` is an input of the program whose memory a run may reuse.
bool isDonatedInput(mlir::Value storage);

/// Returns whether the result may take the storage of operand `i`, provided that nothing reads the
/// operand afterwards. The operand must be a transient or a donated input, have the type, size and
/// layout of the result, and share its storage with no other operand. Only the invocation that
/// writes an element of the result may read the same element of the operand.
bool mayTakeStorage(DispatchOp dispatch, unsigned i);

/// Returns whether `storage`, or a view of it, is returned or is read by an operation after
/// `dispatch`.
bool isUsedAfter(mlir::Value storage, mlir::Operation *dispatch);

} // namespace gantry::codegen
