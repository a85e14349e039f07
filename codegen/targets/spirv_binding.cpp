// bind-buffers: see passes/Passes.td.
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

#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_BINDBUFFERS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

constexpr uint32_t kWordBytes = 8;

enum class Mode { storageBuffer, address, texel };

StringRef nameOf(Mode mode) {
  return mode == Mode::address ? "address" : mode == Mode::texel ? "texel" : "storage_buffer";
}

/// The attributes that emit-kernels leaves on the function and that the module keeps.
constexpr StringRef kKernelAttributes[] = {
    "gantry.buffers",        "gantry.dims",
    "gantry.workgroup_size", "gantry.tile",
    "gantry.merged",         "gantry.tile_text",
    "gantry.lanes",          "gantry.tiles_per_workgroup",
    "gantry.ladder",         "gantry.shared_bytes",
    "gantry.boxes_bytes",    "gantry.slice_workgroups",
    "gantry.slice_bytes",    "gantry.loop_rounds",
    "gantry.loop_dims",      "gantry.subgroup_size",
    "gantry.matrices",       "gantry.grid",
    "gantry.exact_tile",
};

struct Binder {
  spirv::ModuleOp module;
  spirv::FuncOp function;
  Mode mode;
  OpBuilder builder;
  llvm::SmallVector<Attribute> interface {};
  llvm::SmallVector<std::pair<int64_t, StringRef>> texels{}; // buffers read as texels, format
  llvm::DenseSet<int64_t> stored{};                          // buffers bound as storage buffers
  bool byAddress = mode == Mode::address;

  std::optional<int64_t> role(unsigned argument, StringRef name) {
    if (auto attribute = function.getArgAttrOfType<IntegerAttr>(argument, name))
      return attribute.getInt();
    return std::nullopt;
  }

  spirv::GlobalVariableOp addGlobal(Type pointer, const Twine &name) {
    OpBuilder::InsertionGuard restore(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto global = builder.create<spirv::GlobalVariableOp>(function.getLoc(), TypeAttr::get(pointer),
                                                          builder.getStringAttr(name), nullptr);
    interface.push_back(SymbolRefAttr::get(global));
    return global;
  }

  Value constant(int32_t value) {
    return builder.create<spirv::ConstantOp>(function.getLoc(), builder.getI32Type(),
                                             builder.getI32IntegerAttr(value));
  }

  /// The structure of a buffer as MLIR's type conversion made it.
  static Type pointee(Type pointer) { return cast<spirv::PointerType>(pointer).getPointeeType(); }

  void run() {
    Location loc = function.getLoc();
    Block &entry = function.getBody().front();
    builder.setInsertionPointToStart(&entry);
    int64_t buffers = function->getAttrOfType<IntegerAttr>("gantry.buffers").getInt();
    int64_t dims = function->getAttrOfType<IntegerAttr>("gantry.dims").getInt();

    // The push-constant block: words of 8 bytes, addresses first.
    llvm::SmallVector<Type> members;
    llvm::SmallVector<spirv::StructType::OffsetInfo> offsets;
    llvm::DenseMap<int64_t, unsigned> memberOfDim;
    llvm::DenseMap<int64_t, unsigned> memberOfBuffer;
    auto i32 = builder.getI32Type(), i64 = builder.getI64Type();
    if (byAddress)
      for (int64_t i = 0; i < buffers; ++i) {
        memberOfBuffer[i] = members.size();
        members.push_back(i64);
        offsets.push_back(i * kWordBytes);
      }
    for (int64_t i = 0; i < dims; ++i) {
      memberOfDim[i] = members.size();
      members.push_back(i32);
      offsets.push_back((i + (byAddress ? buffers : 0)) * kWordBytes);
    }
    Value block;
    if (!members.empty()) {
      auto type = spirv::PointerType::get(spirv::StructType::get(members, offsets),
                                          spirv::StorageClass::PushConstant);
      block = builder.create<spirv::AddressOfOp>(loc, addGlobal(type, "block"));
    }
    auto loadMember = [&](unsigned member) -> Value {
      Value pointer =
          builder.create<spirv::AccessChainOp>(loc, block, ValueRange{constant(member)});
      return builder.create<spirv::LoadOp>(loc, pointer);
    };

    Value ids[2];
    auto builtin = [&](int64_t which) -> Value {
      if (which >= 3) {
        auto global = addGlobal(spirv::PointerType::get(i32, spirv::StorageClass::Input),
                                which == 3 ? "lane" : "subgroup");
        global->setAttr("built_in", builder.getStringAttr(which == 3 ? "SubgroupLocalInvocationId"
                                                                     : "SubgroupId"));
        Value pointer = builder.create<spirv::AddressOfOp>(loc, global);
        return builder.create<spirv::LoadOp>(loc, pointer);
      }
      bool local = which == 2;
      if (!ids[local]) {
        auto type = spirv::PointerType::get(VectorType::get({3}, i32), spirv::StorageClass::Input);
        auto global = addGlobal(type, local ? "local_id" : "workgroup_id");
        global->setAttr("built_in",
                        builder.getStringAttr(local ? "LocalInvocationId" : "WorkgroupId"));
        Value pointer = builder.create<spirv::AddressOfOp>(loc, global);
        ids[local] = builder.create<spirv::LoadOp>(loc, pointer);
      }
      int32_t component = which == 1 ? 1 : 0;
      return builder.create<spirv::CompositeExtractOp>(loc, ids[local],
                                                       llvm::ArrayRef<int32_t>{component});
    };

    for (BlockArgument argument : entry.getArguments()) {
      unsigned position = argument.getArgNumber();
      Value replacement;
      if (auto buffer = role(position, "gantry.binding")) {
        if (byAddress) {
          auto type = spirv::PointerType::get(pointee(argument.getType()),
                                              spirv::StorageClass::PhysicalStorageBuffer);
          replacement = builder.create<spirv::ConvertUToPtrOp>(loc, type,
                                                               loadMember(memberOfBuffer[*buffer]));
          rewriteAccesses(argument, replacement);
          continue;
        }
        auto vector = dyn_cast<VectorType>(elementOf(argument.getType()));
        const bool isVector = vector != nullptr;
        // Four bytes a word, beside the view of bytes.
        const bool isWords = module.lookupSymbol(("buffer" + Twine(*buffer)).str()) != nullptr;
        if (mode == Mode::texel && vector && vector.getElementType().isF32() &&
            *buffer != buffers - 1 && isOnly<spirv::LoadOp>(argument)) {
          const bool halves = function.getArgAttr(position, "gantry.texels_of") != nullptr;
          texels.push_back({*buffer, halves ? "rgba16f" : "rgba32f"});
          fetchTexels(argument, *buffer, buffers + *buffer);
          continue;
        }
        stored.insert(*buffer);
        Type view = argument.getType();
        if (mode == Mode::texel && vector && isOnly<spirv::StoreOp>(argument))
          view = storeInPairs(argument, vector);
        auto global = addGlobal(view, "buffer" + Twine(*buffer) +
                                          (isVector  ? "_vec4"
                                           : isWords ? "_words"
                                                     : ""));
        global->setAttr("descriptor_set", builder.getI32IntegerAttr(0));
        global->setAttr("binding", builder.getI32IntegerAttr(*buffer));
        global->setAttr("aliased", builder.getUnitAttr()); // two views, and results in place
        replacement = builder.create<spirv::AddressOfOp>(loc, global);
      } else if (auto dim = role(position, "gantry.dim")) {
        replacement = loadMember(memberOfDim[*dim]);
      } else {
        replacement = builtin(*role(position, "gantry.builtin"));
      }
      argument.replaceAllUsesWith(replacement);
    }
    entry.eraseArguments([](BlockArgument) { return true; });
    function.setFunctionType(builder.getFunctionType({}, {}));
    function.removeArgAttrsAttr();

    int64_t size = function->getAttrOfType<IntegerAttr>("gantry.workgroup_size").getInt();
    for (StringRef name : kKernelAttributes) {
      if (Attribute attribute = function->getAttr(name))
        module->setAttr(name, attribute);
      function->removeAttr(name);
    }
    adoptSharedMemory();
    function->removeAttr("gantry.texels");
    llvm::SmallVector<Attribute> reads;
    for (auto [buffer, format] : texels)
      reads.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("alone", builder.getBoolAttr(!stored.contains(buffer))),
           builder.getNamedAttr("buffer", builder.getI64IntegerAttr(buffer)),
           builder.getNamedAttr("format", builder.getStringAttr(format))}));
    if (mode == Mode::texel)
      module->setAttr("gantry.texels", builder.getArrayAttr(reads));
    builder.setInsertionPointToEnd(module.getBody());
    builder.create<spirv::EntryPointOp>(
        loc, spirv::ExecutionModelAttr::get(builder.getContext(), spirv::ExecutionModel::GLCompute),
        SymbolRefAttr::get(function), builder.getArrayAttr(interface));
    builder.create<spirv::ExecutionModeOp>(
        loc, SymbolRefAttr::get(function),
        spirv::ExecutionModeAttr::get(builder.getContext(), spirv::ExecutionMode::LocalSize),
        builder.getI32ArrayAttr({static_cast<int32_t>(size), 1, 1}));
  }

  static Type elementOf(Type pointer) {
    auto structure = cast<spirv::StructType>(pointee(pointer));
    return cast<spirv::RuntimeArrayType>(structure.getElementType(0)).getElementType();
  }

  /// The kernel's shared memory, which the conversion left in the module around.
  void adoptSharedMemory() {
    llvm::DenseSet<StringRef> adopted;
    function.walk([&](spirv::AddressOfOp address) {
      auto outside = SymbolTable::lookupNearestSymbolFrom<spirv::GlobalVariableOp>(
          module->getParentOp(), address.getVariableAttr());
      if (!outside || outside->getParentOp() == module ||
          !adopted.insert(outside.getSymName()).second)
        return;
      OpBuilder::InsertionGuard restore(builder);
      builder.setInsertionPointToStart(module.getBody());
      interface.push_back(
          SymbolRefAttr::get(cast<spirv::GlobalVariableOp>(builder.clone(*outside))));
    });
  }

  /// Whether a view's elements are only loaded, or only stored.
  template <typename Access> static bool isOnly(Value view) {
    return llvm::all_of(view.getUsers(), [](Operation *chain) {
      return isa<spirv::AccessChainOp>(chain) &&
             llvm::all_of(chain->getUsers(), llvm::IsaPred<Access>);
    });
  }

  /// Stores of vectors as stores of 64-bit words, two or (of halves) one: the software device takes
  /// its lanes' components one by one, whatever their size. Returns the type of the view.
  Type storeInPairs(BlockArgument view, VectorType vector) {
    const unsigned bytes = vector.getNumElements() * vector.getElementTypeBitWidth() / 8;
    Type words = builder.getI64Type();
    if (bytes > kWordBytes)
      words = VectorType::get({bytes / kWordBytes}, words);
    auto pointer = cast<spirv::PointerType>(view.getType());
    auto structure = spirv::StructType::get({spirv::RuntimeArrayType::get(words, bytes)}, {0});
    auto changed = spirv::PointerType::get(structure, pointer.getStorageClass());
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

  /// Loads of vectors from a buffer as fetches of texels. The dialect has no OpImageFetch, so each
  /// is a call of a function `texel_fetch…`, which the serialised module has none of: see
  /// spirv_texels.cpp.
  void fetchTexels(BlockArgument view, int64_t buffer, int64_t binding) {
    Location loc = function.getLoc();
    auto vector = cast<VectorType>(elementOf(view.getType()));
    auto image = spirv::ImageType::get(
        vector.getElementType(), spirv::Dim::Buffer, spirv::ImageDepthInfo::DepthUnknown,
        spirv::ImageArrayedInfo::NonArrayed, spirv::ImageSamplingInfo::SingleSampled,
        spirv::ImageSamplerUseInfo::NeedSampler, spirv::ImageFormat::Unknown);
    auto pointerType = spirv::PointerType::get(image, spirv::StorageClass::UniformConstant);
    auto global = addGlobal(pointerType, "texels" + Twine(buffer));
    global->setAttr("descriptor_set", builder.getI32IntegerAttr(0));
    global->setAttr("binding", builder.getI32IntegerAttr(binding));

    const char *callee = "texel_fetch";
    if (!module.lookupSymbol(callee)) {
      OpBuilder::InsertionGuard restore(builder);
      builder.setInsertionPoint(function);
      auto fetch = builder.create<spirv::FuncOp>(
          loc, callee, builder.getFunctionType({pointerType, builder.getI32Type()}, {vector}));
      builder.setInsertionPointToStart(fetch.addEntryBlock());
      Value nothing = builder.create<spirv::UndefOp>(loc, vector);
      builder.create<spirv::ReturnValueOp>(loc, nothing);
    }
    Value pointer = builder.create<spirv::AddressOfOp>(loc, global);
    for (Operation *user : llvm::make_early_inc_range(view.getUsers())) {
      auto chain = cast<spirv::AccessChainOp>(user);
      for (Operation *load : llvm::make_early_inc_range(chain->getUsers())) {
        OpBuilder at(load);
        auto fetched = at.create<spirv::FunctionCallOp>(
            load->getLoc(), TypeRange(vector), FlatSymbolRefAttr::get(at.getContext(), callee),
            ValueRange{pointer, chain.getIndices().back()});
        load->getResult(0).replaceAllUsesWith(fetched.getResult(0));
        load->erase();
      }
      chain.erase();
    }
  }

  /// Access chains into a buffer, and the loads and stores through them, in physical storage.
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
};

struct BindBuffersPass : impl::BindBuffersBase<BindBuffersPass> {
  void runOnOperation() override {
    ModuleOp kernel = getOperation();
    if (!kernel->hasAttr("gantry.kernel"))
      return;
    OpBuilder builder(&getContext());
    for (auto function : llvm::to_vector(kernel.getOps<spirv::FuncOp>())) {
      llvm::SmallVector<Mode> modes{Mode::storageBuffer, Mode::address};
      if (function->hasAttr("gantry.texels"))
        modes = {Mode::texel};
      const bool matrices = function->hasAttr("gantry.matrices");
      for (Mode mode : modes) {
        builder.setInsertionPointToEnd(kernel.getBody());
        auto module = builder.create<spirv::ModuleOp>(
            kernel.getLoc(),
            mode == Mode::address ? spirv::AddressingModel::PhysicalStorageBuffer64
                                  : spirv::AddressingModel::Logical,
            matrices ? spirv::MemoryModel::Vulkan : spirv::MemoryModel::GLSL450);
        module->setAttr("gantry.binding_mode", builder.getStringAttr(nameOf(mode)));
        module->setAttr(spirv::getTargetEnvAttrName(), spirvTargetEnv(&getContext()));
        builder.setInsertionPointToEnd(module.getBody());
        auto copy = cast<spirv::FuncOp>(builder.clone(*function));
        copy.setName(*kernel.getName());
        Binder{module, copy, mode, builder}.run();
        if (matrices)
          useVulkanMemoryModel(module);
      }
      function.erase();
    }
    for (auto global : llvm::make_early_inc_range(kernel.getOps<spirv::GlobalVariableOp>()))
      global.erase();
  }
};

} // namespace
} // namespace gantry::codegen
