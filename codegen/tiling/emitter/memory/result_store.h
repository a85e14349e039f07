// Emits the stores of a kernel's result.
//
// Four neighbours under one guard are one vector store. In kernels that read texels, this holds for
// neighbours at any address whose remainder modulo four is known, and also if only some of the four
// lie inside of the result: the vector is stored where all do, and the edge of the result is stored
// element by element, in a loop that other invocations skip.
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
