// Compiles volk for the benchmarks' direct Vulkan calls. The package ships it as source; its
// warnings are disabled.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <volk.c> // NOLINT(bugprone-suspicious-include): the package has it as source
#pragma GCC diagnostic pop
