// Tells which operators read a tensor as an image [n, c, …] with channels c. They run faster if the
// image is stored in blocks of four channels, so that one vector load reads four channels of a
// pixel (the pass choose-layouts in Passes.td).
//
// Thread safety: pure functions.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gantry::codegen {

/// Returns whether an operator reads `value`, a tensor of rank 3 or more, as an image [n, c, …].
/// Such an operator is a reduction that
/// - reads windows along dimensions after c,
/// - reduces all dimensions after c, or
/// - reduces c but not the last dimension.
/// The last two do not apply to a matmul with a batch, in which n is also an index of another
/// operand. The operator may read `value` directly, or through pads and elementwise operators.
/// `value` must belong to the program's function, before the pass form-dispatches has grouped
/// operators into dispatches (kernel launches), or to the region of a dispatch.
bool readsAsImage(mlir::Value value);

/// Calls `body` with each use by an operator that reads one of the tensors as an image
/// (readsAsImage()). Here the operator may also read the tensor through slices and concatenations,
/// but never through the operation `ignored`.
void forEachImageRead(llvm::ArrayRef<mlir::Value> tensors, mlir::Operation *ignored,
                      llvm::function_ref<void(mlir::OpOperand &)> body);

} // namespace gantry::codegen
