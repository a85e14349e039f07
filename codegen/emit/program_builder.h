// Builds the artifact's values, commands and memory plan from the program's function, the func.func
// with all dispatches (kernel launches) of the model. Program, Value, KernelVariant and others are
// tables of the artifact (engine/artifact/artifact.fbs).
//
// Every input, constant, transient and output becomes a value, whose size in bytes is an expression
// over the dynamic dimensions. A transient is a tensor that only commands of the same run read; the
// arena is the memory of all transients. Every dispatch and every copy becomes a command that binds
// values. A value lives from the first to the last command that binds it.
//
// A slot is a range of the arena for one or several values. Results that take the storage of an
// operand (in_place) have the operand's slot. The inputs and the result of a gantry.concat lie in
// one slot; if concatenations are nested, all of them lie in the slot of the outermost result.
// Every other transient has a slot of its own. If the program is static (all sizes are known), or
// all its dynamic dimensions have upper limits and options.planForBounds is set, the slots get
// offsets in the arena. A static program also gets barriers.
//
// Thread safety: one builder at a time per module, because it adds index arithmetic to the
// function.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/shape_exprs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace gantry::codegen {

class ProgramBuilder {
public:
  /// How a variant of a kernel (KernelVariant of the artifact) divides the result into tiles. The
  /// result's dimensions from number `merged` on are taken as one dimension.
  struct Grid {
    llvm::SmallVector<int64_t> tile; // Extents of a tile, in elements.
    size_t merged = 0;
    int64_t tilesPerWorkgroup = 1;
  };
  using KernelGeometry = std::vector<Grid>; // Indexed by KernelVariant.grid; 0 is the baseline.

  /// `kernels` maps the name of a kernel's module to the kernel's index in Program.kernels and in
  /// `geometry`. The references must outlive the builder.
  ProgramBuilder(Emission &emission, mlir::func::FuncOp function,
                 const llvm::StringMap<uint32_t> &kernels,
                 const std::vector<KernelGeometry> &geometry, const EmitOptions &options)
      : emission_(emission), program_(emission.program), exprs_(emission.program),
        function_(function), kernels_(kernels), geometry_(geometry), options_(options) {}

  /// Adds the function's ports, values, commands, constants and plan to the emission. Called once.
  Status build();

private:
  Status addInputs();
  DimAttr dimOf(PortAttr port, unsigned dim);
  void addSymbol(DimAttr bounds, unsigned input, unsigned dim);
  Status addRequirements();
  // Functions for outputs and states, in program_ports.cpp. A state is an input and an output that
  // share one buffer across runs.
  Status addOutputs(mlir::func::ReturnOp end);
  Status addOutput(mlir::func::ReturnOp end, unsigned result, uint32_t value, StateAttr state = {});
  /// A copy of a state's next value to the state's buffer, and the reason why no dispatch writes
  /// the value there.
  struct StateCopy {
    uint32_t source, target; // Indices in Program.values.
    std::string why;
  };
  Status addStateOutput(mlir::func::ReturnOp end, unsigned argument,
                        std::vector<StateCopy> &copies);
  Status addFirstValues();
  Status assignCapacities();
  std::vector<uint32_t> buffersOfValues() const;
  PortAttr resultPort(unsigned result, std::string &name);
  Status addDispatch(DispatchOp dispatch);
  Status addConstant(mlir::Value value, mlir::Attribute data, std::string name, uint32_t &index);
  Status addMove(MoveOp move);
  std::vector<uint32_t> workgroupsOf(const Grid &grid, llvm::ArrayRef<uint32_t> dims);
  void addCopy(uint32_t from, uint32_t to, std::string name, std::string reason);
  void assignLifetimes();
  Status assignSlots();
  bool isBounded() const;
  Status planArena();
  Status reportOrder();
  Status placeBarriers();

  uint32_t addValue(mlir::Value tensor, artifact::Storage storage, std::string name);
  uint32_t sizeOf(mlir::RankedTensorType type, llvm::ArrayRef<uint32_t> dims);
  llvm::SmallVector<uint32_t> dimsOf(mlir::Value tensor);
  Status valueOf(mlir::Value tensor, uint32_t &index, LayoutAttr layout = {});
  void notePlace(mlir::Value tensor, uint32_t index, LayoutAttr layout);
  void setBases();
  void placeScatters();

  Emission &emission_;
  artifact::ProgramT &program_;
  ShapeExprs exprs_;
  mlir::func::FuncOp function_;
  const llvm::StringMap<uint32_t> &kernels_;
  const std::vector<KernelGeometry> &geometry_;
  const EmitOptions &options_;
  /// Index in Program.values, by tensor. A reshape has no value of its own, but that of the tensor
  /// that it views, which viewedTensor() returns (codegen/passes/tensor_dims.h).
  llvm::DenseMap<mlir::Value, uint32_t> values_;
  /// Index in Program.values, by the hash of a constant's bytes: equal bytes are stored once.
  llvm::StringMap<uint32_t> constantsByHash_;
  /// A result and the operand whose slot the result takes, as indices in Program.values.
  struct InPlace {
    uint32_t result, operand;
    bool isScatter; // The dispatch writes only some rows of the result.
  };
  std::vector<InPlace> inPlace_;
  /// The tensors that share a storage (isInSharedStorage() in codegen/passes/storage/placement.h),
  /// as indices in Program.values, by the tensor that covers the whole storage.
  llvm::MapVector<mlir::Value, llvm::SmallVector<uint32_t>> shared_;
};

/// Returns the dimensions of a port from those of the function's argument or result. They are in
/// another order if the port belongs to a state whose order was changed. state: may be null.
std::vector<uint32_t> portDims(StateAttr state, llvm::ArrayRef<uint32_t> dims);

/// Returns the element type that a port, an input or an output, has in the model. `type` comes from
/// MLIR's signless integers and is signed; the port's attribute says whether the model's integers
/// are unsigned.
artifact::ElementType portType(artifact::ElementType type, PortAttr port);

/// Returns the artifact's type for an MLIR type of elements. Sets `known` to whether there is one.
artifact::ElementType elementTypeOf(mlir::Type type, bool &known);

} // namespace gantry::codegen
