// Implements compiler_library.h.
#include "tools/gantry/runtime/compiler_library.h"

#include "tools/gantry/error.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gantry::tool {

namespace {

/// Stores the address of a function of the library in `function`.
template <typename Function> void find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr)
    throw ToolError(ExitCode::kInternal,
                    fmt::format("the compiler's library {} has no function {}; it does not belong "
                                "to this tool: install both again",
                                GANTRY_COMPILER_LIBRARY, name));
}

Compiler load() {
  void *library = dlopen(GANTRY_COMPILER_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr)
    throw ToolError(ExitCode::kInternal,
                    fmt::format("the compiler cannot be loaded: {}", dlerror()));
  Compiler compiler;
  find(library, "gantry_compile", compiler.compile);
  find(library, "gantry_compiler_identity", compiler.identity);
  find(library, "gantry_read_tensor_proto", compiler.readTensorProto);
  return compiler;
}

} // namespace

const Compiler &compiler() {
  static const Compiler kCompiler = load();
  return kCompiler;
}

} // namespace gantry::tool
