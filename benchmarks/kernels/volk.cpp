// volk itself, for the raw side of the benchmarks; the package ships it as source, and its warnings
// are not ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <volk.c> // NOLINT(bugprone-suspicious-include): the package has it as source
#pragma GCC diagnostic pop
