// Implements emit.h: serialises the kernels, describes their variants, and calls ProgramBuilder.
#include "codegen/emit/emit.h"

#include "codegen/dialect/gantry_dialect.h"
#include "codegen/emit/model_names.h"
#include "codegen/emit/program_builder.h"
#include "codegen/emit/strip_report.h"
#include "codegen/targets/spirv.h"
#include "engine/base/file.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"

#include <mutex>

namespace gantry::codegen {

using namespace mlir;

namespace {

constexpr uint32_t kPushConstantWordBytes = 8;

/// The work of making one kernel's entry of the artifact.
struct KernelJob {
  ModuleOp module; // The kernel's module.
  std::unique_ptr<artifact::KernelT> kernel;
  Status status;
};

Status dumpSpirv(const std::string &folder, const std::string &name,
                 const std::vector<uint32_t> &words) {
  std::string path = folder + "/" + name;
  GANTRY_ASSIGN_OR_RETURN(AtomicFile binary, AtomicFile::create(path + ".spv"));
  GANTRY_RETURN_IF_ERROR(
      binary.write({reinterpret_cast<const uint8_t *>(words.data()), words.size() * 4}));
  GANTRY_RETURN_IF_ERROR(binary.commit());
  const std::string assembly = disassemble(words);
  if (assembly.empty())
    return {};
  GANTRY_ASSIGN_OR_RETURN(AtomicFile text, AtomicFile::create(path + ".spvasm"));
  GANTRY_RETURN_IF_ERROR(text.write(assembly));
  return text.commit();
}

artifact::Binding bindingOf(BindingMode mode) {
  switch (mode) {
  case BindingMode::kStorageBuffer:
    return artifact::Binding::storage_buffer;
  case BindingMode::kAddress:
    return artifact::Binding::address;
  case BindingMode::kTexel:
    return artifact::Binding::texel;
  }
  llvm_unreachable("there are no other modes");
}

/// Sets the kernel's own fields, which hold for all variants or for the baseline (the tile that any
/// device can run), from the attributes of the baseline's module.
void describeKernel(artifact::KernelT &kernel, TileAttr tile, LaunchAttr launch) {
  kernel.entry_point = kernel.name;
  kernel.workgroup_size = {static_cast<uint32_t>(launch.getWorkgroupSize()), 1, 1};
  kernel.buffer_count = static_cast<uint32_t>(launch.getBuffers());
  kernel.dim_count = static_cast<uint32_t>(launch.getDims());
  kernel.tile = tile.getText().str();
}

/// Sets the fields of a kernel's variant (the code for one tile and one way to bind the buffers)
/// from the attributes of the variant's module, which GantryAttributes.td describes. The workgroup
/// size and the tile text of a baseline are stored in the kernel and are not repeated.
void describeVariant(artifact::KernelVariantT &variant, spirv::ModuleOp module) {
  const auto tile = attributeOf<TileAttr>(module);
  const auto launch = attributeOf<LaunchAttr>(module);
  const auto loops = attributeOf<LoopsAttr>(module);
  variant.grid = static_cast<uint32_t>(tile.getGrid());
  variant.exact_tile = stringifyTileKind(tile.getKind()).str() + " " + tile.getExact().str();
  if (variant.grid != 0) {
    variant.workgroup_size = {static_cast<uint32_t>(launch.getWorkgroupSize()), 1, 1};
    variant.subgroup_size = static_cast<uint32_t>(launch.getSubgroupSize());
    variant.tile = tile.getText().str();
  }
  if (tile.getCost() != 0) {
    variant.alternatives = 1 + static_cast<uint32_t>(tile.getKind());
    variant.workgroup_cost = static_cast<uint64_t>(tile.getCost() * launch.getTilesPerWorkgroup());
    variant.dim_multiples.assign(tile.getDimMultiples().begin(), tile.getDimMultiples().end());
  }
  variant.boxes_bytes = static_cast<uint32_t>(launch.getStagedBytes());
  variant.loop_rounds = static_cast<uint32_t>(loops.getRounds());
  variant.loop_dims.assign(loops.getDims().begin(), loops.getDims().end());
  if (auto prediction = attributeOf<PredictionAttr>(module)) {
    variant.predicted_cost = static_cast<uint64_t>(prediction.getCost());
    variant.accesses = static_cast<uint64_t>(prediction.getAccesses());
    variant.vector_accesses = static_cast<uint64_t>(prediction.getVectorAccesses());
  }
  if (auto remarks = attributeOf<RemarksAttr>(module))
    for (StringAttr text : remarks.getTexts())
      variant.comparison.push_back(text.str());
  if (auto slices = attributeOf<SlicesAttr>(module)) {
    variant.slice_workgroups = static_cast<uint32_t>(slices.getWorkgroups());
    variant.slice_bytes.assign(slices.getBytes().begin(), slices.getBytes().end());
  }
}

artifact::TexelFormat texelFormatOf(TexelFormat format) {
  switch (format) {
  case TexelFormat::kRgba32f:
    return artifact::TexelFormat::rgba32f;
  case TexelFormat::kRgba16f:
    return artifact::TexelFormat::rgba16f;
  case TexelFormat::kRgba32i:
    return artifact::TexelFormat::rgba32i;
  case TexelFormat::kRgba8ui:
    return artifact::TexelFormat::rgba8ui;
  }
  llvm_unreachable("no other texel formats");
}

/// Sets how a variant's buffers are bound. describeKernel() must have been called for `kernel`.
void describeBinding(artifact::KernelVariantT &variant, const artifact::KernelT &kernel,
                     BuffersAttr buffers) {
  const bool isByAddress = buffers.getMode() == BindingMode::kAddress;
  variant.binding = bindingOf(buffers.getMode());
  variant.push_constant_bytes =
      kPushConstantWordBytes * (kernel.dim_count + (isByAddress ? kernel.buffer_count : 0));
  for (TexelViewAttr view : buffers.getTexelViews())
    variant.texels.emplace_back(static_cast<uint32_t>(view.getBuffer()),
                                texelFormatOf(view.getFormat()), view.getAlone());
}

/// Returns the file name, without its extension, of a variant's dumps: the names of the kernel and
/// of the binding, such as "kernel_3.address". The kind of the tile follows, unless it is the
/// baseline or the binding is texel: "kernel_3.address.staged". The number of the tile
/// (TileAttr::grid) follows if the kernel may have several tiles of this kind: "kernel_3.texel.2".
std::string dumpName(const artifact::KernelT &kernel, TileAttr tile, BindingMode mode) {
  std::string name = kernel.name + "." + stringifyBindingMode(mode).str();
  if (tile.getKind() != TileKind::kBaseline && mode != BindingMode::kTexel)
    name += "." + stringifyTileKind(tile.getKind()).str();
  if (tile.getCost() != 0)
    name += "." + std::to_string(tile.getGrid());
  return name;
}

/// Serialises one module of a kernel and adds it to the kernel's variants.
Status addVariant(artifact::KernelT &kernel, spirv::ModuleOp module, const EmitOptions &options) {
  const auto tile = attributeOf<TileAttr>(module);
  const auto launch = attributeOf<LaunchAttr>(module);
  const auto buffers = attributeOf<BuffersAttr>(module);
  GANTRY_ASSIGN_OR_RETURN(SpirvBinary binary, serializeKernel(module));
  if (tile.getKind() == TileKind::kBaseline)
    describeKernel(kernel, tile, launch);
  auto variant = std::make_unique<artifact::KernelVariantT>();
  describeVariant(*variant, module);
  describeBinding(*variant, kernel, buffers);
  variant->shared_bytes = binary.sharedBytes;
  const auto plannedBytes = static_cast<uint32_t>(launch.getSharedBytes());
  if (binary.sharedBytes != plannedBytes)
    return statusf(StatusCode::kInternal,
                   "its SPIR-V takes %u bytes of shared memory, but %u bytes were planned",
                   binary.sharedBytes, plannedBytes);
  variant->capabilities = binary.features;
  if (!options.dumpSpirv.empty())
    GANTRY_RETURN_IF_ERROR(
        dumpSpirv(options.dumpSpirv, dumpName(kernel, tile, buffers.getMode()), binary.words));
  variant->spirv = std::move(binary.words);
  kernel.variants.push_back(std::move(variant));
  return Status::ok();
}

/// Makes the kernel's entry of the artifact. A variant that is made for texel buffers but reads
/// none has no advantage over the baseline and is left out.
Status buildKernel(KernelJob &job, const EmitOptions &options) {
  job.kernel = std::make_unique<artifact::KernelT>();
  job.kernel->name = job.module.getName()->str();
  if (const StringAttr key = attributeOf<KernelAttr>(job.module).getKey())
    job.kernel->key = key.str();
  for (auto module : job.module.getOps<spirv::ModuleOp>()) {
    const auto buffers = attributeOf<BuffersAttr>(module);
    if (buffers.getMode() == BindingMode::kTexel && buffers.getTexelViews().empty())
      continue;
    GANTRY_RETURN_IF_ERROR(addVariant(*job.kernel, module, options));
  }
  return Status::ok();
}

/// Returns how each tile of a kernel divides the result. The index is the tile's number, `grid` of
/// TileAttr; the variants that only bind the buffers in different ways have the same number.
ProgramBuilder::KernelGeometry geometryOf(ModuleOp kernel) {
  ProgramBuilder::KernelGeometry geometry;
  for (auto module : kernel.getOps<spirv::ModuleOp>()) {
    const auto tile = attributeOf<TileAttr>(module);
    const auto index = static_cast<size_t>(tile.getGrid());
    geometry.resize(std::max(geometry.size(), index + 1));
    ProgramBuilder::Grid &grid = geometry[index];
    grid.tile.assign(tile.getExtents().begin(), tile.getExtents().end());
    grid.merged = static_cast<size_t>(tile.getMerged());
    grid.tilesPerWorkgroup = attributeOf<LaunchAttr>(module).getTilesPerWorkgroup();
  }
  return geometry;
}

/// Builds the kernels of all jobs on the context's threads.
void buildKernels(MLIRContext *context, std::vector<KernelJob> &jobs, const EmitOptions &options) {
  std::mutex progress;
  size_t done = 0;
  parallelForEach(context, jobs, [&](KernelJob &job) {
    job.status = buildKernel(job, options);
    std::lock_guard<std::mutex> lock(progress);
    ++done;
    if (options.kernelDone)
      options.kernelDone(done, jobs.size());
  });
}

} // namespace

Result<std::unique_ptr<Emission>> emitProgram(ModuleOp module, const EmitOptions &options) {
  auto emission = std::make_unique<Emission>();
  artifact::ProgramT &program = emission->program;
  program.name = options.name;
  program.producer = "gantry " GANTRY_VERSION;
  program.source = options.source;
  program.profile = options.profile;
  program.options = options.options;
  program.knows_storage = true;

  std::vector<KernelJob> jobs;
  llvm::StringMap<uint32_t> kernels;
  std::vector<ProgramBuilder::KernelGeometry> geometry;
  for (auto kernel : module.getOps<ModuleOp>()) {
    kernels[*kernel.getName()] = jobs.size();
    geometry.push_back(geometryOf(kernel));
    jobs.push_back({kernel, nullptr, Status::ok()});
  }
  buildKernels(module.getContext(), jobs, options);
  for (KernelJob &job : jobs) {
    if (!job.status.isOk())
      return Status(job.status.code(),
                    locationName(job.module.getLoc()) + ": " + job.status.message());
    program.kernels.push_back(std::move(job.kernel));
  }

  func::FuncOp function;
  for (auto candidate : module.getOps<func::FuncOp>())
    function = candidate;
  ProgramBuilder builder(*emission, function, kernels, geometry, options);
  GANTRY_RETURN_IF_ERROR(builder.build());
  reportStrips(function, program);
  return emission;
}

} // namespace gantry::codegen
