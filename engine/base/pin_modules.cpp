// Pins shared libraries with dlopen(RTLD_NODELETE).
#include "engine/base/pin_modules.h"

#include <dlfcn.h>
#include <link.h>

namespace gantry {
namespace {

std::set<std::string> loadedNames() {
  std::set<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        if (info->dlpi_name && info->dlpi_name[0] == '/')
          static_cast<std::set<std::string> *>(data)->insert(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

} // namespace

LoadedModules::LoadedModules() : names_(loadedNames()) {}

void LoadedModules::pinNewer() const {
  // The names are collected first, because dlopen() must not be called inside dl_iterate_phdr().
  for (const std::string &name : loadedNames())
    if (!names_.contains(name))
      if (void *module = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
        dlclose(module);
}

} // namespace gantry
