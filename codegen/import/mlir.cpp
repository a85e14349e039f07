// Implements importMlir: parses, converts and checks .mlir files.
#include "codegen/import/mlir.h"

#include "codegen/dialect/rounding.h"
#include "codegen/import/dim_ranges.h"
#include "codegen/import/mlir_normalize.h"
#include "codegen/import/onnx/import_error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <map>
#include <set>

namespace gantry::importer {

void registerImportDialects(mlir::DialectRegistry &registry) {
  registry.insert<codegen::GantryDialect, mlir::func::FuncDialect, mlir::tensor::TensorDialect,
                  mlir::linalg::LinalgDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                  mlir::affine::AffineDialect, mlir::tosa::TosaDialect, mlir::scf::SCFDialect,
                  mlir::memref::MemRefDialect>();
  mlir::func::registerInlinerExtension(registry);
  mlir::tensor::registerInferTypeOpInterfaceExternalModels(registry);
}

namespace {

// Returns whether the passes accept an operation (the form in import.h).
bool isAccepted(mlir::Operation *op) {
  if (op->getParentOfType<mlir::linalg::LinalgOp>())
    return mlir::isa<mlir::arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) ||
           mlir::isa<mlir::linalg::YieldOp, mlir::linalg::IndexOp, mlir::tensor::ExtractOp>(op);
  if (op->getParentOfType<mlir::tensor::PadOp>())
    return mlir::isa<mlir::tensor::YieldOp, mlir::arith::ConstantOp>(op);
  if (auto dim = mlir::dyn_cast<mlir::tensor::DimOp>(op))
    return mlir::isa<mlir::BlockArgument>(dim.getSource());
  return mlir::isa<mlir::func::ReturnOp, mlir::arith::ConstantOp, mlir::affine::AffineApplyOp,
                   mlir::tensor::EmptyOp, mlir::tensor::PadOp, mlir::tensor::ExtractSliceOp,
                   mlir::tensor::ConcatOp, mlir::tensor::ExpandShapeOp,
                   mlir::tensor::CollapseShapeOp, mlir::linalg::FillOp, mlir::linalg::GenericOp>(
      op);
}

// Returns why the passes do not accept a linalg.generic; empty if they do, and for any other
// operation.
std::string genericTrouble(mlir::Operation *op) {
  auto generic = mlir::dyn_cast<mlir::linalg::GenericOp>(op);
  if (!generic)
    return "";
  if (generic.getNumDpsInits() != 1)
    return "linalg.generic with " + std::to_string(generic.getNumDpsInits()) + " results";
  if (generic.getNumReductionLoops() == 0 && !generic.getBody()->getArguments().back().use_empty())
    return "linalg.generic that reads the tensor that it overwrites";
  return "";
}

// Checks the operations inside of `root`. troubleOf returns why an operation is not supported, or
// an empty text. If an operation is not supported, reports one diagnostic, which lists these texts
// with the number of operations for each, and throws ImportError (kUnsupported).
void reject(mlir::Operation *root, llvm::function_ref<std::string(mlir::Operation *)> troubleOf) {
  std::map<std::string, int> rest;
  mlir::Operation *first = nullptr;
  root->walk([&](mlir::Operation *op) {
    std::string why = op == root ? "" : troubleOf(op);
    if (why.empty())
      return;
    ++rest[why];
    if (!first)
      first = op;
  });
  if (rest.empty())
    return;
  std::string text;
  for (auto &[name, count] : rest)
    text += (text.empty() ? "" : ", ") + name + " (" + std::to_string(count) + ")";
  mlir::emitError(first->getLoc()) << "operations that are not supported yet: " << text;
  throw ImportError{ImportFailure::kUnsupported, ""};
}

// Returns @main, or else the only public function. Throws ImportError (kBadInput) if there is
// neither.
mlir::func::FuncOp findEntry(mlir::ModuleOp module) {
  if (auto main = module.lookupSymbol<mlir::func::FuncOp>("main"))
    return main;
  llvm::SmallVector<mlir::func::FuncOp> publicOnes;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      publicOnes.push_back(function);
  if (publicOnes.size() != 1)
    failBadInput("the module has " + llvm::Twine(publicOnes.size()) +
                 " public functions; it needs one, or one named @main");
  return publicOnes[0];
}

void checkPorts(mlir::func::FuncOp function) {
  if (function.isExternal() || function.getBody().getBlocks().size() != 1)
    failUnsupported("@" + function.getName() + " must have one block of operations");
  auto check = [&](mlir::Type type, const llvm::Twine &what) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isSignlessIntOrFloat())
      failUnsupported(what + " of @" + function.getName() +
                      " must be a ranked tensor of floats or signless integers");
    if (tensor.getRank() > 8)
      failUnsupported(what + " has rank " + llvm::Twine(tensor.getRank()) +
                      "; at most 8 is supported");
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    check(type, "argument " + llvm::Twine(i));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    check(type, "result " + llvm::Twine(i));
}

// Returns the number of the result that a run writes into an argument's buffer, or -1 if no
// attribute of the argument names one. Throws ImportError (kBadInput) if the named result does not
// exist or has another type than the argument.
int64_t resultOfArgument(mlir::func::FuncOp function, unsigned argument) {
  for (llvm::StringRef name : {"iree.abi.output", "tf.aliasing_output"}) {
    const mlir::Attribute given = function.getArgAttr(argument, name);
    if (!given)
      continue;
    function.removeArgAttr(argument, name);
    auto number = mlir::dyn_cast<mlir::IntegerAttr>(given);
    if (!number || number.getInt() < 0 || number.getInt() >= int64_t(function.getNumResults()))
      failBadInput("argument " + llvm::Twine(argument) + ": " + name +
                   " must be the number of a result, below " +
                   llvm::Twine(function.getNumResults()));
    const mlir::Type before = function.getArgumentTypes()[argument];
    const mlir::Type after = function.getResultTypes()[number.getInt()];
    if (mlir::cast<mlir::ShapedType>(before).getElementType() !=
            mlir::cast<mlir::ShapedType>(after).getElementType() ||
        mlir::failed(mlir::verifyCompatibleShape(before, after)))
      failBadInput("argument " + llvm::Twine(argument) + ": " + name + " is result " +
                   llvm::Twine(number.getInt()) + ", which has another type than the argument");
    return number.getInt();
  }
  return -1;
}

// Reads the attributes of IREE and of TensorFlow that say what a run does with an argument's
// buffer: iree.abi.output and tf.aliasing_output make the argument a state, whose buffer receives a
// result and is kept for the next run; iree.abi.consume donates the argument, so that a run may
// overwrite its buffer with any value. An argument with both kinds of attributes is a state,
// because its buffer must be kept. Returns the donated arguments.
llvm::SmallVector<unsigned> readAliases(mlir::func::FuncOp function) {
  llvm::SmallVector<unsigned> donated;
  std::set<int64_t> taken;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const bool consumed = function.removeArgAttr(i, "iree.abi.consume") != nullptr;
    const int64_t result = resultOfArgument(function, i);
    if (result >= 0 && !taken.insert(result).second)
      failBadInput("result " + llvm::Twine(result) + " takes over the buffers of two arguments");
    if (result >= 0)
      function.setArgAttr(i, codegen::StateAttr::name,
                          codegen::StateAttr::get(function.getContext(), result, {}));
    else if (consumed)
      donated.push_back(i);
  }
  return donated;
}

// Sets `gantry.port`, the attribute with names and ranges of sizes, on every argument and result.
// Arguments, results and dynamic dimensions that the model does not name are named by their
// positions. Names and ranges of static dimensions are dropped.
void namePorts(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> donated) {
  mlir::Builder builder(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    const std::string position = "arg" + std::to_string(i);
    const auto given = codegen::argumentAttribute<codegen::PortAttr>(function, i);
    auto name = given ? given.getName() : builder.getStringAttr(position);
    auto type = mlir::cast<mlir::RankedTensorType>(function.getArgument(i).getType());
    llvm::SmallVector<codegen::DimAttr> dims;
    for (unsigned d = 0; d < static_cast<unsigned>(type.getRank()); ++d) {
      const bool isDynamic = type.isDynamicDim(d);
      const std::string dimName = isDynamic ? position + "_dim" + std::to_string(d) : "";
      dims.push_back(
          isDynamic && given && d < given.getDims().size()
              ? given.getDims()[d]
              : codegen::DimAttr::get(function.getContext(), builder.getStringAttr(dimName), 1, 0));
    }
    function.setArgAttr(
        i, codegen::PortAttr::name,
        codegen::PortAttr::get(function.getContext(), name, dims, given && given.getIsUnsigned(),
                               (given && given.getDonated()) || llvm::is_contained(donated, i)));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!codegen::resultAttribute<codegen::PortAttr>(function, i))
      function.setResultAttr(
          i, codegen::PortAttr::name,
          codegen::PortAttr::get(function.getContext(),
                                 builder.getStringAttr("result" + std::to_string(i)), {}, false,
                                 false));
}

// Writes the caller's ranges of sizes into `gantry.port` of the arguments.
void boundDims(mlir::func::FuncOp function, const std::vector<DimRange> &given) {
  DimRanges ranges(given);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = mlir::cast<mlir::RankedTensorType>(function.getArgument(i).getType());
    const auto port = codegen::argumentAttribute<codegen::PortAttr>(function, i);
    llvm::SmallVector<codegen::DimAttr> dims(port.getDims());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        if (const DimRange *range = ranges.find(dims[d].getName().getValue()))
          dims[d] = codegen::DimAttr::get(function.getContext(), dims[d].getName(), range->minSize,
                                          range->maxSize);
    function.setArgAttr(i, codegen::PortAttr::name,
                        codegen::PortAttr::get(function.getContext(), port.getName(), dims,
                                               port.getIsUnsigned(), port.getDonated()));
  }
  ranges.checkUsed();
}

mlir::OwningOpRef<mlir::ModuleOp> parse(mlir::MLIRContext &context, llvm::StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    failBadInput("it is a folder, not a model");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    failBadInput("cannot read it: " + buffer.getError().message());
  context
      .loadDialect<codegen::GantryDialect, mlir::func::FuncDialect, mlir::tensor::TensorDialect,
                   mlir::linalg::LinalgDialect, mlir::arith::ArithDialect, mlir::math::MathDialect,
                   mlir::affine::AffineDialect, mlir::tosa::TosaDialect, mlir::scf::SCFDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy((*buffer)->getBuffer(), path),
                             llvm::SMLoc());
  // Unregistered operations are parsed, so that reject() can list them by name.
  context.allowUnregisteredDialects(true);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(sources, mlir::ParserConfig(&context));
  context.allowUnregisteredDialects(false);
  if (!module)
    throw ImportError{ImportFailure::kBadInput, ""}; // The parser has reported it.
  reject(*module, [](mlir::Operation *op) {
    return op->isRegistered() ? std::string() : op->getName().getStringRef().str();
  });
  return module;
}

// Inlines every other function into the entry and removes it.
void inlineCalls(mlir::ModuleOp module, mlir::func::FuncOp entry) {
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (function != entry)
      function.setPrivate();
  mlir::PassManager inlining(module.getContext());
  inlining.addPass(mlir::createInlinerPass());
  inlining.addPass(mlir::createSymbolDCEPass());
  if (mlir::failed(inlining.run(module)))
    throw ImportError{ImportFailure::kUnsupported, ""}; // The pass has reported it.
}

// Runs MLIR's own conversions to linalg.
void convert(mlir::ModuleOp module) {
  mlir::PassManager conversion(module.getContext());
  auto &onFunctions = conversion.nest<mlir::func::FuncOp>();
  onFunctions.addPass(mlir::tosa::createTosaToLinalgNamed());
  onFunctions.addPass(mlir::tosa::createTosaToLinalg());
  onFunctions.addPass(mlir::tosa::createTosaToArith(/*includeApplyRescale=*/true));
  onFunctions.addPass(mlir::tosa::createTosaToTensor());
  onFunctions.addPass(mlir::createConvertElementwiseToLinalgPass()); // Arith and math on tensors.
  onFunctions.addPass(mlir::memref::createResolveRankedShapeTypeResultDimsPass());
  onFunctions.addPass(mlir::createCanonicalizerPass());
  onFunctions.addPass(mlir::createCSEPass());
  if (mlir::failed(conversion.run(module)))
    throw ImportError{ImportFailure::kUnsupported, ""}; // The pass has reported it.
}

mlir::OwningOpRef<mlir::ModuleOp> run(mlir::MLIRContext &context, llvm::StringRef path,
                                      const ImportOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = parse(context, path);
  mlir::func::FuncOp entry = findEntry(*module);
  checkPorts(entry);
  const llvm::SmallVector<unsigned> donated = readAliases(entry);
  inlineCalls(*module, entry);
  prepareFunction(entry);
  convert(*module);
  // When the passes fuse a truncation that the model contains, they must keep its rounding
  // (codegen/dialect/rounding.h).
  entry.walk([](mlir::arith::TruncFOp op) { codegen::keepRounding(op); });
  normalizeFunction(entry);
  reject(entry, [](mlir::Operation *op) {
    return isAccepted(op) ? genericTrouble(op) : op->getName().getStringRef().str();
  });
  entry.setName("main");
  namePorts(entry, donated);
  boundDims(entry, options.dims);
  return module;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportFailure &failure) {
  try {
    if (options.training)
      failBadInput(
          "a training step is a part of .onnx models (training_info); compile a .mlir model "
          "without --training");
    return run(context, path, options);
  } catch (ImportError &error) {
    failure = error.kind;
    if (!error.message.empty())
      mlir::emitError(mlir::FileLineColLoc::get(&context, path, 0, 0)) << error.message;
    return nullptr;
  }
}

} // namespace gantry::importer
