// A kernel's function on buffers: what emit-kernels makes of the function on tensors, for one tile.
//
// The function takes, in this order: for each buffer (the operands, then the result) its scalar
// view and its vector view, then the dynamic dimensions, then the ids of workgroup (x and y),
// invocation, lane and subgroup. Each argument says with `gantry.binding` what it receives;
// arguments that the body does not use are removed. The body numbers the tiles of the result in
// row-major order and computes the tile whose number follows from the ids; codegen/tiling computes
// the tile itself.
//
// The attributes `gantry.launch`, `gantry.tile`, `gantry.loops`, `gantry.slices` and
// `gantry.remarks` tell the passes after it how to launch the kernel
// (codegen/dialect/GantryAttributes.td).
//
// Thread safety: builds IR beside `source`, so one call at a time per module.
#pragma once

#include "codegen/tiling/tile_choice.h"

namespace gantry::codegen {

/// Adds the function beside `source`, which stays as it is. `grid` is the function's index among
/// those of its kernel; the baseline has index 0 and keeps the name of `source`, others append
/// their kind. Fails with a diagnostic on the operation that no kernel can compute.
mlir::LogicalResult addKernelFunction(mlir::func::FuncOp source, const DeviceProfile &device,
                                      TileKind kind, const TileChoice &choice, int64_t grid);

} // namespace gantry::codegen
