// Provides a small static and a small dynamic program that pass all checks of an artifact, for
// tests that change one property each. Also provides scratch folders and file access for these
// tests.
#pragma once

#include "engine/artifact/artifact.h"

#include <filesystem>
#include <string>
#include <vector>

namespace gantry::artifact {

/// Returns a static program: x[2,16] → scale → copy → y, with a stored constant, a fill (a constant
/// that repeats one word), and two transients in one slot.
ProgramT staticProgram();
/// Returns a dynamic program: the same commands with the input x[batch,16].
ProgramT dynamicProgram();
/// Returns the bytes of the only stored constant of both programs, at offset 0: 256 bytes.
std::vector<uint8_t> sampleConstant();

/// A temporary folder that the destructor deletes.
class ScratchFolder {
public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  std::string path(const char *name) const { return (folder_ / name).string(); }
  size_t fileCount() const;

private:
  std::filesystem::path folder_;
};

/// Returns the bytes of the file that write() produces for a program with sampleConstant().
std::vector<uint8_t> fileOf(ProgramT program);

/// Returns the contents of a file; empty if the file cannot be read.
std::vector<uint8_t> readFile(const std::string &path);

} // namespace gantry::artifact
