// A scenario that calls every function of gantry.h at least once with valid arguments, in an order
// in which an application might call them. The tests of the C API without threads, without memory
// and with NULL arguments run this scenario. `limits_test null` compares it with the header and
// fails if a function is missing.
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

/// Makes the calls of a scenario and checks their results. It allocates nothing, so that a test can
/// count the allocations of the library.
class Caller {
public:
  /// Also calls each function with NULL for each of its pointer arguments in turn.
  bool withNulls = false;
  /// Whether the test's limit also takes resources from the driver. Calls may then also fail with
  /// the driver's status: "internal error" if a driver call failed, "not found" if there is no
  /// device, or "device lost".
  bool driverFails = false;

  /// The number of unexpected results: other statuses, failures without a message, wrong elements.
  int violations = 0;
  /// The number of calls that returned "out of memory" or an allowed status of the driver.
  int refusals = 0;
  /// The names of the functions called with valid arguments so far, each between two newlines.
  char called[8192] = "\n";

  /// Calls function(arguments...) and returns its result. mayBeNull holds the indices of the
  /// pointer arguments for which NULL is valid. callThen() calls undo() after each successful call
  /// with a NULL argument.
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
  /// Calls function(arguments...) like callThen(), without an undo function.
  template <typename R, typename... P>
  R call(const char *name, std::initializer_list<size_t> mayBeNull, R (*function)(P...),
         std::type_identity_t<P>... arguments) {
    return callThen(
        name, mayBeNull, [] {}, function, arguments...);
  }

  /// Counts and prints a violation by the function `name`.
  void fail(const char *name, const char *what, int number);

private:
  /// Adds the name to `called`, once.
  void note(const char *name);
  /// Counts the status as a refusal or a violation, unless it is ok.
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

/// The files of the scenario. The first two artifacts hold the chain of test_model.h.
struct ScenarioFiles {
  std::string staticModel;        // Artifact with 16 elements.
  std::string dynamicModel;       // Artifact with a dynamic number of elements.
  std::string stateModel;         // Artifact with the state "w" of 16 elements and no other input.
  std::string savedState;         // The scenario writes this state file.
  std::string capture;            // The scenario writes this capture.
  std::string flight;             // The flight recorder writes this file if the process crashes.
  const void *artifact = nullptr; // The static artifact in memory.
  size_t artifactBytes = 0;
};

/// The sections of gantry.h whose functions the scenario calls; all of them by default.
struct ScenarioParts {
  bool device = true; // False: the scenario uses the device `given`.
  bool traces = true; // Trace files, the flight recorder, viewers (gantry.h explains them).
  bool runs = true;   // Programs, sessions, runs, buffers.
  gantry_device_t *given = nullptr;
};

/// Runs the scenario. Releases all objects that it created, even after failures.
void callEveryFunction(Caller &caller, const ScenarioFiles &files, const ScenarioParts &parts);

} // namespace gantry::test
