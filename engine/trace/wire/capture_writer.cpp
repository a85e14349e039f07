// CaptureWriter: writes a .gtrace file from events that the caller has in memory.
#include "engine/trace/wire/capture.h"

#include "engine/trace/wire/capture_file.h"
#include "engine/trace/wire/codec.h"

#include <algorithm>
#include <unordered_map>

namespace gantry::trace {

struct CaptureWriter::Impl {
  Impl(std::unique_ptr<CaptureFile> created, const CaptureWriterOptions &options)
      : file(std::move(created)), encoder(options.chunkEvents),
        packer(FrameCodec::kZstd, options.zstdLevel) {}

  Status writeFrame(const FrameHeader &header, std::span<const uint8_t> contents) {
    GANTRY_ASSIGN_OR_RETURN(const std::span<const uint8_t> frame, packer.pack(header, contents));
    return file->write(frame);
  }
  Status flushNames();
  Status flushEvents();

  std::unique_ptr<CaptureFile> file;
  ChunkEncoder encoder;
  FramePacker packer;
  NamesBuilder pendingNames;
  std::unordered_map<std::string, uint32_t> ids;
  uint32_t nextId = 1;
};

Status CaptureWriter::Impl::flushNames() {
  if (pendingNames.count() == 0)
    return {};
  FrameHeader header;
  header.type = FrameType::kNames;
  header.events = pendingNames.count();
  GANTRY_RETURN_IF_ERROR(writeFrame(header, pendingNames.bytes()));
  pendingNames.clear();
  return {};
}

Status CaptureWriter::Impl::flushEvents() {
  if (encoder.count() == 0)
    return {};
  GANTRY_RETURN_IF_ERROR(flushNames()); // Names precede the events that use them.
  FrameHeader header;
  header.type = FrameType::kEvents;
  header.events = encoder.count();
  header.firstTimeNs = encoder.firstTimeNs();
  header.lastTimeNs = encoder.lastTimeNs();
  return writeFrame(header, encoder.finish());
}

CaptureWriter::CaptureWriter() = default;
CaptureWriter::~CaptureWriter() = default;

Result<std::unique_ptr<CaptureWriter>> CaptureWriter::create(const std::string &path,
                                                             const CaptureWriterOptions &options) {
  if (options.chunkEvents == 0 || options.chunkEvents > kMaxChunkEvents)
    return statusf(StatusCode::kInvalidArgument, "a chunk cannot have %u events; valid are 1 to %u",
                   options.chunkEvents, kMaxChunkEvents);
  GANTRY_ASSIGN_OR_RETURN(auto file, CaptureFile::create(path));
  std::unique_ptr<CaptureWriter> writer(new CaptureWriter);
  writer->impl_ = std::make_unique<Impl>(std::move(file), options);
  if (!writer->impl_->encoder.isReady())
    return statusf(StatusCode::kOutOfMemory,
                   "the host has too little memory for chunks of %u events", options.chunkEvents);
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
      return statusf(StatusCode::kInvalidArgument, "an event has the unknown type %u",
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
  return impl_->file->finish();
}

uint64_t CaptureWriter::bytesWritten() const { return impl_->file->bytes(); }
uint64_t CaptureWriter::eventsWritten() const {
  return impl_->file->events() + impl_->encoder.count();
}

} // namespace gantry::trace
