// The importer: turns a model file into one MLIR module in the form that the passes accept.
//
// Input: .onnx (opsets 1 to 23; README.md lists what is left out) or .mlir (func, tensor, linalg,
// arith, math, TOSA). Output: module { func.func @main } whose body holds only arith.constant,
// tensor.dim of arguments, affine.apply, tensor.{empty, pad, extract_slice, concat, expand_shape,
// collapse_shape}, linalg.fill and linalg.generic. Every operation's location names the model's
// operator: a NameLoc with the ONNX node's name over a FileLineColLoc(file, node index), or the
// line of the .mlir file.
//
// Arguments and results of @main carry `gantry.port`: their names, and for arguments the names and
// the bounds of dynamic dimensions. @main carries `gantry.requirements`, expressions over the
// dimensions that must not be negative when the model runs. An operation that defines an ONNX value
// carries the value's name as `gantry.tensor` (codegen/dialect/GantryAttributes.td). A .mlir model
// may name its ports in the same way. An argument whose buffer a result takes over carries
// `gantry.state`; a .mlir model says so with iree.abi.output or tf.aliasing_output.
//
// The importer folds constants and shapes, and batch normalisation into convolutions, because the
// names of all nodes are known only here. It does not optimise otherwise: codegen/passes fuses and
// tiles.
//
// Ownership: large constants are DenseResourceElementsAttr over the model's own bytes (the protobuf
// message or a mapped external file), which live as long as the context. The files must not change
// meanwhile. Thread safety: a context is used by one thread at a time; different contexts are
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

/// The range of sizes that a dynamic dimension will have, inclusive. Both limits are at least 1.
struct DimRange {
  std::string name; // The name in the model; "x_dim0" where dimension 0 of the input x has none.
  int64_t minSize = 1, maxSize = 1;
};

struct ImportOptions {
  /// Every ONNX node's non-constant tensor results become results of @main under their ONNX names.
  bool keepAllOutputs = false;
  /// The ranges of dynamic dimensions. A dimension without a range may have any size.
  std::vector<DimRange> dims;
  /// ONNX: initializers with these names become inputs, with their values as the first values of
  /// states (gantry.state). A name may have a star (textOfStar). Names of no initializer are
  /// ignored.
  std::vector<std::string> states;
  /// ONNX: import one step of the model's training (training_info): its inference graph together
  /// with its training algorithm. The initializers that the step updates become states.
  bool training = false;
  /// ONNX: prefer operators that need little memory over fast ones.
  bool savesMemory = false;
  /// Called once for each external data file that is read, with its path relative to the model's
  /// folder. May be empty.
  std::function<void(const std::string &location)> fileRead;
};

/// Returns the text for which the star of `pattern` stands in `name`; none if the name does not
/// match, or if the pattern has no star.
std::optional<llvm::StringRef> textOfStar(llvm::StringRef pattern, llvm::StringRef name);

/// The reason why an import failed. kBadInput: the model or a DimRange is damaged or impossible.
/// kUnsupported: the model needs something that is not supported.
enum class ImportFailure { kBadInput, kUnsupported };

/// Imports the file at `path`. Its extension, .onnx or .mlir, determines the format. On failure,
/// returns null, sets `failure`, and reports one diagnostic with the offending location through the
/// context's handlers. The diagnostic for operators that are not supported lists all of them with
/// their nodes.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                              const ImportOptions &options, ImportFailure &failure);

/// Registers the dialects of imported modules and of .mlir inputs.
void registerImportDialects(mlir::DialectRegistry &registry);

/// Returns the names of the ONNX operators in the table of importers (onnx/registry.h), sorted.
std::vector<std::string> supportedOnnxOperators();

} // namespace gantry::importer
