#include "wire/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace hilo {

struct InflaterState {
  z_stream stream = {};
  std::array<std::byte, 1 << 16> buffer;
  bool ended = false;
};

int64_t max_inflated_size(int64_t compressed) {
  int64_t most;
  return __builtin_mul_overflow(compressed, int64_t{1032}, &most) ? INT64_MAX : most;
}

Inflater::Inflater(const ByteSource& source, int64_t offset, int64_t compressed, Wrap wrap)
    : source_(source),
      offset_(offset),
      left_(compressed),
      state_(std::make_unique<InflaterState>()) {
  const int window = wrap == Wrap::Raw ? -MAX_WBITS : MAX_WBITS + 16;
  check(inflateInit2(&state_->stream, window) == Z_OK, "inflateInit2");
}

Inflater::~Inflater() { inflateEnd(&state_->stream); }

Result<void> Inflater::refill() {
  const size_t now = std::min<int64_t>(left_, state_->buffer.size());
  HILO_DO(source_.read_at(offset_, std::span(state_->buffer).first(now)));
  offset_ += now;
  left_ -= now;
  state_->stream.next_in = reinterpret_cast<Bytef*>(state_->buffer.data());
  state_->stream.avail_in = now;
  return {};
}

Result<size_t> Inflater::read_some(std::span<std::byte> to) {
  z_stream& stream = state_->stream;
  const size_t want = std::min<size_t>(to.size(), 1 << 30);
  stream.next_out = reinterpret_cast<Bytef*>(to.data());
  stream.avail_out = want;
  while (stream.avail_out == want && want > 0 && !state_->ended) {
    if (stream.avail_in == 0 && left_ > 0) HILO_DO(refill());
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) state_->ended = true;
    else if (status == Z_BUF_ERROR && stream.avail_in == 0 && left_ == 0)
      return fail(ErrorKind::Format, "the compressed data ends early");
    else if (status != Z_OK && status != Z_BUF_ERROR)
      return fail(ErrorKind::Format, "damaged compressed data: {}",
                  stream.msg ? stream.msg : "no reason given");
  }
  return want - stream.avail_out;
}

Result<void> Inflater::read(std::span<std::byte> to) {
  while (!to.empty()) {
    HILO_TRY(const size_t got, read_some(to));
    if (got == 0) return fail(ErrorKind::Format, "the compressed data ends early");
    to = to.subspan(got);
  }
  return {};
}

Deflater::Deflater(WriteNext to, Inflater::Wrap wrap)
    : to_(std::move(to)), state_(std::make_unique<InflaterState>()) {
  const int window = wrap == Inflater::Wrap::Raw ? -MAX_WBITS : MAX_WBITS + 16;
  check(deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8,
                     Z_DEFAULT_STRATEGY) == Z_OK,
        "deflateInit2");
}

Deflater::~Deflater() { deflateEnd(&state_->stream); }

Result<void> Deflater::pump(std::span<const std::byte> bytes, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = bytes.size();
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->buffer.data());
    stream.avail_out = state_->buffer.size();
    check(deflate(&stream, flush) != Z_STREAM_ERROR, "deflate");
    HILO_DO(to_(std::span(state_->buffer).first(state_->buffer.size() - stream.avail_out)));
  } while (stream.avail_out == 0);
  return {};
}

Result<void> Deflater::write(std::span<const std::byte> bytes) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<size_t>(bytes.size(), 1 << 30)))
    HILO_DO(pump(bytes.first(std::min<size_t>(bytes.size(), 1 << 30)), Z_NO_FLUSH));
  return {};
}

Result<void> Deflater::finish() { return pump({}, Z_FINISH); }

uint32_t crc32_of(uint32_t crc, std::span<const std::byte> bytes) {
  return crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

Result<std::string> gzip(std::string_view bytes) {
  std::string out;
  Deflater deflater(
      [&](std::span<const std::byte> chunk) -> Result<void> {
        out.append(reinterpret_cast<const char*>(chunk.data()), chunk.size());
        return {};
      },
      Inflater::Wrap::Gzip);
  HILO_DO(deflater.write(std::as_bytes(std::span(bytes))));
  HILO_DO(deflater.finish());
  return out;
}

Result<std::string> gunzip(std::span<const std::byte> bytes, int64_t max_bytes) {
  const auto source = ByteSource::memory(bytes);
  Inflater inflater(*source, 0, source->size(), Inflater::Wrap::Gzip);
  std::string out;
  std::array<std::byte, 1 << 16> chunk;
  while (true) {
    HILO_TRY(const size_t got, inflater.read_some(chunk));
    if (got == 0) return out;
    if (static_cast<int64_t>(out.size() + got) > max_bytes)
      return fail(ErrorKind::Limit, "more than {} bytes when decompressed", max_bytes);
    out.append(reinterpret_cast<const char*>(chunk.data()), got);
  }
}

}  // namespace hilo
