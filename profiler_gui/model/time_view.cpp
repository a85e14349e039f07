// Implements TimeView.
#include "profiler_gui/model/time_view.h"

#include <algorithm>

namespace gantry::profiler {
namespace {
constexpr double kMinSpanNs = 20;
constexpr double kMargin = 0.1; // Max part of the range that lies outside the bounds on each side.
constexpr size_t kMaxRemembered = 64;
} // namespace

void TimeView::setBounds(double beginNs, double endNs) {
  const bool all = showsAll();
  first_ = beginNs;
  last_ = std::max(endNs, beginNs + kMinSpanNs);
  if (all)
    showAll();
  clamp();
}

void TimeView::showAll() {
  const double margin = (last_ - first_) * 0.01;
  begin_ = first_ - margin;
  end_ = last_ + margin;
}

void TimeView::show(double beginNs, double endNs) {
  begin_ = beginNs;
  end_ = std::max(endNs, beginNs + kMinSpanNs);
  clamp();
}

void TimeView::zoom(double factor, double aboutNs) {
  begin_ = aboutNs - (aboutNs - begin_) * factor;
  end_ = aboutNs + (end_ - aboutNs) * factor;
  clamp();
}

void TimeView::pan(double byNs) {
  begin_ += byNs;
  end_ += byNs;
  clamp();
}

void TimeView::follow() {
  if (showsAll())
    return;
  const double span = spanNs();
  end_ = last_ + span * 0.02;
  begin_ = end_ - span;
}

void TimeView::remember() {
  if (!history_.empty() && history_.back().begin == begin_ && history_.back().end == end_)
    return;
  if (history_.size() == kMaxRemembered)
    history_.erase(history_.begin());
  history_.push_back({begin_, end_});
}

bool TimeView::back() {
  if (history_.empty())
    return false;
  begin_ = history_.back().begin;
  end_ = history_.back().end;
  history_.pop_back();
  clamp();
  return true;
}

void TimeView::clamp() {
  double span = std::max(end_ - begin_, kMinSpanNs);
  span = std::min(span, (last_ - first_) * (1 + 2 * kMargin) + kMinSpanNs);
  if (end_ - begin_ != span) {
    const double middle = (begin_ + end_) / 2;
    begin_ = middle - span / 2;
  }
  begin_ = std::clamp(begin_, std::min(first_ - span * kMargin, last_ + span * kMargin - span),
                      std::max(first_ - span * kMargin, last_ + span * kMargin - span));
  end_ = begin_ + span;
}

} // namespace gantry::profiler
