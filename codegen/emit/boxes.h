// The bytes of values that lie inside of others, as boxes (engine/base/box.h) whose numbers are
// expressions of the program (shape_exprs.h); and the check of a static program's storage.
//
// Thread safety: one thread at a time.
#pragma once

#include "codegen/emit/shape_exprs.h"
#include "codegen/passes/storage/placement.h"
#include "engine/base/box.h"

namespace gantry::codegen {

/// Returns Value.box (engine/artifact/artifact.fbs) of a tensor: (extent, start, size) for each
/// dimension in memory. dims: the expressions of the tensor's extents. The list is empty if the
/// tensor has no gaps and begins at the address at which its kernel's buffer is bound.
std::vector<uint32_t> boxExprs(ShapeExprs &exprs, const Placement &place, LayoutAttr layout,
                               llvm::ArrayRef<uint32_t> dims);

/// Returns the bytes of a value of a static program, as a box in the value's slot, or, for a value
/// outside of the arena, in the value's own buffer.
Box boxOf(const artifact::ValueT &value, const ShapeExprs &exprs);

/// Checks a static program with hazards::checkStorage(). The message names values and commands.
Status checkProgramStorage(const artifact::ProgramT &program, const ShapeExprs &exprs);

} // namespace gantry::codegen
