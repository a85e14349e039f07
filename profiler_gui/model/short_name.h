// Names that are too long for their place, cut where it hurts least.
//
// Names of operators and values are paths ("/features/features.4/expand3x3/Conv") whose last
// components tell them apart, several joined by " + " where operators were fused. What goes first
// is the scope: the leading components of the longest path, one after the other
// ("…/expand3x3/Conv"). Last components
// that still do not fit, and every other text, are cut in the middle and keep both ends.
//
// Threads: pure functions.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace gantry::profiler {

/// The text, or the longest of its shorter forms that `fits`; "" where not even one character does.
/// `fits` must hold for every text that is narrower than one it holds for.
std::string shortName(std::string_view text, const std::function<bool(std::string_view)> &fits);

/// A source location as file and node: "models/large/gpt.onnx:18" gives "gpt.onnx:18".
std::string shortLocation(std::string_view location);

} // namespace gantry::profiler
