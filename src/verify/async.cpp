// Pairs of start and done.
#include "verify/report.h"

namespace hilo {
namespace {

// HLO's names say the pairs: x-done is the end of x-start. async-update may stand between.
Op with_ending(Op op, std::string_view ending) {
  const std::string_view text = text_of(op);
  const auto out = op_of(fmt::format("{}{}", text.substr(0, text.rfind('-')), ending));
  check(out.has_value(), "an op of a pair without its partner");
  return *out;
}

bool is_generic(Op op) { return with_ending(op, "-start") == Op::AsyncStart; }

std::string either(Op a, std::optional<Op> b) {
  std::string out(text_of(a));
  if (b) out.append(" or ").append(text_of(*b));
  return out;
}

void verify_start(const Subject& subject) {
  const Op op = subject.instruction.op, done = with_ending(op, "-done");
  const auto update = is_generic(op) ? std::optional(Op::AsyncUpdate) : std::nullopt;
  const std::string partners = update ? either(*update, done) : either(done, {});
  const auto users = subject.module.users(subject.id);
  if (users.size() != 1)
    return subject.fault(
        fmt::format("expected one user, {}, found {} users", partners, users.size()));
  if (const Op user = subject.module[users[0]].op; user != done && user != update)
    subject.fault(fmt::format("expected {} as user, found {}", partners, text_of(user)));
}

void verify_done(const Subject& subject) {
  const Op op = subject.instruction.op, start = with_ending(op, "-start");
  const auto update = is_generic(op) ? std::optional(Op::AsyncUpdate) : std::nullopt;
  const Op found = subject.module[subject.module.operand(subject.id, 0)].op;
  if (found != start && found != update)
    subject.fault(
        fmt::format("expected {} as operand, found {}", either(start, update), text_of(found)));
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
