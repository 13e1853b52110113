#include "emit/lane_groups.h"

namespace hilo {

using llvm::Value;

LaneGroups::LaneGroups(Dims dims, size_t along, int64_t lanes)
    : dims_(std::move(dims)), groups_(dims_), along_(along), lanes_(lanes) {
  groups_[along] = (dims_[along] + lanes - 1) / lanes;
}

std::vector<Value*> LaneGroups::first(Builder& b, Value* number) const {
  const Index group = Index::linear(b, groups_, number);
  std::vector<Value*> out;
  for (size_t d = 0; d < dims_.size(); ++d) out.push_back(group.at(b, d));
  Value* lane = multiply_index(b, out[along_], lanes_);
  const bool is_whole = dims_[along_] % lanes_ == 0;
  out[along_] = is_whole ? lane
                         : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lane,
                                                   int64(b, dims_[along_] - lanes_));
  return out;
}

Index LaneGroups::place(Builder& b, std::vector<Value*> first, Value* lane) const {
  first[along_] = add_index(b, first[along_], lane);
  return Index(b, dims_, std::move(first));
}

}  // namespace hilo
