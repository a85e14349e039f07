// Implements tuning_table.h.
#include "codegen/tuning/tuning_table.h"
#include "codegen/tuning/built_in_table.h"

#include "engine/base/file.h"

#include "llvm/Support/JSON.h"

namespace gantry::codegen {

namespace {

constexpr int64_t kVersion = 1;
constexpr size_t kMaxFileBytes = size_t{64} << 20;
constexpr int kMaxNesting = 32; // Limits the recursion of LLVM's JSON parser.

Status malformed(const std::string &name, const std::string &why) {
  return Status(StatusCode::kInvalidArgument, name + ": " + why);
}

/// Returns the deepest nesting of arrays and objects in a JSON text.
int depthOf(std::string_view text) {
  int depth = 0, deepest = 0;
  bool inText = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inText) {
      i += c == '\\';
      inText = c != '"';
    } else if (c == '"') {
      inText = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

std::string kindNames() {
  std::string names;
  for (unsigned kind = 0; kind <= getMaxEnumValForTileKind(); ++kind)
    names += (kind > 0 ? ", " : "") + stringifyTileKind(static_cast<TileKind>(kind)).str();
  return names;
}

/// Reads the entry of one kernel. The message of an error continues the sentence "kernel ...".
Result<MeasuredTile> tileOf(const llvm::json::Value &value) {
  auto wrong = [](const std::string &why) { return Status(StatusCode::kInvalidArgument, why); };
  const llvm::json::Object *entry = value.getAsObject();
  if (!entry)
    return wrong("is not an object");
  const auto tile = entry->getString("tile");
  if (!tile || tile->empty())
    return wrong("has no \"tile\"");
  MeasuredTile result;
  for (auto [name, ns] : {std::pair("ns", &result.ns), {"predicted_ns", &result.predictedNs}}) {
    const llvm::json::Value *time = entry->get(name);
    if (time && !time->getAsNumber())
      return wrong("has a time that is not a number");
    *ns = time ? *time->getAsNumber() : 0;
    if (!(*ns >= 0))
      return wrong("has a time that is negative");
  }
  const auto [kindName, text] = tile->split(' ');
  const std::optional<TileKind> kind = symbolizeTileKind(kindName);
  if (!kind || text.empty())
    return wrong("has a \"tile\" that is not a kind, a space and a text; the kinds are " +
                 kindNames());
  result.kind = *kind;
  result.tile = text.str();
  return result;
}

} // namespace

Result<TuningTable> TuningTable::parse(std::string_view text, const std::string &name,
                                       const std::string &profile) {
  if (text.size() > kMaxFileBytes || depthOf(text) > kMaxNesting)
    return malformed(name,
                     "is not a table of measured tiles: it is too large (more than 64 MiB) or "
                     "nested too deeply (more than 32 levels of lists and objects)");
  auto json = llvm::json::parse(llvm::StringRef(text.data(), text.size()));
  if (!json) {
    std::string why = llvm::toString(json.takeError());
    return malformed(name, "is not JSON: " + why.substr(0, why.find('\n')));
  }
  const llvm::json::Object *root = json->getAsObject();
  const auto version = root ? root->getInteger("gantry_tuning") : std::nullopt;
  if (!version || *version < 1)
    return malformed(name, "is not a table of measured tiles: it has no \"gantry_tuning\": 1");
  if (*version > kVersion)
    return Status(StatusCode::kVersionMismatch, name + ": has version " + std::to_string(*version) +
                                                    "; this compiler reads versions up to " +
                                                    std::to_string(kVersion));
  const llvm::json::Array *devices = root->getArray("devices");
  if (!devices)
    return malformed(name, "has no list of \"devices\"");
  TuningTable table;
  for (const llvm::json::Value &value : *devices) {
    const llvm::json::Object *device = value.getAsObject();
    const auto deviceProfile = device ? device->getString("profile") : std::nullopt;
    const auto deviceName = device ? device->getString("device") : std::nullopt;
    const llvm::json::Object *kernels = device ? device->getObject("kernels") : nullptr;
    if (!deviceProfile || !deviceName || !kernels)
      return malformed(name, "device " + std::to_string(&value - devices->data()) +
                                 " lacks \"profile\", \"device\" or \"kernels\"");
    for (const auto &[key, entry] : *kernels) {
      Result<MeasuredTile> tile = tileOf(entry);
      if (!tile.isOk())
        return malformed(name, "kernel \"" + key.str() + "\" of \"" + deviceName->str() + "\" " +
                                   tile.status().message());
      tile->device = deviceName->str();
      if (*deviceProfile == profile)
        table.tiles_.try_emplace(key.str(), tile.take());
    }
  }
  return table;
}

Result<TuningTable> TuningTable::read(const std::string &path, const std::string &profile) {
  GANTRY_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse({reinterpret_cast<const char *>(file.bytes().data()), file.bytes().size()}, path,
               profile);
}

TuningTable TuningTable::builtIn(const std::string &profile) {
  Result<TuningTable> table = parse(kBuiltInTable, "built-in table", profile);
  return table.isOk() ? table.take() : TuningTable(); // A unit test checks that the table is valid.
}

const MeasuredTile *TuningTable::find(const std::string &key) const {
  const auto found = tiles_.find(key);
  return found == tiles_.end() ? nullptr : &found->second;
}

} // namespace gantry::codegen
