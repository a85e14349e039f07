// Implements the dialect of gantry_dialect.h: its registration, the syntax of lists in attributes,
// and the verifiers of operations. verify_attributes.cpp has the verifiers of attributes.
#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVTypes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

namespace gantry::codegen {

namespace {

/// Parses "[a, b]", the form of a Gantry_List in GantryAttributes.td.
template <typename T> mlir::FailureOr<llvm::SmallVector<T>> parseList(mlir::AsmParser &parser) {
  llvm::SmallVector<T> list;
  auto parseElement = [&]() -> mlir::ParseResult {
    mlir::FailureOr<T> element = mlir::FieldParser<T>::parse(parser);
    if (mlir::succeeded(element))
      list.push_back(*element);
    return mlir::success(mlir::succeeded(element));
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square, parseElement))
    return mlir::failure();
  return list;
}

template <typename T> void printList(mlir::AsmPrinter &printer, llvm::ArrayRef<T> list) {
  printer << '[';
  llvm::interleaveComma(list, printer.getStream(),
                        [&](T element) { printer.printStrippedAttrOrType(element); });
  printer << ']';
}

} // namespace

} // namespace gantry::codegen

#include "codegen/dialect/GantryDialect.cpp.inc"

#include "codegen/dialect/GantryEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/dialect/GantryAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/dialect/GantryOps.cpp.inc"

namespace gantry::codegen {

void GantryDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/dialect/GantryAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "codegen/dialect/GantryOps.cpp.inc"
      >();
}

unsigned portDim(mlir::FunctionOpInterface function, unsigned argument, unsigned dim) {
  const auto state = argumentAttribute<StateAttr>(function, argument);
  return state && !state.getOrder().empty() ? static_cast<unsigned>(state.getOrder()[dim]) : dim;
}

void DispatchOp::build(mlir::OpBuilder &builder, mlir::OperationState &state, mlir::Type result,
                       mlir::ValueRange inputs, mlir::ValueRange dims, mlir::Value flops,
                       llvm::ArrayRef<int64_t> operandDims, llvm::ArrayRef<int64_t> resultDims) {
  build(builder, state, result, inputs, dims, flops, operandDims, resultDims,
        /*kernel=*/mlir::SymbolRefAttr(), /*in_place=*/mlir::IntegerAttr(),
        /*layouts=*/mlir::ArrayAttr(), /*rows=*/false, /*copy_reason=*/mlir::StringAttr(),
        /*scattered=*/mlir::DenseI64ArrayAttr());
  auto block = std::make_unique<mlir::Block>();
  for (mlir::ValueRange values : {inputs, dims})
    for (mlir::Value value : values)
      block->addArgument(value.getType(), state.location);
  state.regions.front()->push_back(block.release());
}

namespace {

/// Checks that `map` has an entry for every dynamic dimension of `types`, and that each entry is an
/// index in the dispatch's dims (its dynamic sizes). `name` is the name of the attribute that holds
/// the map.
mlir::LogicalResult verifyDims(DispatchOp dispatch, llvm::ArrayRef<int64_t> map,
                               mlir::TypeRange types, llvm::StringRef name) {
  int64_t dynamic = 0;
  for (mlir::Type type : types)
    dynamic += mlir::cast<mlir::RankedTensorType>(type).getNumDynamicDims();
  if (static_cast<int64_t>(map.size()) != dynamic)
    return dispatch.emitOpError() << name << " has " << map.size() << " entries for " << dynamic
                                  << " dynamic dimensions";
  for (int64_t position : map)
    if (position < 0 || position >= static_cast<int64_t>(dispatch.getDims().size()))
      return dispatch.emitOpError() << name << " refers to dim " << position
                                    << "; it must be at least 0 and less than the number of dims, "
                                    << dispatch.getDims().size();
  return mlir::success();
}

/// Checks that the rows (columns) of a matrix in shared memory do not overlap. Consecutive rows
/// begin `strideVectors` vectors of four 32-bit words apart. Rows therefore begin at multiples of
/// 16 bytes, as Vulkan requires (VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986).
mlir::LogicalResult verifyMatrix(mlir::Operation *op, mlir::Type type, int64_t strideVectors,
                                 bool columns) {
  constexpr int64_t kVectorBits = 128;
  auto matrix = mlir::dyn_cast<mlir::spirv::CooperativeMatrixType>(type);
  if (!matrix)
    return op->emitOpError() << type << " is not a cooperative matrix";
  const int64_t bits = (columns ? matrix.getRows() : matrix.getColumns()) *
                       static_cast<int64_t>(matrix.getElementType().getIntOrFloatBitWidth());
  if (strideVectors * kVectorBits < bits)
    return op->emitOpError() << "a stride of " << strideVectors << " vectors of 16 bytes is less "
                             << "than a " << (columns ? "column" : "row") << " of " << bits / 8
                             << " bytes";
  return mlir::success();
}

} // namespace

mlir::LogicalResult DispatchOp::verify() {
  if (mlir::failed(verifyDims(*this, getOperandDims(), getInputs().getTypes(), "operand_dims")) ||
      mlir::failed(
          verifyDims(*this, getResultDims(), getOperation()->getResultTypes(), "result_dims")))
    return mlir::failure();
  if (getBody().empty() == !getKernel())
    return emitOpError("needs either a region or a kernel");
  if (getInPlace() && *getInPlace() >= getInputs().size())
    return emitOpError() << "in_place names operand " << *getInPlace()
                         << "; it must be less than the number of operands, " << getInputs().size();
  if (const int64_t rank = mlir::cast<mlir::RankedTensorType>(getResult().getType()).getRank();
      static_cast<int64_t>(getCollapsed()) < 1 ||
      static_cast<int64_t>(getCollapsed()) > std::max<int64_t>(rank, 1))
    return emitOpError() << "collapses " << getCollapsed()
                         << " dimensions into one; its result has " << rank;
  if (getScattered() && !getInPlace())
    return emitOpError("is scattered but not in place");
  for (int64_t extent : getScattered().value_or(llvm::ArrayRef<int64_t>()))
    if (-extent > static_cast<int64_t>(getDims().size()))
      return emitOpError() << "scattered refers to dim " << -1 - extent
                           << "; it must be less than the number of dims, " << getDims().size();
  if (getLayouts() && getLayouts()->size() != getInputs().size() + 1)
    return emitOpError() << "layouts has " << getLayouts()->size() << " entries for "
                         << getInputs().size() << " operands and a result";
  return mlir::success();
}

mlir::LogicalResult ConcatOp::verify() {
  auto type = mlir::cast<mlir::RankedTensorType>(getResult().getType());
  const auto dim = static_cast<int64_t>(getDim());
  if (dim < 0 || dim >= type.getRank())
    return emitOpError() << "is along dimension " << dim << " of a tensor of rank "
                         << type.getRank();
  int64_t sum = 0;
  for (mlir::Value input : getInputs()) {
    auto part = mlir::cast<mlir::RankedTensorType>(input.getType());
    llvm::SmallVector<int64_t> shape(part.getShape());
    if (part.getRank() != type.getRank() || part.getElementType() != type.getElementType())
      return emitOpError() << "the input " << part << " does not fit the result " << type;
    if (mlir::ShapedType::isDynamicShape(part.getShape().drop_front(dim)))
      return emitOpError() << "the input " << part << " has a dynamic extent from dimension " << dim
                           << " on";
    if (getInterleaved() && part != getInputs().front().getType())
      return emitOpError() << "interleaves inputs of different types, " << part << " and "
                           << getInputs().front().getType();
    sum += shape[dim];
    shape[dim] = type.getDimSize(dim);
    if (llvm::ArrayRef(shape) != type.getShape())
      return emitOpError() << "the input " << part << " does not fit the result " << type;
  }
  if (sum != type.getDimSize(dim))
    return emitOpError() << "the inputs have " << sum << " of " << type.getDimSize(dim)
                         << " elements along dimension " << dim;
  return mlir::success();
}

mlir::LogicalResult ScatterOp::verify() {
  auto data = mlir::cast<mlir::RankedTensorType>(getData().getType());
  auto updates = mlir::cast<mlir::RankedTensorType>(getUpdates().getType());
  auto positions = mlir::cast<mlir::RankedTensorType>(getPositions().getType());
  const int64_t outer = positions.getRank();
  if (data.getRank() == 0 || outer == 0 || updates.getRank() != outer + data.getRank() - 1 ||
      updates.getElementType() != data.getElementType() ||
      updates.getShape().drop_front(outer) != data.getShape().drop_front())
    return emitOpError() << "the updates " << updates << " do not have the shape of rows of "
                         << data;
  if (updates.getShape().take_front(outer) != positions.getShape())
    return emitOpError() << "the positions " << positions
                         << " do not have the leading dimensions of the updates " << updates;
  if (getRows() && !data.isDynamicDim(0))
    return emitOpError() << "grows although " << data << " has a fixed number of rows";
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
