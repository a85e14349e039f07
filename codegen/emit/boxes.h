// Computes where the bytes of a value lie, and checks the storage of a program.
//
// A value is a tensor of the program in the artifact (the compiled model). It may lie inside of a
// larger value, as an input of a concatenation lies in the result. Its bytes are then a box
// (engine/base/box.h), whose numbers are expressions over the program's dynamic sizes
// (shape_exprs.h). A static program has no dynamic sizes, so all its expressions are constants.
//
// Thread safety: one thread at a time.
#pragma once

#include "codegen/emit/shape_exprs.h"
#include "codegen/passes/storage/placement.h"
#include "engine/base/box.h"

namespace gantry::codegen {

/// A number in the artifact that is not set: ValueT::base, ValueT::slot_offset or
/// CommandT::in_place.
inline constexpr uint32_t kNotSet = UINT32_MAX;

/// Returns the field Value.box (engine/artifact/artifact.fbs) of a tensor with this place and
/// layout: the expressions (extent, start, size) for each dimension in memory. dims: the
/// expressions of the tensor's extents. The list is empty if the tensor has no gaps and begins at
/// the address at which kernels bind its buffer.
std::vector<uint32_t> boxExprs(ShapeExprs &exprs, const Placement &place, LayoutAttr layout,
                               llvm::ArrayRef<uint32_t> dims);

/// Returns the bytes of a value of a static program. A value in the arena (the memory of all
/// tensors between the commands of a run) is a box in its slot, a range of the arena for one or
/// several values. Any other value is a box in its own buffer.
Box boxOf(const artifact::ValueT &value, const ShapeExprs &exprs);

/// Checks with hazards::checkStorage() that no command of a static program overwrites a value that
/// a later command or, in an output, the caller reads, and that commands write every byte that is
/// read. The message of an error names the value and the command.
/// buffers: for each value, the index of the value whose buffer contains it. For the output of a
/// state, this is the state's input.
Status checkProgramStorage(const artifact::ProgramT &program, const ShapeExprs &exprs,
                           llvm::ArrayRef<uint32_t> buffers);

} // namespace gantry::codegen
