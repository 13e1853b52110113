#include "pass/shard/reshard_emit.h"

#include <algorithm>
#include <functional>

#include "pass/shard/axis_lists.h"
#include "pass/shard/identity_element.h"
#include "pass/shard/local_code.h"

namespace hilo {
namespace {

using Kind = ReshardStep::Kind;

// The axes cut where those of `split` are.
SubAxes cut_at(const SubAxes& axes, const SubAxes& split) {
  SubAxes out;
  for (const SubAxis& axis : axes)
    for (const SubAxis& one : split)
      if (one.axis == axis.axis && one.pre_size >= axis.pre_size && one.size > 1 &&
          one.pre_size * one.size <= axis.pre_size * axis.size)
        out.push_back(one);
  return out;
}

// One all-to-all or all-gather, which moves chunks of one size: device `s` of a group sends to
// device `r` its chunk at r's numbers in the dimensions that gain axes, and r puts it at s's
// numbers in the dimensions that lose some.
class Exchange {
 public:
  Exchange(LocalCode& code, std::span<const int64_t> dims, const ReshardStep& step)
      : code_(code), mesh_(*step.from.mesh) {
    before_ = local_dims(dims, step.from);
    after_ = local_dims(dims, step.to);
    std::vector<SubAxes> lost, gained;
    SubAxes all;
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      const SubAxes &from = step.from.dims[dim].axes, &to = step.to.dims[dim].axes;
      const bool loses = axes_size(from) > axes_size(to);
      lost.push_back(loses ? behind_prefix(from, to) : SubAxes());
      gained.push_back(loses ? SubAxes() : behind_prefix(to, from));
      for (const auto* axes : {&lost.back(), &gained.back()})
        all.insert(all.end(), axes->begin(), axes->end());
      chunk_.push_back(loses ? before_[dim] : after_[dim]);
    }
    const SubAxes split = split_mesh(mesh_, all);
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      lost_.push_back(cut_at(lost[dim], split));
      gained_.push_back(cut_at(gained[dim], split));
      group_.insert(group_.end(), lost_[dim].begin(), lost_[dim].end());
    }
    if (step.kind == Kind::ReduceScatter) group_ = cut_at(step.axes, split);
  }

  InstructionId all_to_all(InstructionId tile, int64_t channel) {
    return put_together(code_.all_to_all(cut(tile), mesh_, group_, channel));
  }
  InstructionId reduce_scatter(InstructionId tile, ComputationId reducer, int64_t channel) {
    if (const auto dim = only_dim(gained_)) {
      Dims blocks = chunk_;
      blocks[*dim] *= group_size();
      return code_.reduce_scatter(code_.resize(tile, blocks), mesh_, group_, reducer, channel,
                                  *dim);
    }
    return code_.reshape(code_.reduce_scatter(cut(tile), mesh_, group_, reducer, channel), chunk_);
  }
  InstructionId all_gather(InstructionId tile, int64_t channel) {
    if (const auto dim = only_dim(lost_))
      return code_.resize(code_.all_gather(tile, mesh_, group_, channel, *dim), after_);
    Dims with_group = chunk_;
    with_group.insert(with_group.begin(), 1);
    return put_together(code_.all_gather(code_.reshape(tile, with_group), mesh_, group_, channel));
  }

 private:
  // The dimension whose axes are the group's in its order, where it is the only one with any:
  // chunks of all members stand one behind the other there.
  std::optional<size_t> only_dim(const std::vector<SubAxes>& axes) const {
    std::optional<size_t> out;
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      if (axes[dim].empty()) continue;
      if (out || axes[dim] != group_) return std::nullopt;
      out = dim;
    }
    return out;
  }
  int64_t group_size() const { return axes_size(group_); }

  // [group, chunk]: for each receiver its chunk of the tile.
  InstructionId cut(InstructionId tile) {
    tile = only_own(blocks_of(tile));
    Dims sizes, order, mapping;  // of the group's axes, then the chunk's dimensions
    for (const SubAxis& axis : group_) sizes.push_back(axis.size);
    sizes.insert(sizes.end(), chunk_.begin(), chunk_.end());
    // The axes that are left in the tile, as they stand in it: those of the group, each once.
    int64_t at = 0;
    Dims of_chunk;
    std::vector<std::pair<int64_t, int64_t>> of_group;  // axis of the group, dimension of the tile
    for (size_t dim = 0; dim < chunk_.size(); ++dim) {
      for (const SubAxis& axis : gained_[dim])
        if (const auto found = std::ranges::find(group_, axis); found != group_.end())
          of_group.emplace_back(found - group_.begin(), at++);
      of_chunk.push_back(at++);
    }
    std::ranges::sort(of_group);
    for (const auto& [axis, dim] : of_group) order.push_back(dim), mapping.push_back(axis);
    for (size_t dim = 0; dim < chunk_.size(); ++dim) {
      order.push_back(of_chunk[dim]);
      mapping.push_back(static_cast<int64_t>(group_.size() + dim));
    }
    tile = code_.broadcast(code_.transpose(tile, order), sizes, mapping);
    return code_.reshape(tile, with_group());
  }

  Dims with_group() const {
    Dims out = {group_size()};
    out.insert(out.end(), chunk_.begin(), chunk_.end());
    return out;
  }

  // Dimensions that gain axes, with these axes as dimensions before them.
  InstructionId blocks_of(InstructionId tile) {
    Dims padded, blocks;
    for (size_t dim = 0; dim < chunk_.size(); ++dim) {
      padded.push_back(chunk_[dim] * axes_size(gained_[dim]));
      for (const SubAxis& axis : gained_[dim]) blocks.push_back(axis.size);
      blocks.push_back(chunk_[dim]);
    }
    return code_.reshape(code_.resize(tile, padded), blocks);
  }

  // Along gained axes that no other dimension loses, the device keeps its own block.
  InstructionId only_own(InstructionId blocks) {
    std::vector<InstructionId> starts;
    Dims sizes, kept;
    for (size_t dim = 0; dim < chunk_.size(); ++dim) {
      for (const SubAxis& axis : gained_[dim]) {
        const bool moves = std::ranges::count(group_, axis) > 0;
        starts.push_back(moves ? code_.number(0) : code_.coordinate(mesh_, std::array{axis}));
        sizes.push_back(moves ? axis.size : 1);
        if (moves) kept.push_back(axis.size);
      }
      starts.push_back(code_.number(0));
      sizes.push_back(chunk_[dim]);
      kept.push_back(chunk_[dim]);
    }
    if (sizes == code_.dims(blocks)) return blocks;
    return code_.reshape(code_.dynamic_slice(blocks, starts, sizes), kept);
  }

  // [group, chunk] of all senders as the new tile.
  InstructionId put_together(InstructionId received) {
    Dims split, order, whole;
    for (const SubAxis& axis : group_) split.push_back(axis.size);
    split.insert(split.end(), chunk_.begin(), chunk_.end());
    int64_t axis = 0;
    for (size_t dim = 0; dim < chunk_.size(); ++dim) {
      for (size_t i = 0; i < lost_[dim].size(); ++i) order.push_back(axis++);
      order.push_back(static_cast<int64_t>(group_.size() + dim));
      whole.push_back(chunk_[dim] * axes_size(lost_[dim]));
    }
    const InstructionId joined = code_.transpose(code_.reshape(received, split), order);
    return code_.resize(code_.reshape(joined, whole), after_);
  }

  LocalCode& code_;
  const Mesh& mesh_;
  Dims before_, after_;
  Dims chunk_;                          // what one device sends to another
  std::vector<SubAxes> lost_, gained_;  // of each dimension
  SubAxes group_;
};

// Dimensions that gain axes keep this device's block.
InstructionId emit_slice(LocalCode& code, InstructionId tile, std::span<const int64_t> dims,
                         const ReshardStep& step) {
  const Dims after = local_dims(dims, step.to);
  if (element_count(dims) == 0) return code.zeros(code.type(tile), after);
  Dims padded;
  std::vector<InstructionId> starts;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    const SubAxes gained = behind_prefix(step.to.dims[dim].axes, step.from.dims[dim].axes);
    padded.push_back(after[dim] * axes_size(gained));
    starts.push_back(code.scaled(code.coordinate(*step.from.mesh, gained), after[dim]));
  }
  return code.dynamic_slice(code.resize(tile, padded), starts, after);
}

InstructionId emit_permute(LocalCode& code, InstructionId tile, const ReshardStep& step,
                           int64_t channel) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  const Dims sources = permute_sources(step.from, step.to);
  for (size_t target = 0; target < sources.size(); ++target)
    pairs.emplace_back(sources[target], static_cast<int64_t>(target));
  return code.permute(tile, std::move(pairs), channel);
}

// Boxes that devices take out of their old tiles and put into their new ones.
class Chunks {
 public:
  Chunks(LocalCode& code, std::span<const int64_t> dims, const ReshardStep& step)
      : code_(code),
        step_(step),
        dims_(dims.begin(), dims.end()),
        from_(step.from, dims),
        to_(step.to, dims) {}

  InstructionId emit(InstructionId tile, int64_t& channel) {
    InstructionId out = code_.zeros(code_.type(tile), local_dims(dims_, step_.to));
    for (const ChunkRound& round : chunk_rounds(dims_, step_.from, step_.to)) {
      InstructionId box = take(tile, round);
      if (round.communicates()) box = send(box, round, channel++);
      out = put(out, box, round);
    }
    return out;
  }

 private:
  InstructionId send(InstructionId box, const ChunkRound& round, int64_t channel) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (const ChunkTransfer& one : round.transfers) pairs.emplace_back(one.source, one.target);
    return code_.permute(box, std::move(pairs), channel);
  }

  InstructionId take(InstructionId tile, const ChunkRound& round) {
    std::vector<Dims> table(from_.devices(), Dims(dims_.size(), 0));
    for (const ChunkTransfer& one : round.transfers)
      table[one.source] = within(one.offset, from_.box_of(one.source));
    return code_.dynamic_slice(tile, code_.row(table), round.sizes);
  }

  InstructionId put(InstructionId tile, InstructionId box, const ChunkRound& round) {
    std::vector<Dims> table(to_.devices(), Dims(dims_.size(), 0));
    std::vector<bool> is_target(to_.devices());
    for (const ChunkTransfer& one : round.transfers) {
      table[one.target] = within(one.offset, to_.box_of(one.target));
      is_target[one.target] = true;
    }
    const std::vector<InstructionId> starts = code_.row(table);
    if (std::ssize(round.transfers) < to_.devices())  // others keep what they have there
      box = code_.select(code_.is_listed(is_target), box,
                         code_.dynamic_slice(tile, starts, round.sizes));
    return code_.update(tile, box, starts);
  }

  static Dims within(Dims offset, const ArrayBox& box) {
    for (size_t dim = 0; dim < offset.size(); ++dim) offset[dim] -= box.offset[dim];
    return offset;
  }

  LocalCode& code_;
  const ReshardStep& step_;
  Dims dims_;
  DeviceTiles from_, to_;
};

// How the plan's summands are added, by Shardy's names.
Result<Op> find_reduction(const ReshardPlan& plan) {
  const std::string name = plan.steps.empty() ? "" : plan.steps[0].from.unreduced_op;
  if (const auto op = reduction_of(name)) return *op;
  return fail(ErrorKind::Unsupported, "expected summands of sum, max, min or mul, found {}", name);
}

}  // namespace

Result<InstructionId> emit_reshard(Editor& editor, InstructionId tile,
                                   std::span<const int64_t> dims, const ReshardPlan& plan,
                                   int64_t& channel) {
  if (editor.module().header.replica_count > 1)
    return fail(ErrorKind::Unsupported, "a resharding in a program with {} replicas",
                editor.module().header.replica_count);
  LocalCode code(editor, tile);
  InstructionId out = tile;
  HILO_TRY(const Op sum, find_reduction(plan));
  std::optional<ComputationId> reducer;
  const auto reducer_of_tile = [&] {
    if (!reducer) reducer = code.reducer(sum, code.type(tile));
    return *reducer;
  };
  for (const ReshardStep& step : plan.steps) {
    switch (step.kind) {
      case Kind::Slice: out = emit_slice(code, out, dims, step); break;
      case Kind::Permute: out = emit_permute(code, out, step, channel++); break;
      case Kind::AllToAll: out = Exchange(code, dims, step).all_to_all(out, channel++); break;
      case Kind::AllGather: out = Exchange(code, dims, step).all_gather(out, channel++); break;
      case Kind::ReduceScatter:
        out = Exchange(code, dims, step).reduce_scatter(out, reducer_of_tile(), channel++);
        break;
      case Kind::AllReduce:
        out = code.all_reduce(out, *step.from.mesh, step.axes, reducer_of_tile(), channel++);
        break;
      case Kind::Chunks: out = Chunks(code, dims, step).emit(out, channel); break;
    }
  }
  return out;
}

}  // namespace hilo
