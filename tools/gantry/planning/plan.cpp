// gantry plan: places a list of buffers in one arena (a block of memory), and prints the size that
// the arena needs, the lower bound of this size and the gap between them. The lower bound is the
// largest sum of the sizes of the buffers that are alive at one moment.
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/report/plan_svg.h"
#include "tools/gantry/planning/buffer_csv.h"
#include "tools/gantry/report/terminal.h"

#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gantry::tool {

namespace {

/// How long the planner searches without --deadline, in units of work of 10 to 30 ns
/// (PlanRequest::workLimit): about ten seconds. Because the work is counted, the result is the same
/// on every machine.
constexpr uint64_t kDefaultToolWork = 500'000'000;

struct PlanOptions {
  std::string file;
  uint64_t capacity = 0;
  double deadline = 0;
  uint64_t work = kDefaultToolWork;
  std::string plot;
  std::string output;
  bool json = false;
};

/// Describes the plan like that of a program, for drawPlan(). Command i of the description stands
/// for step i (buffer_csv.h).
Description descriptionOf(const BufferList &buffers, const plan::Plan &plan) {
  Description description;
  for (size_t step = 0; step + 1 < buffers.moments.size(); ++step) {
    CommandInfo command;
    command.name =
        fmt::format("time {} to {}", buffers.moments[step], buffers.moments[step + 1] - 1);
    command.kind = "dispatch";
    description.commands.push_back(command);
  }
  for (size_t i = 0; i < buffers.values.size(); ++i) {
    ValueInfo value;
    value.name = buffers.ids[i];
    value.storage = "transient";
    value.sizeBytes = buffers.values[i].sizeBytes;
    value.offset = plan.offsets[i];
    value.firstUse = buffers.values[i].firstUse;
    value.lastUse = buffers.values[i].lastUse;
    value.slot = static_cast<int64_t>(i);
    description.values.push_back(value);
  }
  description.arenaBytes = plan.heightBytes;
  description.lowerBoundBytes = plan.lowerBoundBytes;
  description.peakCommand = plan.peakCommand;
  return description;
}

void printJson(const PlanOptions &options, const BufferList &buffers, const plan::Plan &plan,
               double seconds) {
  nlohmann::json placed = nlohmann::json::array();
  for (size_t i = 0; i < buffers.ids.size(); ++i)
    placed.push_back({{"id", buffers.ids[i]},
                      {"size_bytes", buffers.values[i].sizeBytes},
                      {"offset_bytes", plan.offsets[i]}});
  nlohmann::json json = {{"file", options.file},
                         {"moments", buffers.moments.size()},
                         {"height_bytes", plan.heightBytes},
                         {"lower_bound_bytes", plan.lowerBoundBytes},
                         {"proven_bound_bytes", plan.provenBoundBytes},
                         {"seconds", seconds},
                         {"buffers", placed}};
  if (!buffers.values.empty())
    json["peak_time"] = buffers.moments[plan.peakCommand];
  if (options.capacity != 0)
    json["fits"] = plan.heightBytes <= options.capacity;
  print(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void printPlan(const PlanOptions &options, const BufferList &buffers, const plan::Plan &plan,
               double seconds) {
  print(fmt::format("{}  {} buffers, {} moments, planned in {}\n",
                    coloured(printable(options.file), Colour::kBold, colourOnStdout()),
                    buffers.values.size(), buffers.moments.size(), humanTime(seconds * 1e9)));
  print(fmt::format("  height       {} ({})\n", plan.heightBytes, humanBytes(plan.heightBytes)));
  print(fmt::format("  lower bound  {} ({})", plan.lowerBoundBytes,
                    humanBytes(plan.lowerBoundBytes)));
  if (!buffers.values.empty())
    print(fmt::format(", alive at time {}", buffers.moments[plan.peakCommand]));
  print("\n");
  if (plan.heightBytes == plan.provenBoundBytes)
    print("  gap          none: no plan is lower\n");
  else
    print(fmt::format("  gap          {:.2f} % at most: no plan is lower than {}\n",
                      100.0 * (static_cast<double>(plan.heightBytes) /
                                   static_cast<double>(plan.provenBoundBytes) -
                               1),
                      plan.provenBoundBytes));
}

ExitCode runPlan(const PlanOptions &options) {
  if (!options.plot.empty() && options.plot == options.output)
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("--plot and --output both name '{}'", printable(options.plot)));
  const std::vector<uint8_t> bytes = readFile(options.file);
  const BufferList buffers =
      parseBuffers({reinterpret_cast<const char *>(bytes.data()), bytes.size()}, options.file);
  plan::PlanRequest request;
  request.enoughBytes = options.capacity;
  request.deadlineSeconds = options.deadline;
  request.workLimit = options.deadline > 0 ? UINT64_MAX : options.work;
  const auto start = std::chrono::steady_clock::now();
  const Result<plan::Plan> plan = plan::planArena(buffers.values, request);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!plan.isOk())
    throw ToolError(plan.status().code() == StatusCode::kInvalidArgument ? ExitCode::kBadInput
                                                                         : ExitCode::kInternal,
                    fmt::format("{}: {}", printable(options.file), plan.status().message()));
  if (const Status valid = plan::validatePlan(buffers.values, *plan); !valid.isOk())
    throw ToolError(ExitCode::kInternal,
                    fmt::format("{}: {}", printable(options.file), valid.message()));
  FileSet files;
  if (!options.plot.empty())
    files.add(options.plot,
              std::string_view(drawPlan(descriptionOf(buffers, *plan),
                                        std::filesystem::path(options.file).stem().string())));
  if (!options.output.empty())
    files.add(options.output, std::string_view(formatPlan(buffers, *plan)));
  files.commit();
  const bool fits = options.capacity == 0 || plan->heightBytes <= options.capacity;
  if (options.json) {
    printJson(options, buffers, *plan, seconds);
    return fits ? ExitCode::kOk : ExitCode::kDiffers;
  }
  printPlan(options, buffers, *plan, seconds);
  for (const std::string &file : {options.plot, options.output})
    if (!file.empty())
      print(fmt::format("  wrote        {}\n", printable(file)));
  if (fits)
    return ExitCode::kOk;
  print(fmt::format("  capacity     {}: {}\n", options.capacity,
                    plan->provenBoundBytes > options.capacity
                        ? "no plan fits"
                        : "no plan that fits was found; give a longer --deadline"));
  return ExitCode::kDiffers;
}

} // namespace

void addPlan(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand("plan", "Place a list of buffers in one arena, as low as "
                                                 "possible, and report the gap to a proven bound");
  auto options = std::make_shared<PlanOptions>();
  command
      ->add_option("FILE.csv", options->file,
                   "id,lower,upper,size[,alignment,offset]; upper is exclusive, offset is ignored")
      ->required();
  command
      ->add_option_function<std::string>(
          "--capacity",
          [options](const std::string &text) {
            options->capacity = parseBytes(text, "--capacity");
          },
          "Stop as soon as a plan fits: 64KiB, 1.5MiB, or bytes")
      ->type_name("SIZE");
  CLI::Option *deadline = options::real(
      command->add_option("--deadline", options->deadline, "Stop after this many seconds"), "S",
      1e-3, 1e6);
  deadline->default_str("after a fixed amount of work");
  options::whole(
      command->add_option("--work", options->work,
                          "Stop after N units of work of 10 to 30 ns each; 1: use only the first "
                          "heuristic"),
      "N", 1, UINT64_MAX)
      ->default_str("500000000")
      ->excludes(deadline);
  command->add_option("--plot", options->plot, "Draw the arena: time across, addresses up")
      ->type_name("FILE.svg");
  command->add_option("--output", options->output, "Write the buffers with their offsets")
      ->type_name("FILE.csv");
  addJson(*command, options->json, "Print the plan as JSON");
  command->footer(examples({"gantry plan buffers.csv",
                            "gantry plan buffers.csv --capacity 1048576 --deadline 10",
                            "gantry plan buffers.csv --plot plan.svg --output placed.csv"}));
  command->callback([options, &action] { action = [options] { return runPlan(*options); }; });
}

} // namespace gantry::tool
