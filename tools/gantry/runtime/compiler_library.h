// Loads the compiler's library, libgantry_compiler.so, when a command first needs it. Without the
// library and MLIR, which most commands do not need, the tool starts several times faster.
//
// Threads: any.
#pragma once

#include <gantry/compiler.h>

namespace gantry::tool {

/// The functions of gantry/compiler.h that the tool uses.
struct Compiler {
  decltype(&gantry_compile) compile;
  decltype(&gantry_compiler_identity) identity;
  decltype(&gantry_read_tensor_proto) readTensorProto;
};

/// Returns the compiler. The first call loads the library, which lies beside libgantry.so or in a
/// folder of the system; the library stays loaded. Throws ToolError if this fails.
const Compiler &compiler();

} // namespace gantry::tool
