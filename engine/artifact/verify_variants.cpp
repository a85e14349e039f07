// Checks that a variant of an artifact (the same model compiled for another device profile) has the
// interface of the program: inputs and outputs with the same names, types and numbers of
// dimensions, and the same symbols and states. The sizes of the dimensions are not compared.
#include "engine/artifact/verify.h"

#include <algorithm>
#include <span>

namespace gantry::artifact {

namespace {

/// Returns whether two lists of ports, symbols or states have the same names in the same order, and
/// `equal` holds for each pair.
template <typename List, typename Equal>
bool sameLists(const List &list, const List &other, Equal equal) {
  if (list.size() != other.size())
    return false;
  for (uint32_t i = 0; i < list.size(); ++i)
    if (list.Get(i)->name()->string_view() != other.Get(i)->name()->string_view() ||
        !equal(*list.Get(i), *other.Get(i)))
      return false;
  return true;
}

} // namespace

/// Returns the order in which the dimensions of the state are stored (State.order, artifact.fbs);
/// an empty one if they are stored in the order of the ports.
static std::span<const uint8_t> orderOf(const State &state) {
  return state.order() ? std::span(state.order()->data(), state.order()->size())
                       : std::span<const uint8_t>();
}

static bool haveSameStates(const Program &root, const Program &variant) {
  const uint32_t count = root.states() ? root.states()->size() : 0;
  if (count == 0 || !variant.states())
    return count == (variant.states() ? variant.states()->size() : 0);
  return sameLists(*root.states(), *variant.states(), [](const State &state, const State &other) {
    return state.input() == other.input() && state.output() == other.output() &&
           state.capacity_bytes() == other.capacity_bytes() &&
           std::ranges::equal(orderOf(state), orderOf(other));
  });
}

Status checkSameInterface(const Program &root, const Program &variant) {
  const auto samePort = [](const Port &port, const Port &other) {
    return port.type() == other.type() && port.dims()->size() == other.dims()->size();
  };
  const auto sameSymbol = [](const Symbol &symbol, const Symbol &other) {
    return symbol.input() == other.input() && symbol.dim() == other.dim();
  };
  if (!haveSameStates(root, variant))
    return {StatusCode::kDataLoss, "its states differ from those of the program"};
  if (!sameLists(*root.inputs(), *variant.inputs(), samePort) ||
      !sameLists(*root.outputs(), *variant.outputs(), samePort) ||
      !sameLists(*root.symbols(), *variant.symbols(), sameSymbol))
    return {StatusCode::kDataLoss,
            "its inputs, outputs or symbols differ from those of the program"};
  return Status::ok();
}

} // namespace gantry::artifact
