// Writes the files that the scenario of every_function.h needs to a temporary folder. Any user may
// read and write the folder, because limits_test runs the scenario as another user.
#pragma once

#include "tests/engine/capi/every_function.h"
#include "tests/support/scratch.h"
#include "tests/support/test_model.h"

#include <sys/stat.h>

namespace gantry::test {

/// Writes the chain of test_model.h with n = 16 or a dynamic n. Returns whether this succeeded.
inline bool writeChain(const std::string &path, bool dynamic) {
  TestModel model;
  buildChain(model, dynamic ? model.symbol("n", 0, 0, 1, 64) : model.number(16),
             std::vector<float>(64, 3.0F));
  return model.write(path).isOk() && chmod(path.c_str(), 0644) == 0;
}

/// Writes a program that doubles its state "w".
inline bool writeStateModel(const std::string &path) {
  TestModel model;
  const uint32_t w = model.input("w", ElementType::f32, {model.number(16)});
  const uint32_t next = model.apply(TestKernel::kTwice, {w}, "Twice_0");
  model.output("w_next", next);
  model.state(w, next);
  return model.write(path).isOk() && chmod(path.c_str(), 0644) == 0;
}

/// The files and their folder. The destructor deletes the folder. isReady is false if a file could
/// not be written.
class FaultFiles {
public:
  FaultFiles() {
    chmod(folder_.path("").c_str(), 0777);
    files.staticModel = folder_.path("static.gantry");
    files.dynamicModel = folder_.path("dynamic.gantry");
    files.capture = folder_.path("capture.gtrace");
    files.flight = folder_.path("flight.gtrace");
    files.stateModel = folder_.path("state.gantry");
    files.savedState = folder_.path("saved.state");
    isReady = writeChain(files.staticModel, false) && writeChain(files.dynamicModel, true) &&
              writeStateModel(files.stateModel);
    artifact_ = readBytes(files.staticModel);
    files.artifact = artifact_.data();
    files.artifactBytes = artifact_.size();
  }

  std::string path(const std::string &name) const { return folder_.path(name); }

  bool isReady = false;
  ScenarioFiles files;

private:
  ScratchFolder folder_;
  std::vector<uint8_t> artifact_;
};

} // namespace gantry::test
