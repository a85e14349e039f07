// Builds the artifact's tables from the program's function: values, commands, lifetimes, plan.
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
  /// How a kernel covers its result: the extents of a tile (result dimensions from `merged` on are
  /// one), and how many tiles a workgroup takes.
  struct Grid {
    llvm::SmallVector<int64_t> tile;
    size_t merged = 0;
    int64_t tilesPerWorkgroup = 1;
  };
  using KernelGeometry = std::vector<Grid>; // by the variants' number of it; the baseline's first
  /// kernels: index in Program.kernels, and in `geometry`, by the kernel module's name.
  ProgramBuilder(Emission &emission, mlir::func::FuncOp function,
                 const llvm::StringMap<uint32_t> &kernels,
                 const std::vector<KernelGeometry> &geometry, const EmitOptions &options)
      : emission_(emission), program_(emission.program), exprs_(emission.program),
        function_(function), kernels_(kernels), geometry_(geometry), options_(options) {}

  Status build();

private:
  Status addInputs();
  void addSymbol(const std::string &name, unsigned input, unsigned dim);
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
  llvm::DenseMap<mlir::Value, uint32_t> values_; // by storage
  llvm::StringMap<uint32_t> constantsByHash_;
  std::vector<std::pair<uint32_t, uint32_t>> inPlace_; // result value, operand value
};

/// "Conv_0 + Relu_1": the names in a location, in order, once each.
std::string locationName(mlir::Location loc);
/// "model.onnx:12", or "".
std::string locationSource(mlir::Location loc);
artifact::ElementType elementTypeOf(mlir::Type type, bool &known);

} // namespace gantry::codegen
