// Drivers and layers keep memory until the process ends, and the loader unloads them before a leak
// checker looks: its report would then have no module to name, and a suppression nothing to match.
// Under the address sanitizer, and only there, modules that are loaded now stay loaded.
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
void pinModules();
#else
inline void pinModules() {}
#endif

} // namespace gantry
