// Program::describe(): writes the artifact as JSON. docs/artifact-json.md describes the schema.
#include "engine/artifact/exprs.h"
#include "engine/program/json_writer.h"
#include "engine/program/program.h"
#include "engine/program/shape_plan.h"

namespace gantry::program {

namespace {

class Describer {
public:
  Describer(const Program &program, const ShapePlan *plan)
      : program_(program), metadata_(program.metadata()), plan_(plan) {}

  std::string run() {
    json_.beginObject();
    json_.field("name", metadata_.name()->string_view());
    json_.field("producer", metadata_.producer()->string_view());
    json_.field("source", metadata_.source()->string_view());
    json_.field("profile", metadata_.profile()->string_view());
    json_.key("variants").beginList();
    for (size_t i = 0; i < program_.variantCount(); ++i)
      json_.value(program_.variantProfile(i));
    json_.endList();
    json_.field("options", metadata_.options() ? metadata_.options()->string_view() : "");
    json_.field("dynamic", metadata_.dynamic());
    json_.field("bounded", metadata_.bounded());
    symbols();
    ports("inputs", *metadata_.inputs());
    ports("outputs", *metadata_.outputs());
    states();
    values();
    commands();
    kernels();
    if (plan_) {
      json_.field("arena_bytes", plan_->arenaBytes);
      json_.field("lower_bound_bytes", plan_->lowerBoundBytes);
      json_.field("peak_command", plan_->peakCommand);
    } else if (metadata_.bounded()) {
      json_.field("arena_bytes", metadata_.arena_bytes());
      json_.field("lower_bound_bytes", metadata_.lower_bound_bytes());
      json_.key("peak_command").null();
    } else {
      json_.key("arena_bytes").null();
      json_.key("lower_bound_bytes").null();
      json_.key("peak_command").null();
    }
    json_.field("constant_bytes", metadata_.constant_bytes());
    // The compiler computes this figure for the sizes for which it plans: fixed sizes, or the upper
    // bounds of dynamic sizes. A program without such sizes has no valid figure.
    if (metadata_.model_order_bytes() > 0 && (!metadata_.dynamic() || metadata_.bounded()))
      json_.field("model_order_bytes", metadata_.model_order_bytes());
    else
      json_.key("model_order_bytes").null();
    json_.field("model_order_stages", uint64_t{metadata_.model_order_stages()});
    json_.field("order_stages", uint64_t{metadata_.order_stages()});
    if (const artifact::MemoryBudget *budget = metadata_.budget()) {
      json_.key("budget").beginObject();
      json_.field("bytes", budget->bytes());
      json_.field("before_bytes", budget->before_bytes());
      json_.field("recomputed", uint64_t{budget->recomputed()});
      json_.field("recomputed_bytes", budget->recomputed_bytes());
      json_.field("moved", uint64_t{budget->moved()});
      json_.endObject();
    } else {
      json_.key("budget").null();
    }
    strips();
    json_.endObject();
    return json_.text();
  }

private:
  void strips() {
    json_.key("strips").beginList();
    for (uint32_t i = 0; metadata_.strips() && i < metadata_.strips()->size(); ++i) {
      const artifact::StripChain &chain = *metadata_.strips()->Get(i);
      json_.beginObject();
      json_.field("first", chain.first()->string_view());
      json_.field("last", chain.last()->string_view());
      json_.field("count", uint64_t{chain.count()});
      json_.field("saved_bytes", int64_t{chain.saved_bytes()});
      json_.field("operations", uint64_t{chain.operations()});
      json_.endObject();
    }
    json_.endList();
    json_.field("model_operations", uint64_t{metadata_.model_operations()});
  }

  /// Writes the value of an expression: a number if it is known, else the expression as text.
  void expr(uint32_t index) {
    if (plan_)
      json_.value(plan_->exprs[index]);
    else if (const std::optional<int64_t> known = program_.knownExprs()[index])
      json_.value(*known);
    else
      json_.value(artifact::exprText(metadata_, index));
  }
  void exprField(const char *name, uint32_t index) {
    json_.key(name);
    expr(index);
  }
  void exprList(const char *name, const flatbuffers::Vector<uint32_t> &indices) {
    json_.key(name).beginList();
    for (uint32_t index : indices)
      expr(index);
    json_.endList();
  }

  void symbols() {
    json_.key("symbols").beginList();
    for (const artifact::Symbol *symbol : *metadata_.symbols()) {
      json_.beginObject();
      json_.field("name", symbol->name()->string_view());
      json_.field("input", symbol->input());
      json_.field("dim", symbol->dim());
      json_.field("min", symbol->min());
      json_.key("max");
      if (symbol->max() == 0)
        json_.null();
      else
        json_.value(symbol->max());
      json_.endObject();
    }
    json_.endList();
  }

  void ports(const char *name,
             const flatbuffers::Vector<flatbuffers::Offset<artifact::Port>> &ports) {
    json_.key(name).beginList();
    for (const artifact::Port *port : ports) {
      json_.beginObject();
      json_.field("name", port->name()->string_view());
      json_.field("type", artifact::elementName(port->type()));
      exprList("dims", *port->dims());
      json_.field("value", port->value());
      json_.field("donated", metadata_.values()->Get(port->value())->storage() ==
                                 artifact::Storage::transient);
      json_.endObject();
    }
    json_.endList();
  }

  void states() {
    json_.key("states").beginList();
    for (const StatePort &state : program_.states()) {
      json_.beginObject();
      json_.field("name", state.name);
      json_.field("input", state.input);
      optionalIndex("output", state.output);
      json_.field("capacity_bytes", state.capacityBytes);
      optionalIndex("initial", state.initial);
      json_.key("order").beginList();
      for (const uint8_t dim : state.order)
        json_.value(uint64_t{dim});
      json_.endList();
      json_.endObject();
    }
    json_.endList();
  }
  void optionalIndex(const char *name, std::optional<uint32_t> index) {
    json_.key(name);
    if (index)
      json_.value(*index);
    else
      json_.null();
  }

  void values() {
    json_.key("values").beginList();
    for (uint32_t i = 0; i < metadata_.values()->size(); ++i) {
      const artifact::Value &value = *metadata_.values()->Get(i);
      const bool transient = value.storage() == artifact::Storage::transient;
      json_.beginObject();
      json_.field("name", value.name()->string_view());
      json_.field("op", value.op()->string_view());
      json_.field("storage", artifact::EnumNameStorage(value.storage()));
      json_.field("type", artifact::elementName(value.type()));
      exprList("dims", *value.dims());
      exprField("size_bytes", value.size());
      json_.key("offset");
      if (transient && plan_)
        json_.value(plan_->offsets[i]);
      else if (value.storage() == artifact::Storage::constant && !value.fill())
        json_.value(value.byte_offset());
      else
        json_.null();
      json_.field("first_use", value.first_use());
      json_.field("last_use", value.last_use());
      json_.key("slot");
      if (transient)
        json_.value(value.slot());
      else
        json_.null();
      json_.key("base");
      if (value.base() != UINT32_MAX)
        json_.value(value.base());
      else
        json_.null();
      json_.endObject();
    }
    json_.endList();
  }

  void commands() {
    json_.key("commands").beginList();
    for (uint32_t i = 0; i < metadata_.commands()->size(); ++i) {
      const artifact::Command &command = *metadata_.commands()->Get(i);
      const bool dispatch = command.kind() == artifact::CommandKind::dispatch;
      const artifact::Kernel *kernel =
          dispatch ? metadata_.kernels()->Get(command.kernel()) : nullptr;
      json_.beginObject();
      json_.field("name", command.name()->string_view());
      json_.field("location", command.location()->string_view());
      json_.field("kind", artifact::EnumNameCommandKind(command.kind()));
      json_.key("kernel");
      if (kernel)
        json_.value(kernel->name()->string_view());
      else
        json_.null();
      exprList("workgroups", *command.workgroups());
      if (command.other_workgroups() && command.other_workgroups()->size() != 0)
        exprList("other_workgroups", *command.other_workgroups()); // Kernel variants of grid 1, 2 …
      json_.key("bindings").beginList();
      for (uint32_t b = 0; b < command.bindings()->size(); ++b) {
        json_.beginObject();
        json_.field("value", command.bindings()->Get(b));
        json_.field("write", command.writes()->Get(b) != 0);
        json_.endObject();
      }
      json_.endList();
      exprList("dims", *command.dims());
      exprField("flops", command.flops());
      exprField("bytes", command.bytes_moved());
      if (plan_)
        json_.field("barrier_before", static_cast<bool>(plan_->barrierBefore[i]));
      json_.field("shared_bytes", sharedBytes(kernel));
      json_.key("in_place");
      if (command.in_place() != UINT32_MAX)
        json_.value(command.in_place());
      else
        json_.null();
      json_.field("partial", command.partial());
      json_.key("copy_reason");
      if (command.copy_reason() && command.copy_reason()->size() != 0)
        json_.value(command.copy_reason()->string_view());
      else
        json_.null();
      json_.endObject();
    }
    json_.endList();
  }

  /// Returns the max number of shared-memory bytes over the kernel's variants.
  static uint32_t sharedBytes(const artifact::Kernel *kernel) {
    uint32_t bytes = 0;
    if (kernel)
      for (const artifact::KernelVariant *variant : *kernel->variants())
        bytes = std::max(bytes, variant->shared_bytes());
    return bytes;
  }

  void kernels() {
    json_.key("kernels").beginList();
    for (const artifact::Kernel *kernel : *metadata_.kernels()) {
      json_.beginObject();
      json_.field("name", kernel->name()->string_view());
      json_.field("tile", kernel->tile()->string_view());
      if (kernel->key())
        json_.field("key", kernel->key()->string_view());
      json_.key("workgroup_size").beginList();
      for (uint32_t size : *kernel->workgroup_size())
        json_.value(size);
      json_.endList();
      json_.field("buffer_count", kernel->buffer_count());
      json_.field("dim_count", kernel->dim_count());
      json_.key("variants").beginList();
      for (const artifact::KernelVariant *variant : *kernel->variants()) {
        json_.beginObject();
        json_.field("binding", artifact::EnumNameBinding(variant->binding()));
        json_.field("spirv_bytes", uint64_t{4} * variant->spirv()->size());
        json_.field("shared_bytes", variant->shared_bytes());
        json_.field("boxes_bytes", variant->boxes_bytes());
        json_.field("grid", variant->grid());
        if (variant->alternatives() != 0) {
          json_.field("alternatives", variant->alternatives());
          json_.field("workgroup_cost", variant->workgroup_cost());
        }
        json_.key("dim_multiples").beginList();
        for (uint32_t i = 0; variant->dim_multiples() && i < variant->dim_multiples()->size(); ++i)
          json_.value(variant->dim_multiples()->Get(i));
        json_.endList();
        json_.field("predicted_cost", variant->predicted_cost());
        json_.field("accesses", variant->accesses());
        json_.field("vector_accesses", variant->vector_accesses());
        json_.key("comparison").beginList();
        for (uint32_t i = 0; variant->comparison() && i < variant->comparison()->size(); ++i)
          json_.value(variant->comparison()->Get(i)->string_view());
        json_.endList();
        json_.field("subgroup_size", variant->subgroup_size());
        json_.field("slice_workgroups", variant->slice_workgroups());
        const flatbuffers::String *tile = variant->tile();
        if (!tile || tile->size() == 0)
          tile = kernel->tile();
        json_.field("tile", tile ? tile->string_view() : std::string_view());
        if (variant->exact_tile())
          json_.field("exact_tile", variant->exact_tile()->string_view());
        json_.key("capabilities").beginList();
        for (const flatbuffers::String *capability : *variant->capabilities())
          json_.value(capability->string_view());
        json_.endList();
        texels(*variant);
        json_.endObject();
      }
      json_.endList();
      json_.endObject();
    }
    json_.endList();
  }

  void texels(const artifact::KernelVariant &variant) {
    json_.key("texels").beginList();
    for (uint32_t i = 0; variant.texels() && i < variant.texels()->size(); ++i) {
      const artifact::TexelRead &read = *variant.texels()->Get(i);
      json_.beginObject();
      json_.field("buffer", read.buffer());
      json_.field("format", artifact::EnumNameTexelFormat(read.format()));
      json_.field("alone", read.alone());
      json_.endObject();
    }
    json_.endList();
  }

  const Program &program_;
  const artifact::Program &metadata_;
  const ShapePlan *plan_;
  JsonWriter json_;
};

} // namespace

Result<std::string> Program::describe(std::optional<std::span<const int64_t>> symbols) const {
  if (!symbols && metadata().symbols()->size() > 0)
    return Describer(*this, nullptr).run();
  GANTRY_ASSIGN_OR_RETURN(
      const ShapePlan plan,
      makeShapePlan(metadata(), symbols.value_or(std::span<const int64_t>()), {}));
  return Describer(*this, &plan).run();
}

} // namespace gantry::program
