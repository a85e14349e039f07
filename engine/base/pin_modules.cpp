// Pins shared libraries with dlopen(RTLD_NODELETE).
#include "engine/base/pin_modules.h"

#ifdef GANTRY_PIN_MODULES

#include <dlfcn.h>
#include <link.h>
#include <string>
#include <vector>

namespace gantry {

void pinModules() {
  std::vector<std::string> names; // Collected first: dlopen() must not run inside the iteration.
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        if (info->dlpi_name && info->dlpi_name[0] == '/')
          static_cast<std::vector<std::string> *>(data)->push_back(info->dlpi_name);
        return 0;
      },
      &names);
  for (const std::string &name : names)
    if (void *module = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
      dlclose(module);
}

} // namespace gantry

#endif
