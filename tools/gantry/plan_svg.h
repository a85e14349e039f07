// The picture of an arena: time across (one column a command), addresses up, one rectangle a
// tensor.
//
// A rectangle spans the commands during which its tensor keeps its bytes, and the bytes themselves.
// Tensors that share a slot in place are one rectangle, divided where one takes over from the
// other. Colour is the kind of the operator that made the tensor (op_kind.h). The dashed line is
// the lower bound: the most bytes alive at one command, below which no plan can be; the marked
// column is that command. Beneath, one strip shows the bytes alive at each command.
//
// The picture is one SVG file without scripts or external parts; it follows the viewer's light or
// dark scheme and carries titles for hovering. Labels never leave their rectangle: they are
// shortened by a measure that overestimates (svg_text.h), dropped where too little would be left,
// and clipped besides.
//
// Threads: pure function. Deterministic: equal descriptions give equal bytes.
#pragma once

#include "tools/gantry/description.h"

#include <string>

namespace gantry::tool {

/// `plan` must be planned() (a static program, or a dynamic one described for given sizes).
/// title: the model's name.
std::string drawPlan(const Description &plan, const std::string &title);

} // namespace gantry::tool
