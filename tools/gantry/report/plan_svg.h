// Draws the picture of an arena as SVG. An arena is the memory of the tensors that exist only
// during a run of a compiled model. The x axis is time, counted in commands. The y axis is the
// offset in the arena, in bytes. Each tensor is a rectangle.
//
// A rectangle spans the commands during which its tensor is alive, and the tensor's byte range.
// Tensors that share storage (results computed in place, parts of a concatenation) are drawn as one
// rectangle that is divided by time. The colour is the kind of the operator that computes the
// tensor (engine/op_kind/op_kind.h). The dashed line is the lower bound of the arena's height: the
// largest number of bytes (each size rounded up to an alignment) that are alive at one command. No
// plan can be lower. The marked column is the peak, a command at which that many bytes are alive. A
// curve below shows the live bytes (not rounded) at each command.
//
// The picture is one SVG file without scripts or external parts. It follows the viewer's light or
// dark scheme and has titles that appear on hovering. Labels never leave their rectangle: they are
// shortened according to an upper estimate of their width (svg_text.h), left out if too little
// would remain, and clipped.
//
// Threads: pure function. Deterministic: equal descriptions give equal bytes.
#pragma once

#include "tools/gantry/io/description.h"

#include <string>

namespace gantry::tool {

/// Returns the SVG. `plan` must be planned(): a static program, or a dynamic one described for
/// given sizes. `title` is the model's name.
std::string drawPlan(const Description &plan, const std::string &title);

} // namespace gantry::tool
