// Implements merge_variants.h.
#include "codegen/emit/merge_variants.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>

namespace gantry::codegen {

namespace {

/// A constant of the merged section.
struct SharedConstant {
  std::span<const uint8_t> bytes;
  std::vector<bool> users; // For each emission, whether it uses the constant.
};

/// Returns the SHA-256 of the bytes. Bytes with equal hashes are assumed to be equal.
std::string hashOf(std::span<const uint8_t> bytes) {
  const auto hash = llvm::SHA256::hash(llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()));
  return {reinterpret_cast<const char *>(hash.data()), hash.size()};
}

/// Orders constants by their sets of users. With two programs, the constants that both use come
/// first, then those of the first alone, then those of the second alone. The constants of the first
/// program are therefore contiguous.
bool comesBefore(const SharedConstant &a, const SharedConstant &b) { return a.users > b.users; }

} // namespace

std::unique_ptr<Emission> mergeVariants(std::vector<std::unique_ptr<Emission>> emissions) {
  if (emissions.size() == 1)
    return std::move(emissions.front());
  std::vector<SharedConstant> constants;
  llvm::StringMap<size_t> byHash;
  // For each emission and each of its constants, the index in `constants`.
  std::vector<std::vector<size_t>> shared(emissions.size());
  for (size_t i = 0; i < emissions.size(); ++i)
    for (const artifact::ConstantData &constant : emissions[i]->constants) {
      const auto at = byHash.try_emplace(hashOf(constant.bytes), constants.size()).first;
      if (at->second == constants.size())
        constants.push_back({constant.bytes, std::vector<bool>(emissions.size())});
      constants[at->second].users[i] = true;
      shared[i].push_back(at->second);
    }
  std::vector<size_t> order(constants.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return comesBefore(constants[a], constants[b]); });

  std::vector<artifact::ConstantData> section;
  std::vector<size_t> place(constants.size()); // Position of each constant in the section.
  for (const size_t index : order) {
    place[index] = section.size();
    section.push_back({0, constants[index].bytes});
  }
  artifact::layoutConstants(section);

  for (size_t i = 0; i < emissions.size(); ++i) {
    llvm::DenseMap<uint64_t, uint64_t> moved; // New offset in the section, by the old offset.
    for (size_t c = 0; c < shared[i].size(); ++c)
      moved[emissions[i]->constants[c].offset] = section[place[shared[i][c]]].offset;
    for (const auto &value : emissions[i]->program.values)
      if (value->storage == artifact::Storage::constant && !value->fill)
        value->byte_offset = moved.at(value->byte_offset);
  }
  std::unique_ptr<Emission> whole = std::move(emissions.front());
  whole->constants = std::move(section);
  for (size_t i = 1; i < emissions.size(); ++i) {
    whole->program.variants.push_back(
        std::make_unique<artifact::ProgramT>(std::move(emissions[i]->program)));
    std::move(emissions[i]->ownedBytes.begin(), emissions[i]->ownedBytes.end(),
              std::back_inserter(whole->ownedBytes));
  }
  return whole;
}

} // namespace gantry::codegen
