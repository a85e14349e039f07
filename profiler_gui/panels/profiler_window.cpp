#include "profiler_gui/panels/profiler_window.h"

#include "profiler_gui/panels/panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace gantry::profiler {
namespace {

constexpr float kClickSlack = 4; // pixels that a click may move
constexpr double kWheelFactor = 0.85;

ImVec4 vec(uint32_t colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

struct TenantVisitor {
  const BlockTable &table;
  uint32_t current;
  int direction;
  uint32_t best = UINT32_MAX;
  bool enter(const BlockIndex::Node &) const { return true; }
  void block(uint32_t row) {
    const auto key = [&](uint32_t r) { return std::pair(table.beginNs(r), r); };
    if (direction > 0 ? key(row) <= key(current) : key(row) >= key(current))
      return;
    if (best == UINT32_MAX || (direction > 0 ? key(row) < key(best) : key(row) > key(best)))
      best = row;
  }
};

} // namespace

ProfilerWindow::ProfilerWindow(const Fonts &fonts) {
  ui_.fonts = fonts;
  ui_.canvas = &canvas_;
  ui_.semantics = &semantics_;
  setTheme(ThemeName::kDark);
}

void ProfilerWindow::setTheme(ThemeName name) {
  ui_.themeName = name;
  ui_.theme = &themeOf(name);
  applyStyle();
}

void ProfilerWindow::applyStyle() {
  ImGuiStyle &style = ImGui::GetStyle();
  const Theme &theme = *ui_.theme;
  const float unit = ui_.unit();
  style.WindowPadding = {unit, unit};
  style.FramePadding = {unit, unit / 2};
  style.ItemSpacing = {unit, unit / 2};
  style.WindowRounding = style.FrameRounding = unit / 2;
  style.WindowBorderSize = 1;
  style.Colors[ImGuiCol_Text] = vec(theme.text);
  style.Colors[ImGuiCol_TextDisabled] = vec(theme.dim);
  style.Colors[ImGuiCol_WindowBg] = vec(theme.raised);
  style.Colors[ImGuiCol_Border] = vec(theme.line);
  style.Colors[ImGuiCol_FrameBg] = vec(theme.background);
  style.Colors[ImGuiCol_FrameBgHovered] = vec(theme.background);
  style.Colors[ImGuiCol_FrameBgActive] = vec(theme.background);
  style.Colors[ImGuiCol_Header] = vec(faded(theme.accent, 0.35f));
  style.Colors[ImGuiCol_HeaderHovered] = vec(faded(theme.accent, 0.25f));
  style.Colors[ImGuiCol_HeaderActive] = vec(faded(theme.accent, 0.45f));
  style.Colors[ImGuiCol_TextSelectedBg] = vec(faded(theme.accent, 0.4f));
  style.Colors[ImGuiCol_NavHighlight] = vec(faded(theme.accent, 0.0f));
}

void ProfilerWindow::show(const CaptureModel &model, std::string title) {
  ui_.model = &model;
  ui_.title = std::move(title);
  ui_.selected = ui_.hovered = Pick();
  ui_.strips.clear();
  ui_.strips.resize(model.spaces().size());
  ui_.findings = checkPlans(model);
  checkedEvents_ = model.eventCount();
  ui_.time.setBounds(static_cast<double>(std::min(model.firstNs(), model.nowNs())),
                     static_cast<double>(model.nowNs()));
  ui_.time.showAll();
}

void ProfilerWindow::modelGrew() {
  const CaptureModel &model = *ui_.model;
  ui_.time.setBounds(static_cast<double>(std::min(model.firstNs(), model.nowNs())),
                     static_cast<double>(model.nowNs()));
  if (!ui_.paused)
    ui_.time.follow();
  // Looking for differences walks all bindings: now and then is enough.
  if (model.eventCount() > checkedEvents_ + checkedEvents_ / 8 + 1000) {
    ui_.findings = checkPlans(model);
    checkedEvents_ = model.eventCount();
  }
}

bool ProfilerWindow::settling() const {
  return std::any_of(ui_.strips.begin(), ui_.strips.end(), [](const SpaceStrip &strip) {
    return !strip.collapsed && strip.bottom > strip.top && !strip.detail.complete() &&
           strip.detail.revision() > 0;
  });
}

bool ProfilerWindow::inPlots(float x, float y) const {
  const Layout &layout = ui_.layout;
  return x >= layout.plotLeft && x < layout.plotRight && y >= layout.heap.top &&
         y < layout.lanes.bottom && !(y >= layout.minimap.top && y < layout.minimap.bottom);
}

void ProfilerWindow::handleWheel() {
  const ImGuiIO &io = ImGui::GetIO();
  if (io.MouseWheel == 0 || !ui_.mouseInPlots)
    return;
  if (io.KeyShift) {
    const ScreenRect &panel = ui_.layout.lifetimes;
    const float before = ui_.stretch;
    ui_.stretch = std::clamp(before * std::pow(1.25f, io.MouseWheel), 1.0f, 10000.0f);
    const float at = std::clamp(ui_.mouseY - panel.top, 0.0f, panel.height());
    ui_.scroll = std::max(0.0f, (ui_.scroll + at) * ui_.stretch / before - at);
    return;
  }
  ui_.time.remember();
  ui_.time.zoom(std::pow(kWheelFactor, static_cast<double>(io.MouseWheel)), ui_.timeAt(ui_.mouseX));
}

void ProfilerWindow::click() {
  for (size_t i = 0; i < ui_.strips.size(); ++i) {
    SpaceStrip &strip = ui_.strips[i];
    const float top = std::max(strip.top, ui_.layout.lifetimes.top);
    const ScreenRect fold{0, top, ui_.layout.plotLeft, top + 3 * ui_.unit()};
    if (strip.bottom > top && fold.contains(ui_.mouseX, ui_.mouseY) &&
        ui_.mouseY < ui_.layout.lifetimes.bottom) {
      strip.collapsed = !strip.collapsed;
      return;
    }
  }
  for (size_t i = 0; i < ui_.findingRects.size(); ++i) {
    if (ui_.findingRects[i].contains(ui_.mouseX, ui_.mouseY)) {
      goTo(ui_.findings[i]);
      return;
    }
  }
  if (!inPlots(ui_.mouseX, ui_.mouseY))
    return;
  ui_.selected = picked_;
  ui_.hasRange = false;
}

void ProfilerWindow::endDrag() {
  if (drag_ == Drag::kRange && !dragMoved_)
    click();
  drag_ = Drag::kNone;
}

void ProfilerWindow::handleMouse() {
  const ImGuiIO &io = ImGui::GetIO();
  ui_.mouseX = io.MousePos.x;
  ui_.mouseY = io.MousePos.y;
  const bool free = !io.WantCaptureMouse && !palette_.isOpen();
  ui_.mouseInPlots = free && inPlots(ui_.mouseX, ui_.mouseY);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && palette_.isOpen() && !io.WantCaptureMouse)
    palette_.close();
  if (!free && drag_ == Drag::kNone)
    return;
  handleWheel();
  const bool inMinimap = ui_.layout.minimap.contains(ui_.mouseX, ui_.mouseY);
  if (drag_ == Drag::kNone) {
    const bool left = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    const bool other = ImGui::IsMouseClicked(ImGuiMouseButton_Right) ||
                       ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
    if (left || (other && ui_.mouseInPlots)) {
      drag_ = left ? (inMinimap ? Drag::kMinimap : Drag::kRange) : Drag::kPan;
      dragX_ = ui_.mouseX;
      dragY_ = ui_.mouseY;
      dragMoved_ = false;
      ui_.time.remember();
    }
  }
  const bool down = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
  if (drag_ == Drag::kNone)
    return;
  if (std::abs(ui_.mouseX - dragX_) > kClickSlack || std::abs(ui_.mouseY - dragY_) > kClickSlack)
    dragMoved_ = true;
  if (drag_ == Drag::kRange && dragMoved_ && inPlots(dragX_, dragY_)) {
    ui_.hasRange = true;
    ui_.rangeBeginNs = ui_.timeAt(dragX_);
    ui_.rangeEndNs = ui_.timeAt(std::clamp(ui_.mouseX, ui_.layout.plotLeft, ui_.layout.plotRight));
  } else if (drag_ == Drag::kPan) {
    ui_.time.pan(ui_.timeAt(dragX_) - ui_.timeAt(ui_.mouseX));
    ui_.scroll = std::max(0.0f, ui_.scroll + dragY_ - ui_.mouseY);
    dragX_ = ui_.mouseX;
    dragY_ = ui_.mouseY;
  } else if (drag_ == Drag::kMinimap) {
    const double first = static_cast<double>(ui_.model->firstNs());
    const double last = static_cast<double>(ui_.model->nowNs());
    const double share = static_cast<double>((ui_.mouseX - ui_.layout.plotLeft) /
                                             (ui_.layout.plotRight - ui_.layout.plotLeft));
    const double middle = first + share * (last - first);
    ui_.time.show(middle - ui_.time.spanNs() / 2, middle + ui_.time.spanNs() / 2);
  }
  if (!down)
    endDrag();
}

void ProfilerWindow::handleKeys() {
  ImGuiIO &io = ImGui::GetIO();
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
  if (io.KeyCtrl && ImGui::IsKeyPressed('K')) {
    palette_.open();
    return;
  }
  if (pressed(ImGuiKey_Escape)) {
    if (palette_.isOpen())
      palette_.close();
    else if (ui_.found.active() || ui_.query[0] != '\0')
      setQuery("");
    else if (ui_.hasRange)
      ui_.hasRange = false;
    else
      ui_.selected = Pick();
  }
  if (palette_.isOpen() || searchActive_ || io.KeyCtrl)
    return;
  if (pressed(ImGuiKey_Backspace))
    ui_.time.back();
  const double span = ui_.time.spanNs();
  const double middle =
      ui_.mouseInPlots ? ui_.timeAt(ui_.mouseX) : (ui_.time.beginNs() + ui_.time.endNs()) / 2;
  for (const ImWchar character : io.InputQueueCharacters) {
    switch (character) {
    case 'w':
      ui_.time.remember();
      ui_.time.zoom(0.7, middle);
      break;
    case 's':
      ui_.time.remember();
      ui_.time.zoom(1 / 0.7, middle);
      break;
    case 'a':
      ui_.time.pan(-span * 0.15);
      break;
    case 'd':
      ui_.time.pan(span * 0.15);
      break;
    case 'f':
      fit();
      break;
    case '/':
      startSearch();
      break;
    case '[':
      tenant(-1);
      break;
    case ']':
      tenant(1);
      break;
    case ',':
      askWhatIf(0.5);
      break;
    case '.':
      askWhatIf(2);
      break;
    case 'm':
      if (ui_.mouseInPlots)
        ui_.markers.push_back(ui_.timeAt(ui_.mouseX));
      break;
    case 't':
      setTheme(static_cast<ThemeName>((static_cast<uint32_t>(ui_.themeName) + 1) % kThemes));
      break;
    case ' ':
      ui_.paused = ui_.live && !ui_.paused;
      break;
    default:
      break;
    }
  }
}

void ProfilerWindow::fitAll() {
  ui_.time.remember();
  ui_.time.showAll();
  ui_.scroll = 0;
  ui_.stretch = 1;
}

void ProfilerWindow::fit() {
  double begin = 0;
  double end = 0;
  if (ui_.selected.kind == Pick::Kind::kBlock) {
    const Block block = ui_.model->spaces()[ui_.selected.space].table.at(ui_.selected.row);
    begin = static_cast<double>(block.beginNs);
    end = static_cast<double>(std::min(block.endNs, ui_.model->nowNs()));
  } else if (ui_.selected.kind == Pick::Kind::kDispatch) {
    const Dispatch &dispatch = ui_.model->dispatches()[ui_.selected.dispatch];
    begin = static_cast<double>(dispatch.beginNs);
    end = static_cast<double>(dispatch.endNs);
  } else if (ui_.hasRange) {
    begin = std::min(ui_.rangeBeginNs, ui_.rangeEndNs);
    end = std::max(ui_.rangeBeginNs, ui_.rangeEndNs);
  }
  const double margin = (end - begin) * 0.15;
  const bool there = ui_.time.beginNs() == begin - margin && ui_.time.endNs() == end + margin;
  if (end <= begin || there) {
    fitAll();
    return;
  }
  ui_.time.remember();
  ui_.time.show(begin - margin, end + margin);
}

void ProfilerWindow::goTo(const Finding &finding) {
  ui_.time.remember();
  const double begin = static_cast<double>(finding.beginNs);
  const double end = static_cast<double>(finding.endNs);
  ui_.time.show(begin - (end - begin), end + (end - begin));
  if (finding.space >= ui_.model->spaces().size())
    return;
  const AddressSpace &space = ui_.model->spaces()[finding.space];
  const std::vector<uint32_t> rows =
      space.index.at(space.table, finding.beginNs, finding.lowAddress);
  for (const uint32_t row : rows) {
    if (ui_.model->text(space.table.name(row)) == finding.value || row == rows.back()) {
      ui_.selected = {Pick::Kind::kBlock, finding.space, row, 0, finding.lowAddress};
      return;
    }
  }
}

void ProfilerWindow::tenant(int direction) {
  if (ui_.selected.kind != Pick::Kind::kBlock)
    return;
  const AddressSpace &space = ui_.model->spaces()[ui_.selected.space];
  const Block block = space.table.at(ui_.selected.row);
  TenantVisitor visitor{space.table, ui_.selected.row, direction};
  space.index.visit(space.table, {0, UINT64_MAX, block.offset, block.endOffset()}, visitor);
  if (visitor.best == UINT32_MAX) {
    ui_.note = direction < 0 ? "no earlier tenant of these bytes" : "no later tenant";
    return;
  }
  ui_.note.clear();
  ui_.selected.row = visitor.best;
  const Block other = space.table.at(visitor.best);
  const double begin = static_cast<double>(other.beginNs);
  if (begin < ui_.time.beginNs() || begin > ui_.time.endNs())
    ui_.time.show(begin - ui_.time.spanNs() / 2, begin + ui_.time.spanNs() / 2);
}

void ProfilerWindow::askWhatIf(double factor) {
  const Pick &selected = ui_.selected;
  if (selected.kind != Pick::Kind::kBlock)
    return;
  const uint32_t entry = ui_.model->spaces()[selected.space].table.entry(selected.row);
  if (entry == 0) {
    ui_.note = "no plan has this block";
    return;
  }
  if (ui_.whatIfOf != selected)
    ui_.whatIfFactor = 1;
  ui_.whatIfOf = selected;
  const Result<WhatIf> answer = whatIf(*ui_.model, entry - 1, ui_.whatIfFactor * factor);
  if (!answer.isOk()) {
    ui_.note = answer.status().message();
    return;
  }
  ui_.whatIfFactor *= factor;
  ui_.whatIf = *answer;
  ui_.note.clear();
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
  ImGui::SetNextItemWidth(-1);
  const bool entered =
      ImGui::InputTextWithHint("##query", "search: name, 0x1000-0x2000, >4MiB   /", ui_.query,
                               sizeof(ui_.query), ImGuiInputTextFlags_EnterReturnsTrue);
  const bool edited = ImGui::IsItemEdited();
  searchActive_ = ImGui::IsItemActive() || (focusSearch_ && !searchActive_);
  focusSearch_ = false;
  const ImVec2 low = ImGui::GetItemRectMin();
  const ImVec2 high = ImGui::GetItemRectMax();
  semantics_.add("search", "field", {low.x, low.y, high.x, high.y}, ui_.query,
                 ui_.theme->background);
  ImGui::End();
  ImGui::PopStyleVar(3);
  if (edited)
    setQuery(ui_.query);
  if (entered) {
    nextHit(1);
    focusSearch_ = true; // Enter again goes on to the next
  }
}

std::vector<PaletteCommand> ProfilerWindow::commands() {
  std::vector<PaletteCommand> list = {
      {"Show all", "F", [this] { fitAll(); }},
      {"Fit the selection", "F", [this] { fit(); }},
      {"Search", "/", [this] { startSearch(); }},
      {"Back to the view before", "Backspace", [this] { ui_.time.back(); }},
      {"Next tenant of these bytes", "]", [this] { tenant(1); }},
      {"Previous tenant of these bytes", "[", [this] { tenant(-1); }},
      {"What if this value were half as large", ",", [this] { askWhatIf(0.5); }},
      {"What if this value were twice as large", ".", [this] { askWhatIf(2); }},
      {"Give room to lifetimes", "", [this] { ui_.focus = Focus::kLifetimes; }},
      {"Give room to heaps", "", [this] { ui_.focus = Focus::kHeap; }},
      {"Give room to dispatches", "", [this] { ui_.focus = Focus::kDispatches; }},
      {"Theme: dark", "T", [this] { setTheme(ThemeName::kDark); }},
      {"Theme: light", "T", [this] { setTheme(ThemeName::kLight); }},
      {"Theme: colour-blind", "T", [this] { setTheme(ThemeName::kColourBlind); }},
      {"Clear markers", "", [this] { ui_.markers.clear(); }},
      {"Quit", "", [this] { quit_ = true; }},
  };
  if (ui_.live)
    list.push_back({ui_.paused ? "Go on" : "Pause", "space", [this] { ui_.paused = !ui_.paused; }});
  if (!ui_.findings.empty())
    list.push_back({"Go to the first difference", "", [this] { goTo(ui_.findings[0]); }});
  return list;
}

void ProfilerWindow::frame() {
  const ImGuiIO &io = ImGui::GetIO();
  uint32_t rows = static_cast<uint32_t>(ui_.model->dispatches().lanes().size());
  rows += ui_.model->hostSpans().empty() ? 0 : 1;
  ui_.layout = makeLayout(io.DisplaySize.x, io.DisplaySize.y, ui_.fonts.scale, ui_.focus,
                          static_cast<uint32_t>(ui_.model->heaps().size()), rows);
  handleMouse();
  handleKeys();
  canvas_.begin();
  semantics_.begin(wantSemantics_);
  ui_.findingRects.clear();
  ui_.list = ImGui::GetBackgroundDrawList();
  ui_.hovered = Pick();
  drawHeapStrips(ui_);
  drawTimeAxis(ui_);
  drawMinimap(ui_);
  drawSharedBars(ui_);
  drawLanes(ui_);
  drawLifetimes(ui_);
  drawTimeMarks(ui_);
  drawInspector(ui_);
  drawTopBar(ui_);
  drawStatusBar(ui_);
  drawTooltip(ui_);
  picked_ = ui_.hovered; // what a click in the next frame means
  drawSearch();
  palette_.draw(ui_, commands());
}

} // namespace gantry::profiler
