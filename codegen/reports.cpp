// Implements reports.h.
#include "codegen/reports.h"

#include "engine/base/file.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace gantry::codegen {

using namespace mlir;

namespace {

/// The location that PlaceKeeper keeps for the current thread.
thread_local std::optional<Location> placeOfPass;

/// Returns whether MLIR's verifier wrote the text, such as "'spirv.GL.UMin' op operand #0 must".
bool isVerifierText(StringRef text) {
  return text.starts_with("'") && text.drop_front().split('\'').second.starts_with(" op ");
}

/// Returns the first file, line and name in a location as text.
std::string placeOf(Location loc) {
  std::string file, name;
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    if (auto line = dyn_cast<FileLineColLoc>(inner); line && file.empty())
      file = line.getFilename().str() +
             (line.getLine() ? ":" + std::to_string(line.getLine()) : std::string());
    return WalkResult::advance();
  });
  if (!name.empty())
    file += (file.empty() ? "" : " ") + ("(" + name + ")");
  return file;
}

} // namespace

void IrDumper::runAfterPass(Pass *pass, Operation *op) {
  StringRef name = pass->getArgument();
  if (name.empty() || (!only_.empty() && name != only_))
    return;
  std::string where;
  if (auto module = dyn_cast<ModuleOp>(op); module && module.getName())
    where = "." + module.getName()->str();
  // Other threads change other kernels at the same time, so the printer may only read `op`. The
  // verifier is switched off, because it would start tasks on the thread pool that runs this
  // function.
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags()
                        .assumeVerified()
                        .useLocalScope()
                        .elideLargeElementsAttrs(32)
                        .elideLargeResourceString(32));
  stream << '\n';
  char number[16];
  {
    std::lock_guard<std::mutex> lock(mutex_);
    std::snprintf(number, sizeof number, "%03u-", count_++);
  }
  Status written =
      writeFileAtomically(folder_ + "/" + number + name.str() + where + ".mlir", stream.str());
  std::lock_guard<std::mutex> lock(mutex_);
  if (status_.isOk())
    status_ = std::move(written);
}

void PlaceKeeper::runBeforePass(Pass *, Operation *op) { placeOfPass = op->getLoc(); }
void PlaceKeeper::runAfterPass(Pass *, Operation *) { placeOfPass.reset(); }
void PlaceKeeper::runAfterPassFailed(Pass *, Operation *) { placeOfPass.reset(); }

LogicalResult DiagnosticForwarder::forward(Diagnostic &diagnostic) {
  std::lock_guard<std::mutex> lock(mutex_);
  int severity = diagnostic.getSeverity() == DiagnosticSeverity::Error     ? 0
                 : diagnostic.getSeverity() == DiagnosticSeverity::Warning ? 1
                                                                           : 2;
  if (severity == 0 && sawError_)
    return success();
  sawError_ |= severity == 0;
  std::string text = diagnostic.str(), place = placeOf(diagnostic.getLocation());
  if (placeOfPass && place.empty())
    place = placeOf(*placeOfPass);
  // The verifier accepted the imported module, so an error of the verifier after a pass is a
  // defect in the compiler.
  if (placeOfPass && severity == 0 && isVerifierText(text))
    text =
        "the compiler made code that is not valid, which is a defect in Gantry; please report it "
        "with the model: " +
        text;
  for (char &c : text)
    if (c == '\n')
      c = ' ';
  if (options_.diagnostic)
    options_.diagnostic(severity, place.empty() ? text : place + ": " + text);
  return success();
}

} // namespace gantry::codegen
