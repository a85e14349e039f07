// Implements importOnnx: imports the nodes of an ONNX graph in order and builds @main.
#include "codegen/import/onnx/graph.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/import/dim_ranges.h"
#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/declared_type.h"
#include "codegen/import/onnx/fold_scale.h"
#include "codegen/import/onnx/load.h"
#include "codegen/import/onnx/operand_types.h"
#include "codegen/import/onnx/registry.h"
#include "codegen/import/tensor_proto.h"

#include "llvm/ADT/StringSet.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

#include <onnx/onnx_pb.h>

namespace gantry::importer {

namespace {

bool isDefaultDomain(llvm::StringRef domain) { return domain.empty() || domain == "ai.onnx"; }

class GraphImporter {
public:
  GraphImporter(mlir::MLIRContext *context, llvm::StringRef path, const ImportOptions &options,
                const OnnxBindings *bindings)
      : context_(context), path_(path), options_(options), bindings_(bindings),
        external_(path, options.fileRead) {}

  mlir::OwningOpRef<mlir::ModuleOp> run() {
    model_ = loadModel(path_);
    for (const std::string &name : options_.states) {
      states_[name];
      for (const onnx::TensorProto &initializer : graph().initializer())
        if (textOfStar(name, initializer.name()))
          states_[initializer.name()];
    }
    if (options_.training)
      for (auto &[initializer, output] : combineTraining(*model_))
        states_[initializer] = output;
    readOpset();
    checkStructure();
    checkSupported(graph(), [&](int i) { return needed_[i]; });
    module_ = mlir::ModuleOp::create(fileLocation(0));
    mlir::OpBuilder builder(module_->getBodyRegion());
    function_ = builder.create<mlir::func::FuncOp>(fileLocation(0), "main",
                                                   mlir::FunctionType::get(context_, {}, {}));
    mlir::Block *entry = function_.addEntryBlock();
    bool foldEverything = bindings_ && bindings_->foldEverything;
    import_ =
        std::make_unique<ImportContext>(context_, entry, foldEverything, options_.savesMemory);
    defineInitializers(graph());
    defineInputs(entry);
    defineStates(entry);
    importNodes();
    finish(entry);
    return std::move(module_);
  }

  // The location of an error, and a name that is put before the message ("Conv", "input x").
  mlir::Location place() const { return place_ ? mlir::Location(*place_) : fileLocation(0); }
  std::string placeName() const { return placeName_; }

private:
  mlir::Location fileLocation(unsigned line) const {
    return mlir::FileLineColLoc::get(context_, path_, line, 0);
  }

  const onnx::GraphProto &graph() const { return model_->graph(); }

  Node node(int index) { return node(graph().node(index), index); }

  Node node(const onnx::NodeProto &proto, int index) {
    std::string name =
        proto.name().empty() ? proto.op_type() + "_" + std::to_string(index) : proto.name();
    auto loc = mlir::NameLoc::get(mlir::StringAttr::get(context_, name), fileLocation(index));
    return Node(proto, index, loc, opset_, model_, &external_);
  }

  void readOpset() {
    for (const auto &entry : model_->opset_import())
      if (isDefaultDomain(entry.domain()))
        opset_ = entry.version();
    if (opset_ < 1)
      failBadInput("the model's opset version " + llvm::Twine(opset_) + " is impossible");
  }

  // Checks that every value is defined once and before it is used, and marks the nodes that the
  // outputs need.
  void checkStructure() {
    if (graph().output_size() == 0)
      failBadInput(path_ + " has no outputs");
    llvm::StringSet<> defined;
    llvm::StringMap<int> producer;
    for (const auto &tensor : graph().initializer())
      defined.insert(tensor.name());
    if (graph().sparse_initializer_size() > 0)
      failUnsupported("sparse initializers are not supported");
    for (const auto &info : graph().input())
      defined.insert(info.name());
    for (int i = 0; i < graph().node_size(); ++i)
      for (const std::string &name : graph().node(i).output())
        if (!name.empty() && (defined.contains(name) || !producer.try_emplace(name, i).second))
          failBadInput("the value \"" + name + "\" is defined twice");
    for (int i = 0; i < graph().node_size(); ++i) {
      Node current = node(i);
      setPlace(current);
      checkInputs(graph().node(i), defined, producer);
      for (const std::string &name : graph().node(i).output())
        defined.insert(name);
    }
    clearPlace();
    needed_.assign(graph().node_size(), options_.keepAllOutputs);
    llvm::StringSet<> wanted;
    for (const auto &info : graph().output()) {
      if (info.name().empty() || !defined.contains(info.name()))
        failBadInput("the output \"" + info.name() + "\" is defined nowhere");
      if (info.has_type() && !info.type().has_tensor_type())
        failUnsupported("the output \"" + info.name() +
                        "\" is not a tensor; sequences, maps and optionals are not supported");
      wanted.insert(info.name());
      ++uses_[info.name()];
    }
    for (int i = graph().node_size(); i-- > 0;) {
      for (const std::string &name : graph().node(i).output())
        needed_[i] = needed_[i] || wanted.contains(name);
      if (!needed_[i])
        continue;
      for (const std::string &name : graph().node(i).input()) {
        wanted.insert(name);
        ++uses_[name];
        consumer_[name] = i;
      }
      countInBranches(graph().node(i), wanted);
    }
  }

  // Checks that the inputs of a node, and those of the nodes in its branches, are defined before
  // they are used.
  void checkInputs(const onnx::NodeProto &proto, const llvm::StringSet<> &defined,
                   const llvm::StringMap<int> &producer) {
    for (const std::string &name : proto.input()) {
      if (name.empty() || defined.contains(name))
        continue;
      if (producer.contains(name))
        failBadInput("the input \"" + name + "\" comes from a later node (" +
                     node(producer.lookup(name)).name() +
                     "): the graph has a cycle or is not in topological order");
      failBadInput("the input \"" + name + "\" is defined nowhere");
    }
    for (const onnx::GraphProto *branch : branchesOf(proto)) {
      llvm::StringSet<> inside(defined);
      for (const auto &tensor : branch->initializer())
        inside.insert(tensor.name());
      for (const auto &inner : branch->node()) {
        checkInputs(inner, inside, producer);
        for (const std::string &name : inner.output())
          inside.insert(name);
      }
      for (const auto &info : branch->output())
        if (!inside.contains(info.name()))
          failBadInput("the output \"" + info.name() + "\" of a branch is defined nowhere");
    }
  }

  static llvm::SmallVector<const onnx::GraphProto *> branchesOf(const onnx::NodeProto &proto) {
    llvm::SmallVector<const onnx::GraphProto *> branches;
    if (isDefaultDomain(proto.domain()) && proto.op_type() == "If")
      for (const auto &attribute : proto.attribute())
        if (attribute.has_g())
          branches.push_back(&attribute.g());
    return branches;
  }

  // Counts the uses of values in the branches of a node, and adds the values to `wanted`. A use
  // counts twice, because ScaleFolder (fold_scale.h) may fold away a value with exactly one use.
  void countInBranches(const onnx::NodeProto &proto, llvm::StringSet<> &wanted) {
    auto read = [&](const std::string &name) {
      wanted.insert(name);
      uses_[name] += 2;
    };
    for (const onnx::GraphProto *branch : branchesOf(proto)) {
      for (const auto &inner : branch->node()) {
        for (const std::string &name : inner.input())
          read(name);
        countInBranches(inner, wanted);
      }
      for (const auto &info : branch->output())
        read(info.name());
    }
  }

  // Throws ImportError (unsupported) if a needed node's operator is not supported. The branches of
  // an If are not checked here: only the branch that is taken needs to be supported (importIf).
  void checkSupported(const onnx::GraphProto &graph, llvm::function_ref<bool(int)> isNeeded) {
    std::map<std::string, std::vector<std::string>> missing;
    for (int i = 0; i < graph.node_size(); ++i) {
      if (!isNeeded(i))
        continue;
      const onnx::NodeProto &proto = graph.node(i);
      bool known = isDefaultDomain(proto.domain()) &&
                   (operatorTable().contains(proto.op_type()) || proto.op_type() == "If");
      if (!known)
        missing[(isDefaultDomain(proto.domain()) ? "" : proto.domain() + ".") + proto.op_type()]
            .push_back(node(proto, i).name());
    }
    if (missing.empty())
      return;
    std::string text = "operators that are not supported yet: ";
    bool first = true;
    for (auto &[op, nodes] : missing) {
      text += (first ? "" : "; ") + op + " (";
      first = false;
      for (size_t i = 0; i < nodes.size(); ++i)
        text += (i ? ", " : "") + nodes[i];
      text += ")";
    }
    failUnsupported(text);
  }

  void defineInitializers(const onnx::GraphProto &graph) {
    for (const auto &tensor : graph.initializer()) {
      placeName_ = "initializer " + tensor.name();
      if (tensor.name().empty())
        failBadInput("an initializer has no name");
      if (uses_.lookup(tensor.name()) == 0 || states_.count(tensor.name()))
        continue; // An initializer that no node reads may have any type and size.
      import_->define(tensor.name(),
                      import_->fromConstant(hostTensorFromProto(tensor, model_, &external_)));
    }
    placeName_.clear();
  }

  void defineInputs(mlir::Block *entry) {
    DimRanges ranges(options_.dims);
    std::map<std::string, Dim> symbols;
    llvm::StringSet<> seen;
    unsigned position = 0;
    for (const auto &info : graph().input()) {
      if (info.name().empty())
        failBadInput("an input has no name");
      if (!seen.insert(info.name()).second)
        failBadInput("the input \"" + info.name() + "\" is defined twice");
      if (import_->lookup(info.name()) || isInitializer(info.name()))
        continue;
      placeName_ = "input " + info.name();
      if (bindings_ && bindings_->inputs.count(info.name())) {
        import_->define(info.name(), import_->fromConstant(bindings_->inputs.lookup(info.name())));
        continue;
      }
      if (!info.type().has_tensor_type())
        failUnsupported("it is not a tensor; sequences, maps and optionals are not supported");
      const auto &type = info.type().tensor_type();
      if (!type.has_shape())
        failUnsupported("it has no shape; at least its rank must be known");
      Tensor tensor;
      tensor.type = dtypeFromOnnx(type.elem_type());
      llvm::SmallVector<codegen::DimAttr> dims;
      llvm::SmallVector<int64_t> shape;
      if (type.shape().dim_size() > 8)
        failUnsupported("it has rank " + llvm::Twine(type.shape().dim_size()) +
                        "; at most 8 is supported");
      for (const auto &dim : type.shape().dim()) {
        if (dim.has_dim_value() && dim.dim_value() < 0)
          failBadInput("impossible shape: a dimension of " + llvm::Twine(dim.dim_value()));
        std::string name = dim.has_dim_value() ? "" : dim.dim_param();
        if (!dim.has_dim_value() && name.empty())
          name = info.name() + "_dim" + std::to_string(dims.size());
        const DimRange *range = dim.has_dim_value() ? nullptr : ranges.find(name);
        shape.push_back(dim.has_dim_value()                         ? dim.dim_value()
                        : range && range->minSize == range->maxSize ? range->maxSize
                                                                    : mlir::ShapedType::kDynamic);
        if (!mlir::ShapedType::isDynamic(shape.back()))
          name.clear();
        dims.push_back(
            codegen::DimAttr::get(context_, mlir::StringAttr::get(context_, name), 1, 0));
      }
      auto mlirTensor = mlir::RankedTensorType::get(shape, mlirType(context_, tensor.type));
      auto loc = mlir::NameLoc::get(mlir::StringAttr::get(context_, info.name()), fileLocation(0));
      tensor.value = entry->addArgument(mlirTensor, loc);
      for (size_t i = 0; i < shape.size(); ++i) {
        if (!mlir::ShapedType::isDynamic(shape[i])) {
          tensor.dims.push_back(import_->number(shape[i]));
          continue;
        }
        auto [it, added] = symbols.try_emplace(dims[i].getName().str(), Dim());
        if (added) {
          it->second = import_->header().addSymbol(tensor.value, i);
          symbolArguments_.push_back({position, unsigned(i)});
          if (const DimRange *range = ranges.find(it->first)) {
            import_->constraints().requireNonNegative(import_->number(range->maxSize) - it->second);
            import_->constraints().requireNonNegative(it->second - range->minSize);
          }
        }
        tensor.dims.push_back(it->second);
      }
      import_->tensorType(tensor.type, tensor.dims); // Checks the size.
      inputs_.push_back(portOf(info.name(), tensor.type, dims));
      import_->define(info.name(), tensor);
      ++position;
    }
    placeName_.clear();
    ranges.checkUsed();
  }

  // Adds an argument for each state; the initializer with its name is the state's first value.
  void defineStates(mlir::Block *entry) {
    for (const auto &proto : graph().initializer()) {
      if (!states_.count(proto.name()))
        continue;
      placeName_ = "initializer " + proto.name();
      const Constant first = hostTensorFromProto(proto, model_, &external_);
      auto type = mlir::RankedTensorType::get(first->dims, mlirType(context_, first->type));
      auto name = mlir::StringAttr::get(context_, proto.name());
      Tensor tensor;
      tensor.type = first->type;
      tensor.value = entry->addArgument(type, mlir::NameLoc::get(name, fileLocation(0)));
      for (int64_t extent : first->dims)
        tensor.dims.push_back(import_->number(extent));
      const auto dim = codegen::DimAttr::get(context_, mlir::StringAttr::get(context_, ""), 1, 0);
      firstValues_[inputs_.size()] = elementsOf(*first, context_);
      inputs_.push_back(portOf(proto.name(), tensor.type,
                               llvm::SmallVector<codegen::DimAttr>(first->dims.size(), dim)));
      import_->define(proto.name(), tensor);
    }
    placeName_.clear();
  }

  // Returns the attributes of an argument: its port, and the state if the argument is a state.
  mlir::DictionaryAttr argumentAttributes(unsigned argument, mlir::ArrayRef<mlir::Type> results,
                                          const llvm::StringMap<unsigned> &resultOf) {
    const codegen::PortAttr port = inputs_[argument];
    mlir::NamedAttrList attributes(dictionaryOf(port));
    if (const auto first = firstValues_.find(argument); first != firstValues_.end()) {
      const std::string &output = states_.find(port.getName().str())->second;
      const int64_t result = output.empty() ? int64_t{-1} : int64_t{resultOf.lookup(output)};
      if (result >= 0 && results[result] != first->second.getType())
        failBadInput("the training step updates the initializer \"" + port.getName().getValue() +
                     "\" with the output \"" + output + "\", which has another type or shape");
      attributes.set(codegen::StateAttr::name,
                     codegen::StateAttr::get(context_, result, first->second));
    }
    return attributes.getDictionary(context_);
  }

  bool isInitializer(const std::string &name) const {
    return llvm::any_of(graph().initializer(),
                        [&](const auto &tensor) { return tensor.name() == name; });
  }

  void importNodes() {
    ScaleFolder folder(*import_, [&](llvm::StringRef value) -> std::optional<Node> {
      if (options_.keepAllOutputs || uses_.lookup(value) != 1 || !consumer_.count(value))
        return std::nullopt;
      return node(consumer_.lookup(value));
    });
    std::vector<bool> done(graph().node_size(), false);
    for (int i = 0; i < graph().node_size(); ++i) {
      if (!needed_[i] || done[i])
        continue;
      Node current = node(i);
      setPlace(current);
      import_->setLocation(current.loc());
      if (current.opType() == "Conv") {
        checkOperandTypes(*import_, current);
        if (auto folded = folder.importConv(current)) {
          for (int index : *folded)
            done[index] = true;
          continue; // The last folded node's output is defined; nothing reads the others.
        }
        checkOutputs(current);
      } else {
        importNode(current);
      }
    }
    clearPlace();
  }

  void importNode(const Node &current) {
    if (current.opType() == "If") {
      importIf(current);
    } else {
      checkOperandTypes(*import_, current);
      operatorTable().lookup(current.opType())(*import_, current);
    }
    checkOutputs(current);
  }

  // Imports the branch that the condition selects in place of the node. The condition must be
  // constant.
  void importIf(const Node &current) {
    Constant condition = import_->constantInput(current, 0, "the condition");
    if (condition->type != DType::kBool || condition->elementCount() != 1)
      failBadInput("the condition must be one boolean, not " +
                   llvm::Twine(condition->elementCount()) + " of " + dtypeName(condition->type));
    const bool taken = condition->at(0).i != 0;
    const onnx::GraphProto *branch = current.graphAttribute(taken ? "then_branch" : "else_branch");
    if (!branch || branch->output_size() != int(current.outputCount()))
      failBadInput(llvm::Twine(taken ? "then_branch" : "else_branch") +
                   " is missing or has another number of outputs than the node");
    checkSupported(*branch, [](int) { return true; });
    defineInitializers(*branch);
    for (int i = 0; i < branch->node_size(); ++i) {
      Node inner = node(branch->node(i), current.index());
      setPlace(inner);
      import_->setLocation(inner.loc());
      importNode(inner);
    }
    setPlace(current);
    for (size_t k = 0; k < current.outputCount(); ++k)
      import_->define(current.outputName(k), *import_->lookup(branch->output(k).name()));
  }

  // Throws ImportError (unsupported) if an output is used, but the importer did not define it. With
  // keepAllOutputs, records the outputs that become results of @main.
  void checkOutputs(const Node &current) {
    for (size_t k = 0; k < current.outputCount(); ++k) {
      llvm::StringRef name = current.outputName(k);
      bool used = !name.empty() && uses_.lookup(name) > 0;
      const Tensor *tensor = name.empty() ? nullptr : import_->lookup(name);
      if (used && !tensor)
        failUnsupported("its output \"" + name + "\" is not supported yet");
      if (tensor && tensor->value && options_.keepAllOutputs)
        kept_.push_back(name.str());
    }
  }

  void finish(mlir::Block *entry) {
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<mlir::Type> resultTypes;
    llvm::SmallVector<mlir::DictionaryAttr> resultAttributes;
    llvm::StringMap<unsigned> returned; // The number of each result, by its name.
    auto addResult = [&](const std::string &name) {
      const Tensor *tensor = import_->lookup(name);
      if (!tensor)
        failUnsupported("the output \"" + name + "\" is not supported");
      import_->setLocation(fileLocation(0));
      if (bindings_ && bindings_->outputs) {
        if (!tensor->constant)
          failUnsupported("the output \"" + name + "\" did not fold to a constant");
        bindings_->outputs->push_back(tensor->constant);
      }
      mlir::Value value = import_->valueOf(*tensor);
      results.push_back(value);
      resultTypes.push_back(value.getType());
      resultAttributes.push_back(dictionaryOf(portOf(name, tensor->type, {})));
      returned.try_emplace(name, results.size() - 1);
    };
    for (const auto &info : graph().output()) {
      placeName_ = "output " + info.name();
      if (const Tensor *tensor = import_->lookup(info.name()))
        checkDeclared(info, *tensor);
      addResult(info.name());
    }
    for (const std::string &name : kept_)
      if (!returned.contains(name))
        addResult(name);
    placeName_.clear();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(entry);
    builder.create<mlir::func::ReturnOp>(fileLocation(0), results);
    function_.setType(mlir::FunctionType::get(context_, entry->getArgumentTypes(), resultTypes));
    applyBounds();
    llvm::SmallVector<mlir::DictionaryAttr> argumentDictionaries;
    for (unsigned i = 0; i < inputs_.size(); ++i)
      argumentDictionaries.push_back(argumentAttributes(i, resultTypes, returned));
    function_.setAllArgAttrs(argumentDictionaries);
    function_.setAllResultAttrs(resultAttributes);
    if (mlir::failed(mlir::verify(*module_)))
      throw ImportError{ImportFailure::kUnsupported, ""}; // The verifier has reported it.
  }

  // Writes the conditions on dynamic dimensions into attributes (import.h).
  void applyBounds() {
    import_->constraints().checkEqualDims();
    for (auto [symbol, limits] : import_->constraints().bounds()) {
      auto [argument, dim] = symbolArguments_[symbol];
      setDim(argument, dim,
             codegen::DimAttr::get(context_, dimName(argument, dim),
                                   std::max<int64_t>(limits.min, 1),
                                   std::max<int64_t>(limits.max, 0)));
    }
    renameEqualDims();
    if (import_->constraints().requirements().empty())
      return;
    llvm::SmallVector<mlir::AffineMap> maps;
    llvm::SmallVector<mlir::StringAttr> names;
    for (Dim dim : import_->constraints().requirements())
      maps.push_back(mlir::AffineMap::get(0, symbolArguments_.size(), dim, context_));
    for (auto [argument, dim] : symbolArguments_)
      names.push_back(dimName(argument, dim));
    codegen::setAttribute(function_, codegen::RequirementsAttr::get(context_, names, maps));
  }

  mlir::StringAttr dimName(unsigned argument, unsigned dim) const {
    return inputs_[argument].getDims()[dim].getName();
  }

  void setDim(unsigned argument, unsigned dim, codegen::DimAttr changed) {
    codegen::PortAttr &port = inputs_[argument];
    llvm::SmallVector<codegen::DimAttr> dims(port.getDims());
    dims[dim] = changed;
    port = codegen::PortAttr::get(context_, port.getName(), dims, port.getIsUnsigned(),
                                  port.getDonated());
  }

  // Gives the same name to dimensions that must be equal, which makes them one symbol of the
  // program.
  void renameEqualDims() {
    llvm::DenseMap<mlir::StringAttr, mlir::StringAttr> renamed;
    for (unsigned symbol = 0; symbol < symbolArguments_.size(); ++symbol) {
      auto [argument, dim] = symbolArguments_[import_->constraints().representative(symbol)];
      auto [own, ownDim] = symbolArguments_[symbol];
      if (import_->constraints().representative(symbol) != symbol)
        renamed[dimName(own, ownDim)] = dimName(argument, dim);
    }
    if (renamed.empty())
      return;
    for (unsigned argument = 0; argument < inputs_.size(); ++argument)
      for (unsigned dim = 0; dim < inputs_[argument].getDims().size(); ++dim)
        if (const auto name = renamed.find(dimName(argument, dim)); name != renamed.end()) {
          const codegen::DimAttr old = inputs_[argument].getDims()[dim];
          setDim(argument, dim,
                 codegen::DimAttr::get(context_, name->second, old.getMin(), old.getMax()));
        }
  }

  codegen::PortAttr portOf(const std::string &name, DType type,
                           llvm::ArrayRef<codegen::DimAttr> dims) {
    return codegen::PortAttr::get(context_, mlir::StringAttr::get(context_, name), dims,
                                  isUnsigned(type) && type != DType::kBool, /*donated=*/false);
  }

  mlir::DictionaryAttr dictionaryOf(codegen::PortAttr port) {
    return mlir::DictionaryAttr::get(
        context_,
        mlir::NamedAttribute(mlir::StringAttr::get(context_, codegen::PortAttr::name), port));
  }

  void setPlace(const Node &current) {
    place_ = current.loc();
    placeName_ = current.opType().str(); // The location contains the node's name.
  }
  void clearPlace() {
    place_.reset();
    placeName_.clear();
  }

  mlir::MLIRContext *context_;
  std::string path_;
  const ImportOptions &options_;
  const OnnxBindings *bindings_;
  ExternalData external_;
  std::shared_ptr<onnx::ModelProto> model_;
  int64_t opset_ = 1;
  std::vector<bool> needed_;
  llvm::StringMap<int> uses_;     // Uses of a value by needed nodes and by outputs of the graph.
  llvm::StringMap<int> consumer_; // The first needed node that has a value as an input.
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp function_;
  std::unique_ptr<ImportContext> import_;
  llvm::SmallVector<codegen::PortAttr> inputs_; // One for each argument of function_.
  // The initializers that are states, each with the output that updates it, or "".
  std::map<std::string, std::string> states_;
  std::map<unsigned, mlir::ElementsAttr> firstValues_; // The first values of states, by argument.
  llvm::SmallVector<std::pair<unsigned, unsigned>> symbolArguments_; // Argument and dim, by symbol.
  std::vector<std::string> kept_; // Values that become results because of keepAllOutputs.
  std::optional<mlir::Location> place_;
  std::string placeName_;
};

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportFailure &failure,
                                             const OnnxBindings *bindings) {
  context.loadDialect<codegen::GantryDialect, mlir::func::FuncDialect, mlir::tensor::TensorDialect,
                      mlir::linalg::LinalgDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::affine::AffineDialect>();
  GraphImporter importer(&context, path, options, bindings);
  try {
    return importer.run();
  } catch (ImportError &error) {
    failure = error.kind;
    if (!error.message.empty()) {
      std::string where = importer.placeName();
      mlir::emitError(importer.place()) << (where.empty() ? "" : where + ": ") << error.message;
    }
    return nullptr;
  }
}

} // namespace gantry::importer
