// Orders the variants for a device, and writes the text of the advice.
#include "engine/program/variant_choice.h"

#include "engine/base/named_profiles.h"

#include <algorithm>

namespace gantry::program {

namespace {

/// Returns whether the profile is for devices with certain names, and not for any device.
bool isForCertainDevices(std::string_view profile) {
  for (const NamedProfile &named : namedProfiles())
    if (named.profile.name == profile)
      return !named.deviceNames.empty();
  return true; // A newer compiler added this profile; it is assumed to be for certain devices.
}

int rankOf(std::string_view profile, const std::string &own) {
  if (profile == own)
    return 0;
  return isForCertainDevices(profile) ? 2 : 1;
}

/// Quotes a file name so that a shell reads it as one word.
std::string quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
    return std::string(text);
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Returns the command that compiles the model again with an additional variant for `profile`.
std::string commandFor(const Program &program, const std::string &profile) {
  const artifact::Program &metadata = program.metadata();
  std::string command = "gantry compile ";
  command.append(quoted(metadata.source()->string_view()));
  if (metadata.options() && metadata.options()->size() != 0)
    command.append(" ").append(metadata.options()->string_view());
  bool there = false;
  for (size_t i = 0; i < program.variantCount(); ++i) {
    command.append(" -p ").append(program.variantProfile(i));
    there |= program.variantProfile(i) == profile;
  }
  if (!there)
    command.append(" -p ").append(profile);
  return command.append(" -o ").append(program.path().empty() ? "FILE" : quoted(program.path()));
}

} // namespace

std::vector<size_t> variantOrder(const Program &program, const DeviceProfile &device) {
  const std::string own = profileNameFor(device);
  std::vector<size_t> order(program.variantCount());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return rankOf(program.variantProfile(a), own) < rankOf(program.variantProfile(b), own);
  });
  return order;
}

std::string variantAdvice(const Program &program, size_t taken, const DeviceProfile &device,
                          const std::string &deviceName, const std::string &refusal) {
  const std::string own = profileNameFor(device);
  const std::string profile(program.variantProfile(taken));
  if (profile == own)
    return "";
  const std::string name = program.path().empty() ? "the artifact in memory" : program.path();
  if (!refusal.empty())
    return name + ": the variant preferred for " + deviceName + " cannot run on it (" + refusal +
           "); the variant for " + profile + " runs instead";
  const char *origin = rankOf(profile, own) == 2 ? ", made for other devices," : "";
  return name + " has no variant made for " + deviceName + " (" + own + "); the variant for " +
         profile + origin + " runs instead, which may be several times slower. To make one: " +
         commandFor(program, own);
}

} // namespace gantry::program
