// CaptureReader: reads mapped files, and reads live processes through StreamClient.
#include "engine/trace/wire/capture.h"

#include "engine/base/file.h"
#include "engine/trace/wire/codec.h"
#include "engine/trace/wire/frame.h"
#include "engine/trace/live/stream_client.h"
#include "engine/trace/wire/varint.h"

#include <optional>

namespace gantry::trace {

struct CaptureReader::Impl {
  Status open(std::span<const uint8_t> contents, const char *what);
  Status readIndex(bool *found);
  Status walkFrames();
  Status addNames(uint64_t offset);
  Result<FrameHeader> frameAt(uint64_t offset) const;
  std::span<const uint8_t> contentsOf(const FrameHeader &header, uint64_t offset) const {
    return file.subspan(offset + sizeof(FrameHeader), header.storedBytes);
  }

  Result<Batch> readFile();
  Result<Batch> readStream(uint64_t timeoutNs);

  std::unique_ptr<StreamClient> stream;
  std::optional<MappedFile> mapped;
  std::span<const uint8_t> file;
  NameTable names;
  std::vector<ChunkInfo> chunks;
  size_t next = 0;
  Tail tail = Tail::kComplete;
  uint64_t bytesRead = 0;
  ChunkDecoder decoder;
  std::vector<uint8_t> raw;
  std::vector<Event> events;
};

/// Returns the header of the frame at `offset`, after checking that the whole frame is in the file.
Result<FrameHeader> CaptureReader::Impl::frameAt(uint64_t offset) const {
  if (offset > file.size())
    return statusf(StatusCode::kDataLoss,
                   "the index refers to byte %llu, but the file has %zu bytes",
                   static_cast<unsigned long long>(offset), file.size());
  GANTRY_ASSIGN_OR_RETURN(const FrameHeader header, parseFrameHeader(file.subspan(offset), offset));
  if (header.storedBytes > file.size() - offset - sizeof(FrameHeader))
    return statusf(StatusCode::kDataLoss, "the frame at byte %llu is cut off",
                   static_cast<unsigned long long>(offset));
  return header;
}

Status CaptureReader::Impl::addNames(uint64_t offset) {
  GANTRY_ASSIGN_OR_RETURN(const FrameHeader header, frameAt(offset));
  if (header.type != FrameType::kNames)
    return statusf(StatusCode::kDataLoss, "byte %llu should start a frame of names but does not",
                   static_cast<unsigned long long>(offset));
  GANTRY_RETURN_IF_ERROR(unpackFrame(header, contentsOf(header, offset), offset, raw));
  bytesRead += sizeof(header) + header.storedBytes;
  return readNames(raw, header.events, names);
}

Status CaptureReader::Impl::readIndex(bool *found) {
  *found = false;
  FileTrailer trailer;
  if (file.size() < sizeof(FileHeader) + sizeof(FrameHeader) + sizeof(trailer))
    return {};
  std::memcpy(&trailer, file.data() + file.size() - sizeof(trailer), sizeof(trailer));
  if (std::memcmp(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic)) != 0)
    return {};
  GANTRY_ASSIGN_OR_RETURN(const FrameHeader header, frameAt(trailer.indexOffset));
  if (header.type != FrameType::kIndex)
    return statusf(StatusCode::kDataLoss, "byte %llu should start the file's index but does not",
                   static_cast<unsigned long long>(trailer.indexOffset));
  GANTRY_RETURN_IF_ERROR(
      unpackFrame(header, contentsOf(header, trailer.indexOffset), trailer.indexOffset, raw));
  const std::vector<uint8_t> index = raw; // A copy, because addNames() overwrites raw.
  const uint8_t *at = index.data();
  const uint8_t *const end = at + index.size();
  auto get = [&] {
    uint64_t value = 0;
    if (at != nullptr)
      at = getVarint(at, end, &value);
    return value;
  };
  const uint64_t count = get();
  uint64_t events = 0;
  for (uint64_t i = 0; i < count && at != nullptr; ++i) {
    ChunkInfo chunk;
    chunk.fileOffset = get();
    chunk.firstTimeNs = get();
    chunk.lastTimeNs = chunk.firstTimeNs + get();
    chunk.firstEvent = events;
    const uint64_t chunkEvents = get();
    const uint64_t stored = get();
    if (chunkEvents > kMaxChunkEvents || stored > file.size() || chunk.fileOffset > file.size())
      return statusf(StatusCode::kDataLoss,
                     "entry %llu of the file's index names a chunk outside of the file or one with "
                     "more than %u events",
                     static_cast<unsigned long long>(i), kMaxChunkEvents);
    chunk.events = static_cast<uint32_t>(chunkEvents);
    chunk.storedBytes = static_cast<uint32_t>(stored);
    events += chunkEvents;
    chunks.push_back(chunk);
  }
  const uint64_t nameFrames = get();
  for (uint64_t i = 0; i < nameFrames && at != nullptr; ++i) {
    const uint64_t offset = get();
    if (at != nullptr)
      GANTRY_RETURN_IF_ERROR(addNames(offset));
  }
  if (at != end)
    return Status(StatusCode::kDataLoss, "the file's index is damaged");
  *found = true;
  return {};
}

/// Finds the chunks of a file without an index, frame by frame up to the last whole frame.
Status CaptureReader::Impl::walkFrames() {
  tail = Tail::kCutOff;
  uint64_t events = 0;
  for (uint64_t offset = sizeof(FileHeader); offset < file.size();) {
    const Result<FrameHeader> header = frameAt(offset);
    if (!header.isOk())
      break;
    const uint64_t bytes = sizeof(FrameHeader) + header->storedBytes;
    if (header->type == FrameType::kNames) {
      GANTRY_RETURN_IF_ERROR(addNames(offset));
    } else if (header->type == FrameType::kEvents) {
      chunks.push_back({offset, header->firstTimeNs, header->lastTimeNs, events, header->events,
                        static_cast<uint32_t>(bytes)});
      events += header->events;
    }
    offset += bytes;
  }
  return {};
}

Status CaptureReader::Impl::open(std::span<const uint8_t> contents, const char *what) {
  file = contents;
  GANTRY_RETURN_IF_ERROR(checkFileHeader(file, what));
  bytesRead = sizeof(FileHeader);
  bool found = false;
  GANTRY_RETURN_IF_ERROR(readIndex(&found));
  return found ? Status::ok() : walkFrames();
}

CaptureReader::CaptureReader() : impl_(std::make_unique<Impl>()) {}
CaptureReader::~CaptureReader() = default;

Result<std::unique_ptr<CaptureReader>> CaptureReader::openFile(const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::open(path));
  std::unique_ptr<CaptureReader> reader(new CaptureReader);
  reader->impl_->mapped.emplace(std::move(mapped));
  GANTRY_RETURN_IF_ERROR(reader->impl_->open(reader->impl_->mapped->bytes(), path.c_str()));
  return reader;
}

Result<std::unique_ptr<CaptureReader>> CaptureReader::fromMemory(std::span<const uint8_t> bytes) {
  std::unique_ptr<CaptureReader> reader(new CaptureReader);
  GANTRY_RETURN_IF_ERROR(reader->impl_->open(bytes, "the memory"));
  return reader;
}

Result<std::unique_ptr<CaptureReader>> CaptureReader::connect(const std::string &address,
                                                              const std::string &token) {
  std::unique_ptr<CaptureReader> reader(new CaptureReader);
  GANTRY_ASSIGN_OR_RETURN(reader->impl_->stream, StreamClient::connect(address, token));
  reader->impl_->tail = Tail::kLive;
  return reader;
}

Result<Batch> CaptureReader::Impl::readFile() {
  if (next == chunks.size())
    return Batch{{}, true};
  const ChunkInfo &chunk = chunks[next];
  GANTRY_ASSIGN_OR_RETURN(const FrameHeader header, frameAt(chunk.fileOffset));
  if (header.type != FrameType::kEvents || header.events != chunk.events)
    return statusf(StatusCode::kDataLoss,
                   "byte %llu should start a chunk of %u events but does not",
                   static_cast<unsigned long long>(chunk.fileOffset), chunk.events);
  GANTRY_RETURN_IF_ERROR(
      unpackFrame(header, contentsOf(header, chunk.fileOffset), chunk.fileOffset, raw));
  GANTRY_RETURN_IF_ERROR(decoder.decode(raw, header.events, events));
  bytesRead += sizeof(header) + header.storedBytes;
  next += 1;
  return Batch{events, next == chunks.size()};
}

Result<Batch> CaptureReader::Impl::readStream(uint64_t timeoutNs) {
  FrameHeader header;
  for (;;) {
    if (tail != Tail::kLive)
      return Batch{{}, true};
    const Result<bool> received = stream->next(timeoutNs, header, raw);
    if (!received.isOk()) {
      tail = Tail::kCutOff;
      if (received.status().code() == StatusCode::kNotFound)
        return Batch{{}, true}; // The process closed the connection.
      return received.status();
    }
    if (!*received)
      return Batch{};
    switch (header.type) {
    case FrameType::kNames:
      GANTRY_RETURN_IF_ERROR(readNames(raw, header.events, names));
      break;
    case FrameType::kEvents:
      GANTRY_RETURN_IF_ERROR(decoder.decode(raw, header.events, events));
      return Batch{events, false};
    case FrameType::kEnd:
      tail = Tail::kComplete;
      break;
    case FrameType::kIndex:
      tail = Tail::kCutOff;
      return Status(StatusCode::kDataLoss,
                    "the stream contains an index frame, which only files have");
    }
  }
}

Result<Batch> CaptureReader::read(uint64_t timeoutNs) {
  impl_->events.clear();
  return impl_->stream != nullptr ? impl_->readStream(timeoutNs) : impl_->readFile();
}

const NameTable &CaptureReader::names() const { return impl_->names; }
Tail CaptureReader::tail() const { return impl_->tail; }
bool CaptureReader::isLive() const { return impl_->tail == Tail::kLive; }
std::span<const ChunkInfo> CaptureReader::chunks() const { return impl_->chunks; }
uint64_t CaptureReader::bytesRead() const {
  return impl_->stream != nullptr ? impl_->stream->bytesReceived() : impl_->bytesRead;
}

Status CaptureReader::seek(size_t chunk) {
  if (chunk > impl_->chunks.size())
    return statusf(StatusCode::kInvalidArgument, "chunk %zu does not exist; the file has %zu",
                   chunk, impl_->chunks.size());
  impl_->next = chunk;
  return {};
}

} // namespace gantry::trace
