// Builds the artifact's tables from the program's function.
//
// Every input, constant, transient and output becomes a value, with its size as an expression;
// every dispatch and copy becomes a command that binds values. A value lives from its first to its
// last command. Values that share memory in place have one slot, and static programs (or dynamic
// ones whose dimensions all have limits) get offsets in the arena and barriers.
//
// Thread safety: one builder per module; it adds index arithmetic to the function.
#pragma once

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/shape_exprs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace gantry::codegen {

class ProgramBuilder {
public:
  /// How a kernel divides its result: the extents of a tile, where the result's dimensions from
  /// `merged` on count as one dimension, and the number of tiles that a workgroup computes.
  struct Grid {
    llvm::SmallVector<int64_t> tile;
    size_t merged = 0;
    int64_t tilesPerWorkgroup = 1;
  };
  using KernelGeometry =
      std::vector<Grid>; // The grids of a kernel's variants; the baseline's is first.

  /// `kernels` maps the name of a kernel's module to its index in Program.kernels and in
  /// `geometry`.
  ProgramBuilder(Emission &emission, mlir::func::FuncOp function,
                 const llvm::StringMap<uint32_t> &kernels,
                 const std::vector<KernelGeometry> &geometry, const EmitOptions &options)
      : emission_(emission), program_(emission.program), exprs_(emission.program),
        function_(function), kernels_(kernels), geometry_(geometry), options_(options) {}

  /// Fills in the program and the constants of the emission.
  Status build();

private:
  Status addInputs();
  DimAttr dimOf(PortAttr port, unsigned dim);
  void addSymbol(DimAttr bounds, unsigned input, unsigned dim);
  void addRequirements();
  Status addOutputs(mlir::func::ReturnOp end);
  Status addDispatch(DispatchOp dispatch);
  Status addConstant(mlir::Value value, mlir::Attribute data);
  Status addMove(MoveOp move);
  std::vector<uint32_t> workgroupsOf(const Grid &grid, llvm::ArrayRef<uint32_t> dims);
  void addCopy(uint32_t from, uint32_t to, std::string name);
  void assignLifetimes();
  Status assignSlots();
  bool isBounded() const;
  Status planArena();
  Status reportOrder();
  Status placeBarriers();

  uint32_t addValue(mlir::Value tensor, artifact::Storage storage, std::string name);
  uint32_t sizeOf(mlir::RankedTensorType type, llvm::ArrayRef<uint32_t> dims);
  llvm::SmallVector<uint32_t> dimsOf(mlir::Value tensor);
  Status valueOf(mlir::Value tensor, uint32_t &index);

  Emission &emission_;
  artifact::ProgramT &program_;
  ShapeExprs exprs_;
  mlir::func::FuncOp function_;
  const llvm::StringMap<uint32_t> &kernels_;
  const std::vector<KernelGeometry> &geometry_;
  const EmitOptions &options_;
  llvm::DenseMap<mlir::Value, uint32_t>
      values_; // Indices of values, by the tensor that owns the storage.
  llvm::StringMap<uint32_t> constantsByHash_; // Equal bytes are stored once.
  std::vector<std::pair<uint32_t, uint32_t>>
      inPlace_; // Pairs of a result and the operand whose slot it takes.
};

/// Returns the operator names in a location, in order and once each: "Conv_0 + Relu_1".
std::string locationName(mlir::Location loc);
/// Returns the first file and line in a location, as "model.onnx:12", or an empty string.
std::string locationSource(mlir::Location loc);
/// Returns the artifact's type of an element; `known` says whether there is one.
artifact::ElementType elementTypeOf(mlir::Type type, bool &known);

} // namespace gantry::codegen
