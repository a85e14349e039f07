/* Compiles gantry.h as C11 and checks its enums and version macros. */
#include <gantry/gantry.h>

_Static_assert(GANTRY_STATUS_OK == 0, "zero is success");
_Static_assert(sizeof(gantry_status_t) == sizeof(int), "an enum is an int");

_Static_assert(GANTRY_VERSION_AT_LEAST(GANTRY_VERSION_MAJOR, GANTRY_VERSION_MINOR,
                                       GANTRY_VERSION_PATCH),
               "a version is at least itself");
_Static_assert(!GANTRY_VERSION_AT_LEAST(GANTRY_VERSION_MAJOR, GANTRY_VERSION_MINOR,
                                        GANTRY_VERSION_PATCH + 1),
               "a version is less than the next one");
_Static_assert(GANTRY_VERSION_NUMBER(1, 0, 0) > GANTRY_VERSION_NUMBER(0, 999, 999),
               "numbers order like versions");

/* Returns the version in the headers. capi_test.cpp compares it with the library's version. */
const char *gantryVersionSeenFromC(void);
const char *gantryVersionSeenFromC(void) { return GANTRY_VERSION_STRING; }
