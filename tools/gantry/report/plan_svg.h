// Draws the picture of an arena as SVG. The x axis is time in commands, the y axis is the address,
// and each tensor is a rectangle.
//
// A rectangle spans the commands during which its tensor is alive, and the tensor's byte range.
// Tensors that share storage because results are computed in place are one divided rectangle. The
// colour is the kind of the operator that computes the tensor (op_kind.h). The dashed line is the
// lower bound, the max number of bytes that are alive at one command; no plan can be lower. The
// marked column is a command with that number. A curve below shows the live bytes at each command.
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
