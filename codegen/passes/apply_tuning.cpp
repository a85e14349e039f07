// apply-tuning: see Passes.td.
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
      if (!module->hasAttr("gantry.kernel"))
        continue;
      const std::string key = kernelKey(*module.getOps<func::FuncOp>().begin());
      module->setAttr("gantry.key", builder.getStringAttr(key));
      const MeasuredTile *tile = given.find(key);
      const bool told = tile != nullptr;
      if (!told)
        tile = known.find(key);
      if (!tile)
        continue;
      NamedAttrList measured;
      measured.append("tile", builder.getStringAttr(tile->tile));
      measured.append("origin",
                      builder.getStringAttr((told ? file : std::string("the compiler's table")) +
                                            ": " + timesOf(*tile) + " on " + tile->device));
      if (told)
        measured.append("told", builder.getUnitAttr());
      module->setAttr("gantry.measured", measured.getDictionary(&getContext()));
    }
  }

  static std::string timesOf(const MeasuredTile &tile) {
    char text[96] = "measured";
    if (tile.ns > 0 && tile.predictedNs > 0)
      std::snprintf(text, sizeof text, "%.4g us instead of %.4g us as predicted", tile.ns / 1e3,
                    tile.predictedNs / 1e3);
    return text;
  }
};

} // namespace
} // namespace gantry::codegen
