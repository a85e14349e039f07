// Compiles volk, whose package installs its source file in the include path. Warnings in that file
// are disabled.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <volk.c> // NOLINT(bugprone-suspicious-include): the package has it as source
#pragma GCC diagnostic pop
