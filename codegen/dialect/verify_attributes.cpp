// The verifiers of the dialect's attributes. They check the contents of each attribute, and whether
// the operation, argument or result that has it may have it.
#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <array>

namespace gantry::codegen {

using namespace mlir;

using Diagnose = llvm::function_ref<InFlightDiagnostic()>;

// ---- Contents of attributes --------------------------------------------------------------------

LogicalResult DimAttr::verify(Diagnose error, StringAttr name, int64_t min, int64_t max) {
  if (min < 0 || max < 0 || (max > 0 && max < min))
    return error() << "dimension " << name << " has sizes from " << min << " to " << max;
  return success();
}

LogicalResult RequirementsAttr::verify(Diagnose error, llvm::ArrayRef<StringAttr> symbols,
                                       llvm::ArrayRef<AffineMap> nonNegative) {
  for (AffineMap map : nonNegative)
    if (map.getNumDims() != 0 || map.getNumSymbols() != symbols.size() || map.getNumResults() != 1)
      return error() << "a requirement has " << map.getNumDims() << " dims, " << map.getNumSymbols()
                     << " symbols and " << map.getNumResults() << " results; it must have 0 dims, "
                     << symbols.size() << " symbols and 1 result";
  return success();
}

LogicalResult LayoutAttr::verify(Diagnose error, llvm::ArrayRef<int64_t> parts) {
  if (parts.size() % 2 != 0)
    return error() << "a layout lists pairs of a dimension and a block, not " << parts.size()
                   << " numbers";
  for (size_t i = 0; i < parts.size(); i += 2) {
    if (parts[i] < 0 || parts[i + 1] < 1)
      return error() << "a layout has no dimension " << parts[i] << " in blocks of "
                     << parts[i + 1];
    bool hasUnitBlock = false;
    for (size_t j = 0; j < parts.size(); j += 2)
      hasUnitBlock |= parts[j] == parts[i] && parts[j + 1] == 1;
    if (!hasUnitBlock)
      return error() << "a layout lacks the part of dimension " << parts[i] << " in blocks of 1";
  }
  return success();
}

LogicalResult TileAttr::verify(Diagnose error, TileKind kind, int64_t grid,
                               llvm::ArrayRef<int64_t> extents, int64_t merged, int64_t lanes,
                               StringAttr, StringAttr) {
  if ((grid == 0) != (kind == TileKind::kBaseline))
    return error() << "a " << stringifyTileKind(kind) << " tile is at index " << grid
                   << " of its kernel; the baseline is at 0";
  if (grid < 0 || lanes < 1 || llvm::any_of(extents, [](int64_t extent) { return extent < 1; }))
    return error() << "a tile has a grid of at least 0, and at least 1 lane and 1 element along "
                      "every dimension";
  if (merged < 0)
    return error() << "a tile merges dimensions from 0 on, not from " << merged;
  return success();
}

LogicalResult LaunchAttr::verify(Diagnose error, int64_t buffers, int64_t dims,
                                 int64_t workgroupSize, int64_t tilesPerWorkgroup,
                                 int64_t subgroupSize, int64_t sharedBytes, int64_t stagedBytes,
                                 StringAttr) {
  if (buffers < 1 || workgroupSize < 1 || tilesPerWorkgroup < 1)
    return error() << "a launch has at least 1 buffer, invocation and tile; it has " << buffers
                   << ", " << workgroupSize << " and " << tilesPerWorkgroup;
  if (dims < 0 || subgroupSize < 0 || sharedBytes < 0 || stagedBytes < 0)
    return error() << "a launch has a negative count";
  return success();
}

LogicalResult BindingAttr::verify(Diagnose error, ArgumentRole role, int64_t index, Type texelsOf) {
  const bool numbered = role == ArgumentRole::kBuffer || role == ArgumentRole::kDim;
  if (numbered != (index >= 0))
    return error() << "a binding of a " << stringifyArgumentRole(role)
                   << (numbered ? " needs an index" : " has no index");
  if (texelsOf && role != ArgumentRole::kBuffer)
    return error() << "a " << stringifyArgumentRole(role) << " is not read as texels";
  return success();
}

// ---- Operations that may have an attribute -----------------------------------------------------

namespace {

/// Checks that the attribute has the type Attr, and that `op` is one of Ops. Without Ops, any
/// operation may have the attribute.
template <typename Attr, typename... Ops>
LogicalResult verifyOn(Operation *op, NamedAttribute attribute) {
  if (!isa<Attr>(attribute.getValue()))
    return op->emitError() << "attribute " << attribute.getName()
                           << " has the wrong type: " << attribute.getValue();
  if constexpr (sizeof...(Ops) > 0) {
    if (!isa<Ops...>(op))
      return op->emitError() << "attribute " << attribute.getName() << " does not belong to '"
                             << op->getName() << "'";
  }
  return success();
}

/// The rule of an attribute with a type of this dialect: its name and its check.
template <typename Attr, typename... Ops>
std::pair<llvm::StringRef, LogicalResult (*)(Operation *, NamedAttribute)> rule() {
  return {Attr::name, verifyOn<Attr, Ops...>};
}
/// The same for an attribute with a builtin type.
template <typename Helper, typename Attr, typename... Ops>
std::pair<llvm::StringRef, LogicalResult (*)(Operation *, NamedAttribute)> builtinRule() {
  return {Helper::getNameStr(), verifyOn<Attr, Ops...>};
}

/// Checks a signature against the types of the function's arguments (tensors, then dims).
LogicalResult verifySignature(func::FuncOp function, SignatureAttr signature) {
  int64_t tensors = 0, dynamic = 0, dims = 0;
  for (Type type : function.getArgumentTypes()) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      ++tensors;
      dynamic += tensor.getNumDynamicDims();
    } else {
      ++dims;
    }
  }
  const auto operandDims = signature.getOperandDims(), resultDims = signature.getResultDims();
  if (static_cast<int64_t>(operandDims.size()) != dynamic)
    return function.emitError() << "operand_dims of its signature has " << operandDims.size()
                                << " entries for " << dynamic << " dynamic dimensions";
  for (int64_t dim : llvm::concat<const int64_t>(operandDims, resultDims))
    if (dim < 0 || dim >= dims)
      return function.emitError() << "its signature refers to dim " << dim << " of " << dims;
  if (const size_t layouts = signature.getLayouts().size();
      layouts != 0 && static_cast<int64_t>(layouts) != tensors + 1)
    return function.emitError() << "its signature has " << layouts << " layouts for " << tensors
                                << " operands and a result";
  return success();
}

} // namespace

LogicalResult GantryDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  using Function = FunctionOpInterface;
  using SpirvModule = spirv::ModuleOp;
  static const auto rules = std::to_array({
      rule<RequirementsAttr, func::FuncOp>(),
      rule<OrderAttr, func::FuncOp>(),
      rule<BudgetAttr, func::FuncOp>(),
      rule<FailureAttr, func::FuncOp>(),
      rule<KernelAttr, ModuleOp>(),
      rule<SignatureAttr, func::FuncOp>(),
      rule<TileAttr, Function, SpirvModule>(),
      rule<LaunchAttr, Function, SpirvModule>(),
      rule<LoopsAttr, Function, SpirvModule>(),
      rule<SlicesAttr, Function, SpirvModule>(),
      rule<RemarksAttr, Function, SpirvModule>(),
      rule<BuffersAttr, SpirvModule>(),
      builtinRule<TensorAttrHelper, StringAttr>(),
      builtinRule<WhyAttrHelper, StringAttr>(),
      builtinRule<RoundsAttrHelper, UnitAttr, arith::TruncFOp>(),
      builtinRule<RoundedAttrHelper, UnitAttr, arith::TruncFOp>(),
      builtinRule<ExactAttrHelper, UnitAttr>(),
  });
  const auto *found = llvm::find_if(
      rules, [&](const auto &known) { return known.first == attribute.getName().getValue(); });
  if (found == rules.end())
    return op->emitError() << "attribute " << attribute.getName()
                           << " is not one of the Gantry dialect's (GantryDialect.td)";
  if (failed(found->second(op, attribute)))
    return failure();
  if (auto signature = dyn_cast<SignatureAttr>(attribute.getValue()))
    return verifySignature(cast<func::FuncOp>(op), signature);
  return success();
}

LogicalResult GantryDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                      NamedAttribute attribute) {
  auto error = [&] {
    return op->emitError() << "attribute " << attribute.getName() << " of argument " << argument;
  };
  if (attribute.getName() == BindingAttr::name)
    return isa<BindingAttr>(attribute.getValue()) ? success() : error() << " has the wrong type";
  if (attribute.getName() != PortAttr::name)
    return error() << " is not one of the Gantry dialect's (GantryDialect.td)";
  auto port = dyn_cast<PortAttr>(attribute.getValue());
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!port || !function)
    return error() << " has the wrong type";
  auto tensor = dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  if (tensor && !port.getDims().empty() &&
      static_cast<int64_t>(port.getDims().size()) != tensor.getRank())
    return error() << " has " << port.getDims().size() << " dims for a tensor of rank "
                   << tensor.getRank();
  return success();
}

LogicalResult GantryDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                         NamedAttribute attribute) {
  auto port = dyn_cast<PortAttr>(attribute.getValue());
  if (attribute.getName() == PortAttr::name && port && port.getDims().empty() && !port.getDonated())
    return success();
  return op->emitError() << "attribute " << attribute.getName() << " of result " << result
                         << " is not a port without dims that is not donated";
}

} // namespace gantry::codegen
