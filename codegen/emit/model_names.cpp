// Implements model_names.h.
#include "codegen/emit/model_names.h"

#include "codegen/dialect/gantry_dialect.h"

#include "llvm/ADT/SetVector.h"

namespace gantry::codegen {

using namespace mlir;

static void collectNames(Location loc, llvm::SetVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc))
    names.insert(name.getName());
  else if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location inner : fused.getLocations())
      collectNames(inner, names);
}

std::string locationName(Location loc) {
  llvm::SetVector<StringRef> names;
  collectNames(loc, names);
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "" : " + ") + name.str();
  return text.empty() ? locationSource(loc) : text;
}

std::string locationSource(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine());
    return WalkResult::interrupt();
  });
  return text;
}

std::string modelName(Operation *op) {
  if (const StringAttr name = tensorName(op))
    return name.str();
  return locationName(op->getLoc());
}

} // namespace gantry::codegen
