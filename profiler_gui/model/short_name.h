// Shortens names that are too long for their place on the screen.
//
// Names of operators and values are paths ("/features/features.4/expand3x3/Conv"). The name of a
// fused operator consists of several paths, joined by " + ". The last components distinguish the
// paths, so leading components are removed first, always from the longest path
// ("…/expand3x3/Conv"). If the last components alone still do not fit, characters are removed from
// the middle of the text.
//
// Texts are UTF-8; no character is split. Threads: pure functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gantry::profiler {

/// Returns the text if it fits, else the first shortened form that fits, or "" if no form fits.
/// `fits` must be monotonic: if it holds for a text, it must hold for narrower texts.
std::string shortName(std::string_view text, const std::function<bool(std::string_view)> &fits);

/// Removes the folders of a source location: "models/large/gpt.onnx:18" gives "gpt.onnx:18".
std::string shortLocation(std::string_view location);

} // namespace gantry::profiler
