// The importer: turns a model file into one MLIR module in the form that the compiler's passes
// (codegen/passes) accept.
//
// Input: .onnx (opsets 1 to 23; README.md lists what is left out) or .mlir (func, tensor, linalg,
// arith, math, TOSA). Output: module { func.func @main } whose body holds only arith.constant,
// tensor.dim of arguments, affine.apply, tensor.{empty, pad, extract_slice, concat, expand_shape,
// collapse_shape}, linalg.fill, linalg.generic and, from ONNX only, gantry.concat and
// gantry.scatter. Every operation's location names the model's operator: a NameLoc with the ONNX
// node's name over a FileLineColLoc(file, node index), or the line of the .mlir file.
//
// Arguments and results of @main carry `gantry.port`: their names, and for arguments the names and
// the bounds of dynamic dimensions. @main may carry `gantry.requirements`: expressions over the
// dynamic dimensions. The runtime checks before a run that no expression is negative. An operation
// that defines an ONNX value carries the value's name as `gantry.tensor`
// (codegen/dialect/GantryAttributes.td describes these attributes). A .mlir model may name its
// ports (arguments and results) in the same way. A state is an argument whose buffer keeps its
// contents from run to run, and which a result usually overwrites. It carries `gantry.state`. A
// .mlir model declares a state with iree.abi.output or tf.aliasing_output.
//
// The importer folds constants and shapes. It also folds batch normalisation into convolutions.
// Later passes do not see the folded nodes, so the location of such a convolution lists their
// names. The importer does no other optimisation; fusion and tiling are in codegen/passes and
// codegen/tiling.
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
  /// Whether every result of an ONNX node becomes a result of @main, under its ONNX name. Constants
  /// are left out.
  bool keepAllOutputs = false;
  /// The ranges of dynamic dimensions. A dimension without a range may have any size.
  std::vector<DimRange> dims;
  /// ONNX: each initializer with one of these names becomes an input that is a state
  /// (gantry.state). The initializer's value is the state's first value. A name may contain a star,
  /// which matches any text (textOfStar). A name that no initializer has is ignored.
  std::vector<std::string> states;
  /// ONNX: whether to import one step of the model's training: the inference graph together with
  /// the training algorithm (training_info). The initializers that the step updates become states.
  bool training = false;
  /// ONNX: whether to import an operator that can be imported in several ways in the way that needs
  /// the least memory, instead of the fastest way.
  bool savesMemory = false;
  /// Called once for each external data file that is read, with its path relative to the model's
  /// folder. May be empty.
  std::function<void(const std::string &location)> fileRead;
};

/// Returns the part of `name` that the star of `pattern` matches, such as "0.key" for the pattern
/// "past.*" and the name "past.0.key". Returns nothing if the name does not match, or if the
/// pattern has no star.
std::optional<llvm::StringRef> textOfStar(llvm::StringRef pattern, llvm::StringRef name);

/// The reason why an import failed. kBadInput: the model or a DimRange is damaged or impossible.
/// kUnsupported: the model needs something that is not supported.
enum class ImportFailure { kBadInput, kUnsupported };

/// Imports the file at `path`. Its extension, .onnx or .mlir, determines the format. On failure,
/// returns null, sets `failure`, and reports one diagnostic with the offending location through the
/// context's diagnostic handlers. The diagnostic for operators that are not supported lists all of
/// them with their nodes.
mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, llvm::StringRef path,
                                              const ImportOptions &options, ImportFailure &failure);

/// Registers the dialects of imported modules and of .mlir inputs.
void registerImportDialects(mlir::DialectRegistry &registry);

/// Returns the names of the ONNX operators in the table of importers (onnx/registry.h), sorted.
std::vector<std::string> supportedOnnxOperators();

} // namespace gantry::importer
