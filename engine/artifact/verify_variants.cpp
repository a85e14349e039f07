// Checks that all variants of an artifact have the same interface.
#include "engine/artifact/verify.h"

namespace gantry::artifact {

namespace {

/// Returns whether two lists of ports or symbols have the same names in the same order, and `equal`
/// holds for each pair.
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

Status checkSameInterface(const Program &root, const Program &variant) {
  const auto samePort = [](const Port &port, const Port &other) {
    return port.type() == other.type() && port.dims()->size() == other.dims()->size();
  };
  const auto sameSymbol = [](const Symbol &symbol, const Symbol &other) {
    return symbol.input() == other.input() && symbol.dim() == other.dim();
  };
  if (!sameLists(*root.inputs(), *variant.inputs(), samePort) ||
      !sameLists(*root.outputs(), *variant.outputs(), samePort) ||
      !sameLists(*root.symbols(), *variant.symbols(), sameSymbol))
    return {StatusCode::kDataLoss,
            "its inputs, outputs or symbols differ from those of the program"};
  return Status::ok();
}

} // namespace gantry::artifact
