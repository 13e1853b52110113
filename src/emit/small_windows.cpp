#include "emit/small_windows.h"

#include <algorithm>
#include <set>

namespace hilo {
namespace {

// Elements that are combined in the code of all pieces: read from an array, or computed.
constexpr int64_t max_read = 200, max_computed = 32;
// The same where dimensions with padding go inside for that alone.
constexpr int64_t max_padded = 128;
constexpr int64_t max_window_size = 64;  // of a window along a dimension
// Results side by side that are too few lanes, and of which straight code has so many.
constexpr int64_t min_lanes = KernelLimits::min_lanes, max_unrolled = KernelLimits::short_row;
// Results of an iteration: fewer are not worth the places that it begins with, and more are cut
// where there are too few iterations for several threads.
constexpr int64_t min_inside = 64, max_inside = 4096;
constexpr int64_t min_iterations = KernelLimits::min_lines;

int64_t ceiling_quotient(int64_t a, int64_t c) { return a / c + (a % c > 0 ? 1 : 0); }

}  // namespace

SmallWindows::SmallWindows(KernelBuilder& writer, const Windows& windows, Reducer reducer)
    : w_(writer),
      b_(writer.b),
      windows_(windows),
      reducer_(std::move(reducer)),
      is_array_(writer.elements.array(writer.elements.module.operand(windows.id, 0)) != nullptr) {
  reducer_.choose_straight();
  const size_t rank = windows_.out.size();
  if (rank == 0 || std::ranges::any_of(windows_.dims, [](const WindowDim& dim) {
        return dim.size > max_window_size || dim.base_dilation != 1;
      }))
    return;
  for (size_t d = 0; d < rank; ++d)
    pieces_.push_back(segments_of(windows_.dims[d], windows_.in[d], windows_.out[d]));
  lanes_ = rank - 1;
  for (int64_t straight = 1; lanes_ > 0 && windows_.out[lanes_] < min_lanes; --lanes_) {
    straight *= windows_.out[lanes_];
    if (straight > max_unrolled) break;
  }
  first_ = lanes_;
  while (first_ > 0 && inside(first_) < min_inside) --first_;
  size_t padded = first_;
  for (size_t d = 0; d < first_; ++d)
    if (is_padded(d)) padded = std::min(padded, d);
  if (steps(padded) <= (is_array_ ? max_padded : max_computed)) first_ = padded;
}

// Between the first and last results of each place of the window, all have the same places.
std::vector<SmallWindows::Piece> SmallWindows::segments_of(const WindowDim& dim, int64_t size,
                                                           int64_t results) {
  std::vector<std::pair<int64_t, int64_t>> spans;  // results whose place k is in the array
  std::set<int64_t> ends = {0, results};
  for (int64_t k = 0; k < dim.size; ++k) {
    const int64_t from = dim.padding_low - k * dim.window_dilation;
    const int64_t begin = std::clamp<int64_t>(ceiling_quotient(from, dim.stride), 0, results);
    const int64_t end =
        std::clamp<int64_t>(ceiling_quotient(from + size, dim.stride), begin, results);
    spans.emplace_back(begin, end);
    ends.insert({begin, end});
  }
  std::vector<Piece> out;
  for (auto begin = ends.begin(), end = std::next(begin); end != ends.end(); ++begin, ++end) {
    Piece piece = {*begin, *end, {}};
    for (int64_t k = 0; k < dim.size; ++k)
      if (spans[static_cast<size_t>(k)].first <= *begin &&
          spans[static_cast<size_t>(k)].second >= *end)
        piece.places.push_back(k);
    out.push_back(std::move(piece));
  }
  return out;
}

int64_t SmallWindows::inside(size_t first) const {
  int64_t out = 1;
  for (size_t d = first; d < windows_.out.size(); ++d) out *= windows_.out[d];
  return out;
}

// Elements that are combined in the code where dimensions from `first` on are inside.
int64_t SmallWindows::steps(size_t first) const {
  int64_t out = 1;
  for (size_t d = 0; d < windows_.out.size(); ++d) {
    int64_t each = d < first ? windows_.dims[d].size : 0;
    if (d >= first)
      for (const Piece& piece : pieces_[d])
        each +=
            static_cast<int64_t>(piece.places.size()) * (d > lanes_ ? piece.end - piece.begin : 1);
    if (out * each > max_read) return max_read + 1;
    out *= each;
  }
  return out;
}

bool SmallWindows::fit() const {
  return !pieces_.empty() && steps(first_) <= (is_array_ ? max_read : max_computed);
}

bool SmallWindows::is_padded(size_t d) const {
  return pieces_[d].size() > 1 ||
         static_cast<int64_t>(pieces_[d][0].places.size()) < windows_.dims[d].size;
}

// Null where none does.
llvm::Value* SmallWindows::reaches_padding(const Part& part) const {
  llvm::Value* out = nullptr;
  for (size_t d = 0; d < part.dim; ++d) {
    if (!is_padded(d)) continue;
    const WindowDim& dim = windows_.dims[d];
    const int64_t whole = (dim.size - 1) * dim.window_dilation;
    llvm::Value* begin =
        add_index(b_, multiply_index(b_, part.place[d], dim.stride), int64(b_, -dim.padding_low));
    llvm::Value* reaches = b_.CreateOr(b_.CreateICmpSLT(begin, int64(b_, 0)),
                                       b_.CreateICmpSGE(begin, int64(b_, windows_.in[d] - whole)));
    out = out ? b_.CreateOr(out, reaches) : reaches;
  }
  return out;
}

void SmallWindows::write(llvm::function_ref<void(const Part&)> others) {
  const Dims outer(windows_.out.begin(), windows_.out.begin() + static_cast<int64_t>(first_));
  const int64_t rows = element_count(outer), size = windows_.out[first_];
  const int64_t behind = inside(first_) / size;
  int64_t width = size;
  if (rows < min_iterations && inside(first_) > max_inside)
    width = std::min(
        size, std::max<int64_t>(1, first_ == lanes_ ? KernelLimits::whole_lanes * min_iterations
                                                    : max_inside / behind));
  const int64_t parts = (size + width - 1) / width;
  w_.set_count(rows * parts);
  start_ = w_.elements.operand(windows_.id, 1, Index::scalar(b_));
  place_.resize(windows_.out.size());
  at_.resize(windows_.out.size());
  piece_.resize(windows_.out.size());
  loop(b_, w_.begin, w_.end, [&](llvm::Value* number) {
    llvm::Value* row = parts == 1 ? number : b_.CreateUDiv(number, int64(b_, parts));
    const Index rows_at = Index::linear(b_, outer, row);
    Part part = {{}, first_, int64(b_, 0), int64(b_, size)};
    for (size_t d = 0; d < first_; ++d) part.place.push_back(rows_at.at(b_, d));
    if (parts > 1) {
      part.begin = multiply_index(b_, b_.CreateURem(number, int64(b_, parts)), width);
      part.end = lesser_index(b_, add_index(b_, part.begin, int64(b_, width)), int64(b_, size));
    }
    std::ranges::copy(part.place, place_.begin());
    if (llvm::Value* reaches = reaches_padding(part)) {
      where(b_, reaches, [&] { others(part); });
      where(b_, b_.CreateNot(reaches), [&] { write_loops(part, first_); });
    } else {
      write_loops(part, first_);
    }
  });
}

void SmallWindows::write_loops(const Part& part, size_t d) {
  if (d > lanes_) {
    w_.elements.forget();
    return write_results(d);
  }
  for (const Piece& piece : pieces_[d]) {
    const auto body = [&](llvm::Value* i) {
      place_[d] = i;
      piece_[d] = &piece;
      write_loops(part, d + 1);
    };
    if (d > first_ || llvm::isa<llvm::Constant>(part.begin)) {
      loop(b_, piece.end - piece.begin,
           [&](llvm::Value* i) { body(add_index(b_, i, int64(b_, piece.begin))); });
    } else {
      llvm::Value *begin = part.begin, *end = part.end;
      if (piece.begin > 0) begin = greater_index(b_, begin, int64(b_, piece.begin));
      if (piece.end < windows_.out[d]) end = lesser_index(b_, end, int64(b_, piece.end));
      loop(b_, begin, end, body);
    }
  }
}

// Of the dimensions behind the loops.
void SmallWindows::write_results(size_t d) {
  if (d < windows_.out.size()) {
    for (const Piece& piece : pieces_[d]) {
      piece_[d] = &piece;
      for (int64_t i = piece.begin; i < piece.end; ++i) {
        place_[d] = int64(b_, i);
        write_results(d + 1);
      }
    }
    return;
  }
  combined_ = reducer_.identity();
  add_window_positions(0);
  const Module& module = w_.elements.module;
  store_element(b_, module.shape(windows_.id).type, w_.results[0],
                Index(b_, windows_.out, place_).position(b_), reducer_.finish(start_, combined_));
}

// Combines the elements under all places of the window of the result at hand, from dimension d on.
void SmallWindows::add_window_positions(size_t d) {
  if (d == windows_.in.size()) {
    const Module& module = w_.elements.module;
    const Dims& dims = module.shape(module.operand(windows_.id, 0)).dims;
    Index at(b_, windows_.in, at_);
    if (dims != windows_.in) at = Index::linear(b_, dims, at.position(b_));
    combined_ =
        reducer_.combine(combined_, reducer_.widen(w_.elements.operand(windows_.id, 0, at)));
    return;
  }
  const WindowDim& dim = windows_.dims[d];
  const auto add = [&](int64_t k) {
    at_[d] = add_index(b_, multiply_index(b_, place_[d], dim.stride),
                       int64(b_, k * dim.window_dilation - dim.padding_low));
    add_window_positions(d + 1);
  };
  if (d < first_)
    for (int64_t k = 0; k < dim.size; ++k) add(k);
  else
    for (int64_t k : piece_[d]->places) add(k);
}

}  // namespace hilo
