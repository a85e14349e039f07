// The objects that all classes that generate one kernel use. A tile is the part of the kernel's
// result that one invocation, subgroup or workgroup computes (tile_shape.h). A lane is an
// invocation of a subgroup, and a point is one element of a tensor (sink/point.h).
#pragma once

#include "codegen/tiling/emitter/guards.h"
#include "codegen/tiling/emitter/kernel_shapes.h"
#include "codegen/tiling/emitter/loops.h"

namespace gantry::codegen {

/// The position of an invocation in a tile with cooperative matrices. Such a tile consists of
/// blocks, the results of single matrix multiplications (MatrixTile in tile_shape.h).
struct MatrixPlaces {
  IndexExpr down{0}, across{0}; // The subgroup's position in the workgroup.
  // The lane's row among those that the lanes read at once (MatrixTile::rowsPerPass()), and its
  // vec4 in that row.
  IndexExpr row{0}, vector{0};
  std::vector<IndexExpr> base; // The start of the workgroup's tile, by tile dimension.
  std::vector<Point> points;   // The invocation's points of the result.
};

/// The position of an invocation. A member that does not apply to the kind of tile is constant 0.
struct Invocation {
  // The invocation's number in the subgroup that shares a tile. If no lanes share the tile and no
  // operands are staged (copied to shared memory), this is the tile's coordinate along the last
  // dimension, which differs by 1 between neighbouring invocations.
  IndexExpr lane{0};
  IndexExpr inWorkgroup{0}; // For staged tiles: the invocation's number in the workgroup.
  MatrixPlaces matrix;
};

/// References to objects that KernelEmitter owns. They are valid while the kernel is generated.
struct KernelContext {
  const TileShape &tile;
  const bool readsTexels; // Vectors of operands are read through texel buffers.
  IndexSpace &space;
  KernelSink &sink;
  KernelShapes &shapes;
  Guards &guards;
  Loops &loops;
  const Invocation &invocation;
};

} // namespace gantry::codegen
