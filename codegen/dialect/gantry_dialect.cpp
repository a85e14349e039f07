#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVTypes.h"
#include "mlir/IR/Builders.h"

#include "codegen/dialect/GantryDialect.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/dialect/GantryOps.cpp.inc"

namespace gantry::codegen {

void GantryDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "codegen/dialect/GantryOps.cpp.inc"
      >();
}

static int64_t countDynamic(mlir::TypeRange types) {
  int64_t count = 0;
  for (mlir::Type type : types)
    count += mlir::cast<mlir::RankedTensorType>(type).getNumDynamicDims();
  return count;
}

mlir::LogicalResult DispatchOp::verify() {
  auto checkMap = [&](llvm::ArrayRef<int64_t> map, mlir::TypeRange types,
                      llvm::StringRef name) -> mlir::LogicalResult {
    int64_t dynamic = countDynamic(types);
    if (static_cast<int64_t>(map.size()) != dynamic)
      return emitOpError() << name << " has " << map.size() << " entries for " << dynamic
                           << " dynamic dimensions";
    for (int64_t position : map)
      if (position < 0 || position >= static_cast<int64_t>(getDims().size()))
        return emitOpError() << name << " refers to dim " << position << " of " << getDims().size();
    return mlir::success();
  };
  if (mlir::failed(checkMap(getOperandDims(), getInputs().getTypes(), "operand_dims")) ||
      mlir::failed(checkMap(getResultDims(), getOperation()->getResultTypes(), "result_dims")))
    return mlir::failure();
  if (getBody().empty() == !getKernel())
    return emitOpError("needs either a region or a kernel");
  if (getInPlace() && *getInPlace() >= getInputs().size())
    return emitOpError() << "in_place names operand " << *getInPlace() << " of "
                         << getInputs().size();
  return mlir::success();
}

/// Vulkan wants rows, or columns, to begin at multiples of 16 bytes
/// (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986), as vectors of four words do.
static mlir::LogicalResult verifyMatrix(mlir::Operation *op, mlir::Type type, int64_t stride,
                                        bool columns) {
  constexpr int64_t kVectorBits = 128;
  auto matrix = mlir::dyn_cast<mlir::spirv::CooperativeMatrixType>(type);
  if (!matrix)
    return op->emitOpError() << type << " is no cooperative matrix";
  const int64_t bits = (columns ? matrix.getRows() : matrix.getColumns()) *
                       static_cast<int64_t>(matrix.getElementType().getIntOrFloatBitWidth());
  if (stride * kVectorBits < bits)
    return op->emitOpError() << "a stride of " << stride << " vectors for " << bits / 8 << " bytes";
  return mlir::success();
}

mlir::LogicalResult LoadMatrixOp::verify() {
  return verifyMatrix(*this, getMatrix().getType(), static_cast<int64_t>(getStride()),
                      getColumns());
}

mlir::LogicalResult StoreMatrixOp::verify() {
  return verifyMatrix(*this, getMatrix().getType(), static_cast<int64_t>(getStride()), false);
}

} // namespace gantry::codegen
