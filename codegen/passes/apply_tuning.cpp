// Implements the pass apply-tuning (Passes.td), which looks up the kernels in tables of tiles that
// were measured on devices.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/tuning/kernel_key.h"
#include "codegen/tuning/tuning_table.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <cstdio>

namespace gantry::codegen {

#define GEN_PASS_DEF_APPLYTUNING
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

struct ApplyTuningPass : impl::ApplyTuningBase<ApplyTuningPass> {
  using ApplyTuningBase::ApplyTuningBase;

  void runOnOperation() override {
    TuningTable given, known;
    if (!file.empty()) {
      Result<TuningTable> read = TuningTable::read(file, profile);
      if (!read.isOk()) {
        getOperation().emitError(read.status().message());
        return signalPassFailure();
      }
      given = read.take();
    }
    if (builtIn)
      known = TuningTable::builtIn(profile);
    Builder builder(&getContext());
    for (auto module : getOperation().getOps<ModuleOp>()) {
      if (!isKernelModule(module))
        continue;
      const std::string key = kernelKey(*module.getOps<func::FuncOp>().begin());
      const MeasuredTile *tile = given.find(key);
      const bool requested = tile != nullptr;
      if (!requested)
        tile = known.find(key);
      MeasuredAttr measured;
      if (tile) {
        const std::string table = requested ? file : std::string("the compiler's table");
        measured = MeasuredAttr::get(
            &getContext(), tile->kind, builder.getStringAttr(tile->tile),
            builder.getStringAttr(table + ": " + timesOf(*tile) + "measured on " + tile->device),
            requested);
      }
      const auto kernel = attributeOf<KernelAttr>(module);
      setAttribute(module, KernelAttr::get(&getContext(), builder.getStringAttr(key), measured,
                                           kernel.getProgramSteps()));
    }
  }

  /// Returns the times of a measured tile as text with a trailing comma and space; empty if the
  /// table does not have them.
  static std::string timesOf(const MeasuredTile &tile) {
    char text[96] = "";
    if (tile.ns > 0 && tile.predictedNs > 0)
      std::snprintf(text, sizeof text, "%.4g us, the predicted tile %.4g us, ", tile.ns / 1e3,
                    tile.predictedNs / 1e3);
    return text;
  }
};

} // namespace
} // namespace gantry::codegen
