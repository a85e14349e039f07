// Writes and parses state files.
#include "engine/program/states/state_file.h"

#include "engine/artifact/format.h"
#include "engine/base/align.h"
#include "engine/base/file.h"

#include <cinttypes>
#include <cstring>
#include <set>

namespace gantry::program {

namespace {

std::span<const uint8_t> bytesOf(const auto &object) {
  return {reinterpret_cast<const uint8_t *>(&object), sizeof(object)};
}

uint64_t headerHashOf(const StateFileHeader &header) {
  return artifact::hashBytes(bytesOf(header).first(offsetof(StateFileHeader, headerHash)));
}

Status damaged(const std::string &path, const std::string &what) {
  return {StatusCode::kDataLoss,
          "'" + path + "' is a damaged state file: " + what + "; restore an older save"};
}

/// Returns the records and the names, which precede the tensors in the file. Sets fileBytes to the
/// size of the whole file.
std::vector<uint8_t> makeTable(std::span<const SavedTensor> tensors, uint64_t &fileBytes) {
  uint64_t tableBytes = tensors.size() * sizeof(StateFileRecord);
  for (const SavedTensor &tensor : tensors)
    tableBytes += tensor.name.size();
  std::vector<uint8_t> table(tableBytes);
  uint64_t name = tensors.size() * sizeof(StateFileRecord);
  uint64_t end = sizeof(StateFileHeader) + tableBytes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const SavedTensor &tensor = tensors[i];
    StateFileRecord record = {};
    record.nameBytes = static_cast<uint32_t>(tensor.name.size());
    record.type = static_cast<uint8_t>(tensor.shape.type);
    record.rank = static_cast<uint8_t>(tensor.shape.dims.size());
    std::copy(tensor.shape.dims.begin(), tensor.shape.dims.end(), record.dims);
    record.offset = roundUp(end, kStateFileAlignment);
    record.sizeBytes = tensor.bytes.size();
    end = record.offset + record.sizeBytes;
    std::memcpy(&table[i * sizeof(record)], &record, sizeof(record));
    std::memcpy(&table[name], tensor.name.data(), tensor.name.size());
    name += tensor.name.size();
  }
  fileBytes = end;
  return table;
}

/// Parses the records of a file whose checksums are right. Such a file may still hold wrong
/// numbers, for example if an attacker made it, so all numbers are checked as well.
class Parser {
public:
  Parser(std::span<const uint8_t> file, const StateFileHeader &header, const std::string &path)
      : file_(file), header_(header), path_(path) {}

  Result<std::vector<SavedTensor>> run() {
    const uint64_t recordBytes = uint64_t{header_.entryCount} * sizeof(StateFileRecord);
    if (header_.tableBytes > file_.size() - sizeof(StateFileHeader) ||
        recordBytes > header_.tableBytes)
      return damaged(path_, "its table of tensors does not fit into the file");
    names_ = file_.subspan(sizeof(StateFileHeader) + recordBytes, header_.tableBytes - recordBytes);
    end_ = sizeof(StateFileHeader) + header_.tableBytes;
    std::vector<SavedTensor> tensors;
    for (uint32_t i = 0; i < header_.entryCount; ++i) {
      GANTRY_ASSIGN_OR_RETURN(SavedTensor tensor, parse(i));
      tensors.push_back(std::move(tensor));
    }
    if (!names_.empty() || end_ != file_.size())
      return damaged(path_, "some bytes belong to no tensor");
    return tensors;
  }

private:
  Result<SavedTensor> parse(uint32_t index) {
    StateFileRecord record;
    std::memcpy(&record, &file_[sizeof(StateFileHeader) + index * sizeof(record)], sizeof(record));
    const std::string label = "tensor " + std::to_string(index);
    if (record.nameBytes == 0 || record.nameBytes > names_.size())
      return damaged(path_, label + " has a name of " + std::to_string(record.nameBytes) +
                                " bytes, which is empty or exceeds the table of names");
    SavedTensor tensor;
    tensor.name.assign(reinterpret_cast<const char *>(names_.data()), record.nameBytes);
    names_ = names_.subspan(record.nameBytes);
    if (!seen_.insert(tensor.name).second)
      return damaged(path_, "two tensors are called '" + tensor.name + "'");
    if (record.type > static_cast<uint8_t>(artifact::ElementType::MAX) ||
        record.rank > kStateFileMaxRank || record.zero != 0)
      return damaged(path_, label + " has an impossible type or rank");
    tensor.shape.type = static_cast<artifact::ElementType>(record.type);
    for (size_t d = 0; d < kStateFileMaxRank; ++d) {
      if (record.dims[d] < 0 || (d >= record.rank && record.dims[d] != 0))
        return damaged(path_, label + " has an impossible dimension");
      if (d < record.rank)
        tensor.shape.dims.push_back(record.dims[d]);
    }
    const Result<uint64_t> size = byteSize(tensor.shape, tensor.name);
    if (!size.isOk() || *size != record.sizeBytes)
      return damaged(path_, label + " has another size than its shape");
    const uint64_t begin = roundUp(end_, kStateFileAlignment);
    if (record.offset != begin || begin > file_.size() || record.sizeBytes > file_.size() - begin)
      return damaged(path_,
                     label + " does not begin after the tensor before it, or exceeds the file");
    for (uint64_t i = end_; i < begin; ++i)
      if (file_[i] != 0)
        return damaged(path_, "the bytes before " + label + " are not zero");
    tensor.bytes = file_.subspan(begin, record.sizeBytes);
    end_ = begin + record.sizeBytes;
    return tensor;
  }

  std::span<const uint8_t> file_;
  const StateFileHeader &header_;
  const std::string &path_;
  std::span<const uint8_t> names_; // The names of the tensors that are not parsed yet.
  uint64_t end_ = 0;               // End of the last tensor.
  std::set<std::string> seen_;
};

} // namespace

Status writeStateFile(const std::string &path, std::span<const SavedTensor> tensors) {
  StateFileHeader header = {};
  std::memcpy(header.magic, kStateFileMagic, sizeof(header.magic));
  header.version = kStateFileVersion;
  header.entryCount = static_cast<uint32_t>(tensors.size());
  const std::vector<uint8_t> table = makeTable(tensors, header.fileBytes);
  header.tableBytes = table.size();
  // Calls emit(bytes) for all parts of the body in order.
  const auto body = [&](auto emit) -> Status {
    constexpr uint8_t kZeros[kStateFileAlignment] = {};
    GANTRY_RETURN_IF_ERROR(emit(std::span<const uint8_t>(table)));
    uint64_t end = sizeof(header) + table.size();
    for (const SavedTensor &tensor : tensors) {
      const uint64_t begin = roundUp(end, kStateFileAlignment);
      GANTRY_RETURN_IF_ERROR(emit(std::span<const uint8_t>(kZeros, begin - end)));
      GANTRY_RETURN_IF_ERROR(emit(tensor.bytes));
      end = begin + tensor.bytes.size();
    }
    return {};
  };
  artifact::Hasher hasher;
  (void)body([&](std::span<const uint8_t> bytes) { // Hashing does not fail.
    hasher.update(bytes);
    return Status::ok();
  });
  header.bodyHash = hasher.digest();
  header.headerHash = headerHashOf(header);
  GANTRY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  GANTRY_RETURN_IF_ERROR(file.write(bytesOf(header)));
  GANTRY_RETURN_IF_ERROR(body([&](std::span<const uint8_t> bytes) { return file.write(bytes); }));
  return file.commit();
}

Result<std::vector<SavedTensor>> parseStateFile(std::span<const uint8_t> file,
                                                const std::string &path) {
  StateFileHeader header;
  if (file.size() < sizeof(header.magic) ||
      std::memcmp(file.data(), kStateFileMagic, sizeof(header.magic)) != 0)
    return statusf(StatusCode::kInvalidArgument,
                   "'%s' is not a state file; gantry_state_save and gantry run --state-out write "
                   "such files",
                   path.c_str());
  if (file.size() < sizeof(header))
    return damaged(path, "it has only " + std::to_string(file.size()) + " bytes");
  std::memcpy(&header, file.data(), sizeof(header));
  if (header.headerHash != headerHashOf(header))
    return damaged(path, "the checksum of its header differs");
  if (header.version == 0)
    return damaged(path, "its version is 0");
  if (header.version > kStateFileVersion)
    return statusf(StatusCode::kVersionMismatch,
                   "'%s' has version %u of state files; this build reads versions up to %u",
                   path.c_str(), header.version, kStateFileVersion);
  if (header.fileBytes != file.size())
    return statusf(StatusCode::kDataLoss,
                   "'%s' is a damaged state file: it has %zu of %" PRIu64
                   " bytes; restore an older save",
                   path.c_str(), file.size(), header.fileBytes);
  if (header.bodyHash != artifact::hashBytes(file.subspan(sizeof(header))))
    return damaged(path, "the checksum of its contents differs");
  return Parser(file, header, path).run();
}

} // namespace gantry::program
