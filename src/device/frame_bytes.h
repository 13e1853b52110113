// Frames as bytes on a connection. Private to `device`.
#pragma once

#include "device/transport.h"

namespace hilo {

// Of every frame, then the sizes of its arrays, the text, and the arrays themselves.
struct FrameHead {
  uint32_t mark = expected_mark;
  FrameKind kind = FrameKind::Data;
  MessageTag tag;
  uint32_t text_bytes = 0, arrays = 0;
  // The receiver reads the arrays out of the sender's memory: behind each size stands an address.
  // Then it says so, with a frame of this kind; tag.run: which of those of its connection, from 0.
  uint32_t lies_at_sender = 0, is_receipt = 0;

  static constexpr uint32_t expected_mark = 0x4f4c4948;
};
static_assert(sizeof(FrameHead) == 72);

// Bytes of a frame on their way; the frame keeps them.
class OutgoingFrame {
 public:
  OutgoingFrame(Frame frame, bool lies_here);
  static OutgoingFrame receipt(uint64_t number);
  // What is still to be sent, at most `limit` ranges; none: all is sent.
  std::vector<std::span<const std::byte>> rest(size_t limit) const;
  void advance(size_t bytes) { sent_ += bytes; }
  bool lies_here() const { return lies_here_; }

 private:
  OutgoingFrame() = default;
  Frame frame_;
  std::string start_;  // head, sizes, text
  bool lies_here_ = false;
  size_t sent_ = 0;
};

// Frames out of the bytes that come.
class IncomingFrame {
 public:
  // Where the next bytes go; never empty.
  std::span<std::byte> room();
  // So many have come. False where they are no frame.
  bool advance(size_t bytes, const Allocate& allocate);
  bool is_complete() const { return stage_ == Stage::Complete; }
  const FrameHead& head() const { return head_; }
  // Of a complete one whose arrays lie at the sender: their addresses; body has their sizes.
  std::span<const uint64_t> addresses() const { return addresses_; }
  Frame& frame() { return frame_; }
  void restart() { *this = IncomingFrame(); }

 private:
  enum class Stage : uint8_t { Head, Sizes, Text, Arrays, Complete };
  bool end_stage(const Allocate& allocate);
  bool take_sizes(const Allocate& allocate);
  std::span<std::byte> whole();

  Stage stage_ = Stage::Head;
  FrameHead head_;
  std::vector<uint64_t> sizes_, addresses_;
  Frame frame_;
  size_t array_ = 0, taken_ = 0;
};

}  // namespace hilo
