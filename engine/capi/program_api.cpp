// The functions of gantry.h for programs.
#include "engine/capi/call.h"
#include "engine/capi/handles.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace gantry;

namespace gantry::capi {

void fillPort(const program::Port &port, gantry_port_info_t *info) {
  *info = {};
  info->name = port.name.c_str();
  info->type = static_cast<gantry_type_t>(port.type);
  info->donated = port.donated ? 1 : 0;
  info->rank = static_cast<uint32_t>(port.dims.size());
  for (size_t i = 0; i < port.dims.size() && i < GANTRY_MAX_RANK; ++i) {
    info->dims[i] = port.dims[i];
    info->dim_names[i] = port.dimNames[i].empty() ? nullptr : port.dimNames[i].c_str();
  }
}

} // namespace gantry::capi

namespace {

static_assert(GANTRY_DYNAMIC == program::kDynamic);

gantry_status_t load(const capi::Call &call, Result<std::shared_ptr<const program::Program>> loaded,
                     gantry_program_t **program) {
  if (!loaded.isOk())
    return capi::report(loaded.status());
  for (const auto *ports : {&(*loaded)->inputs(), &(*loaded)->outputs()})
    for (const program::Port &port : *ports)
      if (port.dims.size() > GANTRY_MAX_RANK)
        return capi::report(statusf(StatusCode::kUnsupported,
                                    "'%s' has rank %zu; the rank is at most %d", port.name.c_str(),
                                    port.dims.size(), GANTRY_MAX_RANK));
  auto made = std::make_unique<gantry_program>();
  made->program = loaded.take();
  return call.publish(std::move(made), program);
}

gantry_status_t portAt(const std::vector<program::Port> &ports, const char *kind, size_t index,
                       gantry_port_info_t *info) {
  if (!info)
    return capi::nullArgument(kind[0] == 'i' ? "gantry_program_input" : "gantry_program_output",
                              "info");
  if (index >= ports.size())
    return capi::report(statusf(StatusCode::kInvalidArgument,
                                "there is no %s %zu; the program has %zu, numbered from 0", kind,
                                index, ports.size()));
  capi::fillPort(ports[index], info);
  return GANTRY_STATUS_OK;
}

} // namespace

extern "C" {

gantry_status_t gantry_program_load(const char *path, gantry_program_t **program) {
  if (!path || !program)
    return capi::nullArgument("gantry_program_load", path ? "program" : "path");
  const capi::Call call("gantry_program_load");
  if (!call.isAdmitted())
    return call.refused();
  return load(call, program::Program::load(path), program);
}

gantry_status_t gantry_program_load_memory(const void *data, size_t size,
                                           gantry_program_t **program) {
  if (!data || !program)
    return capi::nullArgument("gantry_program_load_memory", data ? "program" : "data");
  const capi::Call call("gantry_program_load_memory");
  if (!call.isAdmitted())
    return call.refused();
  return load(call, program::Program::loadMemory({static_cast<const uint8_t *>(data), size}),
              program);
}

void gantry_program_release(gantry_program_t *program) { delete program; }

size_t gantry_program_input_count(const gantry_program_t *program) {
  return program ? program->program->inputs().size() : 0;
}

size_t gantry_program_output_count(const gantry_program_t *program) {
  return program ? program->program->outputs().size() : 0;
}

gantry_status_t gantry_program_input(const gantry_program_t *program, size_t index,
                                     gantry_port_info_t *info) {
  if (!program)
    return capi::nullArgument("gantry_program_input", "program");
  return portAt(program->program->inputs(), "input", index, info);
}

gantry_status_t gantry_program_output(const gantry_program_t *program, size_t index,
                                      gantry_port_info_t *info) {
  if (!program)
    return capi::nullArgument("gantry_program_output", "program");
  return portAt(program->program->outputs(), "output", index, info);
}

size_t gantry_program_variant_count(const gantry_program_t *program) {
  return program ? program->program->variantCount() : 0;
}

const char *gantry_program_variant_profile(const gantry_program_t *program, size_t index) {
  if (!program || index >= program->program->variantCount())
    return nullptr;
  return program->program->variantProfile(index).data(); // FlatBuffers strings are zero-terminated.
}

gantry_status_t gantry_program_variant(const gantry_program_t *program, size_t index,
                                       gantry_program_t **variant) {
  if (!program || !variant)
    return capi::nullArgument("gantry_program_variant", program ? "variant" : "program");
  const capi::Call call("gantry_program_variant");
  if (!call.isAdmitted())
    return call.refused();
  return load(call, program->program->variant(index), variant);
}

gantry_status_t gantry_program_verify(const gantry_program_t *program) {
  if (!program)
    return capi::nullArgument("gantry_program_verify", "program");
  return capi::report(program->program->artifact().readConstants(
      [](uint64_t, std::span<const uint8_t>) { return Status::ok(); }));
}

gantry_status_t gantry_program_describe(const gantry_program_t *program, const int64_t *symbols,
                                        size_t symbol_count, char **json) {
  if (!program || !json)
    return capi::nullArgument("gantry_program_describe", program ? "json" : "program");
  const capi::Call call("gantry_program_describe");
  if (!call.isAdmitted())
    return call.refused();
  std::optional<std::span<const int64_t>> values;
  if (symbols)
    values.emplace(symbols, symbol_count);
  auto text = program->program->describe(values);
  if (!text.isOk())
    return capi::report(text.status());
  if (const Status memory = call.checkMemory(); !memory.isOk())
    return capi::report(memory);
  auto *copy = static_cast<char *>(std::malloc(text->size() + 1));
  if (!copy)
    return capi::report(statusf(StatusCode::kOutOfMemory,
                                "the host has no memory for a description of %zu bytes",
                                text->size()));
  std::memcpy(copy, text->c_str(), text->size() + 1);
  *json = copy;
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_program_arena_bytes(const gantry_program_t *program, const int64_t *symbols,
                                           size_t symbol_count, uint64_t *bytes) {
  if (!program || !bytes)
    return capi::nullArgument("gantry_program_arena_bytes", program ? "bytes" : "program");
  const capi::Call call("gantry_program_arena_bytes");
  if (!call.isAdmitted())
    return call.refused();
  const artifact::Program &metadata = program->program->metadata();
  const size_t wanted = metadata.symbols()->size();
  if (symbol_count != wanted || (wanted > 0 && !symbols))
    return capi::report(statusf(StatusCode::kInvalidArgument,
                                "%zu symbol values given; the program has %zu symbols",
                                symbol_count, wanted));
  auto plan = program::makeShapePlan(metadata, {symbols, symbol_count}, {});
  if (!plan.isOk())
    return capi::report(plan.status());
  if (const Status memory = call.checkMemory(); !memory.isOk())
    return capi::report(memory);
  *bytes = program::arenaBytesOf(*plan);
  return GANTRY_STATUS_OK;
}

} // extern "C"
