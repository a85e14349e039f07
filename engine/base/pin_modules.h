// Keeps shared libraries loaded so that the leak checker can name them.
//
// Vulkan drivers and layers hold memory until the process ends, but the Vulkan loader unloads them
// earlier. The leak checker of the address sanitizer then cannot name the library in its report,
// and a suppression by library name does not match. In builds with the address sanitizer
// pinModules() prevents the unloading; in other builds it does nothing.
//
// Threads: any.
#pragma once

namespace gantry {

#if defined(__SANITIZE_ADDRESS__)
#define GANTRY_PIN_MODULES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GANTRY_PIN_MODULES 1
#endif
#endif

#ifdef GANTRY_PIN_MODULES
/// Marks every shared library that is loaded now to stay loaded until the process ends.
void pinModules();
#else
inline void pinModules() {}
#endif

} // namespace gantry
