// Implements open_view.h.
#include "profiler_gui/open_view.h"

#include <utility>

namespace gantry::profiler {

Status openView(const Options &options, const CaptureModel &model, std::string title,
                ProfilerWindow &profiler) {
  profiler.setTheme(options.theme);
  profiler.ui().focus = options.focus;
  profiler.setSemantics(!options.semantics.empty());
  profiler.show(model, std::move(title));
  if (!options.compare.empty())
    GANTRY_RETURN_IF_ERROR(profiler.compareWith(options.compare));
  if (options.endNs > options.beginNs)
    profiler.ui().time.show(options.beginNs, options.endNs);
  if (!options.query.empty())
    profiler.setQuery(options.query);
  return Status::ok();
}

} // namespace gantry::profiler
