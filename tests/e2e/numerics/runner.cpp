// Implements Runner: compiles, runs and folds the models of the special-value test and compares the
// results with the references.
#include "tests/e2e/numerics/runner.h"

#include "codegen/import/onnx/graph.h"
#include "codegen/import/onnx/import_error.h"
#include "codegen/pipeline.h"
#include "tests/support/onnx_model.h"
#include "tests/support/scratch.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <quadmath.h>

namespace gantry::numerics {

namespace {

/// A binding with which a profile's artifact is run.
struct Binding {
  const char *name;
  gantry_binding_t value;
};

struct Profile {
  const char *name;
  size_t tail; // Elements after the last whole vec4.
  std::vector<Binding> bindings;
};

const std::vector<Profile> &profiles() {
  static const Binding kStorage{"storage-buffer", GANTRY_BINDING_STORAGE_BUFFER},
      kAddress{"address", GANTRY_BINDING_ADDRESS}, kTexel{"texel", GANTRY_BINDING_TEXEL};
  static const std::vector<Profile> kProfiles = {
      {"vulkan:generic", 1, {kStorage, kAddress}},
      {"vulkan:lavapipe", 0, {kStorage, kAddress, kTexel}},
  };
  return kProfiles;
}

/// Returns whether compilation must refuse the case, because devices cannot compute it.
bool isHostOnly(const Case &test) {
  bool hostOnly = test.foldedOnly || test.result == GANTRY_TYPE_BF16;
  for (Type type : test.types)
    hostOnly |= type == GANTRY_TYPE_BF16;
  return hostOnly;
}

/// Compiles a model. Returns the error message, or "" on success.
std::string compile(const std::string &model, const std::string &path, const std::string &artifact,
                    const std::string &profile) {
  std::ofstream(path, std::ios::binary) << model;
  std::string message;
  codegen::CompileOptions options;
  options.profiles = {profile};
  options.diagnostic = [&](int severity, const std::string &text) {
    if (severity == 0)
      message += text;
  };
  const auto result = codegen::compileModel(path, artifact, options);
  return result == codegen::CompileResult::kOk ? "" : message.empty() ? "no message" : message;
}

gantry_tensor_t tensorOf(Type type, const std::vector<int64_t> &dims, std::vector<uint8_t> &bytes) {
  gantry_tensor_t tensor{};
  tensor.type = type;
  tensor.rank = static_cast<uint32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dims);
  tensor.data = bytes.data();
  tensor.size_bytes = bytes.size();
  return tensor;
}

std::vector<importer::Constant> constantsOf(const Model &model) {
  std::vector<importer::Constant> constants;
  for (const TensorData &data : model.inputs) {
    uint8_t *bytes = nullptr;
    auto tensor = importer::makeDense(importer::DType(data.type), data.dims, bytes);
    const auto source = data.bytes();
    std::copy(source.begin(), source.end(), bytes);
    constants.push_back(tensor);
  }
  return constants;
}

int64_t countOf(const std::vector<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

Quad flushed(Type type, Quad value) {
  return isDenormal(type, value) ? copysignq(0, value) : value;
}

struct Verdict {
  bool right = false, isFlushed = false;
  double ulp = 0;
};

Verdict compare(const Case &test, const Number &result, const Expected &expected) {
  Verdict verdict;
  if (expected.undefined) {
    verdict.right = true;
    return verdict;
  }
  if (!isFloat(test.result)) {
    verdict.right = result.i == expected.value.i;
    return verdict;
  }
  const Quad exact = expected.value.f, nearest = rounded(test.result, exact);
  if (test.boundUlp == 0) {
    verdict.right = isnanq(nearest)
                        ? isnanq(result.f)
                        : result.f == nearest && signbitq(result.f) == signbitq(nearest);
    return verdict;
  }
  // If the exact value is zero or infinite, the result must equal it, including the sign of a zero.
  verdict.ulp = distanceInUlp(test.result, result.f, exact, expected.scale);
  verdict.right = verdict.ulp <= test.boundUlp &&
                  (exact != 0 || (result.f == 0 && signbitq(result.f) == signbitq(exact)));
  return verdict;
}

/// Compares a result with those that a device which flushes denormals may give: the device may
/// treat any subset of the denormal arguments (of the first 9) as zeros, and may flush the result.
Verdict compareFlushed(const Case &test, const Number &result, const std::vector<Number> &arguments,
                       size_t position) {
  Verdict best;
  const size_t choices = size_t(1) << std::min<size_t>(arguments.size(), 9);
  for (size_t choice = 0; choice < choices; ++choice) {
    std::vector<Number> changed = arguments;
    bool differs = choice == 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Type type = test.types[std::min(i, test.types.size() - 1)];
      if (!(choice >> i & 1) || !isFloat(type))
        continue;
      changed[i].f = flushed(computeType(type), arguments[i].f);
      differs |= changed[i].f != arguments[i].f;
    }
    if (!differs)
      continue;
    Expected expected = test.reference(changed, position);
    Verdict verdict = compare(test, result, expected);
    const Type compute = computeType(test.result);
    if (!verdict.right && isFloat(test.result) && result.f == 0 &&
        fabsq(expected.value.f) <= smallestNormal(compute)) {
      expected.value.f = copysignq(0, expected.value.f);
      verdict = compare(test, result, expected);
    }
    if (verdict.right) {
      verdict.isFlushed = true;
      return verdict;
    }
  }
  return best;
}

} // namespace

void Runner::judge(const Model &model, const std::vector<std::vector<uint8_t>> &results,
                   const std::string &where, bool flushes) {
  const bool onHost = where == "host";
  for (size_t k = 0; k < model.outputs.size(); ++k) {
    const Output &output = model.outputs[k];
    const Case &test = *output.test;
    const size_t size = gantry_type_size(test.result);
    size_t count = 0, flushedCount = 0;
    double ulp = 0;
    for (size_t i = 0; i < output.arguments.size(); ++i) {
      const Number result = decode(test.result, &results[k][i * size]);
      const Expected &expected = output.expected[i];
      Verdict verdict = compare(test, result, expected);
      if (!verdict.right && flushes)
        verdict = compareFlushed(test, result, output.arguments[i], output.positions[i]);
      if (verdict.right) {
        ++count;
        flushedCount += verdict.isFlushed;
        ulp = std::max(ulp, verdict.isFlushed ? 0 : verdict.ulp);
        continue;
      }
      Number right = expected.value;
      if (isFloat(test.result))
        right.f = rounded(test.result, right.f);
      char distance[64] = "";
      if (test.boundUlp > 0)
        std::snprintf(distance, sizeof distance, ", %.3g ulp off (allowed %g)",
                      distanceInUlp(test.result, result.f, expected.value.f, expected.scale),
                      test.boundUlp);
      report_.failure(test, where,
                      "(" + describe(test.types, output.arguments[i]) + ") gives " +
                          describe(test.result, result) + ", expected " +
                          describe(test.result, right) + distance);
    }
    report_.passed(test, onHost, count, ulp, flushedCount);
  }
}

void Runner::runDevice(Type type, const Model &model, const std::string &profile,
                       size_t maxBindings) {
  test::ScratchFolder scratch;
  const std::string artifact = scratch.path("model.gantry");
  if (const std::string error = compile(model.bytes, scratch.path("model.onnx"), artifact, profile);
      !error.empty())
    return report_.problem(std::string("the model of ") + gantry_type_name(type) + " for " +
                           profile + " does not compile: " + error);
  auto program = Program::load(artifact);
  if (!program)
    return report_.problem(program.error().message());
  size_t ran = 0;
  for (const Profile &known : profiles())
    for (const Binding &binding : known.bindings) {
      if (known.name != profile || ran++ >= maxBindings)
        continue;
      const std::string where = profile + ", " + binding.name;
      gantry_session_options_t options{};
      options.struct_size = sizeof options;
      options.binding = binding.value;
      options.cache_path = "";
      auto session = Session::create(*program, *device_, &options);
      if (!session)
        return report_.problem(where + ": " + session.error().message());
      std::vector<std::vector<uint8_t>> inputBytes, results;
      std::vector<gantry_tensor_t> inputs, outputs;
      for (const TensorData &data : model.inputs)
        inputBytes.push_back(data.bytes());
      for (size_t i = 0; i < model.inputs.size(); ++i)
        inputs.push_back(tensorOf(model.inputs[i].type, model.inputs[i].dims, inputBytes[i]));
      for (const Output &output : model.outputs)
        results.emplace_back(static_cast<size_t>(countOf(output.dims)) *
                             gantry_type_size(output.test->result));
      for (size_t i = 0; i < model.outputs.size(); ++i)
        outputs.push_back(
            tensorOf(model.outputs[i].test->result, model.outputs[i].dims, results[i]));
      if (Error error = session->run(inputs, outputs); !error.ok())
        return report_.problem(where + ": " + error.message());
      judge(model, results, where, report_.anyFlushes());
    }
}

void Runner::runHost(const std::vector<const Case *> &group) {
  test::ScratchFolder scratch;
  const Model model = makeModel(group, 1);
  const std::string path = scratch.path("model.onnx");
  std::ofstream(path, std::ios::binary) << model.bytes;
  std::vector<std::vector<uint8_t>> results;
  try {
    for (const importer::Constant &constant : importer::evaluateOnnx(path, constantsOf(model))) {
      const uint64_t size = importer::dtypeSize(constant->type);
      results.emplace_back();
      for (int64_t i = 0; i < constant->elementCount(); ++i) {
        const uint8_t *element = constant->bytes.data() + (constant->splat ? 0 : i * size);
        results.back().insert(results.back().end(), element, element + size);
      }
    }
  } catch (const importer::ImportError &error) {
    return report_.problem("a model cannot be folded on the host: " + error.message);
  }
  judge(model, results, "host", false);
}

void Runner::expectRefusal(const Case &test, const std::string &words, bool onHost) {
  test::ScratchFolder scratch;
  const Model model = makeModel({&test}, 0);
  const std::string path = scratch.path("model.onnx");
  const std::string error =
      compile(model.bytes, path, scratch.path("model.gantry"), "vulkan:generic");
  if (error.find(words) == std::string::npos)
    report_.failure(test, "vulkan:generic",
                    "must be refused with \"" + words +
                        "\": " + (error.empty() ? "it compiles" : error));
  if (!onHost)
    return;
  std::string message = "it is folded";
  try {
    importer::evaluateOnnx(path, constantsOf(model));
  } catch (const importer::ImportError &failure) {
    message = failure.message;
  }
  if (message.find(words) == std::string::npos)
    report_.failure(test, "host", "must be refused with \"" + words + "\": " + message);
}

void Runner::runGroup(Type type, const std::vector<const Case *> &group) {
  std::vector<const Case *> onDevice, onHost;
  for (const Case *test : group) {
    if (!test->refusal.empty()) {
      expectRefusal(*test, test->refusal, true);
      continue;
    }
    onHost.push_back(test);
    if (!isHostOnly(*test))
      onDevice.push_back(test);
  }
  if (!onHost.empty())
    runHost(onHost);
  if (!device_)
    return;
  for (const Case *test : onHost)
    if (isHostOnly(*test) && test->constantInput < 0 && test->variant.empty())
      expectRefusal(*test, "not supported yet", false);
  if (onDevice.empty())
    return;
  for (const Profile &profile : profiles())
    runDevice(type, makeModel(onDevice, profile.tail), profile.name);
  std::vector<const Case *> elementary;
  std::copy_if(onDevice.begin(), onDevice.end(), std::back_inserter(elementary),
               [](const Case *test) { return isElementary(*test); });
  if (elementary.empty())
    return;
  const Model dense = makeDenseModel(elementary);
  for (const Profile &profile : profiles())
    runDevice(type, dense, profile.name, 1); // One binding, as all compute the same.
}

void Runner::measureDenormals() {
  if (!device_)
    return;
  for (Type type : {GANTRY_TYPE_F32, GANTRY_TYPE_F16, GANTRY_TYPE_F64})
    report_.denormals(type, flushesDenormals(type));
}

/// Multiplies a denormal number by 1. Returns whether the result is zero. If the device cannot run
/// this probe, the function reports a problem and returns false.
bool Runner::flushesDenormals(Type type) {
  test::ScratchFolder scratch;
  test::OnnxModel onnx;
  for (const char *name : {"x", "one"})
    onnx.input(name, {"4"}, onnxTypeOf(type));
  onnx.node("Mul", {"x", "one"}, {"y"});
  onnx.output("y", {"4"}, onnxTypeOf(type));
  const std::string artifact = scratch.path("model.gantry");
  if (const std::string error =
          compile(onnx.bytes(), scratch.path("model.onnx"), artifact, "vulkan:generic");
      !error.empty()) {
    report_.problem("the probe of denormal numbers does not compile: " + error);
    return false;
  }
  Number tiny, one;
  tiny.f = smallestNormal(type) / 2;
  one.f = 1;
  const TensorData x{"x", type, {4}, std::vector<Number>(4, tiny)},
      y{"one", type, {4}, std::vector<Number>(4, one)};
  std::vector<uint8_t> xBytes = x.bytes(), oneBytes = y.bytes(), result(xBytes.size());
  auto program = Program::load(artifact);
  auto session =
      program ? Session::create(*program, *device_) : gantry::Expected<Session>(program.error());
  if (!session) {
    report_.problem("the probe of denormal numbers does not run: " + session.error().message());
    return false;
  }
  std::vector<gantry_tensor_t> outputs{tensorOf(type, {4}, result)};
  if (Error error =
          session->run({tensorOf(type, {4}, xBytes), tensorOf(type, {4}, oneBytes)}, outputs);
      !error.ok()) {
    report_.problem("the probe of denormal numbers does not run: " + error.message());
    return false;
  }
  return decode(type, result.data()).f == 0;
}

} // namespace gantry::numerics
