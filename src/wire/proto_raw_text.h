// Attributes that the module keeps as text and the wire form has fields for.
#pragma once

#include "base/base.h"
#include "wire/hlo.pb.h"

namespace hilo {

// {lhs={sparsity=2x4 dimension=1 stride=1} rhs={...}}
void write_sparsity(std::string_view text, proto::SparsityConfig& to);
std::string print_sparsity(const proto::SparsityConfig& from);
// {kind="sharding", entry={...}, exit={...}}. The entry of the text is the user's side, which the
// wire form calls exit.
void write_domain(std::string_view text, proto::HloInstructionProto& to);
Result<std::string> read_domain(const proto::HloInstructionProto& from);

}  // namespace hilo
