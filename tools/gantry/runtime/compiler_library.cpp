// Implements compiler_library.h.
#include "tools/gantry/runtime/compiler_library.h"

#include "tools/gantry/error.h"

#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <string>

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

/// Returns the path of the compiler's library, which is installed beside the runtime library
/// libgantry.so. If it is not there, returns its name alone, for which dlopen() searches the
/// system's folders.
///
/// The run path of the tool, which names the folder of both libraries, does not suffice: dlopen()
/// uses the run path of its caller, and under the address sanitizer the caller is the sanitizer.
std::string libraryPath() {
  Dl_info runtime;
  if (dladdr(dlsym(RTLD_DEFAULT, "gantry_version"), &runtime) != 0) {
    const std::filesystem::path beside =
        std::filesystem::path(runtime.dli_fname).replace_filename(GANTRY_COMPILER_LIBRARY);
    std::error_code ignored;
    if (std::filesystem::exists(beside, ignored))
      return beside.string();
  }
  return GANTRY_COMPILER_LIBRARY;
}

Compiler load() {
  void *library = dlopen(libraryPath().c_str(), RTLD_LAZY | RTLD_LOCAL);
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
