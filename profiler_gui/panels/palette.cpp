// Implements Palette.
#include "profiler_gui/panels/palette.h"

#include <algorithm>
#include <cctype>

namespace gantry::profiler {
namespace {

/// Whether all characters of `typed` occur in `name` in this order, ignoring case.
bool matches(const std::string &name, const char *typed) {
  size_t at = 0;
  for (; *typed != '\0'; ++typed) {
    const auto wanted = static_cast<char>(std::tolower(static_cast<unsigned char>(*typed)));
    while (at < name.size() &&
           static_cast<char>(std::tolower(static_cast<unsigned char>(name[at]))) != wanted)
      ++at;
    if (at++ >= name.size())
      return false;
  }
  return true;
}

} // namespace

void Palette::drawQuestion(Ui &ui) {
  const ImVec2 position = ImGui::GetWindowPos();
  if (justOpened_)
    ImGui::SetKeyboardFocusHere();
  justOpened_ = false;
  const bool enteredAhead = keys_.deliver();
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint("##answer", question_.c_str(), text_, sizeof(text_),
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  keys_.noteActive(ImGui::IsItemActive());
  const ImVec2 size = ImGui::GetWindowSize();
  ui.semantics->add("palette", "panel",
                    {position.x, position.y, position.x + size.x, position.y + size.y}, question_,
                    ui.theme->raised);
  ImGui::End();
  if ((entered || enteredAhead) && text_[0] != '\0') {
    close();
    const std::function<void(const std::string &)> then = std::move(then_);
    then_ = nullptr;
    then(text_);
  }
}

void Palette::draw(Ui &ui, const std::vector<PaletteCommand> &commands) {
  if (!open_)
    return;
  const float unit = ui.unit();
  const float width = 56 * unit;
  ImGui::SetNextWindowPos({(ui.layout.window.right - width) / 2, 10 * unit});
  ImGui::SetNextWindowSize({width, 0});
  if (justOpened_) {
    ImGui::SetNextWindowFocus();
    text_[0] = '\0';
    chosen_ = 0;
  }
  ImGui::Begin("##palette", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoScrollbar);
  if (then_ != nullptr) {
    drawQuestion(ui);
    return;
  }
  const ImVec2 position = ImGui::GetWindowPos();
  if (justOpened_)
    ImGui::SetKeyboardFocusHere();
  justOpened_ = false;
  const bool enteredAhead = keys_.deliver();
  ImGui::SetNextItemWidth(-1);
  const bool entered = ImGui::InputTextWithHint("##command", "type a command", text_, sizeof(text_),
                                                ImGuiInputTextFlags_EnterReturnsTrue);
  keys_.noteActive(ImGui::IsItemActive());
  std::vector<const PaletteCommand *> shown;
  for (const PaletteCommand &command : commands) {
    if (matches(command.name, text_))
      shown.push_back(&command);
  }
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_DownArrow)))
    ++chosen_;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_UpArrow)))
    --chosen_;
  chosen_ = std::clamp(chosen_, 0, std::max(0, static_cast<int>(shown.size()) - 1));
  const PaletteCommand *run = nullptr;
  for (int i = 0; i < static_cast<int>(shown.size()); ++i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    if (ImGui::Selectable(shown[static_cast<size_t>(i)]->name.c_str(), i == chosen_))
      run = shown[static_cast<size_t>(i)];
    const std::string &keys = shown[static_cast<size_t>(i)]->keys;
    ImGui::GetWindowDrawList()->AddText(
        {position.x + width - 2 * unit - ImGui::CalcTextSize(keys.c_str()).x, at.y}, ui.theme->dim,
        keys.c_str());
    ui.semantics->add("palette/" + std::to_string(i), "command",
                      {at.x, at.y, position.x + width - unit, at.y + ImGui::GetTextLineHeight()},
                      shown[static_cast<size_t>(i)]->name, ui.theme->text);
  }
  if ((entered || enteredAhead) && !shown.empty())
    run = shown[static_cast<size_t>(chosen_)];
  const ImVec2 size = ImGui::GetWindowSize();
  ui.semantics->add("palette", "panel",
                    {position.x, position.y, position.x + size.x, position.y + size.y}, text_,
                    ui.theme->raised);
  ImGui::End();
  if (run != nullptr) {
    close();
    run->run();
  }
}

} // namespace gantry::profiler
