// Implements the free functions of kernel_sink.h.
#include "codegen/tiling/sink/kernel_sink.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <functional>
#include <numeric>

namespace gantry::codegen {

using namespace mlir;

IndexList delinearize(IndexSpace &space, KernelSink &sink, const IndexExpr &linear,
                      llvm::ArrayRef<int64_t> extents) {
  IndexList parts(extents.size(), IndexExpr(0));
  Value rest = sink.index(linear);
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] == 1)
      continue;
    sink.count(Cost::kArithmetic, 2);
    Value extent = sink.create<arith::ConstantIndexOp>(extents[d]);
    Value part = sink.create<arith::RemUIOp>(rest, extent);
    rest = sink.create<arith::DivUIOp>(rest, extent);
    parts[d] = space.addVariable(part, 0, extents[d] - 1, !space.isUniform(linear));
  }
  return parts;
}

int64_t volumeOf(llvm::ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

} // namespace gantry::codegen
