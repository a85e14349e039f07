// Implements ProfilerWindow: input, navigation, and the drawing of a frame. Commands, search and
// what-if questions are in profiler_commands.cpp.
#include "profiler_gui/panels/profiler_window.h"

#include "profiler_gui/panels/panels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace gantry::profiler {
namespace {

constexpr float kClickSlack = 4;      // Max pixels that the pointer moves during a click.
constexpr double kWheelFactor = 0.85; // Factor on the time range's length per step of the wheel.

ImVec4 vec(uint32_t colour) { return ImGui::ColorConvertU32ToFloat4(colour); }

/// Finds, among the visited blocks, the one whose begin is closest after (direction 1) or
/// closest before (direction -1) the begin of the current one.
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
  comparison_.reset();
  ui_.second = nullptr;
  ui_.minimap = MinimapColumns();
  ui_.model = &model;
  ui_.title = std::move(title);
  ui_.selected = ui_.hovered = Pick();
  ui_.strips.clear();
  ui_.strips.resize(model.spaces().size());
  ui_.findings = checkPlans(model);
  checkedEvents_ = model.eventCount();
  setBoundsToCapture();
  ui_.operators = OperatorView();
  ui_.hues = SeenHues();
  showActivity();
}

void ProfilerWindow::setBoundsToCapture() {
  const CaptureModel &model = *ui_.model;
  ui_.time.setBounds(static_cast<double>(std::min(model.firstNs(), model.nowNs())),
                     static_cast<double>(model.nowNs()));
}

/// Shows the whole capture. If more than about a fifth of a finished capture lies before its first
/// block or run, leaves that part out.
void ProfilerWindow::showActivity() {
  const CaptureModel &model = *ui_.model;
  ui_.time.showAll();
  const double all = ui_.time.spanNs();
  const double active = static_cast<double>(model.nowNs() - model.firstActivityNs());
  if (!ui_.live && active > 0 && active < 0.8 * all)
    ui_.time.show(static_cast<double>(model.nowNs()) - 1.02 * active,
                  static_cast<double>(model.nowNs()) + 0.02 * active);
}

void ProfilerWindow::captureEnded() {
  ui_.live = false;
  if (!ui_.paused && !ui_.time.moved())
    showActivity();
  ui_.paused = false;
}

void ProfilerWindow::setPaused(bool paused) {
  const double begin = ui_.time.beginNs();
  const double end = ui_.time.endNs();
  if (paused)
    pausedAt_ = {begin, end, ui_.time.showsAll()};
  else if (ui_.paused && pausedAt_.all && std::abs(pausedAt_.beginNs - begin) < 1 &&
           std::abs(pausedAt_.endNs - end) < 1)
    ui_.time.showAll(); // The view was not moved while paused.
  ui_.paused = paused;
}

void ProfilerWindow::modelGrew() {
  const CaptureModel &model = *ui_.model;
  const double begin = ui_.time.beginNs();
  const double end = ui_.time.endNs();
  if (comparison_ != nullptr)
    comparison_->setBounds(ui_);
  else
    setBoundsToCapture();
  if (ui_.paused)
    ui_.time.show(begin, end); // A paused view stays, even if it showed the whole capture.
  else
    ui_.time.follow();
  // checkPlans() visits all bindings, so it runs only when the capture has grown by more than an
  // eighth plus 1000 events.
  if (model.eventCount() > checkedEvents_ + checkedEvents_ / 8 + 1000) {
    ui_.findings = checkPlans(model);
    checkedEvents_ = model.eventCount();
    if (comparison_ != nullptr)
      comparison_->compareWith(model);
  }
}

bool ProfilerWindow::settling() const {
  const auto any = [](const Ui &ui) {
    return ui.layout.lifetimes.height() > 0 &&
           std::any_of(ui.strips.begin(), ui.strips.end(), [](const SpaceStrip &strip) {
             return !strip.collapsed && strip.bottom > strip.top && !strip.detail.complete() &&
                    strip.detail.revision() > 0;
           });
  };
  return any(ui_) || (comparison_ != nullptr && any(comparison_->ui()));
}

bool ProfilerWindow::inPlots(float x, float y) const {
  const Layout &layout = ui_.layout;
  return x >= layout.plotLeft && x < layout.plotRight && y >= layout.heap.top &&
         y < layout.plotsBottom && !(y >= layout.minimap.top && y < layout.minimap.bottom);
}

void ProfilerWindow::handleWheel() {
  const ImGuiIO &io = ImGui::GetIO();
  if (io.MouseWheel != 0 && ui_.layout.operators.contains(ui_.mouseX, ui_.mouseY))
    ui_.operators.scroll -= io.MouseWheel * 6 * ui_.unit(); // drawOperatorTable() clamps it.
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

/// Folds or unfolds the address space whose name is under the pointer. Returns whether there is
/// one.
bool ProfilerWindow::clickFold(Ui &ui) const {
  for (SpaceStrip &strip : ui.strips) {
    const float top = std::max(strip.top, ui.layout.lifetimes.top);
    const ScreenRect place{0, top, ui.layout.plotLeft, top + 3 * ui.unit()};
    if (strip.bottom > top && place.contains(ui_.mouseX, ui_.mouseY) &&
        ui_.mouseY < ui.layout.lifetimes.bottom) {
      strip.fold = strip.collapsed ? SpaceStrip::Fold::kOpen : SpaceStrip::Fold::kFolded;
      return true;
    }
  }
  return false;
}

Ui &ProfilerWindow::selectedUi() {
  return comparison_ != nullptr && comparison_->ui().selected.kind != Pick::Kind::kNone
             ? comparison_->ui()
             : ui_;
}

/// Handles a click on the table of operators. Returns whether the pointer is over the table.
bool ProfilerWindow::clickOperators() {
  OperatorView &view = ui_.operators;
  if (!ui_.layout.operators.contains(ui_.mouseX, ui_.mouseY))
    return false;
  for (const OperatorView::Header &header : view.headers) {
    if (!header.rect.contains(ui_.mouseX, ui_.mouseY))
      continue;
    // The first click sorts numbers in descending order and names in ascending order.
    view.descending =
        view.sortedBy == header.column ? !view.descending : header.column != OperatorColumn::kName;
    view.sortedBy = header.column;
    return true;
  }
  for (const OperatorView::Row &row : view.rows) {
    if (row.rect.contains(ui_.mouseX, ui_.mouseY)) {
      goToOperator(std::string(row.name));
      return true;
    }
  }
  return true;
}

void ProfilerWindow::click() {
  if (clickFold(ui_) || (comparison_ != nullptr && clickFold(comparison_->ui())) ||
      clickOperators())
    return;
  for (size_t i = 0; i < ui_.findingRects.size(); ++i) {
    if (ui_.findingRects[i].contains(ui_.mouseX, ui_.mouseY)) {
      goTo(ui_.findings[i]);
      return;
    }
  }
  if (!inPlots(ui_.mouseX, ui_.mouseY))
    return;
  ui_.selected = picked_;
  if (comparison_ != nullptr)
    comparison_->ui().selected = pickedSecond_;
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
  if (drag_ == Drag::kNone)
    beginDrag();
  if (drag_ == Drag::kNone)
    return;
  drag();
  const bool down = io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2];
  if (!down)
    endDrag();
}

void ProfilerWindow::beginDrag() {
  const bool left = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const bool other = ImGui::IsMouseClicked(ImGuiMouseButton_Right) ||
                     ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
  if (!left && !(other && ui_.mouseInPlots))
    return;
  const bool inMinimap = ui_.layout.minimap.contains(ui_.mouseX, ui_.mouseY);
  drag_ = left ? (inMinimap ? Drag::kMinimap : Drag::kRange) : Drag::kPan;
  dragX_ = ui_.mouseX;
  dragY_ = ui_.mouseY;
  dragMoved_ = false;
  ui_.time.remember();
}

void ProfilerWindow::drag() {
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
    const double first = static_cast<double>(std::min(ui_.model->firstNs(), ui_.model->nowNs()));
    const double last = static_cast<double>(ui_.model->nowNs());
    const double share = static_cast<double>((ui_.mouseX - ui_.layout.plotLeft) /
                                             (ui_.layout.plotRight - ui_.layout.plotLeft));
    const double middle = first + share * (last - first);
    ui_.time.show(middle - ui_.time.spanNs() / 2, middle + ui_.time.spanNs() / 2);
  }
}

void ProfilerWindow::handleKeys() {
  ImGuiIO &io = ImGui::GetIO();
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key)); };
  if (io.KeyCtrl && ImGui::IsKeyPressed('K')) {
    palette_.open();
    palette_.hold(); // Keeps keys typed in the same frame.
    return;
  }
  searchKeys_.hold();
  palette_.hold();
  if (pressed(ImGuiKey_Escape))
    handleEscape();
  if (palette_.isOpen() || searchKeys_.active() || searchKeys_.waiting() || io.KeyCtrl)
    return;
  if (pressed(ImGuiKey_Backspace))
    ui_.time.back();
  const double span = ui_.time.spanNs();
  const double middle =
      ui_.mouseInPlots ? ui_.timeAt(ui_.mouseX) : (ui_.time.beginNs() + ui_.time.endNs()) / 2;
  for (int i = 0; i < io.InputQueueCharacters.Size; ++i) {
    if (io.InputQueueCharacters[i] == '/') {
      startSearch();
      searchKeys_.hold(i + 1); // The remaining characters are search text.
      return;
    }
    handleCharacter(io.InputQueueCharacters[i], span, middle);
  }
}

/// Closes the palette if it is open; else clears the search, else the range, else the selection.
void ProfilerWindow::handleEscape() {
  searchKeys_.close();
  if (palette_.isOpen())
    palette_.close();
  else if (ui_.found.active() || ui_.query[0] != '\0')
    setQuery("");
  else if (ui_.hasRange)
    ui_.hasRange = false;
  else
    selectedUi().selected = Pick();
}

/// Handles a key that types a character. spanNs: the length of the view. middleNs: the time to
/// zoom about.
void ProfilerWindow::handleCharacter(unsigned character, double spanNs, double middleNs) {
  switch (character) {
  case 'w':
    ui_.time.remember();
    ui_.time.zoom(0.7, middleNs);
    break;
  case 's':
    ui_.time.remember();
    ui_.time.zoom(1 / 0.7, middleNs);
    break;
  case 'a':
    ui_.time.pan(-spanNs * 0.15);
    break;
  case 'd':
    ui_.time.pan(spanNs * 0.15);
    break;
  case 'f':
    fit();
    break;
  case '[':
    selectTenant(-1);
    break;
  case ']':
    selectTenant(1);
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
    setPaused(ui_.live && !ui_.paused);
    break;
  default:
    break;
  }
}

void ProfilerWindow::fitAll() {
  ui_.time.remember();
  ui_.time.showAll();
  ui_.scroll = 0;
  ui_.stretch = 1;
}

void ProfilerWindow::fit() {
  Ui &ui = selectedUi();
  double begin = 0;
  double end = 0;
  if (ui.selected.kind == Pick::Kind::kBlock) {
    const Block block = ui.model->spaces()[ui.selected.space].table.at(ui.selected.row);
    begin = static_cast<double>(block.beginNs);
    end = static_cast<double>(std::min(block.endNs, ui.model->nowNs()));
  } else if (ui.selected.kind == Pick::Kind::kDispatch) {
    const Dispatch &dispatch = ui.model->dispatches()[ui.selected.dispatch];
    begin = static_cast<double>(dispatch.beginNs);
    end = static_cast<double>(dispatch.endNs);
  } else if (ui_.hasRange) {
    begin = std::min(ui_.rangeBeginNs, ui_.rangeEndNs);
    end = std::max(ui_.rangeBeginNs, ui_.rangeEndNs);
  }
  if (&ui != &ui_) { // Converts the second capture's times to the first one's axis.
    begin -= ui_.secondShiftNs;
    end -= ui_.secondShiftNs;
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

void ProfilerWindow::goToOperator(const std::string &name) {
  const OperatorRow *row = ui_.operators.table.find(name);
  Ui *ui = &ui_;
  if (row == nullptr && comparison_ != nullptr) {
    ui = &comparison_->ui();
    row = ui->operators.table.find(name);
  }
  if (row == nullptr)
    return;
  ui_.selected = Pick();
  if (comparison_ != nullptr)
    comparison_->ui().selected = Pick();
  ui->selected = {Pick::Kind::kDispatch, 0, 0, row->longest, 0};
  const Dispatch &dispatch = ui->model->dispatches()[row->longest];
  const double shift = ui == &ui_ ? 0 : ui_.secondShiftNs;
  const double begin = static_cast<double>(dispatch.beginNs) - shift;
  const double length = static_cast<double>(dispatch.endNs - dispatch.beginNs);
  // Zooms in, if necessary, until the dispatch takes at least an eighth of the view.
  const double span = std::min(ui_.time.spanNs(), 8 * length);
  ui_.time.remember();
  ui_.time.show(begin + length / 2 - span / 2, begin + length / 2 + span / 2);
}

void ProfilerWindow::selectTenant(int direction) {
  Ui &ui = selectedUi();
  if (ui.selected.kind != Pick::Kind::kBlock)
    return;
  const AddressSpace &space = ui.model->spaces()[ui.selected.space];
  const Block block = space.table.at(ui.selected.row);
  TenantVisitor visitor{space.table, ui.selected.row, direction};
  space.index.visit(space.table, {0, UINT64_MAX, block.offset, block.endOffset()}, visitor);
  if (visitor.best == UINT32_MAX) {
    ui_.note =
        direction < 0 ? "no earlier tenant of these bytes" : "no later tenant of these bytes";
    return;
  }
  ui_.note.clear();
  ui.selected.row = visitor.best;
  const Block other = space.table.at(visitor.best);
  const double shift = &ui != &ui_ ? ui_.secondShiftNs : 0;
  const double begin = static_cast<double>(other.beginNs) - shift;
  if (begin < ui_.time.beginNs() || begin > ui_.time.endNs())
    ui_.time.show(begin - ui_.time.spanNs() / 2, begin + ui_.time.spanNs() / 2);
}

Contents contentsOf(const CaptureModel &model) {
  const auto &lanes = model.dispatches().lanes();
  Contents contents;
  contents.heaps = static_cast<uint32_t>(model.heapsInUse().size());
  contents.lanes = static_cast<uint32_t>(lanes.size()) + (model.hostSpans().empty() ? 0 : 1);
  contents.sharedUsed = std::any_of(lanes.begin(), lanes.end(),
                                    [](const Lane &lane) { return lane.maxSharedOfAll > 0; });
  return contents;
}

/// Computes the layout of this frame.
void ProfilerWindow::updateLayout() {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  if (comparison_ != nullptr) {
    comparison_->follow(ui_, size.x, size.y);
    return;
  }
  ui_.layout = makeLayout(size.x, size.y, ui_.fonts.scale, ui_.focus, contentsOf(*ui_.model));
}

void ProfilerWindow::frame() {
  updateLayout();
  handleMouse();
  handleKeys();
  updateLayout(); // Input may have changed the layout.
  canvas_.begin();
  semantics_.begin(wantSemantics_);
  ui_.findingRects.clear();
  ui_.laneColumns.clear();
  ui_.list = ImGui::GetBackgroundDrawList();
  ui_.hovered = Pick();
  drawPanels();
  picked_ = ui_.hovered;
  pickedSecond_ = comparison_ != nullptr ? comparison_->ui().hovered : Pick();
  drawTooltip(pickedSecond_.kind != Pick::Kind::kNone ? comparison_->ui() : ui_);
  drawSearch();
  palette_.draw(ui_, commands());
}

void ProfilerWindow::drawPanels() {
  drawHeapStrips(ui_);
  drawTimeAxis(ui_);
  drawMinimap(ui_);
  if (comparison_ == nullptr)
    drawSharedBars(ui_);
  drawLanes(ui_);
  drawLifetimes(ui_);
  if (comparison_ != nullptr) {
    comparison_->draw(ui_);
    comparison_->drawCaptions(ui_);
  }
  drawTimeMarks(ui_);
  drawOperatorTable(ui_, comparison_ != nullptr ? &comparison_->ui() : nullptr);
  drawInspector(selectedUi(), comparison_.get());
  drawTopBar(ui_);
  drawStatusBar(ui_);
}

} // namespace gantry::profiler
