/* version.h: the version of these headers, for the preprocessor. C99 and C++.
 *
 * gantry_version() of gantry.h returns the version of the loaded library. The two versions differ
 * if an application was compiled with the headers of another version of Gantry. Versions follow
 * semantic versioning; before 1.0 a new minor version may change anything.
 *
 * The three numbers below define the project's version; the build reads them from here.
 */
#ifndef GANTRY_VERSION_H_
#define GANTRY_VERSION_H_

#define GANTRY_VERSION_MAJOR 0
#define GANTRY_VERSION_MINOR 1
#define GANTRY_VERSION_PATCH 0

/* Converts a version to one number. Numbers compare like versions. Each part must be below 1000. */
#define GANTRY_VERSION_NUMBER(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))

/* 1 if these headers have the given version or a later one, else 0. Example:
 * #if GANTRY_VERSION_AT_LEAST(0, 2, 0) */
#define GANTRY_VERSION_AT_LEAST(major, minor, patch)                                               \
  (GANTRY_VERSION_NUMBER(GANTRY_VERSION_MAJOR, GANTRY_VERSION_MINOR, GANTRY_VERSION_PATCH) >=      \
   GANTRY_VERSION_NUMBER(major, minor, patch))

#define GANTRY_VERSION_QUOTE_(text) #text
#define GANTRY_VERSION_JOIN_(major, minor, patch)                                                  \
  GANTRY_VERSION_QUOTE_(major) "." GANTRY_VERSION_QUOTE_(minor) "." GANTRY_VERSION_QUOTE_(patch)

/* The version as text: "0.1.0". */
#define GANTRY_VERSION_STRING                                                                      \
  GANTRY_VERSION_JOIN_(GANTRY_VERSION_MAJOR, GANTRY_VERSION_MINOR, GANTRY_VERSION_PATCH)

#endif
