// Implements plan_svg.h.
#include "tools/gantry/report/plan_svg.h"

#include "engine/op_kind/op_kind.h"
#include "tools/gantry/report/svg_text.h"
#include "tools/gantry/report/terminal.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <vector>

namespace gantry::tool {
namespace {

constexpr double kWidth = 1200, kHeight = 712;
// Layout in pixels.
constexpr double kLeft = 92, kRight = 1056;       // Plot; labels of the bounds are on its right.
constexpr double kTop = 124, kBottom = 536;       // Rectangles of the arena.
constexpr double kKindTop = 542, kKindHeight = 7; // Colours of operators, by command.
constexpr double kAliveTop = 584, kAliveBottom = 644; // Curve of live bytes.
constexpr double kLegendY = 686;

// Colours are written out for the light and the dark scheme instead of as CSS variables, which some
// viewers do not support. kindStyle() adds the colours of operator kinds to each scheme.
constexpr const char *kLightStyle = R"(
text{font-family:Inter,"Segoe UI","Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
.card{fill:#ffffff;stroke:#d9dee6}.well{fill:#f4f6f9}.grid{stroke:#e1e6ed}.axis{stroke:#a9b3c1}
.ink{fill:#1b2430}.dim{fill:#5b6878}.peakband{fill:#e0475b;fill-opacity:.10}
.peakline{stroke:#d0364b}.peaktext{fill:#b8253a}.bound{stroke:#b8253a}.height{stroke:#3c4858}
.alive{fill:#8a97a8;fill-opacity:.30;stroke:#66748a}.divide{stroke:#ffffff}
.label{fill:#14202e}.sub{fill:#14202e;fill-opacity:.72}.tensor:hover rect{stroke-width:2.5}
)";
constexpr const char *kDarkStyle = R"(@media (prefers-color-scheme:dark){
.card{fill:#12171e;stroke:#2b333e}.well{fill:#191f28}.grid{stroke:#28303b}.axis{stroke:#566273}
.ink{fill:#eaf0f7}.dim{fill:#98a5b5}.peakband{fill:#ff6b7d;fill-opacity:.13}
.peakline{stroke:#ff7b8b}.peaktext{fill:#ff9aa6}.bound{stroke:#ff7b8b}.height{stroke:#b9c4d2}
.alive{fill:#8493a7;fill-opacity:.30;stroke:#8a9ab0}.divide{stroke:#12171e}
.label{fill:#f2f6fb}.sub{fill:#f2f6fb;fill-opacity:.76}
)";

/// Returns one CSS rule for each kind of operator.
std::string kindStyle(bool darkGround) {
  std::string rules;
  for (uint32_t k = 0; k < kOpKindCount; ++k) {
    const auto kind = static_cast<OpKind>(k);
    const OpKindColours colours = opKindColours(kind, darkGround);
    rules += fmt::format(".{}{{fill:#{:06x};stroke:#{:06x}}}\n", opKindClass(kind), colours.fill,
                         colours.edge);
  }
  return rules;
}

std::string style() {
  return kLightStyle + kindStyle(false) + kDarkStyle + kindStyle(true) + "}\n";
}

/// A part of a rectangle: the time during which one tensor occupies it.
struct Segment {
  const ValueInfo *value;
  double begin, end; // On the x axis: the first command, and the command after the last one.
};

/// Tensors that share storage: results computed in place, or the parts of a concatenation. They are
/// one rectangle, divided by time.
struct Block {
  std::vector<Segment> segments;
  uint64_t offset = 0, sizeBytes = 0;
};

std::vector<Block> makeBlocks(const Description &plan) {
  std::map<int64_t, std::vector<const ValueInfo *>> slots;
  int64_t alone = -1;
  for (const ValueInfo &value : plan.values)
    if (value.storage == "transient" && value.offset && value.sizeBytes.value_or(0) > 0)
      slots[value.slot >= 0 ? value.slot : alone--].push_back(&value);
  std::vector<Block> blocks;
  for (auto &[slot, members] : slots) {
    std::stable_sort(members.begin(), members.end(), [](const ValueInfo *a, const ValueInfo *b) {
      return a->firstUse < b->firstUse;
    });
    Block block;
    block.offset = *members[0]->offset;
    for (const ValueInfo *member : members)
      block.offset = std::min(block.offset, *member->offset);
    for (size_t i = 0; i < members.size(); ++i) {
      double begin = members[i]->firstUse, end = members[i]->lastUse + 1.0;
      if (i + 1 < members.size())
        end = std::min(end, static_cast<double>(members[i + 1]->firstUse));
      block.sizeBytes =
          std::max(block.sizeBytes, *members[i]->offset - block.offset + *members[i]->sizeBytes);
      if (end > begin)
        block.segments.push_back({members[i], begin, end});
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

/// Returns the live bytes at each command.
std::vector<uint64_t> aliveBytes(const std::vector<Block> &blocks, size_t commands) {
  std::vector<uint64_t> alive(commands, 0);
  for (const Block &block : blocks) {
    size_t first = commands, last = 0;
    for (const Segment &segment : block.segments) {
      first = std::min<size_t>(first, segment.value->firstUse);
      last = std::max<size_t>(last, segment.value->lastUse);
    }
    for (size_t c = first; c <= last && c < commands; ++c)
      alive[c] += block.sizeBytes;
  }
  return alive;
}

/// A tensor's name, split at "/", without the endings that exporters add to every name. The
/// operator's name replaces a name that is only a number.
struct NameParts {
  std::vector<std::string> all; // Example: features, 3, expand1x1, Conv
  /// `all` without its last part if that is the name of an operator and the part before it is not
  /// only a number: features, 3, expand1x1.
  std::vector<std::string> scope;
};

std::string joined(const std::vector<std::string> &parts, size_t first) {
  std::string text;
  for (size_t i = first; i < parts.size(); ++i)
    text.append(i > first ? "/" : "").append(parts[i]);
  return text;
}

NameParts namePartsOf(const ValueInfo &value) {
  auto isNumber = [](const std::string &text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return isdigit(c); });
  };
  std::string name = value.name;
  if (isNumber(name) && !value.op.empty())
    name = value.op.substr(0, value.op.find(" + "));
  for (std::string_view suffix : {"_output_0", ":0"})
    if (name.size() > suffix.size() && name.ends_with(suffix))
      name.resize(name.size() - suffix.size());
  NameParts parts;
  for (size_t at = 0; at <= name.size();) {
    size_t slash = std::min(name.find('/', at), name.size());
    if (slash > at)
      parts.all.push_back(name.substr(at, slash - at));
    at = slash + 1;
  }
  parts.scope = parts.all;
  if (parts.all.size() > 1 && opKindOf(parts.all.back()) != OpKind::kOther &&
      !isNumber(parts.all[parts.all.size() - 2]))
    parts.scope.pop_back();
  return parts;
}

/// A label with its font size.
struct Label {
  std::string text; // Empty: no label.
  double fontPx = 11;
  bool cut = false; // Whether no whole part of the name fits; see fitName().
};

/// Returns the label of a tensor: the first of these candidates that is at most `widthPx` wide,
/// first in the larger font, then in the smaller one:
///   1. the whole name;
///   2. the longest ending of the name with at least two parts;
///   3. the operator, if the last part of the scope is shorter than kMinDistinctive characters (a
///      part such as "b.0" occurs in the names of many tensors);
///   4. the longest ending of the scope.
/// If none fits, the label is `cut`: it is the start of the scope's last part, or `op` if that
/// start would be shorter than kMinDistinctive characters and `op` fits. It is empty if neither
/// fits.
Label fitName(const NameParts &parts, const std::string &op, double widthPx) {
  constexpr double kSizes[] = {11, 9.5};
  constexpr size_t kMinDistinctive = 8; // Characters: "expand1x…" is distinctive, "featu…" is not.
  for (double size : kSizes) {
    if (std::string whole = joined(parts.all, 0); textWidth(whole, size) <= widthPx)
      return {whole, size, false};
    for (size_t first = 1; first + 1 < parts.all.size(); ++first)
      if (std::string text = joined(parts.all, first); textWidth(text, size) <= widthPx)
        return {text, size, false};
    if (parts.scope.size() < parts.all.size() &&
        displayWidth(parts.scope.back()) < kMinDistinctive &&
        textWidth(parts.all.back(), size) <= widthPx)
      return {parts.all.back(), size, false};
    for (size_t first = 0; first < parts.scope.size(); ++first)
      if (std::string text = joined(parts.scope, first); textWidth(text, size) <= widthPx)
        return {text, size, false};
  }
  std::string start =
      parts.scope.empty() ? "" : fitStart(parts.scope.back(), widthPx, kSizes[1], 5);
  if (displayWidth(start) < kMinDistinctive && textWidth(op, kSizes[1]) <= widthPx)
    return {op, kSizes[1], true};
  return {start, kSizes[1], true};
}

/// Returns the distance of ticks in bytes: a power of two that gives four to eight ticks.
uint64_t tickStep(uint64_t height) {
  uint64_t step = 1;
  while (height / step >= 8 && step < (uint64_t{1} << 62))
    step *= 2;
  return step;
}

/// Returns a size in the unit of the axis' largest value, without trailing zeros: "1.5 MiB".
std::string tickText(uint64_t bytes, uint64_t height) {
  static constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  for (uint64_t h = height; h >= 1024; h /= 1024)
    ++unit;
  return bytes == 0 ? "0"
                    : fmt::format("{:g} {}", std::ldexp(static_cast<double>(bytes), -10 * unit),
                                  kUnits[unit]);
}

class Picture {
public:
  Picture(const Description &plan, const std::string &title)
      : plan_(plan), title_(title), blocks_(makeBlocks(plan)) {
    commands_ = std::max<size_t>(plan.commands.size(), 1);
    for (const Block &block : blocks_)
      for (const Segment &segment : block.segments)
        commands_ = std::max<size_t>(commands_, segment.value->lastUse + size_t{1});
    height_ = std::max<uint64_t>({*plan.arenaBytes, *plan.lowerBoundBytes, 1});
  }

  std::string draw() {
    out(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(role="img" aria-labelledby="title"><title id="title">{2}</title><style>{3}</style>)",
        kWidth, kHeight, escapeXml("Memory plan of " + title_), style());
    out(R"(<rect class="card" x=".5" y=".5" width="{}" height="{}" rx="12"/>)", kWidth - 1,
        kHeight - 1);
    drawHeading();
    drawAxes();
    drawPeakBand();
    for (const Block &block : blocks_)
      drawBlock(block);
    drawBounds();
    drawPeakMark();
    drawCommandKinds();
    drawAlive();
    drawLegend();
    svg_ += "</svg>\n";
    return std::move(svg_);
  }

private:
  template <typename... Args> void out(fmt::format_string<Args...> format, Args &&...args) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Args>(args)...);
    svg_ += '\n';
  }
  double x(double command) const {
    return kLeft + (kRight - kLeft) * command / static_cast<double>(commands_);
  }
  double y(uint64_t bytes) const {
    return kBottom - (kBottom - kTop) * static_cast<double>(bytes) / static_cast<double>(height_);
  }
  void text(double atX, double atY, double size, const char *style, const std::string &content,
            const char *anchor = "start", int weight = 400) {
    out(R"(<text class="{}" x="{:.1f}" y="{:.1f}" font-size="{}" text-anchor="{}" font-weight="{}">{}</text>)",
        style, atX, atY, size, anchor, weight, escapeXml(content));
  }
  void line(const char *style, double x1, double y1, double x2, double y2, double width = 1,
            const char *dash = "") {
    out(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke-width="{}"{}/>)",
        style, x1, y1, x2, y2, width,
        *dash ? fmt::format(" stroke-dasharray=\"{}\"", dash) : std::string());
  }
  void drawHeading() {
    text(28, 42, 20, "ink", fitStart(title_ + ": where the arena goes", kWidth - 56, 20), "start",
         650);
    size_t tensors = 0;
    for (const Block &block : blocks_)
      tensors += block.segments.size();
    std::string facts =
        fmt::format("arena {}  ·  lower bound {}  ·  ratio {:.3f}  ·  {} tensors in {} commands",
                    humanBytes(*plan_.arenaBytes), humanBytes(*plan_.lowerBoundBytes),
                    planRatio(plan_), tensors, plan_.commands.size());
    if (plan_.constantBytes)
      facts += fmt::format("  ·  constants {}", humanBytes(*plan_.constantBytes));
    text(28, 66, 13, "dim", fitStart(facts, kWidth - 56, 13));
  }

  void drawAxes() {
    out(R"(<rect class="well" x="{}" y="{}" width="{}" height="{}"/>)", kLeft, kTop, kRight - kLeft,
        kBottom - kTop);
    uint64_t step = tickStep(height_);
    for (uint64_t bytes = 0; bytes <= height_; bytes += step) {
      line("grid", kLeft, y(bytes), kRight, y(bytes));
      text(kLeft - 10, y(bytes) + 4, 11.5, "dim", tickText(bytes, height_), "end");
    }
    line("axis", kLeft, kTop, kLeft, kBottom);
    line("axis", kLeft, kBottom, kRight, kBottom);
    size_t every = 1;
    for (size_t next : {1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000}) {
      every = next;
      if (commands_ / every <= 16)
        break;
    }
    for (size_t c = 0; c < commands_; c += every)
      text(x(static_cast<double>(c) + .5), kKindTop + 22, 11.5, "dim", std::to_string(c), "middle");
    text(kRight + 12, kKindTop + 22, 11.5, "dim", "command");
  }

  void drawPeakBand() {
    if (blocks_.empty())
      return;
    double left = x(plan_.peakCommand), width = std::max(x(1) - x(0), 1.5);
    out(R"(<rect class="peakband" x="{:.2f}" y="{}" width="{:.2f}" height="{}"/>)", left, kTop,
        width, kAliveBottom - kTop);
    double centre = left + width / 2;
    line("peakline", centre, kTop, centre, kAliveBottom, 1, "1.5 3.5");
  }

  /// Draws a triangle above the peak and the name of the operator that runs there, within the plot.
  void drawPeakMark() {
    if (blocks_.empty())
      return;
    double centre = x(plan_.peakCommand + .5);
    out(R"(<path class="peaktext" d="M{:.1f} {} l-5 -8 h10 z"/>)", centre, kTop - 2);
    std::string what = plan_.peakCommand < plan_.commands.size()
                           ? plan_.commands[plan_.peakCommand].name
                           : std::string();
    std::string label = fmt::format("peak at command {}", plan_.peakCommand);
    if (!what.empty())
      label += ": " + what;
    constexpr double kBold = 1.1; // Width of bold text ÷ width of regular text.
    label = fitStart(label, (kRight - kLeft) / kBold, 12);
    double half = kBold * textWidth(label, 12) / 2;
    double at = std::clamp(centre, kLeft + half, std::max(kLeft + half, kRight - half));
    text(at, kTop - 16, 12, "peaktext", label, "middle", 600);
  }

  std::string titleOf(const ValueInfo &value, const Block &block) const {
    std::string title = fmt::format(
        "{}\nmade by {}\n{} {}, {} ({} bytes)\nat offset {} ({})\nalive in commands {} to {}",
        value.name, value.op.empty() ? "?" : value.op, value.type, dimsText(value),
        humanBytes(*value.sizeBytes), *value.sizeBytes, *value.offset, humanBytes(*value.offset),
        value.firstUse, value.lastUse);
    if (block.segments.size() > 1)
      title += fmt::format("\none of {} tensors that share this storage", block.segments.size());
    return escapeXml(title);
  }

  void drawBlock(const Block &block) {
    if (block.segments.empty())
      return;
    double top = y(block.offset + block.sizeBytes);
    double height = std::max(y(block.offset) - top, 1.0);
    for (size_t i = 0; i < block.segments.size(); ++i) {
      const Segment &segment = block.segments[i];
      double left = x(segment.begin), width = std::max(x(segment.end) - left, 1.0);
      double inset = width > 4 && height > 4 ? 0.75 : 0;
      bool whole = block.segments.size() == 1;
      out(R"(<g class="tensor"><rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" rx="{}" stroke-width="{}"/>)"
          R"(<title>{}</title>)",
          opKindClass(opKindOf(segment.value->op)), left + inset, top + inset, width - 2 * inset,
          height - 2 * inset, whole && inset > 0 ? 2.5 : 0, inset > 0 ? 1 : 0.3,
          titleOf(*segment.value, block));
      drawLabel(*segment.value, left, top, width, height);
      out("</g>");
      // A dashed line separates two tensors of the rectangle if one directly follows the other.
      if (i > 0 && inset > 0 && segment.begin == block.segments[i - 1].end) {
        out(R"(<rect class="{}" stroke="none" x="{:.2f}" y="{:.2f}" width="3" height="{:.2f}" style="stroke:none"/>)",
            opKindClass(opKindOf(segment.value->op)), left - 1.5, top + 1.3, height - 2.6);
        line("divide", left, top + 1.3, left, top + height - 1.3, 1.3, "3 3");
      }
    }
  }

  /// Draws the name, and the shape and size below it: horizontally if the rectangle is wide,
  /// rotated if it is tall, not at all if the name fits neither way.
  void drawLabel(const ValueInfo &value, double left, double top, double width, double height) {
    constexpr double kSub = 10, kPad = 3, kLine = 13;
    double lying = width - 2 * kPad, standing = height - 2 * kPad;
    NameParts parts = namePartsOf(value);
    std::string op = value.op.substr(0, value.op.find(" + "));
    op.erase(0, op.find_last_of('/') + 1);
    bool turned = false;
    Label name;
    if (height >= kLine + 2)
      name = fitName(parts, op, lying);
    if (width >= kLine + 3 && standing > lying) {
      // Rotated text is harder to read. It is used only if it shows more of a name that does not
      // fit otherwise, or if the rectangle is very tall.
      Label other = fitName(parts, op, standing);
      bool isShortened = name.text.empty() || name.cut;
      if (isShortened ? displayWidth(other.text) > displayWidth(name.text) : standing > 3 * lying) {
        name = other;
        turned = true;
      }
    }
    if (name.text.empty())
      return;
    double across = turned ? width : height, along = turned ? standing : lying;
    std::string second;
    if (across >= 2 * kLine + 4) {
      second = fmt::format("{} · {}", dimsText(value), humanBytes(*value.sizeBytes));
      if (textWidth(second, kSub) > along)
        second = humanBytes(*value.sizeBytes);
      if (textWidth(second, kSub) > along)
        second.clear();
    }
    // A nested svg element clips the label, whatever font the viewer uses.
    out(R"(<svg x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" pointer-events="none">)", left,
        top, width, height);
    if (turned)
      out("<g transform=\"translate(0 {:.2f}) rotate(-90)\">", height);
    double span = turned ? height : width;
    double middle = across / 2 + (second.empty() ? 4 : -2.5);
    text(span / 2, middle, name.fontPx, "label", name.text, "middle", 550);
    if (!second.empty())
      text(span / 2, middle + kLine, kSub, "sub", second, "middle");
    if (turned)
      out("</g>");
    out("</svg>");
  }

  /// Draws the arena's height and the lower bound, labelled on the right of the plot.
  void drawBounds() {
    constexpr double kAt = kRight + 12;
    auto label = [&](double atY, const char *style, const char *what, uint64_t bytes) {
      text(kAt, atY, 11.5, style, what);
      text(kAt, atY + 15, 12.5, style, humanBytes(bytes), "start", 650);
    };
    double heightY = y(*plan_.arenaBytes), boundY = y(*plan_.lowerBoundBytes);
    line("height", kLeft, heightY, kRight + 8, heightY, 1.5);
    line("bound", kLeft, boundY, kRight + 8, boundY, 1.8, "7 4");
    if (*plan_.arenaBytes == *plan_.lowerBoundBytes) {
      text(kAt, heightY - 10, 11.5, "ink", "arena height");
      text(kAt, heightY + 5, 11.5, "peaktext", "= lower bound");
      text(kAt, heightY + 21, 12.5, "ink", humanBytes(*plan_.arenaBytes), "start", 650);
      return;
    }
    // A label is 30 pixels high. If the lines are close together, the labels are moved apart.
    double gap = boundY - heightY;
    double apart = std::max(0.0, 38 - gap);
    label(heightY - 3 - apart * 0.8, "ink", "arena height", *plan_.arenaBytes);
    label(boundY - 3 + apart * 0.2, "peaktext", "lower bound", *plan_.lowerBoundBytes);
  }

  void drawCommandKinds() {
    for (size_t c = 0; c < plan_.commands.size(); ++c) {
      const CommandInfo &command = plan_.commands[c];
      double left = x(static_cast<double>(c)), width = x(static_cast<double>(c) + 1) - left;
      double gap = width > 4 ? 1 : 0;
      out(R"(<rect class="{}" x="{:.2f}" y="{}" width="{:.2f}" height="{}" style="stroke:none"><title>{}</title></rect>)",
          opKindClass(opKindOf(command.name)), left + gap / 2, kKindTop, width - gap, kKindHeight,
          escapeXml(fmt::format("command {}: {}", c, command.name)));
    }
  }

  void drawAlive() {
    std::vector<uint64_t> alive = aliveBytes(blocks_, commands_);
    // The lower bound counts sizes that are rounded up to an alignment (engine/plan/plan.h), so the
    // live bytes may be below it.
    uint64_t maxBytes = std::max({*std::max_element(alive.begin(), alive.end()),
                                  plan_.lowerBoundBytes.value_or(0), uint64_t{1}});
    auto level = [&](uint64_t bytes) {
      return kAliveBottom - (kAliveBottom - kAliveTop) * static_cast<double>(bytes) /
                                static_cast<double>(maxBytes);
    };
    out(R"(<rect class="well" x="{}" y="{}" width="{}" height="{}"/>)", kLeft, kAliveTop,
        kRight - kLeft, kAliveBottom - kAliveTop);
    std::string path = fmt::format("M{:.1f} {:.1f}", kLeft, kAliveBottom);
    for (size_t c = 0; c < commands_; ++c)
      path += fmt::format("V{:.1f}H{:.1f}", level(alive[c]), x(static_cast<double>(c) + 1));
    path += fmt::format("V{:.1f}Z", kAliveBottom);
    out(R"(<path class="alive" d="{}" stroke-width="1"/>)", path);
    line("bound", kLeft, level(maxBytes), kRight, level(maxBytes), 1.3, "7 4");
    if (!blocks_.empty())
      out(R"(<circle class="peaktext" cx="{:.1f}" cy="{:.1f}" r="3.5"/>)",
          x(plan_.peakCommand + .5),
          level(alive[std::min<size_t>(plan_.peakCommand, commands_ - 1)]));
    text(kLeft - 10, kAliveTop + 8, 11.5, "dim", humanBytes(maxBytes == 1 ? 0 : maxBytes), "end");
    text(kLeft - 10, kAliveBottom + 2, 11.5, "dim", "0", "end");
    text(kRight + 12, (kAliveTop + kAliveBottom) / 2 + 4, 11.5, "dim", "bytes alive");
    line("axis", kLeft, kAliveBottom, kRight, kAliveBottom);
  }

  void drawLegend() {
    std::array<bool, kOpKindCount> present{};
    for (const CommandInfo &command : plan_.commands)
      present[static_cast<size_t>(opKindOf(command.name))] = true;
    for (const Block &block : blocks_)
      for (const Segment &segment : block.segments)
        present[static_cast<size_t>(opKindOf(segment.value->op))] = true;
    double at = kLeft;
    for (size_t k = 0; k < present.size(); ++k) {
      if (!present[k])
        continue;
      OpKind kind = static_cast<OpKind>(k);
      out(R"(<rect class="{}" x="{:.1f}" y="{}" width="14" height="12" rx="2.5"/>)",
          opKindClass(kind), at, kLegendY - 10);
      text(at + 20, kLegendY, 12, "dim", opKindName(kind));
      at += 20 + textWidth(opKindName(kind), 12) + 14;
    }
    line("bound", at, kLegendY - 4, at + 22, kLegendY - 4, 1.8, "7 4");
    text(at + 28, kLegendY, 12, "dim", "lower bound");
  }

  const Description &plan_;
  const std::string &title_;
  std::vector<Block> blocks_;
  size_t commands_ = 1;
  uint64_t height_ = 1;
  std::string svg_;
};

} // namespace

std::string drawPlan(const Description &plan, const std::string &title) {
  return Picture(plan, title).draw();
}

} // namespace gantry::tool
