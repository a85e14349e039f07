// Implements the pass bind-buffers, which makes SPIR-V modules whose variables are the buffers,
// sizes and ids that a kernel's function has as arguments (passes/Passes.td).
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/targets/spirv.h"
#include "codegen/targets/spirv_matrices.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Utils/LayoutUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

#include <cassert>

namespace gantry::codegen {

#define GEN_PASS_DEF_BINDBUFFERS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr uint32_t kWordBytes = 8; // Size of a word of the push-constant block.
constexpr const char *kTexelFetch = "texel_fetch";

/// Turns one SPIR-V function into a kernel: an entry point without arguments, which is alone in its
/// module and reaches buffers, dynamic sizes (dims) and ids through variables.
class Binder {
public:
  Binder(spirv::ModuleOp module, spirv::FuncOp function, BindingMode mode, OpBuilder builder)
      : module_(module), function_(function), mode_(mode), builder_(builder),
        loc_(function.getLoc()), launch_(attributeOf<LaunchAttr>(function)) {}

  void run() {
    builder_.setInsertionPointToStart(&function_.getBody().front());
    addPushConstants();
    bindArguments();
    moveAttributes();
    adoptSharedMemory();
    addEntryPoint();
  }

private:
  bool isByAddress() const { return mode_ == BindingMode::kAddress; }

  /// Adds a variable of the type `pointer` to the module and to the entry point's interface.
  spirv::GlobalVariableOp addGlobal(Type pointer, const Twine &name) {
    OpBuilder::InsertionGuard restore(builder_);
    builder_.setInsertionPointToStart(module_.getBody());
    auto global = builder_.create<spirv::GlobalVariableOp>(loc_, TypeAttr::get(pointer),
                                                           builder_.getStringAttr(name), nullptr);
    interface_.push_back(SymbolRefAttr::get(global));
    return global;
  }

  void setDescriptor(spirv::GlobalVariableOp global, int64_t binding) {
    global->setAttr("descriptor_set", builder_.getI32IntegerAttr(0));
    global->setAttr("binding", builder_.getI32IntegerAttr(static_cast<int32_t>(binding)));
  }

  Value constant(int32_t value) {
    return builder_.create<spirv::ConstantOp>(loc_, builder_.getI32Type(),
                                              builder_.getI32IntegerAttr(value));
  }

  /// Returns the type that a pointer points to.
  static Type pointee(Type pointer) { return cast<spirv::PointerType>(pointer).getPointeeType(); }

  // ---- Push constants and ids ------------------------------------------------------------------

  /// Declares the push-constant block. It has words of 8 bytes: one address per buffer if buffers
  /// are bound by address, then one word per dynamic dimension, in its low 4 bytes.
  void addPushConstants() {
    llvm::SmallVector<Type> members;
    llvm::SmallVector<spirv::StructType::OffsetInfo> offsets;
    auto addMember = [&](Type type) {
      offsets.push_back(static_cast<uint32_t>(members.size()) * kWordBytes);
      members.push_back(type);
    };
    if (isByAddress())
      for (int64_t i = 0; i < launch_.getBuffers(); ++i)
        addMember(builder_.getI64Type());
    firstDim_ = static_cast<int32_t>(members.size());
    for (int64_t i = 0; i < launch_.getDims(); ++i)
      addMember(builder_.getI32Type());
    if (members.empty())
      return;
    auto type = spirv::PointerType::get(spirv::StructType::get(members, offsets),
                                        spirv::StorageClass::PushConstant);
    block_ = builder_.create<spirv::AddressOfOp>(loc_, addGlobal(type, "block"));
  }

  Value loadMember(int64_t member) {
    Value pointer = builder_.create<spirv::AccessChainOp>(
        loc_, block_, ValueRange{constant(static_cast<int32_t>(member))});
    return builder_.create<spirv::LoadOp>(loc_, pointer);
  }

  Value loadBuiltin(Type type, const char *name, const char *builtin) {
    auto global = addGlobal(spirv::PointerType::get(type, spirv::StorageClass::Input), name);
    global->setAttr("built_in", builder_.getStringAttr(builtin));
    Value pointer = builder_.create<spirv::AddressOfOp>(loc_, global);
    return builder_.create<spirv::LoadOp>(loc_, pointer);
  }

  /// Loads the id that an argument with this role receives.
  Value idOf(ArgumentRole role) {
    const Type word = builder_.getI32Type();
    if (role == ArgumentRole::kLane)
      return loadBuiltin(word, "lane", "SubgroupLocalInvocationId");
    if (role == ArgumentRole::kSubgroup)
      return loadBuiltin(word, "subgroup", "SubgroupId");
    const Type triple = VectorType::get({3}, word);
    const bool isLocal = role == ArgumentRole::kInvocation;
    Value &ids = isLocal ? localId_ : workgroupId_;
    if (!ids)
      ids = isLocal ? loadBuiltin(triple, "local_id", "LocalInvocationId")
                    : loadBuiltin(triple, "workgroup_id", "WorkgroupId");
    const int32_t component = role == ArgumentRole::kWorkgroupY ? 1 : 0;
    return builder_.create<spirv::CompositeExtractOp>(loc_, ids,
                                                      llvm::ArrayRef<int32_t>{component});
  }

  // ---- Arguments -------------------------------------------------------------------------------

  void bindArguments() {
    Block &entry = function_.getBody().front();
    for (BlockArgument argument : entry.getArguments()) {
      auto binding = argumentAttribute<BindingAttr>(function_, argument.getArgNumber());
      if (binding.getRole() == ArgumentRole::kBuffer)
        bindBuffer(argument, binding);
      else if (binding.getRole() == ArgumentRole::kDim)
        argument.replaceAllUsesWith(loadMember(firstDim_ + binding.getIndex()));
      else
        argument.replaceAllUsesWith(idOf(binding.getRole()));
    }
    entry.eraseArguments([](BlockArgument) { return true; });
    function_.setFunctionType(builder_.getFunctionType({}, {}));
    function_.removeArgAttrsAttr();
  }

  /// Returns the format of texels whose elements are loaded as `loaded`. stored: the type of the
  /// elements in memory; null if it is `loaded`.
  static TexelFormat texelFormatOf(Type loaded, Type stored) {
    if (loaded.isF32())
      return stored ? TexelFormat::kRgba16f : TexelFormat::kRgba32f;
    return stored ? TexelFormat::kRgba8ui : TexelFormat::kRgba32i;
  }

  void bindBuffer(BlockArgument view, BindingAttr binding) {
    const int64_t buffer = binding.getIndex();
    if (isByAddress()) {
      auto type = spirv::PointerType::get(pointee(view.getType()),
                                          spirv::StorageClass::PhysicalStorageBuffer);
      rewriteAccesses(view,
                      builder_.create<spirv::ConvertUToPtrOp>(loc_, type, loadMember(buffer)));
      return;
    }
    auto vector = dyn_cast<VectorType>(elementOf(view.getType()));
    const bool isOperand = buffer + 1 != launch_.getBuffers();
    if (mode_ == BindingMode::kTexel && isOperand && vector && isOnly<spirv::LoadOp>(view)) {
      texels_.push_back({buffer, texelFormatOf(vector.getElementType(), binding.getTexelsOf())});
      fetchTexels(view, buffer, launch_.getBuffers() + buffer);
      return;
    }
    bindStorageBuffer(view, vector, binding);
  }

  void bindStorageBuffer(BlockArgument view, VectorType vector, BindingAttr binding) {
    const int64_t buffer = binding.getIndex(), skipped = binding.getSkipped();
    stored_.insert(buffer);
    // A buffer of bytes may have two views that are not vectors: one with elements of one byte, and
    // one with words of four bytes.
    const char *suffix = vector                                                   ? "_vec4"
                         : module_.lookupSymbol(("buffer" + Twine(buffer)).str()) ? "_words"
                                                                                  : "";
    Type type = view.getType();
    if (mode_ == BindingMode::kTexel && vector && isOnly<spirv::StoreOp>(view))
      type = storedVectors(view, vector, skipped);
    else
      assert((skipped == 0 || view.use_empty()) && "only stores of texel kernels skip elements");
    const std::string at = skipped == 0 ? "" : "_at" + std::to_string(skipped);
    auto global = addGlobal(type, "buffer" + Twine(buffer) + suffix + at);
    setDescriptor(global, buffer);
    // Two views of a buffer alias each other. A result in an operand's storage aliases the operand.
    global->setAttr("aliased", builder_.getUnitAttr());
    view.replaceAllUsesWith(builder_.create<spirv::AddressOfOp>(loc_, global).getResult());
  }

  // ---- The module ------------------------------------------------------------------------------

  /// Moves the attributes that describe the kernel (gantry.tile, gantry.launch, ...) from the
  /// function to the module, and sets gantry.buffers.
  void moveAttributes() {
    const auto *dialect = builder_.getContext()->getLoadedDialect<GantryDialect>();
    for (NamedAttribute attribute : llvm::to_vector(function_->getDiscardableAttrs())) {
      if (attribute.getNameDialect() != dialect)
        continue;
      module_->setAttr(attribute.getName(), attribute.getValue());
      function_->removeAttr(attribute.getName());
    }
    llvm::SmallVector<TexelViewAttr> views;
    for (auto [buffer, format] : texels_)
      views.push_back(
          TexelViewAttr::get(builder_.getContext(), buffer, format, !stored_.contains(buffer)));
    setAttribute(module_, BuffersAttr::get(builder_.getContext(), mode_, views));
  }

  void addEntryPoint() {
    builder_.setInsertionPointToEnd(module_.getBody());
    const auto size = static_cast<int32_t>(launch_.getWorkgroupSize());
    builder_.create<spirv::EntryPointOp>(
        loc_,
        spirv::ExecutionModelAttr::get(builder_.getContext(), spirv::ExecutionModel::GLCompute),
        SymbolRefAttr::get(function_), builder_.getArrayAttr(interface_));
    builder_.create<spirv::ExecutionModeOp>(
        loc_, SymbolRefAttr::get(function_),
        spirv::ExecutionModeAttr::get(builder_.getContext(), spirv::ExecutionMode::LocalSize),
        builder_.getI32ArrayAttr({size, 1, 1}));
  }

  /// Returns the element type of a buffer: the pointer points to a structure with a runtime array.
  static Type elementOf(Type pointer) {
    auto structure = cast<spirv::StructType>(pointee(pointer));
    return cast<spirv::RuntimeArrayType>(structure.getElementType(0)).getElementType();
  }

  /// Copies the variables of shared memory that the function uses into the module. The conversion
  /// to SPIR-V created them in the kernel's builtin module.
  void adoptSharedMemory() {
    llvm::DenseSet<StringRef> adopted;
    function_.walk([&](spirv::AddressOfOp address) {
      auto outside = SymbolTable::lookupNearestSymbolFrom<spirv::GlobalVariableOp>(
          module_->getParentOp(), address.getVariableAttr());
      if (!outside || outside->getParentOp() == module_ ||
          !adopted.insert(outside.getSymName()).second)
        return;
      OpBuilder::InsertionGuard restore(builder_);
      builder_.setInsertionPointToStart(module_.getBody());
      interface_.push_back(
          SymbolRefAttr::get(cast<spirv::GlobalVariableOp>(builder_.clone(*outside))));
    });
  }

  /// Returns whether all accesses to a view's elements are of one kind, loads or stores.
  template <typename Access> static bool isOnly(Value view) {
    return llvm::all_of(view.getUsers(), [](Operation *chain) {
      return isa<spirv::AccessChainOp>(chain) &&
             llvm::all_of(chain->getUsers(), llvm::IsaPred<Access>);
    });
  }

  /// Returns the new type of a view whose vectors are only stored, never loaded. The first vector
  /// comes after `skipped` elements of the buffer. If the vectors are aligned to 64 bits, changes
  /// their stores to stores of 64-bit words: two words for f32, one for f16. This is faster on
  /// Mesa's software device, which stores the components of a vector one by one.
  Type storedVectors(BlockArgument view, VectorType vector, int64_t skipped) {
    const unsigned elementBytes = vector.getElementTypeBitWidth() / 8;
    const unsigned bytes = vector.getNumElements() * elementBytes;
    const auto offset = static_cast<uint32_t>(skipped * elementBytes);
    const bool inWords = offset % kWordBytes == 0;
    Type words = inWords ? Type(builder_.getI64Type()) : Type(vector);
    if (inWords && bytes > kWordBytes)
      words = VectorType::get({bytes / kWordBytes}, words);
    auto pointer = cast<spirv::PointerType>(view.getType());
    auto structure = spirv::StructType::get({spirv::RuntimeArrayType::get(words, bytes)}, {offset});
    auto changed = spirv::PointerType::get(structure, pointer.getStorageClass());
    if (!inWords)
      return changed;
    for (Operation *user : view.getUsers()) {
      auto chain = cast<spirv::AccessChainOp>(user);
      for (Operation *access : chain->getUsers()) {
        OpBuilder at(access);
        auto store = cast<spirv::StoreOp>(access);
        store.getValueMutable().assign(
            at.create<spirv::BitcastOp>(store.getLoc(), words, store.getValue()));
      }
      chain.getResult().setType(spirv::PointerType::get(words, pointer.getStorageClass()));
    }
    return changed;
  }

  /// Returns the name of the function `texel_fetch...` that takes a pointer to an image and a
  /// coordinate, and returns a texel of the type `vector`. The function is a placeholder for
  /// OpImageFetch, which MLIR's dialect lacks. Adds the function if it does not exist yet.
  /// spirv_texels.cpp replaces the calls of the function in the serialised module.
  FlatSymbolRefAttr texelFetchOf(Type pointer, VectorType vector) {
    const Type element = vector.getElementType();
    const std::string name = kTexelFetch + std::string(element.isF32()             ? ""
                                                       : element.isSignedInteger() ? "_i"
                                                                                   : "_u");
    if (!module_.lookupSymbol(name)) {
      OpBuilder::InsertionGuard restore(builder_);
      builder_.setInsertionPoint(function_);
      auto fetch = builder_.create<spirv::FuncOp>(
          loc_, name, builder_.getFunctionType({pointer, builder_.getI32Type()}, {vector}));
      builder_.setInsertionPointToStart(fetch.addEntryBlock());
      Value nothing = builder_.create<spirv::UndefOp>(loc_, vector);
      builder_.create<spirv::ReturnValueOp>(loc_, nothing);
    }
    return FlatSymbolRefAttr::get(builder_.getContext(), name);
  }

  /// Changes the vector loads of a view to texel fetches from a texel buffer, which the module
  /// declares at descriptor binding `binding`.
  void fetchTexels(BlockArgument view, int64_t buffer, int64_t binding) {
    auto vector = cast<VectorType>(elementOf(view.getType()));
    Type sampled = vector.getElementType();
    if (texels_.back().second == TexelFormat::kRgba32i)
      sampled = IntegerType::get(builder_.getContext(), 32, IntegerType::Signed);
    auto texel = VectorType::get(vector.getShape(), sampled);
    auto image = spirv::ImageType::get(
        sampled, spirv::Dim::Buffer, spirv::ImageDepthInfo::DepthUnknown,
        spirv::ImageArrayedInfo::NonArrayed, spirv::ImageSamplingInfo::SingleSampled,
        spirv::ImageSamplerUseInfo::NeedSampler, spirv::ImageFormat::Unknown);
    auto pointerType = spirv::PointerType::get(image, spirv::StorageClass::UniformConstant);
    auto global = addGlobal(pointerType, "texels" + Twine(buffer));
    setDescriptor(global, binding);
    const FlatSymbolRefAttr fetch = texelFetchOf(pointerType, texel);
    Value pointer = builder_.create<spirv::AddressOfOp>(loc_, global);
    for (Operation *user : llvm::make_early_inc_range(view.getUsers())) {
      auto chain = cast<spirv::AccessChainOp>(user);
      for (Operation *load : llvm::make_early_inc_range(chain->getUsers())) {
        OpBuilder at(load);
        Value fetched =
            at.create<spirv::FunctionCallOp>(load->getLoc(), TypeRange(texel), fetch,
                                             ValueRange{pointer, chain.getIndices().back()})
                .getResult(0);
        if (texel != vector)
          fetched = at.create<spirv::BitcastOp>(load->getLoc(), vector, fetched);
        load->getResult(0).replaceAllUsesWith(fetched);
        load->erase();
      }
      chain.erase();
    }
  }

  /// Replaces the access chains of the view `from`, and their loads and stores, by accesses through
  /// `to`, a pointer to PhysicalStorageBuffer. Such accesses must state their alignment.
  void rewriteAccesses(Value from, Value to) {
    for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
      auto chain = cast<spirv::AccessChainOp>(use.getOwner());
      OpBuilder at(chain);
      Value moved = at.create<spirv::AccessChainOp>(chain.getLoc(), to, chain.getIndices());
      Type element = pointee(moved.getType());
      auto aligned = spirv::MemoryAccessAttr::get(at.getContext(), spirv::MemoryAccess::Aligned);
      unsigned bytes = getElementTypeOrSelf(element).getIntOrFloatBitWidth() / 8;
      if (auto vector = dyn_cast<VectorType>(element))
        bytes *= vector.getNumElements();
      auto alignment = at.getI32IntegerAttr(bytes);
      for (Operation *user : llvm::make_early_inc_range(chain->getUsers())) {
        OpBuilder access(user);
        if (auto load = dyn_cast<spirv::LoadOp>(user)) {
          load.replaceAllUsesWith(
              access.create<spirv::LoadOp>(load.getLoc(), moved, aligned, alignment).getResult());
        } else {
          auto store = cast<spirv::StoreOp>(user);
          access.create<spirv::StoreOp>(store.getLoc(), moved, store.getValue(), aligned,
                                        alignment);
        }
        user->erase();
      }
      chain.erase();
    }
  }

  spirv::ModuleOp module_;
  spirv::FuncOp function_;
  const BindingMode mode_;
  OpBuilder builder_;
  const Location loc_;
  const LaunchAttr launch_;
  Value block_;          // The push-constant block, or null.
  int32_t firstDim_ = 0; // Index of the block's member with the first dynamic dimension.
  Value localId_, workgroupId_;
  llvm::SmallVector<Attribute> interface_;                    // Interface of the entry point.
  llvm::SmallVector<std::pair<int64_t, TexelFormat>> texels_; // Buffers that are read as texels.
  llvm::DenseSet<int64_t> stored_;                            // Buffers bound as storage buffers.
};

/// Adds a SPIR-V module with a copy of the function, whose buffers are bound in the given mode.
void addModule(ModuleOp kernel, spirv::FuncOp function, BindingMode mode) {
  const bool hasMatrices = attributeOf<LaunchAttr>(function).getMatrixFeature() != nullptr;
  OpBuilder builder(kernel.getContext());
  builder.setInsertionPointToEnd(kernel.getBody());
  auto module = builder.create<spirv::ModuleOp>(
      kernel.getLoc(),
      mode == BindingMode::kAddress ? spirv::AddressingModel::PhysicalStorageBuffer64
                                    : spirv::AddressingModel::Logical,
      hasMatrices ? spirv::MemoryModel::Vulkan : spirv::MemoryModel::GLSL450);
  module->setAttr(spirv::getTargetEnvAttrName(), spirvTargetEnv(kernel.getContext()));
  builder.setInsertionPointToEnd(module.getBody());
  auto copy = cast<spirv::FuncOp>(builder.clone(*function));
  copy.setName(*kernel.getName());
  Binder(module, copy, mode, builder).run();
  if (hasMatrices)
    useVulkanMemoryModel(module);
}

struct BindBuffersPass : impl::BindBuffersBase<BindBuffersPass> {
  void runOnOperation() override {
    ModuleOp kernel = getOperation();
    if (!isKernelModule(kernel))
      return;
    for (auto function : llvm::to_vector(kernel.getOps<spirv::FuncOp>())) {
      auto tile = attributeOf<TileAttr>(function);
      if (tile && tile.getKind() == TileKind::kTexel) {
        addModule(kernel, function, BindingMode::kTexel);
      } else {
        addModule(kernel, function, BindingMode::kStorageBuffer);
        addModule(kernel, function, BindingMode::kAddress);
      }
      function.erase();
    }
    for (auto global : llvm::make_early_inc_range(kernel.getOps<spirv::GlobalVariableOp>()))
      global.erase();
  }
};

} // namespace
} // namespace gantry::codegen
