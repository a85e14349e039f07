// Compiles volk, which loads Vulkan's functions, for the benchmarks' direct Vulkan calls. The
// Debian package ships volk as source. Its warnings are disabled.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <volk.c> // NOLINT(bugprone-suspicious-include): the package ships a .c file to include
#pragma GCC diagnostic pop
