// Implements the pass share-kernels (Passes.td). If kernels differ only in constants that are
// sizes, the first of them takes these constants as arguments, and serves the dispatches (launches)
// of all.
#include "codegen/dialect/gantry_dialect.h"
#include "codegen/passes/passes.h"
#include "codegen/tiling/tile_choice.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include <map>
#include <numeric>
#include <optional>

namespace gantry::codegen {

#define GEN_PASS_DEF_SHAREKERNELS
#include "codegen/passes/Passes.h.inc"

using namespace mlir;

namespace {

// The number of 8-byte words in 128 bytes of push constants, which every device has. A kernel that
// reads its buffers by address needs a word for each buffer and for each dim (an argument that is a
// size).
constexpr size_t kMaxPushConstants = 16;
// A divisor may become an argument in kernels with at least this number of other operations for
// each division. Measurements show that such kernels do not become slower.
constexpr size_t kMinOperationsPerDivision = 100;

/// A constant of index type that an operation uses and that may differ between kernels.
struct Slot {
  OpOperand *use;
  int64_t value;
};

/// A kernel's module, and the dispatches that launch it.
struct Kernel {
  ModuleOp module;
  std::vector<DispatchOp> dispatches;
  std::vector<Slot> slots;

  auto functions() const { return ModuleOp(module).getOps<func::FuncOp>(); }
};

bool isDivision(Operation &op) { return isa<arith::DivUIOp, arith::RemUIOp>(op); }

/// Returns whether divisors of the function may be variables. Drivers replace divisions by
/// constants with cheaper operations, so a kernel with few other operations would become slower.
bool divisorsMayVary(func::FuncOp function) {
  size_t operations = 0, divisions = 0;
  function.walk([&](Operation *op) { ++(isDivision(*op) ? divisions : operations); });
  return operations >= kMinOperationsPerDivision * divisions;
}

/// Returns whether the operand may be a variable without making the kernel much slower. This is the
/// case for the bound of a loop, for an operand of an addition, subtraction or multiplication, as
/// in an address, and for an operand of a comparison, as in the check that an index is inside of a
/// tensor. For a divisor, it is the case only if `divisorsVary` is set.
bool mayVary(OpOperand &use, bool divisorsVary) {
  Operation *owner = use.getOwner();
  if (isa<scf::ForOp>(owner))
    return use.getOperandNumber() == 1;
  if (isDivision(*owner))
    return divisorsVary && use.getOperandNumber() == 1;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::CmpIOp>(owner);
}

std::optional<int64_t> indexConstant(Value value) {
  IntegerAttr constant;
  if (value.getType().isIndex() && matchPattern(value, m_Constant(&constant)))
    return constant.getInt();
  return std::nullopt;
}

/// Writes a kernel as a text that is equal for two kernels if and only if they differ at most in
/// the values of their slots and in attributes for which isIgnored() holds. Adds the slots to
/// Kernel::slots, in an order that is the same for kernels with equal texts.
class Skeleton {
public:
  /// mayDropSlices: kernels may also differ in `gantry.slices` (isSmall()).
  Skeleton(Kernel &kernel, bool mayDropSlices) : kernel_(kernel), mayDropSlices_(mayDropSlices) {
    for (func::FuncOp function : kernel.functions()) {
      divisorsMayVary_ = divisorsMayVary(function);
      add(*function);
    }
  }
  std::string take() { return std::move(text_); }

private:
  /// Returns whether kernels that differ in the attribute can be shared: the attribute only
  /// describes the kernel, or updateAttributes() changes it. `gantry.loops` has the number of loop
  /// iterations (rounds). The runtime multiplies it by the dynamic sizes that the attribute names;
  /// if there are any, the attribute is not ignored.
  bool isIgnored(NamedAttribute attribute) const {
    const StringRef name = attribute.getName();
    const auto loops = dyn_cast<LoopsAttr>(attribute.getValue());
    return name == SymbolTable::getSymbolAttrName() || name == RemarksAttr::name ||
           name == PredictionAttr::name || (loops && loops.getDims().empty()) ||
           (mayDropSlices_ && name == SlicesAttr::name);
  }

  void add(Operation &op) {
    if (op.getNumResults() == 1 && indexConstant(op.getResult(0)))
      return;
    put(op.getName().getAsOpaquePointer());
    for (NamedAttribute attribute : op.getAttrDictionary())
      if (!isa<func::FuncOp>(op) || !isIgnored(attribute)) {
        put(attribute.getName().getAsOpaquePointer());
        put(attribute.getValue().getAsOpaquePointer());
      }
    put(op.getNumOperands());
    for (OpOperand &operand : op.getOpOperands())
      addOperand(operand);
    for (Value result : op.getResults())
      define(result);
    for (Region &region : op.getRegions()) {
      put(region.getBlocks().size());
      for (Block &block : region) {
        put(block.getNumArguments());
        for (Value argument : block.getArguments())
          define(argument);
        for (Operation &inner : block)
          add(inner);
      }
    }
  }

  void addOperand(OpOperand &operand) {
    enum class Kind : uint8_t { kValue, kSlot, kConstant };
    const std::optional<int64_t> constant = indexConstant(operand.get());
    if (!constant) {
      put(Kind::kValue);
      put(numbers_.lookup(operand.get()));
    } else if (mayVary(operand, divisorsMayVary_)) {
      put(Kind::kSlot);
      kernel_.slots.push_back({&operand, *constant});
    } else {
      put(Kind::kConstant);
      put(*constant);
    }
  }

  void define(Value value) {
    put(value.getType().getAsOpaquePointer());
    numbers_[value] = numbers_.size();
  }

  template <typename T> void put(T word) {
    text_.append(reinterpret_cast<const char *>(&word), sizeof word);
  }

  Kernel &kernel_;
  const bool mayDropSlices_;
  bool divisorsMayVary_ = false; // divisorsMayVary() for the function that is being added.
  std::string text_;
  llvm::DenseMap<Value, unsigned> numbers_;
};

/// Returns whether every device can bind the storage of each tensor of the dispatch as a whole, so
/// that the dispatch need not be cut into slices (`gantry.slices`), launches that each bind only a
/// part of a buffer.
bool isSmall(DispatchOp dispatch) {
  const auto isSmallTensor = [&](Value tensor, size_t number) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.hasStaticShape())
      return false;
    llvm::SmallVector<int64_t> extents(type.getShape());
    if (dispatch.getLayouts())
      for (auto [d, extent] :
           llvm::enumerate(cast<LayoutAttr>((*dispatch.getLayouts())[number]).getWithin()))
        if (extent != -1)
          extents[d] = extent;
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements *= extent;
    return elements < kMinBindingBytes / std::max(1u, type.getElementTypeBitWidth() / 8);
  };
  for (auto [number, input] : llvm::enumerate(dispatch.getInputs()))
    if (!isSmallTensor(input, number))
      return false;
  return isSmallTensor(dispatch.getResult(), dispatch.getInputs().size());
}

/// Kernels with equal skeletons. share() changes the first one such that it serves the dispatches
/// of all.
class KernelClass {
public:
  explicit KernelClass(std::vector<Kernel> kernels) : kernels_(std::move(kernels)) {}

  void share() {
    if (!chooseParameters())
      return;
    replaceSlots();
    updateAttributes();
    for (auto [i, kernel] : llvm::enumerate(kernels_)) {
      for (DispatchOp dispatch : kernel.dispatches)
        redirect(dispatch, i);
      if (i > 0)
        kernel.module.erase();
    }
  }

private:
  /// A parameter is a new argument of the shared kernel. The value of a slot is base + factor *
  /// (parameter number `parameter`).
  struct Affine {
    size_t parameter;
    int64_t factor, base;
  };

  /// Finds the slots that differ between the kernels, and chooses parameters for them. Two slots
  /// share a parameter if their values, over the kernels, are affine functions of the same numbers.
  /// Returns false if there would be too many parameters, or one that is 2^32 or larger.
  bool chooseParameters() {
    std::map<std::vector<int64_t>, size_t> known;
    for (size_t slot = 0; slot < kernels_.front().slots.size(); ++slot) {
      std::vector<int64_t> values;
      for (const Kernel &kernel : kernels_)
        values.push_back(kernel.slots[slot].value);
      const auto other = llvm::find_if(values, [&](int64_t v) { return v != values.front(); });
      if (other == values.end())
        continue;
      // A parameter is never negative. Let k be the first kernel in which the slot has another
      // value than in kernel 0: the parameter is larger for k than for kernel 0. Slots whose values
      // are affine functions of each other therefore have equal parameters.
      const bool falls = *other < values.front();
      const int64_t base = falls ? *llvm::max_element(values) : *llvm::min_element(values);
      int64_t factor = 0;
      for (int64_t value : values)
        factor = std::gcd(factor, value - base);
      factor = falls ? -factor : factor;
      for (int64_t &value : values) {
        value = (value - base) / factor;
        if (value > UINT32_MAX)
          return false;
      }
      const size_t parameter = known.try_emplace(values, known.size()).first->second;
      slots_[slot] = {parameter, factor, base};
    }
    parameters_.resize(known.size());
    for (auto &[values, parameter] : known)
      parameters_[parameter] = values;
    const auto launch = attributeOf<LaunchAttr>(*kernels_.front().functions().begin());
    return launch.getBuffers() + launch.getDims() + parameters_.size() <= kMaxPushConstants;
  }

  /// Replaces the slots of the first kernel by functions of its new arguments.
  void replaceSlots() {
    std::map<std::pair<Operation *, size_t>, Value> arguments;
    std::map<std::tuple<Operation *, size_t, int64_t, int64_t>, Value> values;
    for (auto &[slot, affine] : slots_) {
      OpOperand &use = *kernels_.front().slots[slot].use;
      auto function = use.getOwner()->getParentOfType<func::FuncOp>();
      Value &argument = arguments[{function, affine.parameter}];
      if (!argument)
        argument = addArgument(function, affine.parameter);
      Value &value = values[{function, affine.parameter, affine.factor, affine.base}];
      if (!value)
        value = evaluate(function, argument, affine);
      use.set(value);
    }
  }

  /// Builds the value of a slot, with operations at the start of the function.
  static Value evaluate(func::FuncOp function, Value argument, const Affine &affine) {
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    const Location loc = function.getLoc();
    Value value = argument;
    if (affine.factor != 1)
      value = builder.create<arith::MulIOp>(
          loc, value, builder.create<arith::ConstantIndexOp>(loc, affine.factor));
    if (affine.base != 0)
      value = builder.create<arith::AddIOp>(
          loc, value, builder.create<arith::ConstantIndexOp>(loc, affine.base));
    return value;
  }

  static Value addArgument(func::FuncOp function, size_t parameter) {
    const auto dim = attributeOf<LaunchAttr>(function).getDims() + static_cast<int64_t>(parameter);
    Builder builder(function.getContext());
    const NamedAttribute binding(
        builder.getStringAttr(BindingAttr::name),
        BindingAttr::get(function.getContext(), ArgumentRole::kDim, dim, Type(), 0));
    const unsigned position = function.getNumArguments();
    function.insertArgument(position, builder.getIndexType(), builder.getDictionaryAttr(binding),
                            function.getLoc());
    return function.getArgument(position);
  }

  /// Sets those attributes of the first kernel that depend on the other kernels or on the
  /// parameters.
  void updateAttributes() {
    size_t position = 0;
    for (func::FuncOp function : kernels_.front().functions()) {
      const auto launch = attributeOf<LaunchAttr>(function);
      setAttribute(function,
                   LaunchAttr::get(function.getContext(), launch.getBuffers(),
                                   launch.getDims() + static_cast<int64_t>(parameters_.size()),
                                   launch.getWorkgroupSize(), launch.getTilesPerWorkgroup(),
                                   launch.getSubgroupSize(), launch.getSharedBytes(),
                                   launch.getStagedBytes(), launch.getMatrixFeature()));
      const auto slices = attributeOf<SlicesAttr>(function);
      int64_t rounds = 0; // emit-kernels sets `gantry.loops` on each function.
      bool haveEqualSlices = true;
      for (const Kernel &kernel : kernels_) {
        func::FuncOp other = *std::next(kernel.functions().begin(), position);
        rounds = std::max(rounds, attributeOf<LoopsAttr>(other).getRounds());
        haveEqualSlices &= attributeOf<SlicesAttr>(other) == slices;
      }
      setAttribute(function, LoopsAttr::get(function.getContext(), rounds,
                                            attributeOf<LoopsAttr>(function).getDims()));
      if (!haveEqualSlices)
        function->removeAttr(SlicesAttr::name);
      ++position;
    }
  }

  /// Makes a dispatch of kernel number `kernel` launch the first kernel.
  void redirect(DispatchOp dispatch, size_t kernel) {
    OpBuilder builder(dispatch);
    llvm::SmallVector<Value> sizes;
    for (const std::vector<int64_t> &values : parameters_)
      sizes.push_back(builder.create<arith::ConstantIndexOp>(dispatch.getLoc(), values[kernel]));
    dispatch.getDimsMutable().append(sizes);
    dispatch.setKernelAttr(SymbolRefAttr::get(kernels_.front().module.getSymNameAttr()));
  }

  std::vector<Kernel> kernels_;
  std::map<size_t, Affine> slots_;               // The slots that differ, by number.
  std::vector<std::vector<int64_t>> parameters_; // By parameter: its value for each kernel.
};

struct ShareKernelsPass : impl::ShareKernelsBase<ShareKernelsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::MapVector<StringAttr, Kernel> kernels;
    for (ModuleOp kernel : module.getOps<ModuleOp>())
      if (attributeOf<KernelAttr>(kernel))
        kernels[kernel.getSymNameAttr()].module = kernel;
    module.walk([&](DispatchOp dispatch) {
      if (dispatch.getKernel())
        if (auto *found = kernels.find(dispatch.getKernel()->getRootReference());
            found != kernels.end())
          found->second.dispatches.push_back(dispatch);
    });
    std::map<std::string, std::vector<Kernel>> classes; // By the text of Skeleton.
    for (auto &[name, kernel] : kernels) {
      const bool mayDropSlices = llvm::all_of(kernel.dispatches, isSmall);
      std::string skeleton = Skeleton(kernel, mayDropSlices).take();
      classes[std::move(skeleton)].push_back(std::move(kernel));
    }
    for (auto &[skeleton, members] : classes)
      if (members.size() > 1)
        KernelClass(std::move(members)).share();
  }
};

} // namespace
} // namespace gantry::codegen
