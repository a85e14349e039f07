// Writing a capture file and its index.
#include "engine/trace/wire/capture_file.h"

#include "engine/trace/wire/varint.h"

namespace gantry::trace {

Result<std::unique_ptr<CaptureFile>> CaptureFile::create(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(AppendFile opened, AppendFile::create(path));
  std::unique_ptr<CaptureFile> file(new CaptureFile(std::move(opened)));
  const FileHeader header = makeFileHeader();
  GANTRY_RETURN_IF_ERROR(
      file->file_.write({reinterpret_cast<const uint8_t *>(&header), sizeof(header)}));
  file->bytes_ = sizeof(header);
  return file;
}

Status CaptureFile::write(std::span<const uint8_t> frame) {
  FrameHeader header;
  std::memcpy(&header, frame.data(), sizeof(header));
  GANTRY_RETURN_IF_ERROR(file_.write(frame));
  if (header.type == FrameType::kNames)
    nameFrames_.push_back(bytes_);
  if (header.type == FrameType::kEvents) {
    chunks_.push_back({bytes_, header.firstTimeNs, header.lastTimeNs, events_, header.events,
                       static_cast<uint32_t>(frame.size())});
    events_ += header.events;
  }
  bytes_ += frame.size();
  return {};
}

Status CaptureFile::finish() {
  std::vector<uint8_t> index;
  auto put = [&](uint64_t value) {
    uint8_t number[kMaxVarintBytes];
    index.insert(index.end(), static_cast<uint8_t *>(number), putVarint(number, value));
  };
  put(chunks_.size());
  for (const ChunkInfo &chunk : chunks_) {
    put(chunk.fileOffset);
    put(chunk.firstTimeNs);
    put(chunk.lastTimeNs - chunk.firstTimeNs);
    put(chunk.events);
    put(chunk.storedBytes);
  }
  put(nameFrames_.size());
  for (const uint64_t offset : nameFrames_)
    put(offset);
  FrameHeader header;
  header.type = FrameType::kIndex;
  FileTrailer trailer;
  trailer.indexOffset = bytes_;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  FramePacker packer(FrameCodec::kZstd);
  GANTRY_ASSIGN_OR_RETURN(const std::span<const uint8_t> frame, packer.pack(header, index));
  GANTRY_RETURN_IF_ERROR(write(frame));
  bytes_ += sizeof(trailer);
  GANTRY_RETURN_IF_ERROR(
      file_.write({reinterpret_cast<const uint8_t *>(&trailer), sizeof(trailer)}));
  return file_.close();
}

} // namespace gantry::trace
