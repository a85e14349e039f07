// Keeps shared libraries loaded until the process ends.
//
// The Vulkan loader unloads drivers and layers when the last instance is destroyed. Two things then
// fail. Some drivers take thread-local storage each time that they are loaded and never return it,
// so that a process that has opened and closed about 30 devices cannot open another one (seen with
// NVIDIA 580). And the leak checker of the address sanitizer, which runs when the process ends,
// cannot name a library that is no longer loaded, so that a suppression by library name does not
// match its leaks.
//
// Only libraries that are loaded between the construction of a LoadedModules and its pinNewer() are
// kept, so that an application can still unload its own.
//
// Threads: any. A library that another thread loads at the same time may be kept too.
#pragma once

#include <set>
#include <string>

namespace gantry {

/// The shared libraries that are loaded when this object is made.
class LoadedModules {
public:
  LoadedModules();
  /// Marks every shared library that has been loaded since this object was made to stay loaded
  /// until the process ends.
  void pinNewer() const;
  /// The absolute paths of the libraries that were loaded when this object was made.
  const std::set<std::string> &names() const { return names_; }

private:
  std::set<std::string> names_;
};

} // namespace gantry
