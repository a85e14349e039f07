// A small program of each kind that passes all of the artifact's checks; tests change one thing.
#pragma once

#include "engine/artifact/artifact.h"

#include <filesystem>
#include <string>
#include <vector>

namespace gantry::artifact {

/// x[2,16] → scale → copy → y, with a stored constant, a fill, and two transients in one slot.
ProgramT staticProgram();
/// The same over a dynamic batch: x[batch,16].
ProgramT dynamicProgram();
/// The bytes of the one stored constant of both, at offset 0: 64 floats.
std::vector<uint8_t> sampleConstant();

/// A folder that is deleted at the end.
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

/// The whole file that write() makes of a program with sampleConstant().
std::vector<uint8_t> fileOf(ProgramT program);

std::vector<uint8_t> readFile(const std::string &path);

} // namespace gantry::artifact
