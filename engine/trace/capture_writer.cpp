// Writing a .gtrace file.
#include "engine/trace/capture.h"

#include "engine/base/file.h"
#include "engine/trace/codec.h"
#include "engine/trace/frame.h"
#include "engine/trace/varint.h"

#include <unordered_map>

namespace gantry::trace {

struct CaptureWriter::Impl {
  Impl(AppendFile opened, const CaptureWriterOptions &options)
      : file(std::move(opened)), encoder(options.chunkEvents),
        packer(FrameCodec::kZstd, options.zstdLevel) {}

  Status writeFrame(const FrameHeader &header, std::span<const uint8_t> contents) {
    GANTRY_ASSIGN_OR_RETURN(const std::span<const uint8_t> frame, packer.pack(header, contents));
    GANTRY_RETURN_IF_ERROR(file.write(frame));
    lastFrameOffset = bytes;
    lastFrameBytes = frame.size();
    bytes += frame.size();
    return {};
  }
  Status flushNames();
  Status flushEvents();
  Status writeIndex();

  AppendFile file;
  ChunkEncoder encoder;
  FramePacker packer;
  NamesBuilder pendingNames;
  std::unordered_map<std::string, uint32_t> ids;
  uint32_t nextId = 1;
  std::vector<ChunkInfo> chunks;
  std::vector<uint64_t> nameFrames;
  uint64_t bytes = 0;
  uint64_t events = 0;
  uint64_t lastFrameOffset = 0;
  uint64_t lastFrameBytes = 0;
};

Status CaptureWriter::Impl::flushNames() {
  if (pendingNames.count() == 0)
    return {};
  FrameHeader header;
  header.type = FrameType::kNames;
  header.events = pendingNames.count();
  GANTRY_RETURN_IF_ERROR(writeFrame(header, pendingNames.bytes()));
  nameFrames.push_back(lastFrameOffset);
  pendingNames.clear();
  return {};
}

Status CaptureWriter::Impl::flushEvents() {
  if (encoder.count() == 0)
    return {};
  GANTRY_RETURN_IF_ERROR(flushNames()); // before the events that use them
  FrameHeader header;
  header.type = FrameType::kEvents;
  header.events = encoder.count();
  header.firstTimeNs = encoder.firstTimeNs();
  header.lastTimeNs = encoder.lastTimeNs();
  GANTRY_RETURN_IF_ERROR(writeFrame(header, encoder.finish()));
  chunks.push_back({lastFrameOffset, header.firstTimeNs, header.lastTimeNs, events, header.events,
                    static_cast<uint32_t>(lastFrameBytes)});
  events += header.events;
  return {};
}

Status CaptureWriter::Impl::writeIndex() {
  std::vector<uint8_t> index;
  auto put = [&](uint64_t value) {
    uint8_t number[kMaxVarintBytes];
    index.insert(index.end(), static_cast<uint8_t *>(number), putVarint(number, value));
  };
  put(chunks.size());
  for (const ChunkInfo &chunk : chunks) {
    put(chunk.fileOffset);
    put(chunk.firstTimeNs);
    put(chunk.lastTimeNs - chunk.firstTimeNs);
    put(chunk.events);
    put(chunk.storedBytes);
  }
  put(nameFrames.size());
  for (const uint64_t offset : nameFrames)
    put(offset);
  FrameHeader header;
  header.type = FrameType::kIndex;
  GANTRY_RETURN_IF_ERROR(writeFrame(header, index));
  FileTrailer trailer;
  trailer.indexOffset = lastFrameOffset;
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic));
  bytes += sizeof(trailer);
  return file.write({reinterpret_cast<const uint8_t *>(&trailer), sizeof(trailer)});
}

CaptureWriter::CaptureWriter() = default;
CaptureWriter::~CaptureWriter() = default;

Result<std::unique_ptr<CaptureWriter>> CaptureWriter::create(const std::string &path,
                                                             const CaptureWriterOptions &options) {
  if (options.chunkEvents == 0 || options.chunkEvents > kMaxChunkEvents)
    return statusf(StatusCode::kInvalidArgument, "chunks of %u events; 1 to %u are possible",
                   options.chunkEvents, kMaxChunkEvents);
  GANTRY_ASSIGN_OR_RETURN(AppendFile file, AppendFile::create(path));
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter);
  writer->impl_ = std::make_unique<Impl>(std::move(file), options);
  const FileHeader header = makeFileHeader();
  GANTRY_RETURN_IF_ERROR(
      writer->impl_->file.write({reinterpret_cast<const uint8_t *>(&header), sizeof(header)}));
  writer->impl_->bytes = sizeof(header);
  return writer;
}

uint32_t CaptureWriter::name(std::string_view text) {
  if (text.empty())
    return 0;
  const auto found = impl_->ids.try_emplace(std::string(text), impl_->nextId);
  if (found.second)
    setName(impl_->nextId, text);
  return found.first->second;
}

void CaptureWriter::setName(uint32_t id, std::string_view text) {
  impl_->pendingNames.add(id, text);
  impl_->nextId = std::max(impl_->nextId, id + 1);
}

Status CaptureWriter::append(std::span<const Event> events) {
  for (const Event &event : events) {
    if (layoutOf(event.type()).name == nullptr)
      return statusf(StatusCode::kInvalidArgument, "an event of the unknown type %u",
                     static_cast<unsigned>(event.type()));
    impl_->encoder.add(&event.header);
    if (impl_->encoder.isFull())
      GANTRY_RETURN_IF_ERROR(impl_->flushEvents());
  }
  return {};
}

Status CaptureWriter::flush() { return impl_->flushEvents(); }

Status CaptureWriter::finish() {
  GANTRY_RETURN_IF_ERROR(impl_->flushEvents());
  GANTRY_RETURN_IF_ERROR(impl_->flushNames());
  GANTRY_RETURN_IF_ERROR(impl_->writeIndex());
  return impl_->file.close();
}

uint64_t CaptureWriter::bytesWritten() const { return impl_->bytes; }
uint64_t CaptureWriter::eventsWritten() const { return impl_->events + impl_->encoder.count(); }

} // namespace gantry::trace
