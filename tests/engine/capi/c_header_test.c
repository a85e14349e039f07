/* gantry.h is C11, and its values are what the test in C++ sees. */
#include <gantry/gantry.h>

_Static_assert(GANTRY_STATUS_OK == 0, "zero is success");
_Static_assert(sizeof(gantry_status_t) == sizeof(int), "an enum is an int");

const char *gantryVersionSeenFromC(void);
const char *gantryVersionSeenFromC(void) { return gantry_version(); }
