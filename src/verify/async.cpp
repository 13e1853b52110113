// Pairs of start and done.
#include <algorithm>

#include "verify/report.h"

namespace hilo {
namespace {

struct Pair {
  Op op;
  std::initializer_list<Op> partners;
};

std::string names_of(std::initializer_list<Op> ops) {
  std::string out;
  for (Op op : ops) (out += out.empty() ? "" : " or ") += text_of(op);
  return out;
}

bool is_one_of(Op op, std::initializer_list<Op> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

const Pair starts[] = {{Op::AsyncStart, {Op::AsyncUpdate, Op::AsyncDone}},
                       {Op::AsyncUpdate, {Op::AsyncUpdate, Op::AsyncDone}},
                       {Op::CopyStart, {Op::CopyDone}},
                       {Op::AllGatherStart, {Op::AllGatherDone}},
                       {Op::AllReduceStart, {Op::AllReduceDone}},
                       {Op::CollectivePermuteStart, {Op::CollectivePermuteDone}}};
const Pair dones[] = {{Op::AsyncUpdate, {Op::AsyncStart, Op::AsyncUpdate}},
                      {Op::AsyncDone, {Op::AsyncStart, Op::AsyncUpdate}},
                      {Op::CopyDone, {Op::CopyStart}},
                      {Op::AllGatherDone, {Op::AllGatherStart}},
                      {Op::AllReduceDone, {Op::AllReduceStart}},
                      {Op::CollectivePermuteDone, {Op::CollectivePermuteStart}}};

void verify_start(const Subject& subject) {
  for (const Pair& pair : starts) {
    if (pair.op != subject.instruction.op) continue;
    const auto users = subject.module.users(subject.id);
    if (users.size() != 1)
      return subject.fault(fmt::format("expected one user, {}, found {} users",
                                       names_of(pair.partners), users.size()));
    if (const Op user = subject.module[users[0]].op; !is_one_of(user, pair.partners))
      return subject.fault(
          fmt::format("expected {} as user, found {}", names_of(pair.partners), text_of(user)));
  }
}

void verify_done(const Subject& subject) {
  for (const Pair& pair : dones) {
    if (pair.op != subject.instruction.op) continue;
    const Op start = subject.module[subject.module.operand(subject.id, 0)].op;
    if (!is_one_of(start, pair.partners))
      return subject.fault(
          fmt::format("expected {} as operand, found {}", names_of(pair.partners), text_of(start)));
  }
}

// async-update and async-done may repeat the computation of their start, but no other.
void verify_same_computation(const Subject& subject) {
  const InstructionId start = subject.module.operand(subject.id, 0);
  const Op op = subject.module[start].op;
  if (op != Op::AsyncStart && op != Op::AsyncUpdate) return;
  const ComputationId mine = subject.attributes<AsyncAttributes>().calls;
  const ComputationId of_start = subject.module.attributes<AsyncAttributes>(start).calls;
  if (mine && of_start && mine != of_start)
    subject.fault(fmt::format("expected calls={} as in {}, found {}", subject.module[of_start].name,
                              subject.module[start].name, subject.module[mine].name));
}

// send and recv may pass through loops before they are done; only a direct pair is compared.
void verify_transfer_done(const Subject& subject) {
  const Instruction& start = subject.module[subject.module.operand(subject.id, 0)];
  const bool send = subject.instruction.op == Op::SendDone;
  if (start.op == (send ? Op::Recv : Op::Send))
    return subject.fault(
        fmt::format("expected {} as operand, found {}", send ? "send" : "recv", text_of(start.op)));
  if (start.op != Op::Send && start.op != Op::Recv) return;
  const auto& mine = subject.attributes<TransferAttributes>();
  const auto& other = subject.module.attributes<TransferAttributes>(start);
  if (mine.channel_id != other.channel_id)
    return subject.fault(fmt::format("expected channel_id={} as in {}, found {}",
                                     other.channel_id.value_or(0), start.name,
                                     mine.channel_id.value_or(0)));
  if (mine.is_host_transfer != other.is_host_transfer)
    subject.fault(
        fmt::format("expected is_host_transfer={} as in {}", other.is_host_transfer, start.name));
}

constexpr OpRule rules[] = {{Op::AsyncStart, verify_start},
                            {Op::AsyncUpdate, verify_start},
                            {Op::AsyncUpdate, verify_done},
                            {Op::AsyncUpdate, verify_same_computation},
                            {Op::AsyncDone, verify_done},
                            {Op::AsyncDone, verify_same_computation},
                            {Op::CopyStart, verify_start},
                            {Op::CopyDone, verify_done},
                            {Op::AllGatherStart, verify_start},
                            {Op::AllGatherDone, verify_done},
                            {Op::AllReduceStart, verify_start},
                            {Op::AllReduceDone, verify_done},
                            {Op::CollectivePermuteStart, verify_start},
                            {Op::CollectivePermuteDone, verify_done},
                            {Op::SendDone, verify_transfer_done},
                            {Op::RecvDone, verify_transfer_done}};

}  // namespace

std::span<const OpRule> async_rules() { return rules; }

}  // namespace hilo
