// memory_faults: checks a compiled model's use of memory, and injects faults into it.
//
//   memory_faults ARTIFACT [NAME=SIZE ...] [--max N]
//
// The arena's size in the heap's statistics must equal the plan's height. With the memory check
// (engine/program/memory_check.h: poison outside of lifetimes, canaries after values), the outputs
// must be bit-identical to those without it. The program then injects faults one at a time: it
// shifts a command's result by one element, or ends a slot's lifetime one command early. Each fault
// must cause an overwritten canary, an error or different outputs. At most N faults of each
// kind (default 60) are injected, spread over the model's commands and slots. Prints one line, and
// on stderr one line for each fault that was not detected. Exit codes: 0: success; 1: an error, a
// validation message, an undetected fault, or a model in which no fault is possible.
#include "backends/vulkan/vulkan.h"
#include "engine/program/session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

using namespace gantry;
using program::Session;

using Bytes = std::vector<std::vector<uint8_t>>;

[[noreturn]] void fail(const std::string &text) {
  std::fprintf(stderr, "memory_faults: %s\n", text.c_str());
  std::exit(1);
}

template <typename T> T orFail(Result<T> result) {
  if (!result.isOk())
    fail(result.status().message());
  return result.take();
}

class Model {
public:
  Model(const std::string &path, const std::map<std::string, int64_t> &dims)
      : program_(orFail(program::Program::load(path))), device_(orFail(vulkan::openDevice(""))),
        heap_(orFail(heap::Heap::create(device_, {}))) {
    uint64_t state = 1;
    for (const program::Port &port : program_->inputs()) {
      program::TensorShape shape{port.type, port.dims};
      for (size_t i = 0; i < shape.dims.size(); ++i)
        if (shape.dims[i] < 0) {
          auto given = dims.find(port.dimNames[i]);
          if (given == dims.end())
            fail("the size of a dynamic dimension is missing; give " + port.dimNames[i] + "=SIZE");
          shape.dims[i] = given->second;
        }
      std::vector<uint8_t> bytes(orFail(program::byteSize(shape, port.name)));
      fill(port.type, bytes, state);
      shapes_.push_back(shape);
      inputs_.push_back(std::move(bytes));
    }
  }

  void open(bool checkMemory) {
    program::SessionOptions options;
    options.binding = device_->profile().features.bufferDeviceAddress
                          ? program::BindingChoice::kAddress
                          : program::BindingChoice::kAuto;
    options.checkMemory = checkMemory;
    session_.reset();
    session_ = orFail(Session::create(program_, heap_, options));
  }

  Result<Bytes> run() {
    GANTRY_ASSIGN_OR_RETURN(const auto outputShapes, session_->outputShapes(shapes_));
    std::vector<program::TensorArgument> in(inputs_.size()), out(outputShapes.size());
    Bytes results(out.size());
    for (size_t i = 0; i < in.size(); ++i) {
      in[i].shape = shapes_[i];
      in[i].data = inputs_[i].data();
      in[i].sizeBytes = inputs_[i].size();
    }
    for (size_t i = 0; i < out.size(); ++i) {
      results[i].resize(outputShapes[i].sizeBytes);
      out[i].data = results[i].data();
      out[i].sizeBytes = results[i].size();
    }
    std::vector<program::OutputShape> shapes;
    GANTRY_ASSIGN_OR_RETURN(auto started, session_->submit(in, out, shapes));
    GANTRY_RETURN_IF_ERROR(started->wait(UINT64_MAX).status());
    return results;
  }

  /// Returns whether a run with these faults fails or gives different outputs.
  bool shows(const program::TestHooks &hooks, const Bytes &expected) {
    if (const Status status = session_->replaceHooks(hooks); !status.isOk())
      fail(status.message());
    const Result<Bytes> found = run();
    return !found.isOk() || *found != expected;
  }

  /// Returns the live bytes that the heap counts under a name.
  uint64_t heldBy(const char *name) const {
    std::vector<heap::NameStatistics> names(64);
    names.resize(heap_->names(names));
    for (const heap::NameStatistics &one : names)
      if (std::strcmp(one.name, name) == 0)
        return one.liveBytes;
    return 0;
  }

  Session &session() { return *session_; }
  const program::Program &program() const { return *program_; }
  device::Device &device() { return *device_; }

private:
  static void fill(artifact::ElementType type, std::vector<uint8_t> &bytes, uint64_t &state) {
    const uint64_t each = artifact::elementSize(type);
    for (size_t i = 0; i + each <= bytes.size(); i += each) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto small = static_cast<uint8_t>(state >> 60);
      const float number = static_cast<float>(state >> 40) / 8388608.0f - 1;
      if (type == artifact::ElementType::f32)
        std::memcpy(&bytes[i], &number, 4);
      else if (type == artifact::ElementType::bool8)
        bytes[i] = small & 1;
      else if (type >= artifact::ElementType::i8)
        bytes[i] = small; // The lowest byte; the others are 0.
      else
        bytes[i + each - 1] = 0x30 + (small & 7); // f16, bf16 and f64: positive and below 1.
    }
  }

  std::shared_ptr<const program::Program> program_;
  std::shared_ptr<device::Device> device_;
  std::shared_ptr<heap::Heap> heap_;
  std::vector<program::TensorShape> shapes_;
  Bytes inputs_;
  std::shared_ptr<Session> session_;
};

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    fail("usage: memory_faults ARTIFACT [NAME=SIZE ...] [--max N]");
  std::map<std::string, int64_t> dims;
  size_t maxFaults = 60;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (word == "--max" && i + 1 < argc)
      maxFaults = std::strtoull(argv[++i], nullptr, 10);
    else if (equals != std::string::npos)
      dims[word.substr(0, equals)] = std::strtoll(word.c_str() + equals + 1, nullptr, 10);
    else
      fail("unknown argument '" + word + "'");
  }
  Model model(argv[1], dims);
  model.open(false);
  const Bytes expected = orFail(model.run());
  const uint64_t height = model.session().statistics().arenaBytes, held = model.heldBy("arena");
  if (height != held)
    fail("the plan's height is " + std::to_string(height) + " bytes, but the heap counts " +
         std::to_string(held) + " bytes for the arena");

  model.open(true);
  if (orFail(model.run()) != expected)
    fail("the memory check changes the outputs");
  size_t faults = 0, missed = 0;
  auto judge = [&](const program::TestHooks &hooks, const std::string &what) {
    ++faults;
    if (model.shows(hooks, expected))
      return;
    ++missed;
    std::fprintf(stderr, "memory_faults: not detected: %s\n", what.c_str());
  };
  const auto &commands = *model.program().metadata().commands();
  for (uint32_t i = 0; i < commands.size(); i += 1 + commands.size() / maxFaults) {
    if (commands.Get(i)->kind() != artifact::CommandKind::dispatch ||
        !model.device().profile().features.bufferDeviceAddress)
      continue;
    program::TestHooks hooks;
    hooks.shiftOutputOfCommand = i;
    judge(hooks, "the result of command " + std::to_string(i) + " (" +
                     commands.Get(i)->name()->str() + "), shifted by one element");
  }
  const std::vector<program::Slot> slots = model.session().slotsOfLastRun();
  for (uint32_t i = 0; i < slots.size(); i += 1 + slots.size() / maxFaults) {
    if (slots[i].lastUse <= slots[i].firstUse || slots[i].sizeBytes == 0)
      continue;
    program::TestHooks hooks;
    hooks.shortenLifeOfSlot = i;
    judge(hooks, "slot " + std::to_string(i) + " (" +
                     model.program().metadata().values()->Get(slots[i].value)->name()->str() +
                     "), whose lifetime ended one command early");
  }
  const uint64_t messages = model.device().validationMessages();
  std::printf(
      "arena %llu bytes, as planned; %zu faults, %zu not detected; %llu validation messages\n",
      static_cast<unsigned long long>(height), faults, missed,
      static_cast<unsigned long long>(messages));
  return missed == 0 && messages == 0 && faults > 0 ? 0 : 1;
}
