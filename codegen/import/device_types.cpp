// Implements checkDeviceTypes: collects the operations and values whose element types no device
// supports.
#include "codegen/import/device_types.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Location.h"

#include <map>

namespace gantry::importer {

namespace {

// Returns whether SPIR-V has this function of the math dialect for f64.
bool takesDoubles(mlir::Operation *op) {
  namespace math = mlir::math;
  return mlir::isa<math::AbsFOp, math::SqrtOp, math::RsqrtOp, math::FloorOp, math::CeilOp,
                   math::RoundEvenOp, math::FmaOp>(op);
}

// Returns the name of the ONNX node, or the line of the .mlir file as "line 7".
std::string placeOf(mlir::Location loc) {
  std::string name, line;
  loc->walk([&](mlir::Location inner) {
    if (auto named = mlir::dyn_cast<mlir::NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    if (auto place = mlir::dyn_cast<mlir::FileLineColLoc>(inner); place && line.empty())
      line = "line " + std::to_string(place.getLine());
    return mlir::WalkResult::advance();
  });
  return name.empty() ? line : name;
}

// A list of types or functions that are not supported, each with the places that need it.
class Needs {
public:
  void add(const std::string &what, const std::string &place) {
    auto &places = places_[what];
    if (!llvm::is_contained(places, place))
      places.push_back(place);
  }

  std::string text() const {
    std::string text;
    for (const auto &[what, places] : places_) {
      text += (text.empty() ? "" : "; ") + what + " (";
      for (size_t i = 0; i < places.size(); ++i)
        text += (i ? ", " : "") + places[i];
      text += ")";
    }
    return text;
  }

private:
  std::map<std::string, llvm::SmallVector<std::string>> places_;
};

bool isBf16(mlir::Type type) { return mlir::getElementTypeOrSelf(type).isBF16(); }

} // namespace

mlir::LogicalResult checkDeviceTypes(mlir::ModuleOp module) {
  Needs types, functions;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    auto nameOf = [](codegen::PortAttr port) {
      return port ? port.getName().str() : std::string();
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isBf16(function.getArgument(i).getType()))
        types.add("bf16",
                  "input " + nameOf(codegen::argumentAttribute<codegen::PortAttr>(function, i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (isBf16(function.getFunctionType().getResult(i)))
        types.add("bf16",
                  "output " + nameOf(codegen::resultAttribute<codegen::PortAttr>(function, i)));
    function.walk([&](mlir::Operation *op) {
      if (llvm::any_of(op->getResultTypes(), isBf16))
        types.add("bf16", placeOf(op->getLoc()));
      const bool isMath = mlir::isa_and_nonnull<mlir::math::MathDialect>(op->getDialect());
      if (isMath && op->getNumResults() == 1 && op->getResult(0).getType().isF64() &&
          !takesDoubles(op))
        functions.add(op->getName().stripDialect().str() + " of f64", placeOf(op->getLoc()));
    });
  }
  const std::string missing = functions.text(), element = types.text();
  if (missing.empty() && element.empty())
    return mlir::success();
  std::string text;
  if (!element.empty())
    text = "element types that are not supported yet: " + element;
  if (!missing.empty())
    text += (text.empty() ? "" : "; ") + ("functions that are not supported yet: " + missing);
  return mlir::emitError(module.getLoc()) << text;
}

} // namespace gantry::importer
