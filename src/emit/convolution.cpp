// convolution as loops over registers: a block of places of the result times a strip of output
// features of one group, summed over places of the window and the group's input features; where
// these are one for each output feature, they lie in a vector too. What the window sees outside of
// the input is a line of zeros. Of few output features each is a sum of its own, whose lanes are
// input features, where these lie side by side in the kernel too. Of a dilated input only the
// places that hold elements are seen: the places of a block are those of one remainder, which all
// see the same places of the window.
#include <algorithm>

#include "emit/kernel_builder.h"
#include "emit/lanes.h"
#include "emit/op_functions.h"
#include "plan/plan.h"

namespace hilo {
namespace {

using llvm::Value;

class Convolution {
 public:
  Convolution(KernelBuilder& w, InstructionId id, const ConvolutionKernel& kernel)
      : w_(w),
        b_(w.b),
        a_(w.elements.module.attributes<ConvolutionAttributes>(id)),
        labels_(a_.dim_labels),
        window_(a_.window.dims),
        input_(w.elements.module.shape(w.elements.module.operand(id, 0))),
        kernel_(w.elements.module.shape(w.elements.module.operand(id, 1))),
        result_(w.elements.module.shape(id)),
        registers_(w.chip().registers),
        input_array_(w.elements.array(w.elements.module.operand(id, 0))),
        kernel_array_(w.elements.array(w.elements.module.operand(id, 1))),
        input_strides_(row_major_strides(input_.dims)),
        kernel_strides_(row_major_strides(kernel_.dims)),
        result_strides_(row_major_strides(result_.dims)),
        is_wide_(result_.type == ElementType::F64),
        by_inputs_(kernel.by_inputs) {}

  void write() {
    const size_t last = window_.size() - 1;
    const int64_t registers = registers_of_strip(), lanes = registers * lanes_of_register();
    max_block_positions_ = registers_.are_many() && registers < 4 ? 8 : 6;
    if (by_inputs_) {
      const int64_t max_sums = registers_.are_many() ? 24 : 12;
      max_block_positions_ = std::min(max_block_positions_, max_sums / columns());
    }
    width_ = by_inputs_ ? side_by_side() : std::min(side_by_side(), lanes);
    if (skips(last)) step_ = window_[last].base_dilation;
    places_ = positions_per_block(positions_along());
    const int64_t blocks = parts_of_line(positions_along(), places_);
    const int64_t strips = parts_of_line(side_by_side(), width_),
                  groups = columns() / side_by_side();
    Dims outer = {result_.dims[at(labels_.output_batch)]};
    double summed = static_cast<double>(features());
    for (size_t d = 0; d < window_.size(); ++d) {
      summed *= static_cast<double>(window_[d].size) / static_cast<double>(every(d));
      if (d < last) outer.push_back(result_size(d));
    }
    w_.set_count(element_count(outer) * blocks * step_ * strips * groups);
    multiplications_ = static_cast<double>(element_count(result_.dims)) * summed;
    if (has_lines_in_order())
      w_.set_block(blocks * step_ * strips * groups, result_size(last) * columns());
    write_zeros();
    if (transposes_kernel()) transpose_kernel();
    loop(b_, w_.begin, w_.end, [&](Value* i) {
      const Index parts =
          Index::linear(b_, Dims{element_count(outer), step_, blocks, groups, strips}, i);
      Value *phase = parts.at(b_, 1), *block = parts.at(b_, 2), *strip = parts.at(b_, 4);
      const Index line = Index::linear(b_, outer, parts.at(b_, 0));
      batch_ = line.at(b_, 0), group_ = parts.at(b_, 3);
      place_.clear();
      for (size_t d = 0; d < last; ++d) place_.push_back(line.at(b_, d + 1));
      place_.push_back(nullptr);
      write_part(phase, block, strip);
    });
  }

 private:
  // What the threads' iterations are: a block of places times a strip of features.
  void write_part(Value* phase, Value* block, Value* strip) {
    const int64_t along = positions_along();
    const bool positions_overlap = step_ == 1 && may_overlap(along, places_, 1, multiplications_);
    with_part_of_line(
        b_, block, along, places_, positions_overlap, [&](Value* first, int64_t rows) {
          place_.back() = add_index(b_, multiply_index(b_, first, step_), phase);
          with_part_of_line(b_, strip, side_by_side(), width_, features_overlap(),
                            [&](Value* feature, int64_t width) {
                              Value* group = multiply_index(b_, group_, side_by_side());
                              column_ = add_index(b_, group, feature);
                              write_block(rows, width);
                            });
        });
  }
  bool features_overlap() const {
    return may_overlap(side_by_side(), width_, lanes_of_register(), multiplications_);
  }
  int64_t side_by_side() const { return is_depthwise() ? columns() : group_columns(); }
  int64_t positions_along() const { return parts_of_line(result_size(window_.size() - 1), step_); }
  // Of features side by side: where few of the input are added, wide blocks read these less often.
  int64_t registers_of_strip() const {
    constexpr int64_t max_wide_strip_features = 16;
    const int64_t lanes = lanes_of_register(), all = parts_of_line(group_columns(), lanes);
    if (!registers_.are_many() || !has_contiguous_window() || all < 3) return 2;
    if (all % 3 == 0) return 3;
    if (features() > max_wide_strip_features) return 2;
    return (all + 2) / 3 > (all + 3) / 4 ? 4 : 3;
  }

  // A block that is not full is code of its own: rather smaller ones. Where long lines are added by
  // too few sums to keep the multipliers busy, those that need the fewest steps of these, which do
  // the two products of a place in one, wait for sums of fewer than 4 places, and lose about half a
  // step with the loop.
  int64_t positions_per_block(int64_t along) const {
    if (registers_.are_many() || !has_contiguous_window()) {
      for (int64_t places = max_block_positions_; places > max_block_positions_ / 2; --places)
        if (along % places == 0) return places;
      return std::min(along, max_block_positions_);
    }
    const auto half_steps = [](int64_t places) {
      return places > 0 ? 2 * std::max<int64_t>(places, 4) + 1 : 0;
    };
    int64_t best = std::min(along, max_block_positions_), fewest = INT64_MAX;
    for (int64_t places = best; places > max_block_positions_ / 2; --places) {
      const int64_t all = along / places * half_steps(places) + half_steps(along % places);
      if (all < fewest) best = places, fewest = all;
    }
    return best;
  }

  // Whether lines of the last spatial dimension follow each other as they are computed, at no cost
  // for each call.
  bool has_lines_in_order() const {
    const ConvolutionLabels& l = labels_;
    return !transposes_kernel() && l.output_batch == 0 && std::ranges::is_sorted(l.output_spatial);
  }
  bool transposes_kernel() const {
    return by_inputs_ && kernel_strides_[at(labels_.kernel_input_feature)] != 1;
  }
  int64_t lanes_of_register() const { return registers_.lanes(is_wide_ ? 8 : 4); }
  static size_t at(int64_t dim) { return static_cast<size_t>(dim); }
  int64_t features() const { return kernel_.dims[at(labels_.kernel_input_feature)]; }
  int64_t group_columns() const { return columns() / a_.feature_group_count; }
  bool is_depthwise() const {
    return a_.feature_group_count > 1 && features() == 1 && group_columns() == 1;
  }
  // Whether the window steps over the places between the elements of a dilated input.
  bool skips(size_t d) const {
    const WindowDim& dim = window_[d];
    return dim.base_dilation > 1 && dim.stride == 1 && dim.window_dilation == 1 &&
           dim.size >= dim.base_dilation && result_size(d) >= dim.base_dilation;
  }
  int64_t columns() const { return kernel_.dims[at(labels_.kernel_output_feature)]; }
  int64_t result_size(size_t d) const { return result_.dims[at(labels_.output_spatial[d])]; }
  llvm::Type* real() const { return is_wide_ ? b_.getDoubleTy() : b_.getFloatTy(); }

  void write_zeros() {
    llvm::Type* stored = stored_type(b_, input_.type);
    const int64_t together = has_contiguous_window() ? window_.back().size : 1;
    const int64_t count = is_depthwise() ? columns() : features() * together;
    zeros_ = frame_array(b_, stored, count);
    loop(b_, count, [&](Value* i) {
      b_.CreateStore(llvm::Constant::getNullValue(stored), b_.CreateInBoundsGEP(stored, zeros_, i));
    });
  }

  // Where the input's place under place k of the window begins, and whether there is one.
  struct Seen {
    Value *position, *inside;
  };
  // The place of the input, and whether it is one of those between which a dilated one has nothing.
  Seen input_position(size_t d, Value* result_index, Value* k) {
    const WindowDim& dim = window_[d];
    Value* place = window_element_index(b_, dim, result_index, k);
    if (dim.base_dilation == 1) return {place, b_.getTrue()};
    Value* step = int64(b_, dim.base_dilation);
    if (skips(d)) return {b_.CreateExactSDiv(place, step), b_.getTrue()};
    Value* whole = b_.CreateSDiv(place, step);
    return {whole, b_.CreateICmpEQ(multiply_index(b_, whole, dim.base_dilation), place)};
  }
  Seen seen(size_t d, const Seen& input_at) {
    const size_t of = at(labels_.input_spatial[d]);
    return {multiply_index(b_, input_at.position, input_strides_[of]), is_seen(d, input_at)};
  }
  Value* is_seen(size_t d, const Seen& input_at) {
    const int64_t size = input_.dims[at(labels_.input_spatial[d])];
    return b_.CreateAnd(input_at.inside, is_in_bounds(b_, input_at.position, size));
  }
  Seen and_then(const Seen& before, const Seen& here) {
    return {add_index(b_, before.position, here.position),
            b_.CreateAnd(before.inside, here.inside)};
  }

  void write_block(int64_t rows, int64_t lanes) {
    const std::vector<LaneChunk> pieces =
        by_inputs_ ? std::vector{LaneChunk{0, lanes}} : chunks_of_lanes(lanes, lanes_of_register());
    std::vector<Value*> first;
    for (int64_t r = 0; r < (by_inputs_ ? rows * columns() : rows); ++r)
      for (const LaneChunk& piece : pieces)
        first.push_back(zeros(by_inputs_ ? lanes_of_features() : piece.lanes));
    Value* input = multiply_index(b_, batch_, input_strides_[at(labels_.input_batch)]);
    if (!is_depthwise()) input = add_index(b_, input, multiply_index(b_, group_, features()));
    std::vector<Value*> sums = add_window(input, first, lanes, rows);
    if (by_inputs_) sums = totals(sums);
    Value* start = add_index(
        b_, multiply_index(b_, batch_, result_strides_[at(labels_.output_batch)]), column_);
    for (size_t d = 0; d < window_.size(); ++d)
      start = add_index(b_, start, multiply_index(b_, place_[d], stride_of_result(d)));
    const size_t last = window_.size() - 1;
    for (int64_t r = 0; r < rows; ++r) {
      const auto store = [&] {
        Value* to = add_index(b_, start, int64(b_, r * step_ * stride_of_result(last)));
        for (size_t p = 0; p < pieces.size(); ++p)
          store_lanes(b_, result_.type, w_.results[0],
                      add_index(b_, to, int64(b_, pieces[p].first)),
                      sums[static_cast<size_t>(r) * pieces.size() + p]);
      };
      if (r + 1 < rows || result_size(last) % step_ == 0) {
        store();
        continue;
      }
      // The last remainders have one place less.
      Value* place = add_index(b_, place_[last], int64(b_, r * step_));
      where(b_, b_.CreateICmpSLT(place, int64(b_, result_size(last))), store);
    }
  }
  // Makes the kernel one whose input features lie side by side, in the frame.
  void transpose_kernel() {
    llvm::Type* stored = stored_type(b_, kernel_.type);
    const int64_t lanes = lanes_of_register(), each = columns() * features();
    Value* transposed = frame_array(b_, stored, element_count(kernel_.dims));
    loop(b_, element_count(kernel_.dims) / each, [&](Value* place) {
      loop(b_, features() / lanes, [&](Value* strip) {
        Value *start = multiply_index(b_, place, each), *feature = multiply_index(b_, strip, lanes);
        const std::vector<Value*> of_columns =
            taken_apart(add_index(b_, start, multiply_index(b_, feature, columns())), lanes);
        for (int64_t j = 0; j < columns(); ++j)
          store_lanes(b_, kernel_.type, transposed,
                      add_index(b_, start, add_index(b_, feature, int64(b_, j * features()))),
                      of_columns[static_cast<size_t>(j)]);
      });
    });
    kernel_array_ = transposed;
    kernel_strides_[at(labels_.kernel_output_feature)] = features();
    kernel_strides_[at(labels_.kernel_input_feature)] = 1;
  }
  // Lane i of vector j is the kernel's element columns() * i + j of those from `from` on.
  std::vector<Value*> taken_apart(Value* from, int64_t lanes) {
    std::vector<Value*> out(static_cast<size_t>(columns()));
    for (int64_t k = 0; k < columns(); ++k) {
      Value* read = load_lanes(b_, kernel_.type, kernel_array_,
                               add_index(b_, from, int64(b_, k * lanes)), lanes, real());
      for (int64_t j = 0; j < columns(); ++j) {
        std::vector<int> mask;
        for (int64_t i = 0; i < lanes; ++i) {
          const int64_t place = columns() * i + j - k * lanes;
          mask.push_back(static_cast<int>(place >= 0 && place < lanes ? lanes + place : i));
        }
        Value*& vector = out[static_cast<size_t>(j)];
        vector = b_.CreateShuffleVector(vector ? vector : read, read, mask);
      }
    }
    return out;
  }

  Value* zeros(int64_t lanes) const {
    return llvm::Constant::getNullValue(
        llvm::FixedVectorType::get(real(), static_cast<unsigned>(lanes)));
  }
  int64_t stride_of_result(size_t d) const {
    return result_strides_[at(labels_.output_spatial[d])];
  }

  // Adds what the window sees of the input's array, or of a group's features in it, from `start`
  // on.
  std::vector<Value*> add_window(Value* start, std::vector<Value*> sums, int64_t lanes,
                                 int64_t places) {
    std::vector<Value*> lowest, counts;
    for (size_t d = 0; d < window_.size(); ++d) {
      lowest.push_back(every(d) > 1 ? first_seen(d) : int64(b_, 0));
      counts.push_back(count_seen(d, lowest[d]));
    }
    Value* together = window_positions_at_once(places);
    Value* all = b_.CreateUDiv(counts.back(), together);
    for (size_t d = 0; d + 1 < window_.size(); ++d) all = b_.CreateMul(all, counts[d]);
    const auto body = [&](Value* i, std::span<Value* const> now) {
      const std::vector<Value*> parts = parts_of(b_.CreateMul(i, together), counts);
      Seen input = {start, b_.getTrue()};
      Value *kernel = column_, *k = nullptr;
      for (size_t d = 0; d < window_.size(); ++d) {
        const WindowDim& dim = window_[d];
        k = add_index(b_, lowest[d], multiply_index(b_, parts[d], every(d)));
        Value* taken = dim.reversal ? b_.CreateSub(int64(b_, dim.size - 1), k) : k;
        const int64_t stride = kernel_strides_[at(labels_.kernel_spatial[d])];
        kernel = add_index(b_, kernel, multiply_index(b_, taken, stride));
        if (d + 1 < window_.size())
          input = and_then(input, seen(d, input_position(d, place_[d], k)));
      }
      return add_features(lines_seen(input, k, static_cast<size_t>(places)), kernel,
                          b_.CreateMul(together, int64(b_, features())), {now.begin(), now.end()},
                          lanes);
    };
    return loop_carrying(b_, all, std::move(sums), body);
  }

  // Whether places of the window that follow each other in the last dimension stand one after the
  // other in the input and in the kernel.
  bool has_contiguous_window() const {
    const size_t last = window_.size() - 1;
    const WindowDim& dim = window_[last];
    const int64_t stride = kernel_strides_[at(labels_.kernel_input_feature)];
    return !is_depthwise() && !by_inputs_ && dim.size > 1 && dim.base_dilation == 1 &&
           dim.window_dilation == 1 && !dim.reversal &&
           features() * dim.size <= KernelLimits::longest_line &&
           input_strides_[at(labels_.input_spatial[last])] == features() &&
           kernel_strides_[at(labels_.kernel_spatial[last])] == features() * stride;
  }
  // How many places of the window's last dimension are added as one line of features: all where a
  // block sees nothing but elements there, else one.
  Value* window_positions_at_once(int64_t places) {
    if (!has_contiguous_window()) return int64(b_, 1);
    const size_t last = window_.size() - 1;
    const WindowDim& dim = window_[last];
    const int64_t seen = (places - 1) * dim.stride + dim.size;  // by a block
    Value* first = window_element_index(b_, dim, place_[last], int64(b_, 0));
    const int64_t most = input_.dims[at(labels_.input_spatial[last])] - seen;
    if (most < 0) return int64(b_, 1);
    return b_.CreateSelect(is_in_bounds(b_, first, most + 1), int64(b_, dim.size), int64(b_, 1));
  }
  // Places of the window from one that sees an element to the next.
  int64_t every(size_t d) const { return skips(d) ? window_[d].base_dilation : 1; }

  // The first place of the window that sees an element from place_[d], of a dilated input.
  Value* first_seen(size_t d) {
    const WindowDim& dim = window_[d];
    Value* step = int64(b_, dim.base_dilation);
    Value* rest = b_.CreateSRem(b_.CreateSub(int64(b_, dim.padding_low), place_[d]), step);
    return b_.CreateSelect(b_.CreateICmpSLT(rest, int64(b_, 0)), add_index(b_, rest, step), rest);
  }

  // How many such places there are from the first on.
  Value* count_seen(size_t d, Value* first) {
    const int64_t step = every(d), size = window_[d].size;
    if (size % step == 0) return int64(b_, size / step);
    return b_.CreateUDiv(b_.CreateSub(int64(b_, size + step - 1), first), int64(b_, step));
  }

  // The indices of element i of an array of these sizes.
  std::vector<Value*> parts_of(Value* i, std::span<Value* const> sizes) {
    std::vector<Value*> out(sizes.size());
    for (size_t d = sizes.size(); d-- > 1;) {
      out[d] = b_.CreateURem(i, sizes[d]);
      i = b_.CreateUDiv(i, sizes[d]);
    }
    if (!out.empty()) out[0] = i;
    return out;
  }

  // The features that each place of the block sees under place k of the last dimension.
  std::vector<Value*> lines_seen(const Seen& input, Value* k, size_t places) {
    const size_t last = window_.size() - 1;
    const WindowDim& dim = window_[last];
    const int64_t apart = step_ * dim.stride;
    const bool is_regular = apart % dim.base_dilation == 0;
    const int64_t stride = input_strides_[at(labels_.input_spatial[last])];
    llvm::Type* stored = stored_type(b_, input_.type);
    const Seen first = input_position(last, place_[last], k);
    const auto input_at = [&](const Seen& place) {
      return b_.CreateGEP(stored, input_array_, and_then(input, seen(last, place)).position);
    };
    Value* begin = is_regular ? input_at(first) : nullptr;
    std::vector<Value*> out;
    for (size_t r = 0; r < places; ++r) {
      const auto number = static_cast<int64_t>(r);
      const int64_t behind = number * apart / dim.base_dilation;
      Seen here = {add_index(b_, first.position, int64(b_, behind)), first.inside};
      if (!is_regular)
        here = input_position(last, add_index(b_, place_[last], int64(b_, number * step_)), k);
      Value* features =
          is_regular ? b_.CreateGEP(stored, begin, int64(b_, behind * stride)) : input_at(here);
      Value* inside = b_.CreateAnd(input.inside, is_seen(last, here));
      out.push_back(b_.CreateSelect(inside, features, zeros_));
    }
    return out;
  }

  // Adds `count` features of each line, times those of the kernel from its element on.
  std::vector<Value*> add_features(const std::vector<Value*>& lines, Value* kernel, Value* count,
                                   std::vector<Value*> sums, int64_t lanes) {
    if (by_inputs_) return add_inputs(lines, kernel, std::move(sums));
    const auto pieces = chunks_of_lanes(lanes, lanes_of_register());
    const auto load = [&](ElementType type, Value* array, Value* position, const LaneChunk& piece) {
      Value* from = add_index(b_, position, int64(b_, piece.first));
      return load_lanes(b_, type, array, from, piece.lanes, real());
    };
    if (is_depthwise()) {
      for (size_t p = 0; p < pieces.size(); ++p) {
        Value* strip = load(kernel_.type, kernel_array_, kernel, pieces[p]);
        for (size_t r = 0; r < lines.size(); ++r) {
          Value*& sum = sums[r * pieces.size() + p];
          Value* seen = load(input_.type, lines[r], column_, pieces[p]);
          sum = multiply_add_lanes(b_, seen, strip, sum);
        }
      }
      return sums;
    }
    const int64_t stride = kernel_strides_[at(labels_.kernel_input_feature)];
    return loop_carrying(
        b_, count, std::move(sums), [&](Value* feature, std::span<Value* const> now) {
          Value* from = add_index(b_, kernel, multiply_index(b_, feature, stride));
          std::vector<Value*> strip, next;
          for (const LaneChunk& piece : pieces)
            strip.push_back(load(kernel_.type, kernel_array_, from, piece));
          for (Value* line : lines) {
            Value* one = load_element(b_, input_.type, line, feature);
            if (one->getType() != real()) one = b_.CreateFPExt(one, real());
            for (size_t p = 0; p < pieces.size(); ++p) {
              Value* splat = b_.CreateVectorSplat(static_cast<unsigned>(pieces[p].lanes), one);
              next.push_back(multiply_add_lanes(b_, splat, strip[p], now[next.size()]));
            }
          }
          return next;
        });
  }

  // Lanes of a sum over input features.
  int64_t lanes_of_features() const {
    int64_t lanes = lanes_of_register();
    while (lanes > features()) lanes /= 2;
    return lanes;
  }
  // Elements [position, position + lanes), and zeros in the lanes of a sum behind them.
  Value* load_features(ElementType type, Value* array, Value* position, int64_t lanes) {
    Value* loaded = load_lanes(b_, type, array, position, lanes, real());
    if (lanes == lanes_of_features()) return loaded;
    std::vector<int> from;
    for (int64_t i = 0; i < lanes_of_features(); ++i)
      from.push_back(static_cast<int>(std::min(i, lanes)));
    return b_.CreateShuffleVector(loaded, llvm::Constant::getNullValue(loaded->getType()), from);
  }
  std::vector<Value*> add_inputs(const std::vector<Value*>& lines, Value* kernel,
                                 std::vector<Value*> sums) {
    const int64_t lanes = lanes_of_features();
    const auto add = [&](Value* feature, std::span<Value* const> now, int64_t count) {
      std::vector<Value*> inputs, next;
      for (Value* line : lines) inputs.push_back(load_features(input_.type, line, feature, count));
      next.assign(now.begin(), now.end());
      for (int64_t j = 0; j < columns(); ++j) {
        const int64_t column = j * kernel_strides_[at(labels_.kernel_output_feature)];
        Value* from = add_index(b_, add_index(b_, kernel, int64(b_, column)), feature);
        Value* weights = load_features(kernel_.type, kernel_array_, from, count);
        for (size_t r = 0; r < lines.size(); ++r) {
          Value*& sum = next[r * static_cast<size_t>(columns()) + static_cast<size_t>(j)];
          sum = multiply_add_lanes(b_, inputs[r], weights, sum);
        }
      }
      return next;
    };
    sums = loop_carrying(b_, features() / lanes, std::move(sums),
                         [&](Value* i, std::span<Value* const> now) {
                           return add(multiply_index(b_, i, lanes), now, lanes);
                         });
    const int64_t rest = features() % lanes;
    return rest == 0 ? sums : add(int64(b_, features() - rest), sums, rest);
  }
  // The features of each place of a block, side by side, from the lanes of their sums, in halves.
  std::vector<Value*> totals(const std::vector<Value*>& sums) {
    const auto count = static_cast<size_t>(columns());
    std::vector<Value*> out(sums.size() / count);
    auto* features = llvm::FixedVectorType::get(real(), static_cast<unsigned>(count));
    const std::vector<Value*> all = sums_of_lanes(b_, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      Value*& place = out[i / count];
      if (!place) place = llvm::PoisonValue::get(features);
      place = b_.CreateInsertElement(place, all[i], static_cast<uint64_t>(i % count));
    }
    return out;
  }

  KernelBuilder& w_;
  Builder& b_;
  const ConvolutionAttributes& a_;
  const ConvolutionLabels& labels_;
  const std::vector<WindowDim>& window_;
  const Shape &input_, &kernel_, &result_;
  const VectorRegisters registers_;
  Value *input_array_, *kernel_array_;
  Dims input_strides_, kernel_strides_, result_strides_;
  const bool is_wide_, by_inputs_;
  int64_t max_block_positions_ = 1;
  int64_t places_ = 1, width_ = 1;  // of a block, of a strip
  int64_t step_ = 1;                // between the places of a block
  double multiplications_ = 0;      // of all
  Value *zeros_ = nullptr, *batch_ = nullptr, *group_ = nullptr, *column_ = nullptr;
  std::vector<Value*> place_;  // of the result, in its spatial dimensions: the first of a block
};

}  // namespace

void write_Convolution(KernelBuilder& w, InstructionId id) {
  const Module& module = w.elements.module;
  const auto kernel = convolution_kernel(module, id, w.elements.arrays(), w.chip());
  check(kernel.has_value(), "convolution: the command is a kernel");
  if (kernel->by_elements) return write_elements(w, id);
  if (stores_lanes(module.shape(id).type)) w.set_loop_kind(LoopsOver::Vectors);
  Convolution(w, id, *kernel).write();
}

}  // namespace hilo
