// Implements the commands of ProfilerWindow: search, what-if questions, the comparison of two
// captures, and the list of the command palette.
#include "profiler_gui/panels/profiler_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gantry::profiler {

void ProfilerWindow::askWhatIf(double factor) {
  Ui &ui = selectedUi();
  const Pick &selected = ui.selected;
  if (selected.kind != Pick::Kind::kBlock)
    return;
  const uint32_t entry = ui.model->spaces()[selected.space].table.entry(selected.row);
  if (entry == 0) {
    ui_.note = "this block is not part of a plan";
    return;
  }
  if (ui.whatIfOf != selected)
    ui.whatIfFactor = 1;
  ui.whatIfOf = selected;
  const double whole = ui.whatIfFactor * factor;
  const Result<WhatIf> given = whatIfSize(*ui.model, entry - 1, whole);
  showAnswer(given);
  if (!given.isOk())
    return;
  ui.whatIfFactor = whole;
  if (whole == 1)
    ui.whatIf = WhatIf(); // The value has its real size again.
}

/// Shows the planner's answer, or its error as a note.
void ProfilerWindow::showAnswer(const Result<WhatIf> &given) {
  Ui &ui = selectedUi();
  if (!given.isOk()) {
    ui_.note = given.status().message();
    return;
  }
  ui.whatIf = *given;
  ui_.note.clear();
}

/// Returns the plan that a what-if question concerns: the selection's, else the plan with the
/// largest arena.
uint32_t ProfilerWindow::askedPlan() {
  const Ui &ui = selectedUi();
  const CaptureModel &model = *ui.model;
  if (ui.selected.kind == Pick::Kind::kBlock) {
    const uint32_t entry = model.spaces()[ui.selected.space].table.entry(ui.selected.row);
    if (entry != 0)
      return model.planEntries()[entry - 1].plan;
  } else if (ui.selected.kind == Pick::Kind::kDispatch) {
    return model.runs()[model.dispatches()[ui.selected.dispatch].run].plan;
  }
  const auto &plans = model.plans();
  return static_cast<uint32_t>(
      std::max_element(plans.begin(), plans.end(),
                       [](const Plan &a, const Plan &b) { return a.arenaBytes < b.arenaBytes; }) -
      plans.begin());
}

void ProfilerWindow::askWhatIfOrder() { showAnswer(whatIfOrder(*selectedUi().model, askedPlan())); }

void ProfilerWindow::askWhatIfBudget(const std::string &size) {
  uint64_t bytes = 0;
  if (!parseSize(size, &bytes)) {
    ui_.note = "'" + size + "' is not a size: write 64MiB, 1.5GiB or a number of bytes";
    return;
  }
  showAnswer(whatIfBudget(*selectedUi().model, askedPlan(), bytes));
}

void ProfilerWindow::setQuery(const std::string &query) {
  std::strncpy(ui_.query, query.c_str(), sizeof(ui_.query) - 1);
  ui_.query[sizeof(ui_.query) - 1] = '\0';
  hit_ = 0;
  Result<Query> parsed = parseQuery(query);
  if (!parsed.isOk()) {
    ui_.note = parsed.status().message();
    return;
  }
  ui_.note.clear();
  ui_.found = search(*ui_.model, *parsed);
  if (comparison_ != nullptr)
    comparison_->ui().found = search(*comparison_->ui().model, *parsed);
}

void ProfilerWindow::startSearch() {
  focusSearch_ = true;
  searchKeys_.open();
}

void ProfilerWindow::nextHit(int direction) {
  const auto &hits = ui_.found.hits;
  if (hits.empty())
    return;
  const SearchHit hit = hits[hit_ % hits.size()];
  hit_ = (hit_ + hits.size() + static_cast<size_t>(direction)) % hits.size();
  const BlockTable &table = ui_.model->spaces()[hit.space].table;
  ui_.selected = {Pick::Kind::kBlock, hit.space, hit.row, 0, table.offset(hit.row)};
  const double begin = static_cast<double>(table.beginNs(hit.row));
  if (begin < ui_.time.beginNs() || begin > ui_.time.endNs()) {
    ui_.time.remember();
    ui_.time.show(begin - ui_.time.spanNs() / 2, begin + ui_.time.spanNs() / 2);
  }
}

Status ProfilerWindow::compareWith(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(std::unique_ptr<LoadedCapture> loaded, loadCapture(path));
  const size_t slash = path.rfind('/');
  comparison_ = std::make_unique<ComparisonView>(
      std::move(loaded), slash == std::string::npos ? path : path.substr(slash + 1));
  comparison_->compareWith(*ui_.model);
  comparison_->setBounds(ui_);
  ui_.time.showAll();
  ui_.scroll = 0;
  ui_.selected = Pick();
  pickedSecond_ = Pick();
  setQuery(ui_.query);
  return Status::ok();
}

void ProfilerWindow::stopComparing() {
  comparison_.reset();
  pickedSecond_ = Pick();
  ui_.second = nullptr;
  setBoundsToCapture();
  ui_.time.showAll();
}

void ProfilerWindow::drawSearch() {
  const float unit = ui_.unit();
  const float width = 38 * unit;
  const ScreenRect &bar = ui_.layout.topBar;
  ImGui::SetNextWindowPos({bar.right - width - unit, bar.top});
  ImGui::SetNextWindowSize({width, bar.height()});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, unit * 0.75f});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::Begin("##search", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus);
  if (focusSearch_)
    ImGui::SetKeyboardFocusHere();
  const bool enteredAhead = searchKeys_.deliver();
  ImGui::SetNextItemWidth(-1);
  const bool entered =
      ImGui::InputTextWithHint("##query", "search: name, 0x1000-0x2000, >4MiB   /", ui_.query,
                               sizeof(ui_.query), ImGuiInputTextFlags_EnterReturnsTrue);
  const bool edited = ImGui::IsItemEdited();
  searchKeys_.noteActive(ImGui::IsItemActive());
  focusSearch_ = false;
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  semantics_.add("search", "field", {low.x, low.y, high.x, high.y}, ui_.query,
                 ui_.theme->background);
  ImGui::End();
  ImGui::PopStyleVar(3);
  if (edited)
    setQuery(ui_.query);
  if (entered || enteredAhead) {
    nextHit(1);
    if (entered)
      startSearch(); // Keeps the keyboard, so that another Enter goes to the next hit.
  }
}

std::vector<PaletteCommand> ProfilerWindow::commands() {
  std::vector<PaletteCommand> list = {
      {"Show all", "F", [this] { fitAll(); }},
      {"Fit the selection", "F", [this] { fit(); }},
      {"Search", "/", [this] { startSearch(); }},
      {"Back to the previous view", "Backspace", [this] { ui_.time.back(); }},
      {"Next tenant of these bytes", "]", [this] { selectTenant(1); }},
      {"Previous tenant of these bytes", "[", [this] { selectTenant(-1); }},
      {"What if this value were half as large", ",", [this] { askWhatIf(0.5); }},
      {"What if this value were twice as large", ".", [this] { askWhatIf(2); }},
      {"What if the order were the planner's", "", [this] { askWhatIfOrder(); }},
      {"What if there were a budget", "",
       [this] {
         palette_.ask("the arena's budget: 64MiB",
                      [this](const std::string &size) { askWhatIfBudget(size); });
       }},
      {"Forget the what-if answer", "",
       [this] {
         selectedUi().whatIf = WhatIf();
         selectedUi().whatIfFactor = 1;
       }},
      {"Enlarge lifetimes", "", [this] { ui_.focus = Focus::kLifetimes; }},
      {"Enlarge heaps", "", [this] { ui_.focus = Focus::kHeap; }},
      {"Enlarge dispatches", "", [this] { ui_.focus = Focus::kDispatches; }},
      {"Show the table of operators", "", [this] { ui_.focus = Focus::kOperators; }},
      {"Theme: dark", "T", [this] { setTheme(ThemeName::kDark); }},
      {"Theme: light", "T", [this] { setTheme(ThemeName::kLight); }},
      {"Theme: colour-blind", "T", [this] { setTheme(ThemeName::kColourBlind); }},
      {"Clear markers", "", [this] { ui_.markers.clear(); }},
      {"Quit", "", [this] { quit_ = true; }},
  };
  if (comparison_ == nullptr)
    list.push_back({"Compare with another capture", "", [this] {
                      palette_.ask("the other capture: path of a .gtrace file",
                                   [this](const std::string &path) {
                                     const Status status = compareWith(path);
                                     if (!status.isOk())
                                       ui_.note = status.message();
                                   });
                    }});
  else
    list.push_back({"Stop comparing", "", [this] { stopComparing(); }});
  if (ui_.live)
    list.push_back({ui_.paused ? "Resume" : "Pause", "space", [this] { setPaused(!ui_.paused); }});
  if (!ui_.findings.empty())
    list.push_back({"Go to the first difference", "", [this] { goTo(ui_.findings[0]); }});
  return list;
}

} // namespace gantry::profiler
