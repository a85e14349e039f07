// random_graphs: compiles and runs random models whose values share storage, and checks their
// storage. The models concatenate, divide, pad and reshape tensors and replace rows of them.
//
//   random_graphs [--seed N] [--count 100] [--only INDEX] [--profile NAME]... [--overlaps N]
//
// Each graph is compiled for each profile (default: vulkan:generic, vulkan:lavapipe and
// vulkan:dot-products) and run with each binding, without and with the memory check
// (engine/program/memory_check.h); the outputs must equal the expected ones. The storage checker
// (engine/program/storage_check.h) must accept every program. Then illegal overlaps are injected,
// one at a time, up to three for each program: a value, or the storage of which it is a part, is
// moved onto bytes of another value that is read later, or of a donated input. The storage checker
// must refuse each overlap. So must it refuse wrong claims that a result takes the place of an
// operand (makeInPlaceFaults()), and the program without one of the commands that write an output,
// because the caller reads the outputs after the last command.
//
// With --overlaps, fewer than N refused overlaps in all are a failure. Ten graphs or more must make
// programs with parts of other values, with parts of outputs, with overlaps of parts and of donated
// inputs, and with results in place of operands.
//
// For each failure, the program prints the command that repeats the case. Exit codes: 0: all cases
// passed; 1: a case failed, or the validation layers reported a message; 2: an option is wrong; 77:
// there is no device.
#include "backends/vulkan/vulkan.h"
#include "engine/hazards/hazards.h"
#include "engine/program/session.h"
#include "engine/program/storage_check.h"
#include "tests/e2e/random_graphs/graph_maker.h"
#include "tests/e2e/random_graphs/storage_faults.h"
#include "tests/support/scratch.h"

#include <gantry/compiler.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <regex>

namespace gantry::test {
namespace {

constexpr int kSkipped = 77;

struct Options {
  uint64_t seed = 1;
  int64_t count = 100, only = -1, overlaps = 0;
  std::vector<std::string> profiles;
};

/// Compiles the graph. Returns a description of the problem, or "" on success.
std::string compile(const GraphCase &test, const std::string &folder, const std::string &profile) {
  const std::string model = folder + "model.onnx";
  std::ofstream(model, std::ios::binary) << test.model;
  std::string message;
  gantry_compile_options_t options{};
  options.struct_size = sizeof options;
  options.profile = profile.c_str();
  std::vector<const char *> donated;
  for (const std::string &name : test.donated)
    donated.push_back(name.c_str());
  options.donated_inputs = donated.data();
  options.donated_count = donated.size();
  options.user = &message;
  options.diagnostic = [](void *user, int severity, const char *text) {
    if (severity == 0)
      static_cast<std::string *>(user)->append(text);
  };
  const auto result = gantry_compile(model.c_str(), (folder + "model.gantry").c_str(), &options);
  return result == GANTRY_COMPILE_OK ? "" : "does not compile: " + message;
}

/// Runs the program with a binding and compares its outputs. A session with checkMemory makes a
/// plan with a guard after each slot: bytes that no kernel may write
/// (engine/program/memory_check.h). A session without it uses the program's plan.
Status runAndCompare(const GraphCase &test, const std::shared_ptr<const program::Program> &program,
                     const std::shared_ptr<heap::Heap> &heap, program::BindingChoice binding,
                     bool checkMemory) {
  program::SessionOptions options;
  options.binding = binding;
  options.checkMemory = checkMemory;
  GANTRY_ASSIGN_OR_RETURN(auto session, program::Session::create(program, heap, options));
  std::vector<std::string> in, out;
  std::vector<program::TensorArgument> inputs, outputs;
  for (const Tensor &tensor : test.inputs)
    in.push_back(tensor.bytes());
  for (const Tensor &tensor : test.outputs)
    out.emplace_back(tensor.bytes().size(), '\x7f');
  for (size_t i = 0; i < in.size(); ++i) {
    program::TensorArgument argument;
    argument.shape = {artifact::ElementType::f32, test.inputs[i].dims};
    argument.data = in[i].data();
    argument.sizeBytes = in[i].size();
    inputs.push_back(argument);
  }
  for (std::string &bytes : out) {
    program::TensorArgument argument;
    argument.data = bytes.data();
    argument.sizeBytes = bytes.size();
    outputs.push_back(argument);
  }
  std::vector<program::OutputShape> shapes;
  GANTRY_ASSIGN_OR_RETURN(auto run, session->submit(inputs, outputs, shapes));
  GANTRY_RETURN_IF_ERROR(run->wait(UINT64_MAX).status());
  for (size_t i = 0; i < out.size(); ++i) {
    const Tensor found = Tensor::fromBytes(Type::kF32, test.outputs[i].dims, out[i].data());
    for (size_t e = 0; e < found.values.size(); ++e)
      if (found.values[e] != test.outputs[i].values[e])
        return statusf(StatusCode::kInternal, "output %zu, element %zu is %g, expected %g", i, e,
                       found.values[e], test.outputs[i].values[e]);
  }
  return {};
}

class Test {
public:
  Test(const Options &options, std::shared_ptr<device::Device> device)
      : options_(options), device_(std::move(device)) {}

  int run() {
    auto heap = heap::Heap::create(device_, {});
    if (!heap.isOk()) {
      std::printf("%s\n", heap.status().message().c_str());
      return 1;
    }
    heap_ = heap.take();
    std::printf("seed %llu\n", static_cast<unsigned long long>(options_.seed));
    for (int64_t i = 0; i < options_.count; ++i)
      if (options_.only < 0 || i == options_.only)
        for (const std::string &profile : options_.profiles)
          check(i, profile);
    if (const uint64_t messages = device_->validationMessages()) {
      std::printf("FAILED: %llu messages from the validation layers\n",
                  static_cast<unsigned long long>(messages));
      ++failures_;
    }
    if (refused_ < options_.overlaps ||
        (programs_ >= 10 && (shared_ == 0 || sharedOutputs_ == 0 || refusedParts_ == 0 ||
                             refusedOverInputs_ == 0 || refusedInPlace_ == 0 || unwritten_ == 0))) {
      std::printf("FAILED: too few programs with parts, or overlaps\n");
      ++failures_;
    }
    std::printf(
        "%lld programs, %lld with parts of other values, %lld with parts of outputs, %lld "
        "overlaps refused, %lld of them of parts, %lld over donated inputs, %lld wrong results "
        "in place refused, %lld missing writes refused, %d failures\n",
        static_cast<long long>(programs_), static_cast<long long>(shared_),
        static_cast<long long>(sharedOutputs_), static_cast<long long>(refused_),
        static_cast<long long>(refusedParts_), static_cast<long long>(refusedOverInputs_),
        static_cast<long long>(refusedInPlace_), static_cast<long long>(unwritten_), failures_);
    return failures_ == 0 && programs_ > 0 ? 0 : 1;
  }

private:
  void check(int64_t index, const std::string &profile) {
    const uint64_t seed = options_.seed * 1000003 + static_cast<uint64_t>(index);
    const GraphCase test = randomGraph(seed);
    ScratchFolder scratch;
    std::string problem = compile(test, scratch.path(""), profile);
    if (problem.empty())
      problem = checkArtifact(test, scratch.path("model.gantry"), seed);
    if (problem.empty())
      return;
    ++failures_;
    std::printf("FAILED %s\n  for %s: %s\n  again: random_graphs --seed %llu --count %lld --only "
                "%lld --profile %s\n",
                test.what.c_str(), profile.c_str(), problem.c_str(),
                static_cast<unsigned long long>(options_.seed),
                static_cast<long long>(options_.count), static_cast<long long>(index),
                profile.c_str());
  }

  std::string checkArtifact(const GraphCase &test, const std::string &path, uint64_t seed) {
    auto whole = program::Program::load(path);
    if (!whole.isOk())
      return whole.status().message();
    auto program = (*whole)->variant(0); // Its sessions run the variant for the tested profile.
    if (!program.isOk())
      return program.status().message();
    ++programs_;
    using program::BindingChoice;
    for (const auto &[binding, name] : {std::pair{BindingChoice::kStorageBuffer, "storage buffers"},
                                        std::pair{BindingChoice::kAddress, "addresses"},
                                        std::pair{BindingChoice::kTexel, "texels"}})
      for (const bool checkMemory : {false, true})
        if (Status status = runAndCompare(test, *program, heap_, binding, checkMemory);
            !status.isOk())
          return std::string("with ") + name + (checkMemory ? ", checked: " : ": ") +
                 status.message();
    return checkStorageOf((*program)->metadata(), seed);
  }

  /// Checks the program's barriers against the ranges of the arena and of outputs that a session
  /// binds.
  static Status checkBarriers(const artifact::Program &metadata, const program::ShapePlan &plan) {
    std::vector<hazards::Command> commands;
    for (uint32_t c = 0; c < metadata.commands()->size(); ++c) {
      const artifact::Command &source = *metadata.commands()->Get(c);
      hazards::Command command{{}, plan.barrierBefore[c]};
      for (uint32_t b = 0; b < source.bindings()->size(); ++b) {
        const uint32_t value = source.bindings()->Get(b);
        const artifact::Value &entry = *metadata.values()->Get(value);
        const bool write = source.writes()->Get(b) != 0;
        if (entry.storage() == artifact::Storage::transient)
          command.accesses.push_back({0, plan.offsets[value], plan.spanBytes[value], write});
        else if (entry.base() != kNone)
          command.accesses.push_back(
              {entry.base() + 1, plan.partOffsets[value], plan.spanBytes[value], write});
        else
          command.accesses.push_back({value + 1, 0, plan.spanBytes[value], write});
      }
      commands.push_back(std::move(command));
    }
    return hazards::checkHazards(commands);
  }

  std::string checkStorageOf(const artifact::Program &metadata, uint64_t seed) {
    auto plan = program::makeShapePlan(metadata, {}, {});
    if (!plan.isOk())
      return plan.status().message();
    if (Status status = program::checkStorage(metadata, *plan); !status.isOk())
      return "the checker refuses the program: " + status.message();
    if (Status status = checkBarriers(metadata, *plan); !status.isOk())
      return status.message();
    bool hasParts = false, hasPartsOfOutputs = false;
    for (const artifact::Value *value : *metadata.values())
      if (value->base() != kNone) {
        hasParts = true;
        hasPartsOfOutputs |= value->storage() == artifact::Storage::output;
        if (value->storage() == artifact::Storage::transient &&
            value->last_use() < metadata.values()->Get(value->base())->last_use())
          return "the part " + value->name()->str() + " ends before the last use of its base";
      }
    shared_ += hasParts ? 1 : 0;
    sharedOutputs_ += hasPartsOfOutputs ? 1 : 0;
    OverlapMaker overlaps(metadata, *plan, seed);
    for (int i = 0; i < 3 && overlaps.canMake(); ++i)
      if (std::string problem = checkRefusal(metadata, overlaps); !problem.empty())
        return problem;
    if (std::string problem = checkInPlaceFaults(metadata, *plan); !problem.empty())
      return problem;
    return checkMissingWrite(metadata, *plan);
  }

  /// Checks a program that was changed.
  static Status checkChanged(const artifact::ProgramT &changed, const program::ShapePlan &plan) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Program::Pack(builder, &changed));
    return program::checkStorage(
        *flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer()), plan);
  }

  std::string checkInPlaceFaults(const artifact::Program &metadata,
                                 const program::ShapePlan &plan) {
    for (const InPlaceFault &fault : makeInPlaceFaults(metadata, plan)) {
      if (checkChanged(fault.program, fault.plan).isOk())
        return "the checker accepts a wrong result in place, " + fault.what;
      ++refusedInPlace_;
    }
    return "";
  }

  /// Removes a command that writes an output or a part of one, and whose result no command reads.
  /// The checker must refuse the program, because the caller would read bytes that nothing has
  /// written.
  std::string checkMissingWrite(const artifact::Program &metadata, const program::ShapePlan &plan) {
    std::vector<bool> isRead(metadata.values()->size()), isShared(metadata.values()->size());
    for (uint32_t v = 0; v < metadata.values()->size(); ++v)
      if (const uint32_t base = metadata.values()->Get(v)->base(); base != kNone)
        isShared[v] = isShared[base] = true;
    for (const artifact::Command *command : *metadata.commands())
      for (uint32_t b = 0; b < command->bindings()->size(); ++b)
        if (!command->writes()->Get(b))
          isRead[command->bindings()->Get(b)] = true;
    for (uint32_t c = 0; c < metadata.commands()->size(); ++c) {
      const artifact::Command &command = *metadata.commands()->Get(c);
      for (uint32_t b = 0; b < command.bindings()->size(); ++b) {
        const uint32_t value = command.bindings()->Get(b);
        if (!command.writes()->Get(b) || isRead[value] || isShared[value] ||
            plan.sizeBytes[value] == 0 ||
            metadata.values()->Get(value)->storage() != artifact::Storage::output)
          continue;
        const std::unique_ptr<artifact::ProgramT> copy(metadata.UnPack());
        copy->commands.erase(copy->commands.begin() + c);
        const Status refusal = checkChanged(*copy, plan);
        if (refusal.message().find("no command has written") == std::string::npos)
          return "without the command that writes " + metadata.values()->Get(value)->name()->str() +
                 ", the checker says: " + (refusal.isOk() ? "no fault" : refusal.message());
        ++unwritten_;
        return "";
      }
    }
    return "";
  }

  /// Injects an overlap, which the checker must refuse with a message that names the moved value or
  /// another part of its storage.
  std::string checkRefusal(const artifact::Program &metadata, OverlapMaker &overlaps) {
    const OverlapMaker::Overlap overlap = overlaps.make();
    const Status refusal = program::checkStorage(metadata, overlap.plan);
    if (refusal.isOk())
      return "the checker accepts an illegal overlap: " + overlap.what;
    bool isNamed = false;
    for (uint32_t v = 0; v < metadata.values()->size(); ++v)
      isNamed |=
          overlaps.storageOf(v) == overlap.storage &&
          std::regex_search(refusal.message(), std::regex("value " + std::to_string(v) + "\\b"));
    if (!isNamed)
      return "the message does not name " + overlap.what + ": " + refusal.message();
    ++refused_;
    refusedParts_ += overlap.isPart ? 1 : 0;
    refusedOverInputs_ += overlap.isOverInput ? 1 : 0;
    return "";
  }

  const Options options_;
  const std::shared_ptr<device::Device> device_;
  std::shared_ptr<heap::Heap> heap_;
  int64_t programs_ = 0, shared_ = 0, sharedOutputs_ = 0, refused_ = 0, refusedParts_ = 0;
  int64_t refusedOverInputs_ = 0, refusedInPlace_ = 0, unwritten_ = 0;
  int failures_ = 0;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    char *end = nullptr;
    const char *text = i + 1 < argc ? argv[i + 1] : "";
    const long long value = std::strtoll(text, &end, 10);
    if (name == "--profile" && *text != '\0') {
      options.profiles.emplace_back(text);
      continue;
    }
    if (*text == '\0' || *end != '\0' || value < 0 ||
        (name != "--seed" && name != "--count" && name != "--only" && name != "--overlaps")) {
      std::fprintf(stderr,
                   "cannot use %s '%s'; known are --seed, --count, --only and --overlaps with a "
                   "number of at least 0, and --profile with a name\n",
                   name.c_str(), text);
      std::exit(2);
    }
    if (name == "--seed")
      options.seed = static_cast<uint64_t>(value);
    else
      (name == "--count"  ? options.count
       : name == "--only" ? options.only
                          : options.overlaps) = value;
  }
  if (options.profiles.empty())
    options.profiles = {"vulkan:generic", "vulkan:lavapipe", "vulkan:dot-products"};
  return options;
}

} // namespace
} // namespace gantry::test

int main(int argc, char **argv) {
  const gantry::test::Options options = gantry::test::parse(argc, argv);
  auto device = gantry::vulkan::openDevice("");
  if (!device.isOk()) {
    std::printf("skipped: %s\n", device.status().message().c_str());
    return gantry::test::kSkipped;
  }
  return gantry::test::Test(options, device.take()).run();
}
