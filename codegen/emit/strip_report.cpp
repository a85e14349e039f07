// Implements strip_report.h.
#include "codegen/emit/strip_report.h"

#include "codegen/dialect/gantry_dialect.h"

namespace gantry::codegen {

void reportStrips(mlir::func::FuncOp function, artifact::ProgramT &program) {
  const auto strips = attributeOf<StripsAttr>(function);
  if (!strips)
    return;
  program.model_operations = static_cast<uint64_t>(strips.getModelOperations());
  for (StripChainAttr chain : strips.getChains()) {
    auto entry = std::make_unique<artifact::StripChainT>();
    entry->first = chain.getFirst().str();
    entry->last = chain.getLast().str();
    entry->count = static_cast<uint32_t>(chain.getCount());
    entry->saved_bytes = chain.getSavedBytes();
    entry->operations = static_cast<uint64_t>(chain.getOperations());
    program.strips.push_back(std::move(entry));
  }
}

} // namespace gantry::codegen
