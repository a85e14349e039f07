// gantry tune: measures which tiles are fastest for the kernels of a model. A tile is the part of
// the result that one invocation or workgroup computes. The candidates of a kernel are the tiles
// that it may have, in the order of their predicted times. All kernels are measured at once: the
// model is compiled with each kernel's first candidate, then with each kernel's second candidate,
// and so on; the device's timestamps give the time of each dispatch (kernel launch). The present
// tiles are those that the kernels have before the tuning: tiles from the table of measured tiles
// (io/tuning_file.h) or from the compiler's own table, else the predicted ones. If a kernel's
// fastest candidate is faster than its present tile, it is measured once more, together with those
// of the other kernels and in turns with the present tiles. The tiles that are faster again are
// added to the table.
#include "tools/gantry/cache/unnamed_file.h"
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/runtime/device_profiles.h"
#include "tools/gantry/io/file.h"
#include "tools/gantry/runtime/model.h"
#include "tools/gantry/io/tuning_file.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

using Align = Table::Align;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

// Max new time ÷ old time of a kernel for a tile that is kept; a smaller gain may be noise.
constexpr double kMaxTimeRatio = 0.97;
// Min gain of a kernel for a tile that is kept, as a fraction of the time of all kernels.
constexpr double kMinModelGain = 0.001;
constexpr size_t kWarmups = 1, kMinRuns = 3, kRounds = 4;
// Max ||out - ref|| / ||ref|| of results that count as equal. Other tiles add in another order,
// which changes the rounding.
constexpr double kSameResults = 1e-2;

struct TuneOptions {
  std::string model, profile, output = "tuning.json";
  InputOptions inputs;
  SessionRequest session;
  CompileRequest request;
  size_t candidates = 12, skip = 0;
  double seconds = 0.5;
  bool json = false;
};

/// The time of one kernel of the model, over all dispatches that run it.
struct KernelTime {
  std::string tile, what; // The tile; the name of the kernel's first dispatch.
  double ns = 0;          // Sum over the dispatches of each one's shortest time.
  size_t dispatches = 0;
};
using KernelTimes = std::map<std::string, KernelTime>; // Key: gantry_dispatch_info_t::kernel_key.

/// The model, compiled with one choice of tiles and loaded on the device.
class Contestant {
public:
  Contestant(const TuneOptions &options, const CompileRequest &request)
      : model_(loadModel(options.model, request)), session_(model_.program.get(), options.session),
        inputs_(makeInputs(inputPorts(model_.program.get()),
                           options.inputs.resolve(Filling::kRandom), readTensor)) {
    session_.bind(inputs_);
    for (size_t i = 0; i < kWarmups; ++i)
      session_.run();
  }

  /// Runs once and updates the shortest time of each dispatch.
  void run() {
    session_.run();
    const std::vector<gantry_dispatch_info_t> dispatches = session_.dispatches();
    minNs_.resize(dispatches.size(), INFINITY);
    for (size_t i = 0; i < dispatches.size(); ++i)
      minNs_[i] = std::min(minNs_[i], static_cast<double>(dispatches[i].gpu_ns));
  }

  void runFor(double seconds, const std::string &what, Progress &progress) {
    const Clock::time_point start = Clock::now();
    const auto limit = std::chrono::duration<double>(seconds);
    for (size_t runs = 0; runs < kMinRuns || Clock::now() - start < limit; ++runs) {
      run();
      progress.update(what,
                      static_cast<size_t>((Clock::now() - start) / std::chrono::milliseconds(1)),
                      static_cast<size_t>(seconds * 1e3));
    }
  }

  /// Returns the times of all kernels that can be tuned: those whose key and tile the artifact
  /// contains (gantry_dispatch_info_t).
  KernelTimes times() const {
    KernelTimes result;
    const std::vector<gantry_dispatch_info_t> dispatches = session_.dispatches();
    for (size_t i = 0; i < dispatches.size(); ++i) {
      const gantry_dispatch_info_t &info = dispatches[i];
      if (!info.kernel_key || !info.exact_tile)
        continue;
      KernelTime &kernel = result[info.kernel_key];
      if (kernel.dispatches++ == 0) {
        kernel.tile = info.exact_tile;
        kernel.what = info.name ? info.name : "";
      }
      kernel.ns += minNs_[i];
    }
    return result;
  }

  const std::vector<Tensor> &outputs() const { return session_.outputs(); }
  std::string device() const { return session_.deviceInfo().name; }

private:
  LoadedModel model_;
  HostSession session_;
  std::vector<Tensor> inputs_;
  std::vector<double> minNs_; // Shortest time of each dispatch.
};

bool sameResults(const std::vector<Tensor> &outputs, const std::vector<Tensor> &expected) {
  Tolerance tolerance;
  tolerance.l2 = kSameResults;
  for (size_t i = 0; i < expected.size(); ++i)
    if (!compareTensors(outputs[i], expected[i], tolerance).within)
      return false;
  return true;
}

double sumOf(const KernelTimes &times) {
  double ns = 0;
  for (const auto &[key, kernel] : times)
    ns += kernel.ns;
  return ns;
}

/// Returns the kernels of `after` whose tile differs from the tile in `before` and is faster by at
/// least the gains that kMaxTimeRatio and kMinModelGain require.
KernelTimes fasterThan(const KernelTimes &before, const KernelTimes &after) {
  KernelTimes result;
  const double worth = sumOf(before) * kMinModelGain;
  for (const auto &[key, old] : before) {
    const auto found = after.find(key);
    if (found != after.end() && found->second.tile != old.tile &&
        found->second.ns < std::min(old.ns * kMaxTimeRatio, old.ns - worth))
      result.insert(*found);
  }
  return result;
}

class Tuning {
public:
  explicit Tuning(TuneOptions options) : options_(std::move(options)) {
    std::error_code error;
    // A kernel that several sizes share has one tile, but the table has a tile for each size.
    options_.request.shareKernels = false;
    now_ = options_.request;
    now_.tuning = fs::exists(options_.output, error) ? options_.output : "";
  }

  /// Measures the model with its present tiles and keeps its outputs for comparison.
  void measureNow() {
    Contestant contestant(options_, now_);
    contestant.runFor(options_.seconds, "present tiles", progress_);
    progress_.clear();
    device_ = contestant.device();
    expected_ = contestant.outputs();
    before_ = best_ = contestant.times();
    for (const auto &[key, kernel] : before_)
      seen_.insert({key, kernel.tile});
  }

  /// Measures candidate `number` of every kernel. Returns false if all tiles of this compilation
  /// were measured before, which means that no kernel has further candidates.
  bool measureCandidate(size_t number) {
    CompileRequest request = options_.request;
    request.builtInTuning = false;
    request.useCache = false; // Each candidate is measured only once.
    request.tileCandidate = static_cast<uint32_t>(number);
    Contestant contestant(options_, request);
    contestant.runFor(options_.seconds,
                      fmt::format("candidate {} of {}, {} of {} kernels faster so far", number + 1,
                                  options_.skip + options_.candidates, challengers().size(),
                                  before_.size()),
                      progress_);
    progress_.clear();
    if (!sameResults(contestant.outputs(), expected_)) {
      printWarning(fmt::format("candidate {} is left out: its results differ from those of "
                               "the present tiles",
                               number + 1));
      return true;
    }
    bool fresh = number == 0;
    for (const auto &[key, kernel] : contestant.times()) {
      if (number == 0)
        predicted_[key] = kernel;
      fresh |= seen_.insert({key, kernel.tile}).second;
      if (auto best = best_.find(key); best != best_.end() && kernel.ns < best->second.ns)
        best->second = kernel;
    }
    return fresh;
  }

  /// Measures the faster candidates, all together, in turns with the present tiles, and keeps those
  /// that are faster again.
  void decide() {
    TuningFile trial = TuningFile::open(options_.output);
    for (const auto &[key, kernel] : challengers())
      put(trial, key, kernel, kernel.ns);
    auto table = UnnamedFile::temporary();
    const Status written = table.isOk() ? table->write(trial.text()) : table.status();
    if (!written.isOk())
      throw ToolError(ExitCode::kIo, written.message());
    CompileRequest request = now_;
    request.tuning = table->path();
    request.useCache = false;
    Contestant now(options_, now_), then(options_, request);
    for (size_t round = 0; round < kRounds; ++round)
      for (Contestant *contestant : {&now, &then})
        contestant->runFor(options_.seconds / 2,
                           fmt::format("present and new tiles, round {} of {}", round + 1, kRounds),
                           progress_);
    progress_.clear();
    if (!sameResults(then.outputs(), expected_))
      throw ToolError(
          ExitCode::kInternal,
          "with the fastest tiles of all kernels together, the results differ from those "
          "of the present tiles; no table was written");
    before_ = now.times();
    kept_ = fasterThan(before_, then.times());
  }

  void write() {
    TuningFile file = TuningFile::open(options_.output);
    for (const auto &[key, kernel] : kept_)
      put(file, key, kernel, before_[key].ns);
    FileSet files;
    files.add(options_.output, file.text());
    files.commit();
  }

  void printJson() const {
    Json kernels = Json::array();
    for (const auto &[key, kernel] : kept_)
      kernels.push_back({{"key", key},
                         {"what", kernel.what},
                         {"dispatches", kernel.dispatches},
                         {"before_ns", before_.at(key).ns},
                         {"after_ns", kernel.ns},
                         {"before_tile", before_.at(key).tile},
                         {"tile", kernel.tile}});
    const Json json = {{"model", options_.model},
                       {"output", options_.output},
                       {"profile", options_.request.profiles.front()},
                       {"device", device_},
                       {"kernels", before_.size()},
                       {"before_ns", sumOf(before_)},
                       {"after_ns", afterNs()},
                       {"faster", kernels}};
    tool::print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  void print() const {
    const bool colour = colourOnStdout();
    std::vector<std::pair<double, std::string>> order; // Change of time in ns (negative), and key.
    for (const auto &[key, kernel] : kept_)
      order.emplace_back(kernel.ns - before_.at(key).ns, key);
    std::sort(order.begin(), order.end());
    tool::print(fmt::format("{} on {}, profile {}\n",
                            coloured(printable(options_.model), Colour::kBold, colour),
                            printable(device_), printable(options_.request.profiles.front())));
    Table table({{"kernel", Align::kLeft, true},
                 {"dispatches", Align::kRight},
                 {"before", Align::kRight},
                 {"after", Align::kRight},
                 {"gain", Align::kRight},
                 {"tile", Align::kLeft, true}});
    for (const auto &[growth, key] : order) {
      const KernelTime &kernel = kept_.at(key), &old = before_.at(key);
      table.addRow({kernel.what, std::to_string(kernel.dispatches), humanTime(old.ns),
                    humanTime(kernel.ns), fmt::format("{:.2f} x", old.ns / kernel.ns),
                    kernel.tile});
    }
    if (!table.empty())
      tool::print("\n" + table.format(colour, terminalWidth()) + "\n");
    tool::print(fmt::format("  {} of {} kernels are faster; all dispatches {} -> {}\n",
                            kept_.size(), before_.size(), humanTime(sumOf(before_)),
                            humanTime(afterNs())));
    tool::print(kept_.empty() ? fmt::format("  nothing to add to {}\n", options_.output)
                              : fmt::format("{} {}\n", coloured("wrote", Colour::kGreen, colour),
                                            options_.output));
  }

  bool hasChallengers() const { return !challengers().empty(); }
  bool hasWinners() const { return !kept_.empty(); }

private:
  double afterNs() const {
    double ns = sumOf(before_);
    for (const auto &[key, kernel] : kept_)
      ns += kernel.ns - before_.at(key).ns;
    return ns;
  }

  KernelTimes challengers() const { return fasterThan(before_, best_); }

  void put(TuningFile &file, const std::string &key, const KernelTime &kernel, double beforeNs) {
    const auto predicted = predicted_.find(key);
    const bool known = predicted != predicted_.end() && predicted->second.tile != before_[key].tile;
    file.put(options_.request.profiles.front(), device_,
             {key, kernel.tile, elideMiddle(kernel.what, 80), kernel.ns / perKernel(kernel),
              (known ? predicted->second.ns : beforeNs) / perKernel(kernel)});
  }
  static double perKernel(const KernelTime &kernel) {
    return static_cast<double>(std::max<size_t>(kernel.dispatches, 1));
  }

  TuneOptions options_;
  CompileRequest now_; // Compiles the model with the present tiles.
  std::string device_;
  std::vector<Tensor> expected_;
  KernelTimes before_;    // Times with the present tiles.
  KernelTimes best_;      // Times with each kernel's fastest tile so far.
  KernelTimes predicted_; // Times with the tile that the cost model predicts to be fastest.
  KernelTimes kept_;      // The tiles that decide() has kept.
  std::set<std::pair<std::string, std::string>> seen_; // Measured pairs of kernel key and tile.
  Progress progress_;
};

ExitCode runTune(TuneOptions options) {
  if (isArtifact(options.model))
    throw ToolError(
        ExitCode::kBadInput,
        fmt::format("'{}' is compiled already; tune its .onnx or .mlir model", options.model));
  checkOutput(options.model, options.output);
  options.session.timestamps = true;
  options.request.profiles = profileToRun(options.profile, options.session.device);
  Tuning tuning(options);
  tuning.measureNow();
  tuning.measureCandidate(0); // The tile that the cost model predicts to be fastest.
  for (size_t i = std::max<size_t>(options.skip, 1); i < options.skip + options.candidates; ++i)
    if (!tuning.measureCandidate(i))
      break;
  if (tuning.hasChallengers())
    tuning.decide();
  if (tuning.hasWinners())
    tuning.write();
  options.json ? tuning.printJson() : tuning.print();
  return ExitCode::kOk;
}

} // namespace

void addTune(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "tune", "Measure which tiles are fastest on a device, for `gantry compile --tuning`");
  auto options = std::make_shared<TuneOptions>();
  command->add_option("MODEL", options->model, "The model: .onnx or .mlir")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The table of measured tiles; an existing table is extended")
      ->type_name("FILE")
      ->default_str("tuning.json");
  options::whole(command->add_option("--candidates", options->candidates,
                                     "Number of tiles to measure for each kernel, in the order of "
                                     "their predicted times"),
                 "N", 1, 1000)
      ->default_str("12");
  options::whole(command->add_option("--skip", options->skip,
                                     "Skip the first N candidates, which were measured before"),
                 "N", 0, 100'000)
      ->default_str("0");
  options::real(command->add_option("--seconds", options->seconds,
                                    "Measure each candidate for this long, all kernels together"),
                "S", 0, 86400)
      ->default_str("0.5");
  command->add_flag("!--no-built-in-tuning", options->request.builtInTuning,
                    "Begin without the measured tiles that ship with the compiler");
  addPrecisionOption(*command, options->request);
  options->inputs.add(*command);
  addSessionOptions(*command, options->session);
  addProfileOption(*command, options->profile);
  addCacheOption(*command, options->request.useCache);
  addJson(*command, options->json, "Print the summary as JSON");
  command->footer(examples({"gantry tune model.onnx -o tuning.json",
                            "gantry tune gpt.onnx -o tuning.json --dim batch=1 --dim time=64",
                            "gantry tune model.onnx -o tuning.json --skip 12 --candidates 20",
                            "gantry compile model.onnx --profile vulkan:lavapipe --tuning "
                            "tuning.json"}));
  command->callback([options, &action] { action = [options] { return runTune(*options); }; });
}

} // namespace gantry::tool
