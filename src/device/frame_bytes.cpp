#include "device/frame_bytes.h"

#include <algorithm>
#include <cstring>

namespace hilo {
namespace {

// What no process of ours sends more of.
constexpr uint32_t max_text = 1 << 24, max_arrays = 1 << 20;
constexpr uint64_t max_array = uint64_t{1} << 46;

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

OutgoingFrame::OutgoingFrame(Frame frame, bool lies_here)
    : frame_(std::move(frame)), lies_here_(lies_here) {
  FrameHead head;
  head.kind = frame_.kind;
  head.tag = frame_.tag;
  head.text_bytes = static_cast<uint32_t>(frame_.message.head.size());
  head.arrays = static_cast<uint32_t>(frame_.message.body.size());
  head.lies_at_sender = lies_here;
  append(start_, head);
  for (const Payload& array : frame_.message.body) {
    append(start_, array.size);
    if (lies_here) append(start_, reinterpret_cast<uint64_t>(array.bytes.get()));
  }
  start_ += frame_.message.head;
}

OutgoingFrame OutgoingFrame::receipt(uint64_t number) {
  OutgoingFrame out;
  FrameHead head;
  head.is_receipt = 1;
  head.tag.run = number;
  append(out.start_, head);
  return out;
}

std::vector<std::span<const std::byte>> OutgoingFrame::rest(size_t limit) const {
  std::vector<std::span<const std::byte>> out;
  size_t skipped = sent_;
  const auto add = [&](const void* bytes, size_t size) {
    if (skipped >= size) {
      skipped -= size;
    } else if (out.size() < limit) {
      out.emplace_back(static_cast<const std::byte*>(bytes) + skipped, size - skipped);
      skipped = 0;
    }
  };
  add(start_.data(), start_.size());
  if (lies_here_) return out;
  for (const Payload& array : frame_.message.body)
    add(array.bytes.get(), static_cast<size_t>(array.size));
  return out;
}

std::span<std::byte> IncomingFrame::whole() {
  switch (stage_) {
    case Stage::Head: return std::as_writable_bytes(std::span(&head_, 1));
    case Stage::Sizes: return std::as_writable_bytes(std::span(sizes_));
    case Stage::Text: return std::as_writable_bytes(std::span(frame_.message.head));
    case Stage::Arrays: {
      const Payload& array = frame_.message.body[array_];
      return {array.bytes.get(), static_cast<size_t>(array.size)};
    }
    case Stage::Complete: break;
  }
  return {};
}

std::span<std::byte> IncomingFrame::room() { return whole().subspan(taken_); }

bool IncomingFrame::advance(size_t bytes, const Allocate& allocate) {
  taken_ += bytes;
  while (stage_ != Stage::Complete && taken_ == whole().size()) {
    taken_ = 0;
    if (!end_stage(allocate)) return false;
  }
  return true;
}

bool IncomingFrame::take_sizes(const Allocate& allocate) {
  const size_t step = head_.lies_at_sender ? 2 : 1;
  for (size_t i = 0; i < sizes_.size(); i += step) {
    if (sizes_[i] > max_array) return false;
    const auto size = static_cast<int64_t>(sizes_[i]);
    const bool is_far = head_.lies_at_sender != 0;
    frame_.message.body.push_back({is_far ? nullptr : allocate(std::max<int64_t>(1, size)), size});
    if (is_far) addresses_.push_back(sizes_[i + 1]);
  }
  return true;
}

bool IncomingFrame::end_stage(const Allocate& allocate) {
  const size_t arrays = head_.lies_at_sender ? 0 : head_.arrays;
  switch (stage_) {
    case Stage::Head:
      if (head_.mark != FrameHead::expected_mark || head_.text_bytes > max_text ||
          head_.arrays > max_arrays || head_.kind > FrameKind::Leave)
        return false;
      frame_.kind = head_.kind;
      frame_.tag = head_.tag;
      sizes_.resize(size_t{head_.arrays} * (head_.lies_at_sender ? 2 : 1));
      frame_.message.head.resize(head_.text_bytes);
      stage_ = Stage::Sizes;
      return true;
    case Stage::Sizes: stage_ = Stage::Text; return take_sizes(allocate);
    case Stage::Text: stage_ = arrays > 0 ? Stage::Arrays : Stage::Complete; return true;
    case Stage::Arrays:
      if (++array_ == arrays) stage_ = Stage::Complete;
      return true;
    case Stage::Complete: break;
  }
  return false;
}

}  // namespace hilo
