// Every function of gantry.h, called once with valid arguments, in an order in which an application
// might call them. The tests of what the C API does without threads, without memory and with NULL
// arguments run this list; header_functions_test compares it with the header, so that a new
// function without a line here fails.
#pragma once

#include <gantry/gantry.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace gantry::test {

/// Makes the calls of a scenario and judges what they return. Nothing here allocates, so that a
/// test may count allocations meanwhile.
class Caller {
public:
  /// Also calls each function with NULL for each of its pointer arguments in turn.
  bool withNulls = false;
  /// The driver lacks resources, too: calls may fail with the status of its failure ("internal
  /// error" with the call that failed, "not found" for no device, "device lost").
  bool driverFails = false;

  /// Statuses that are neither ok nor out of memory, and other violations.
  int violations = 0;
  /// Calls that returned out of memory.
  int refusals = 0;
  /// The functions called with valid arguments so far, each between two newlines.
  char called[8192] = "\n";

  /// Calls function(arguments...). mayBeNull: the indices of the pointer arguments for which NULL
  /// is valid. undo() is called after each call with such a NULL that succeeded.
  template <typename R, typename... P, typename Undo>
  R callThen(const char *name, std::initializer_list<size_t> mayBeNull, Undo undo,
             R (*function)(P...), std::type_identity_t<P>... arguments) {
    if (withNulls && sizeof...(P) > 0)
      callWithNulls(name, mayBeNull, undo, function, std::tuple<P...>(arguments...),
                    std::index_sequence_for<P...>());
    note(name);
    if constexpr (std::is_same_v<R, gantry_status_t>) {
      const gantry_status_t status = function(arguments...);
      judge(name, status);
      return status;
    } else {
      return function(arguments...);
    }
  }
  template <typename R, typename... P>
  R call(const char *name, std::initializer_list<size_t> mayBeNull, R (*function)(P...),
         std::type_identity_t<P>... arguments) {
    return callThen(
        name, mayBeNull, [] {}, function, arguments...);
  }

  void fail(const char *name, const char *what, int number);

private:
  void note(const char *name);
  void judge(const char *name, gantry_status_t status);
  void judgeNull(const char *name, size_t argument, bool isAllowed, gantry_status_t status);

  template <typename R, typename... P, typename Undo, size_t... I>
  void callWithNulls(const char *name, std::initializer_list<size_t> mayBeNull, Undo undo,
                     R (*function)(P...), const std::tuple<P...> &valid,
                     std::index_sequence<I...>) {
    [[maybe_unused]] const auto one = [&]<size_t N>(std::integral_constant<size_t, N>) {
      if constexpr (std::is_pointer_v<std::tuple_element_t<N, std::tuple<P...>>>) {
        std::tuple<P...> arguments = valid;
        std::get<N>(arguments) = nullptr;
        bool isAllowed = false;
        for (const size_t index : mayBeNull)
          isAllowed = isAllowed || index == N;
        if constexpr (std::is_same_v<R, gantry_status_t>) {
          const gantry_status_t status = std::apply(function, arguments);
          judgeNull(name, N, isAllowed, status);
          if (status == GANTRY_STATUS_OK)
            undo();
        } else {
          std::apply(function, arguments);
        }
      }
    };
    (one(std::integral_constant<size_t, I>()), ...);
  }
};

/// What the scenario works with: artifacts of the chain of test_model.h, with 16 elements, and a
/// folder that it may write to.
struct ScenarioFiles {
  std::string staticModel;
  std::string dynamicModel;
  std::string capture; // files that are written
  std::string flight;
  const void *artifact = nullptr; // the static one in memory
  size_t artifactBytes = 0;
};

/// Which parts of gantry.h a scenario calls; all of them by default.
struct ScenarioParts {
  bool device = true; // else the device is given, and stays
  bool traces = true; // recordings, the flight recorder, viewers
  bool runs = true;   // programs, sessions, runs, buffers
  gantry_device_t *given = nullptr;
};

/// Runs the scenario. What was created is released at the end, whatever failed in between.
void callEveryFunction(Caller &caller, const ScenarioFiles &files, const ScenarioParts &parts);

} // namespace gantry::test
