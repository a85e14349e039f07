// The translation unit that compiles volk, whose package ships its source in the include path.
// Warnings of that source are disabled.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <volk.c> // NOLINT(bugprone-suspicious-include): the package has it as source
#pragma GCC diagnostic pop
