// Checks the descriptions of the chains of operators that are computed in strips of rows.
#include "engine/artifact/verify.h"

namespace gantry::artifact {

Status checkStrips(const Program &program) {
  for (uint32_t i = 0; program.strips() && i < program.strips()->size(); ++i) {
    const StripChain &chain = *program.strips()->Get(i);
    const std::string owner = "strips[" + std::to_string(i) + "]";
    if (!chain.first() || !chain.last())
      return {StatusCode::kDataLoss, owner + ": the name of its first or last operator is missing"};
    if (chain.count() < 2)
      return {StatusCode::kDataLoss,
              owner + ": " + std::to_string(chain.count()) + " strips; at least 2 are needed"};
  }
  return Status::ok();
}

} // namespace gantry::artifact
