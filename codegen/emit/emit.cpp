#include "codegen/emit/emit.h"

#include "codegen/compiler_threads.h"
#include "codegen/emit/program_builder.h"
#include "codegen/targets/spirv.h"
#include "engine/base/file.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Threading.h"

#include <mutex>

namespace gantry::codegen {

using namespace mlir;

namespace {

struct KernelJob {
  ModuleOp module;
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

Status buildKernel(KernelJob &job, const EmitOptions &options) {
  job.kernel = std::make_unique<artifact::KernelT>();
  artifact::KernelT &kernel = *job.kernel;
  kernel.name = job.module.getName()->str();
  if (auto key = job.module->getAttrOfType<StringAttr>("gantry.key"))
    kernel.key = key.getValue().str();
  for (auto module : job.module.getOps<spirv::ModuleOp>()) {
    auto integer = [&](StringRef name) {
      return static_cast<uint32_t>(module->getAttrOfType<IntegerAttr>(name).getInt());
    };
    StringRef mode = module->getAttrOfType<StringAttr>("gantry.binding_mode").getValue();
    const bool address = mode == "address", texel = mode == "texel";
    if (texel && module->getAttrOfType<ArrayAttr>("gantry.texels").empty())
      continue; // it reads nothing in vectors
    GANTRY_ASSIGN_OR_RETURN(SpirvBinary binary, serializeKernel(module));
    auto variant = std::make_unique<artifact::KernelVariantT>();
    variant->grid = integer("gantry.grid"); // 0: the baseline; others are for some devices
    const bool baseline = variant->grid == 0;
    if (baseline) {
      kernel.entry_point = kernel.name;
      kernel.workgroup_size = {integer("gantry.workgroup_size"), 1, 1};
      kernel.buffer_count = integer("gantry.buffers");
      kernel.dim_count = integer("gantry.dims");
      kernel.tile = module->getAttrOfType<StringAttr>("gantry.tile_text").getValue().str();
    } else {
      variant->workgroup_size = {integer("gantry.workgroup_size"), 1, 1};
      variant->subgroup_size =
          module->hasAttr("gantry.subgroup_size") ? integer("gantry.subgroup_size") : 0;
      variant->tile = module->getAttrOfType<StringAttr>("gantry.tile_text").getValue().str();
    }
    if (auto ladder = module->getAttrOfType<ArrayAttr>("gantry.ladder"))
      for (auto rung : ladder.getAsRange<StringAttr>())
        variant->ladder.push_back(rung.getValue().str());
    variant->exact_tile = module->getAttrOfType<StringAttr>("gantry.exact_tile").getValue().str();
    if (auto slices = module->getAttrOfType<DenseI64ArrayAttr>("gantry.slice_bytes")) {
      variant->slice_workgroups = integer("gantry.slice_workgroups");
      variant->slice_bytes.assign(slices.asArrayRef().begin(), slices.asArrayRef().end());
    }
    variant->loop_rounds = integer("gantry.loop_rounds");
    auto loopDims = module->getAttrOfType<DenseI64ArrayAttr>("gantry.loop_dims");
    variant->loop_dims.assign(loopDims.asArrayRef().begin(), loopDims.asArrayRef().end());
    variant->shared_bytes = binary.sharedBytes;
    const uint32_t planned =
        module->hasAttr("gantry.shared_bytes") ? integer("gantry.shared_bytes") : 0;
    if (module->hasAttr("gantry.boxes_bytes"))
      variant->boxes_bytes = integer("gantry.boxes_bytes");
    if (binary.sharedBytes != planned)
      return statusf(StatusCode::kInternal,
                     "its SPIR-V takes %u bytes of shared memory, the tile's plan %u",
                     binary.sharedBytes, planned);
    variant->binding = address ? artifact::Binding::address
                       : texel ? artifact::Binding::texel
                               : artifact::Binding::storage_buffer;
    variant->push_constant_bytes = 8 * (kernel.dim_count + (address ? kernel.buffer_count : 0));
    variant->capabilities = binary.features;
    if (texel) {
      for (auto read :
           module->getAttrOfType<ArrayAttr>("gantry.texels").getAsRange<DictionaryAttr>())
        variant->texels.emplace_back(
            static_cast<uint32_t>(read.getAs<IntegerAttr>("buffer").getInt()),
            read.getAs<StringAttr>("format").getValue() == "rgba16f"
                ? artifact::TexelFormat::rgba16f
                : artifact::TexelFormat::rgba32f,
            read.getAs<BoolAttr>("alone").getValue());
    }
    const StringRef kind = StringRef(variant->exact_tile).split(' ').first;
    if (!options.dumpSpirv.empty())
      GANTRY_RETURN_IF_ERROR(
          dumpSpirv(options.dumpSpirv,
                    kernel.name + "." + mode.str() + (baseline || texel ? "" : "." + kind.str()),
                    binary.words));
    variant->spirv = std::move(binary.words);
    kernel.variants.push_back(std::move(variant));
  }
  return Status::ok();
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

  std::vector<KernelJob> jobs;
  llvm::StringMap<uint32_t> kernels;
  std::vector<ProgramBuilder::KernelGeometry> geometry;
  for (auto kernel : module.getOps<ModuleOp>()) {
    kernels[*kernel.getName()] = jobs.size();
    ProgramBuilder::KernelGeometry entry;
    for (auto variant : kernel.getOps<spirv::ModuleOp>()) {
      auto integer = [&](StringRef name) {
        return variant->getAttrOfType<IntegerAttr>(name).getInt();
      };
      const auto index = static_cast<size_t>(integer("gantry.grid"));
      entry.resize(std::max(entry.size(), index + 1));
      ProgramBuilder::Grid &grid = entry[index];
      grid.tile.clear();
      llvm::append_range(grid.tile,
                         variant->getAttrOfType<DenseI64ArrayAttr>("gantry.tile").asArrayRef());
      grid.merged = integer("gantry.merged");
      grid.tilesPerWorkgroup = integer("gantry.tiles_per_workgroup");
    }
    geometry.push_back(std::move(entry));
    jobs.push_back({kernel, nullptr, Status::ok()});
  }
  std::mutex progress;
  size_t done = 0;
  runShared([&] {
    parallelForEach(module.getContext(), jobs, [&](KernelJob &job) {
      runShared([&] { job.status = buildKernel(job, options); });
      std::lock_guard<std::mutex> lock(progress);
      ++done;
      if (options.kernelDone)
        options.kernelDone(done, jobs.size());
    });
  });
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
  return emission;
}

} // namespace gantry::codegen
