// Emits the stores of a kernel's result.
//
// Four neighbours under one guard are one vector store. A guard is the number of a set of
// conditions under which a point, an element of the result, is inside of the result (guards.h). In
// kernels that read operands through texel buffers, two more cases are vector stores: neighbours at
// any address whose remainder modulo four is known, and neighbours of which only some lie inside of
// the result. In the second case the vector is stored where all four lie inside. Where some lie
// outside, the others are stored one by one, in a loop that invocations away from the edge skip.
//
// Threads: belongs to one kernel and one thread.
#pragma once

#include "codegen/tiling/emitter/kernel_context.h"

namespace gantry::codegen {

class ResultStore {
public:
  explicit ResultStore(const KernelContext &context)
      : context_(context), space_(context.space), sink_(context.sink), shapes_(context.shapes),
        guards_(context.guards) {}

  /// Stores elements of the result. A point is stored if its guard holds.
  void store(llvm::ArrayRef<Point> points, llvm::ArrayRef<mlir::Value> values);

private:
  struct Request;
  struct Neighbours;
  void storeAligned(Request &request);
  void storeNeighbours(Request &request, bool ofOneGuard);
  void storeVector(Request &request, const Neighbours &group);
  void storeEdges(const Request &request, llvm::ArrayRef<Neighbours> groups);
  void storeElements(Request &request);
  void storeElement(const Request &request, mlir::Value value, mlir::Value address);
  void storeUnder(int32_t guard, Request &request, llvm::function_ref<void()> body);

  const KernelContext &context_;
  IndexSpace &space_;
  KernelSink &sink_;
  KernelShapes &shapes_;
  Guards &guards_;
};

} // namespace gantry::codegen
