// When a dispatch's result may take the storage of one of its operands.
#pragma once

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

/// Whether it is an input of the program whose memory runs may reuse (gantry.donated).
bool isDonatedInput(mlir::Value storage);

/// Whether the result may take operand i's storage, if nobody reads that afterwards: it is a
/// transient, or a donated input, of the same type, the only operand in its storage, and every
/// element of it is read only by the invocation that writes the same element of the result.
bool mayTakeStorage(DispatchOp dispatch, unsigned i);

/// Whether `storage`, or a view of it, is returned or read by an op after `dispatch`.
bool isUsedAfter(mlir::Value storage, mlir::Operation *dispatch);

} // namespace gantry::codegen
