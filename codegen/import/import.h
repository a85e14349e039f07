// The importer: a model file becomes one MLIR module in the form that the passes accept.
//
// In: .onnx (opsets 1 to 23, see onnx/README.md) or .mlir (func, tensor, linalg, arith, math,
// TOSA). Out: module { func.func @main } whose body holds only arith.constant, tensor.dim of
// arguments, affine.apply, tensor.empty/pad/extract_slice/concat/expand_shape/collapse_shape,
// linalg.fill and linalg.generic. Every operation's location names the model's operator: a NameLoc
// with the ONNX node's name over a FileLineColLoc(file, node index), or the .mlir file's own line.
//
// Arguments carry gantry.name, gantry.dims (the names of dynamic dimensions, "" for static ones),
// where the model or the caller bounds dynamic dimensions gantry.dim_min and gantry.dim_max (0: no
// bound), and for unsigned
// integers gantry.type ("u8"), because MLIR's arithmetic is signless. Results carry gantry.name
// (and gantry.type). An operation that defines an ONNX value carries its name as gantry.tensor.
//
// It is not an optimiser: it folds constants and shapes, and batch normalisation into convolutions,
// because both are known only here; fusion and tiling belong to codegen/passes.
//
// Ownership: big constants are DenseResourceElementsAttr over the model's own bytes (protobuf
// message or mapped external file), which live as long as the context. The file must not change
// meanwhile. Threads: one context in one thread, as MLIR demands; distinct contexts are
// independent.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace gantry::importer {

/// Sizes that a dynamic dimension will have; least == most: always this one.
struct DimRange {
  std::string name; // as the model calls it; "x_dim0" where dimension 0 of x has no name
  int64_t least = 1, most = 1;
};

struct ImportOptions {
  /// Every ONNX node's non-constant tensor results become results of @main under their ONNX names.
  bool keepAllOutputs = false;
  /// Of dynamic dimensions; the others may have any size.
  std::vector<DimRange> dims;
  /// Called for each file besides the model that is read: the path, relative to the model's folder,
  /// of external data.
  std::function<void(const std::string &location)> fileRead;
};

/// Why an import failed: the model is damaged or impossible, or it needs what is not built yet.
enum class ImportKind { badInput, unsupported };

/// Imports the file at `path`, by its extension (.onnx or .mlir). On failure: null, one diagnostic
/// at the offending place through the context's handlers, and failureKind set. The diagnostic for
/// operators that are not supported lists all of them with their nodes.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                              const ImportOptions &options,
                                              ImportKind &failureKind);

/// The dialects that imported modules and .mlir inputs are made of.
void registerImportDialects(mlir::DialectRegistry &registry);

/// The ONNX operators that can be imported, sorted.
std::vector<std::string> supportedOnnxOperators();

} // namespace gantry::importer
