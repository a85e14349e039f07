#include "codegen/import/onnx/graph.h"

#include "codegen/import/dim_ranges.h"
#include "codegen/import/onnx/context.h"
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
    readOpset();
    checkStructure();
    checkSupported(graph(), [&](int i) { return needed_[i]; });
    module_ = mlir::ModuleOp::create(fileLocation(0));
    mlir::OpBuilder builder(module_->getBodyRegion());
    function_ = builder.create<mlir::func::FuncOp>(fileLocation(0), "main",
                                                   mlir::FunctionType::get(context_, {}, {}));
    mlir::Block *entry = function_.addEntryBlock();
    bool foldEverything = bindings_ && bindings_->foldEverything;
    import_ = std::make_unique<ImportContext>(context_, entry, foldEverything);
    defineInitializers(graph());
    defineInputs(entry);
    importNodes();
    finish(entry);
    return std::move(module_);
  }

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

  // Names are defined once, before they are used; marks the nodes that the outputs need.
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
      if (!defined.contains(info.name()))
        failBadInput("the output \"" + info.name() + "\" is defined nowhere");
      if (info.has_type() && !info.type().has_tensor_type())
        failUnsupported("the output \"" + info.name() +
                        "\" is no tensor; sequences, maps and optionals are not supported");
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

  // A node's inputs, and those of the nodes in its branches, are defined before it.
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

  // What a branch reads is wanted of the nodes before it, and never folded into its consumer.
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

  // Of an If only the branch that is taken has to be supported (importIf checks it).
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
      if (uses_.lookup(tensor.name()) == 0)
        continue; // nobody reads it: its type and data do not matter
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
        failUnsupported("it is no tensor; sequences, maps and optionals are not supported");
      const auto &type = info.type().tensor_type();
      if (!type.has_shape())
        failUnsupported("it has no shape; at least its rank must be known");
      Tensor tensor;
      tensor.type = dtypeFromOnnx(type.elem_type());
      llvm::SmallVector<mlir::Attribute> names;
      llvm::SmallVector<int64_t> shape;
      if (type.shape().dim_size() > 8)
        failUnsupported("it has rank " + llvm::Twine(type.shape().dim_size()) +
                        "; at most 8 is supported");
      for (const auto &dim : type.shape().dim()) {
        if (dim.has_dim_value() && dim.dim_value() < 0)
          failBadInput("impossible shape: a dimension of " + llvm::Twine(dim.dim_value()));
        std::string name = dim.has_dim_value() ? "" : dim.dim_param();
        if (!dim.has_dim_value() && name.empty())
          name = info.name() + "_dim" + std::to_string(names.size());
        const DimRange *range = dim.has_dim_value() ? nullptr : ranges.find(name);
        shape.push_back(dim.has_dim_value()                    ? dim.dim_value()
                        : range && range->least == range->most ? range->most
                                                               : mlir::ShapedType::kDynamic);
        if (!mlir::ShapedType::isDynamic(shape.back()))
          name.clear();
        names.push_back(mlir::StringAttr::get(context_, name));
      }
      auto mlirTensor = mlir::RankedTensorType::get(shape, mlirType(context_, tensor.type));
      auto loc = mlir::NameLoc::get(mlir::StringAttr::get(context_, info.name()), fileLocation(0));
      tensor.value = entry->addArgument(mlirTensor, loc);
      for (size_t i = 0; i < shape.size(); ++i) {
        if (!mlir::ShapedType::isDynamic(shape[i])) {
          tensor.dims.push_back(import_->number(shape[i]));
          continue;
        }
        auto [it, added] = symbols.try_emplace(mlir::cast<mlir::StringAttr>(names[i]).str(), Dim());
        if (added) {
          it->second = import_->addSymbol(tensor.value, i);
          symbolArguments_.push_back({position, unsigned(i)});
          if (const DimRange *range = ranges.find(it->first)) {
            import_->requireNonNegative(import_->number(range->most) - it->second);
            import_->requireNonNegative(it->second - range->least);
          }
        }
        tensor.dims.push_back(it->second);
      }
      import_->tensorType(tensor.type, tensor.dims); // checks the size
      llvm::SmallVector<mlir::NamedAttribute> attributes = portAttributes(info.name(), tensor.type);
      attributes.push_back(named("gantry.dims", mlir::ArrayAttr::get(context_, names)));
      argumentAttributes_.push_back(mlir::DictionaryAttr::get(context_, attributes));
      import_->define(info.name(), tensor);
      ++position;
    }
    placeName_.clear();
    ranges.checkUsed();
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
          continue; // the last one's output is defined, the others are read by nobody
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

  // The condition must be known by now; the branch that it takes stands in the node's place.
  void importIf(const Node &current) {
    Constant condition = import_->constantInput(current, 0, "the condition");
    if (condition->type != DType::Bool || condition->elementCount() != 1)
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

  // A needed output that the importer did not define is a form that it does not know.
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
    llvm::StringSet<> returned;
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
      resultAttributes.push_back(
          mlir::DictionaryAttr::get(context_, portAttributes(name, tensor->type)));
      returned.insert(name);
    };
    for (const auto &info : graph().output()) {
      placeName_ = "output " + info.name();
      checkDeclared(info);
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
    function_.setAllArgAttrs(argumentAttributes_);
    function_.setAllResultAttrs(resultAttributes);
    if (mlir::failed(mlir::verify(*module_)))
      throw ImportError{ImportKind::unsupported, ""}; // the verifier has reported it
  }

  // The shape that the model declares for an output must agree with what its operators compute.
  void checkDeclared(const onnx::ValueInfoProto &info) {
    const Tensor *tensor = import_->lookup(info.name());
    if (!tensor || !info.type().has_tensor_type())
      return;
    const int declaredType = info.type().tensor_type().elem_type();
    if (declaredType != 0 && dtypeFromOnnx(declaredType) != tensor->type)
      failBadInput("the model declares " + dtypeName(dtypeFromOnnx(declaredType)) +
                   ", but its operators give " + dtypeName(tensor->type));
    if (!info.type().tensor_type().has_shape())
      return;
    const auto &shape = info.type().tensor_type().shape();
    bool agrees = shape.dim_size() == tensor->rank();
    for (int i = 0; agrees && i < shape.dim_size(); ++i) {
      auto known = staticDim(tensor->dims[i]);
      agrees = !shape.dim(i).has_dim_value() || !known || shape.dim(i).dim_value() == *known;
    }
    if (agrees)
      return;
    std::string declared;
    for (const auto &dim : shape.dim())
      declared += (declared.empty() ? "" : ", ") +
                  (dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param());
    failBadInput("the model declares the shape [" + declared + "], but its operators give " +
                 describeDims(tensor->dims));
  }

  // What the model assumes of its dynamic dimensions, as attributes (import.h).
  void applyBounds() {
    auto setList = [&](unsigned argument, unsigned dim, const char *key, int64_t otherwise,
                       int64_t value) {
      auto old = argumentAttributes_[argument];
      auto type = mlir::cast<mlir::RankedTensorType>(function_.getArgument(argument).getType());
      llvm::SmallVector<int64_t> limits(type.getRank(), otherwise);
      if (auto known = old.getAs<mlir::DenseI64ArrayAttr>(key))
        limits.assign(known.asArrayRef().begin(), known.asArrayRef().end());
      limits[dim] = value;
      mlir::NamedAttrList list(old);
      list.set(key, mlir::DenseI64ArrayAttr::get(context_, limits));
      argumentAttributes_[argument] = list.getDictionary(context_);
    };
    for (auto [symbol, limits] : import_->dimBounds()) {
      auto [argument, dim] = symbolArguments_[symbol];
      if (limits.most > 0)
        setList(argument, dim, "gantry.dim_max", 0, limits.most);
      if (limits.least > 1)
        setList(argument, dim, "gantry.dim_min", 1, limits.least);
    }
    renameEqualDims();
    if (import_->requirements().empty())
      return;
    llvm::SmallVector<mlir::Attribute> maps, names;
    for (Dim dim : import_->requirements())
      maps.push_back(mlir::AffineMapAttr::get(
          mlir::AffineMap::get(0, symbolArguments_.size(), dim, context_)));
    for (auto [argument, dim] : symbolArguments_)
      names.push_back(dimName(argument, dim));
    function_->setAttr("gantry.require", mlir::ArrayAttr::get(context_, maps));
    function_->setAttr("gantry.symbols", mlir::ArrayAttr::get(context_, names));
  }

  mlir::Attribute dimName(unsigned argument, unsigned dim) const {
    return argumentAttributes_[argument].getAs<mlir::ArrayAttr>("gantry.dims")[dim];
  }

  // Dimensions that must be equal take one name, which makes them one symbol of the program.
  void renameEqualDims() {
    llvm::DenseMap<mlir::Attribute, mlir::Attribute> renamed;
    for (unsigned symbol = 0; symbol < symbolArguments_.size(); ++symbol) {
      auto [argument, dim] = symbolArguments_[import_->representative(symbol)];
      auto [own, ownDim] = symbolArguments_[symbol];
      if (import_->representative(symbol) != symbol)
        renamed[dimName(own, ownDim)] = dimName(argument, dim);
    }
    if (renamed.empty())
      return;
    for (mlir::DictionaryAttr &attributes : argumentAttributes_) {
      llvm::SmallVector<mlir::Attribute> names;
      for (mlir::Attribute name : attributes.getAs<mlir::ArrayAttr>("gantry.dims"))
        names.push_back(renamed.count(name) ? renamed[name] : name);
      mlir::NamedAttrList list(attributes);
      list.set("gantry.dims", mlir::ArrayAttr::get(context_, names));
      attributes = list.getDictionary(context_);
    }
  }

  mlir::NamedAttribute named(llvm::StringRef key, mlir::Attribute value) {
    return {mlir::StringAttr::get(context_, key), value};
  }

  llvm::SmallVector<mlir::NamedAttribute> portAttributes(const std::string &name, DType type) {
    llvm::SmallVector<mlir::NamedAttribute> list;
    list.push_back(named("gantry.name", mlir::StringAttr::get(context_, name)));
    if (isUnsigned(type) && type != DType::Bool)
      list.push_back(named("gantry.type", mlir::StringAttr::get(context_, dtypeName(type))));
    return list;
  }

  void setPlace(const Node &current) {
    place_ = current.loc();
    placeName_ = current.opType().str(); // the location has the node's name
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
  llvm::StringMap<int> uses_;     // by needed nodes and outputs
  llvm::StringMap<int> consumer_; // the last node that uses a value
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp function_;
  std::unique_ptr<ImportContext> import_;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttributes_;
  llvm::SmallVector<std::pair<unsigned, unsigned>> symbolArguments_; // argument, dim
  std::vector<std::string> kept_;
  std::optional<mlir::Location> place_;
  std::string placeName_;
};

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             const ImportOptions &options, ImportKind &failureKind,
                                             const OnnxBindings *bindings) {
  context.loadDialect<mlir::func::FuncDialect, mlir::tensor::TensorDialect,
                      mlir::linalg::LinalgDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::affine::AffineDialect>();
  GraphImporter importer(&context, path, options, bindings);
  try {
    return importer.run();
  } catch (ImportError &error) {
    failureKind = error.kind;
    if (!error.message.empty()) {
      std::string where = importer.placeName();
      mlir::emitError(importer.place()) << (where.empty() ? "" : where + ": ") << error.message;
    }
    return nullptr;
  }
}

std::vector<Constant> evaluateOnnx(llvm::StringRef path, llvm::ArrayRef<Constant> inputs) {
  std::shared_ptr<onnx::ModelProto> model = loadModel(path);
  OnnxBindings bindings;
  bindings.foldEverything = true;
  std::vector<Constant> outputs;
  bindings.outputs = &outputs;
  llvm::StringSet<> initializers;
  for (const auto &tensor : model->graph().initializer())
    initializers.insert(tensor.name());
  size_t next = 0;
  for (const auto &info : model->graph().input())
    if (!initializers.contains(info.name()) && next < inputs.size())
      bindings.inputs[info.name()] = inputs[next++];
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message += diagnostic.str();
    return mlir::success();
  });
  ImportKind kind = ImportKind::badInput;
  if (!importOnnx(context, path, {}, kind, &bindings))
    throw ImportError{kind, message};
  return outputs;
}

} // namespace gantry::importer
