// The objects that the classes which generate one kernel share.
#pragma once

#include "codegen/tiling/emitter/guards.h"
#include "codegen/tiling/emitter/kernel_shapes.h"
#include "codegen/tiling/emitter/loops.h"

namespace gantry::codegen {

/// The place of an invocation in a tile with cooperative matrices.
struct MatrixPlaces {
  IndexExpr down{0}, across{0}; // The subgroup's place in the workgroup's tile.
  IndexExpr row{0}, vector{0};  // The lane's place in a block: its row and its vec4.
  std::vector<IndexExpr> base;  // The start of the workgroup's tile, by tile dimension.
  std::vector<Point> points;    // The result's points of the invocation.
};

/// The place of an invocation. Constant 0 where a tile has no such place.
struct Invocation {
  // In the subgroup that shares a tile. Without lanes, the coordinate of the tile along the last
  // dimension, where neighbouring invocations are neighbours.
  IndexExpr lane{0};
  IndexExpr inWorkgroup{0}; // Tiles that use shared memory: in the workgroup.
  MatrixPlaces matrix;
};

/// References to objects that live as long as the kernel is generated. KernelEmitter owns them.
struct KernelContext {
  const TileShape &tile;
  IndexSpace &space;
  KernelSink &sink;
  KernelShapes &shapes;
  Guards &guards;
  Loops &loops;
  const Invocation &invocation;
};

} // namespace gantry::codegen
