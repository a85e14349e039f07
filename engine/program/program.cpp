// Loads programs and their variants.
#include "engine/program/program.h"
#include "engine/artifact/exprs.h"

namespace gantry::program {

namespace {

std::vector<Port> readPorts(const Program &program,
                            const flatbuffers::Vector<flatbuffers::Offset<artifact::Port>> &list) {
  const artifact::Program &metadata = program.metadata();
  std::vector<Port> ports;
  for (const artifact::Port *source : list) {
    Port port;
    port.name = source->name()->str();
    port.type = source->type();
    for (uint32_t index : *source->dims()) {
      const artifact::Expr &expr = *metadata.exprs()->Get(index);
      port.dims.push_back(program.knownExprs()[index].value_or(kDynamic));
      port.dimNames.push_back(
          expr.op() == artifact::ExprOp::symbol
              ? metadata.symbols()->Get(static_cast<uint32_t>(expr.value()))->name()->str()
              : "");
    }
    port.donated = metadata.values()->Get(source->value())->storage() ==
                   artifact::Storage::transient; // Only donated inputs are; outputs never.
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<StatePort> readStates(const artifact::Program &metadata) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<StatePort> states;
  for (uint32_t i = 0; metadata.states() && i < metadata.states()->size(); ++i) {
    const artifact::State &source = *metadata.states()->Get(i);
    StatePort state;
    state.name = source.name()->str();
    state.input = source.input();
    if (source.output() != kNone)
      state.output = source.output();
    state.capacityBytes = source.capacity_bytes();
    if (source.initial() != kNone)
      state.initial = source.initial();
    if (source.order() && !std::is_sorted(source.order()->begin(), source.order()->end()))
      state.order.assign(source.order()->begin(), source.order()->end());
    states.push_back(std::move(state));
  }
  return states;
}

} // namespace

Result<std::shared_ptr<const Program>>
Program::make(std::shared_ptr<const artifact::Artifact> artifact, const artifact::Program &metadata,
              std::string path, bool whole) {
  std::shared_ptr<Program> program(new Program);
  program->artifact_ = std::move(artifact);
  program->metadata_ = &metadata;
  program->path_ = std::move(path);
  program->whole_ = whole;
  GANTRY_ASSIGN_OR_RETURN(program->knownExprs_, artifact::foldConstantExprs(program->metadata()));
  program->inputs_ = readPorts(*program, *program->metadata().inputs());
  program->outputs_ = readPorts(*program, *program->metadata().outputs());
  program->states_ = readStates(program->metadata());
  for (uint32_t i = 0; i < program->states_.size(); ++i) {
    program->inputs_[program->states_[i].input].state = i;
    if (program->states_[i].output)
      program->outputs_[*program->states_[i].output].state = i;
  }
  return std::shared_ptr<const Program>(std::move(program));
}

Result<std::shared_ptr<const Program>> Program::load(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(std::shared_ptr<const artifact::Artifact> artifact,
                          artifact::Artifact::open(path));
  const artifact::Program &metadata = artifact->program();
  return make(std::move(artifact), metadata, path, true);
}

Result<std::shared_ptr<const Program>> Program::loadMemory(std::span<const uint8_t> bytes) {
  GANTRY_ASSIGN_OR_RETURN(std::shared_ptr<const artifact::Artifact> artifact,
                          artifact::Artifact::fromMemory(bytes));
  const artifact::Program &metadata = artifact->program();
  return make(std::move(artifact), metadata, "", true);
}

// ---- variants ----------------------------------------------------------------------------------

size_t Program::variantCount() const {
  return 1 + (baseline().variants() ? baseline().variants()->size() : 0);
}

std::string_view Program::variantProfile(size_t index) const {
  return variantMetadata(index).profile()->string_view();
}

Result<std::shared_ptr<const Program>> Program::variant(size_t index) const {
  if (index >= variantCount())
    return statusf(StatusCode::kInvalidArgument,
                   "there is no variant %zu; the program has %zu, numbered from 0", index,
                   variantCount());
  return make(artifact_, variantMetadata(index), path_, false);
}

const artifact::Program &Program::variantMetadata(size_t index) const {
  return index == 0 ? baseline() : *baseline().variants()->Get(static_cast<uint32_t>(index - 1));
}

} // namespace gantry::program
