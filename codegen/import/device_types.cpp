#include "codegen/import/device_types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Location.h"

#include <map>

namespace gantry::importer {

namespace {

// Functions of SPIR-V's extended set that take 64 bits; all others of the math dialect do not.
bool takesDoubles(mlir::Operation *op) {
  namespace math = mlir::math;
  return mlir::isa<math::AbsFOp, math::SqrtOp, math::RsqrtOp, math::FloorOp, math::CeilOp,
                   math::RoundEvenOp, math::FmaOp>(op);
}

// The ONNX node, or "line 7".
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
    auto portName = [](mlir::Attribute name) {
      return name ? mlir::cast<mlir::StringAttr>(name).str() : std::string();
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isBf16(function.getArgument(i).getType()))
        types.add("bf16", "input " + portName(function.getArgAttr(i, "gantry.name")));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (isBf16(function.getFunctionType().getResult(i)))
        types.add("bf16", "output " + portName(function.getResultAttr(i, "gantry.name")));
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
