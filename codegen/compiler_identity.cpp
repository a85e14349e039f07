// Implements gantry_compiler_identity(). The identity consists of Gantry's version and the ELF
// build ids of the compiler library and of MLIR's library. It is empty if one of them has no build
// id.
#include "gantry/compiler.h"

#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <link.h>
#include <string>

namespace {

/// A search for the loaded library that contains an address.
struct Search {
  uintptr_t address;
  std::string buildId; // The result; empty where the library has no build id.
};

/// Returns the GNU build id in a segment of ELF notes as hexadecimal digits, or an empty string.
std::string buildIdIn(const uint8_t *notes, size_t size) {
  const auto padded = [](size_t length) { return (length + 3) / 4 * 4; };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const size_t whole = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (whole > size)
      break;
    const uint8_t *name = notes + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
      return llvm::toHex(llvm::ArrayRef(name + padded(note.n_namesz), note.n_descsz), true);
    notes += whole;
    size -= whole;
  }
  return "";
}

/// Callback of dl_iterate_phdr. `user` is the Search.
int visit(dl_phdr_info *info, size_t, void *user) {
  auto *search = static_cast<Search *>(user);
  bool holds = false;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    holds |= header.p_type == PT_LOAD && search->address >= begin &&
             search->address - begin < header.p_memsz;
  }
  for (size_t i = 0; holds && search->buildId.empty() && i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      search->buildId = buildIdIn(
          reinterpret_cast<const uint8_t *>(info->dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return holds ? 1 : 0; // 1 ends the iteration.
}

std::string buildIdOf(uintptr_t address) {
  Search search{address, ""};
  dl_iterate_phdr(visit, &search);
  return search.buildId;
}

std::string makeIdentity() {
  const std::string own = buildIdOf(reinterpret_cast<uintptr_t>(&gantry_compile));
  const std::string mlir = buildIdOf(reinterpret_cast<uintptr_t>(&mlir::registerPassPipeline));
  return own.empty() || mlir.empty() ? "" : "gantry " GANTRY_VERSION " " + own + " mlir " + mlir;
}

} // namespace

const char *gantry_compiler_identity(void) {
  static const std::string kIdentity = makeIdentity();
  return kIdentity.c_str();
}
