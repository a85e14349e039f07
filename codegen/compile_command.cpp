// Implements compile_command.h.
#include "codegen/compile_command.h"

#include "llvm/ADT/StringExtras.h"

namespace gantry::codegen {

namespace {

bool isPlain(char c) { return llvm::isAlnum(c) || llvm::StringRef("_-./:,=+@%").contains(c); }

std::string quoted(llvm::StringRef text) {
  if (!text.empty() && llvm::all_of(text, isPlain))
    return text.str();
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string rangeText(const importer::DimRange &range) {
  if (range.minSize == range.maxSize)
    return std::to_string(range.maxSize);
  return (range.minSize > 1 ? std::to_string(range.minSize) : "") + ".." +
         std::to_string(range.maxSize);
}

} // namespace

std::string commandOptions(const CompileOptions &options) {
  std::string text;
  const auto add = [&](const char *option, const std::string &value = "") {
    text += (text.empty() ? "" : " ") + std::string(option);
    if (!value.empty())
      text += " " + quoted(value);
  };
  for (const importer::DimRange &range : options.dims)
    add("--dim", range.name + "=" + rangeText(range));
  for (const std::string &input : options.donatedInputs)
    add("--donate", input);
  for (const StatePair &state : options.states)
    add("--state", state.input + (state.output.empty() ? "" : "=" + state.output));
  if (options.training)
    add("--training");
  if (options.keepAllOutputs)
    add("--trace-layers");
  if (options.keepOrder)
    add("--keep-order");
  if (!options.strips)
    add("--no-strips");
  if (!options.shareKernels)
    add("--separate-kernels");
  if (options.halfPrecision)
    add("--precision", "f16");
  if (options.memoryBudget != 0)
    add("--memory-budget", std::to_string(options.memoryBudget));
  if (options.sharedMemory != 0)
    add("--shared-memory", std::to_string(options.sharedMemory));
  if (!options.tuning.empty())
    add("--tuning", options.tuning);
  if (!options.builtInTuning)
    add("--no-built-in-tuning");
  return text;
}

} // namespace gantry::codegen
