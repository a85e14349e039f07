// Builds a kernel's function on buffers from its function on tensors, for one tile, for the pass
// emit-kernels. A tile is the part of the result that an invocation, a subgroup or a workgroup
// computes.
//
// The function takes, in this order: for each buffer (the operands, then the result) its scalar
// view (of single elements) and its vector view (of aligned groups of four), then the sizes of the
// dynamic dimensions (the dims), then the ids of workgroup (x and y), invocation, lane (the
// invocation within its subgroup) and subgroup. A function with a texel tile then takes more vector
// views of the result, whose groups of four begin 1, 2 and 3 elements later. The attribute
// `gantry.binding` of an argument says which of these it is. Arguments that the body does not use
// are removed. The tiles of the result are numbered in row-major order. The body computes the
// number of its tile from the ids; codegen/tiling generates the code for the tile.
//
// The attributes `gantry.launch`, `gantry.tile`, `gantry.loops`, `gantry.slices`,
// `gantry.prediction` and `gantry.remarks` describe the launch and the tile for later passes
// (codegen/dialect/GantryAttributes.td).
//
// Thread safety: the call adds IR to the module of `source`, so one call at a time per module.
#pragma once

#include "codegen/tiling/tile_choice.h"

namespace gantry::codegen {

/// Adds the function on buffers to the module of `source`, the function on tensors, which is not
/// changed. A kernel has one function for each of its tiles; `grid` is the function's index among
/// them. The baseline, the function that every device can run, has index 0 and the name of
/// `source`; the names of others end with their kind. isAlternative: the kernel has several
/// functions of this kind, among which the runtime chooses by cost (TileAttr); the name then ends
/// with the kind and `grid`. If an operation cannot be computed by a kernel, emits an error on it
/// and fails.
mlir::LogicalResult addKernelFunction(mlir::func::FuncOp source, const DeviceProfile &device,
                                      TileKind kind, const TileChoice &choice, int64_t grid,
                                      bool isAlternative);

} // namespace gantry::codegen
