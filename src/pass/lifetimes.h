// When values are made and read, with no regard to buffers. Private to `pass`.
#pragma once

#include "pass/pass.h"

namespace hilo {

class Lifetimes {
 public:
  Lifetimes(const Module& module, const Aliases& aliases, const Schedule& schedule);

  // Moments, twice as fine as those of the schedule: odd ones lie between instructions.
  int64_t start(ValueId value) const { return lives_[value.value].start; }
  int64_t end(ValueId value) const { return lives_[value.value].end; }
  // False inside fusions and what is applied.
  bool is_run(ValueId value) const { return start(value) <= end(value); }
  // Whether one may lie where the other will: it is read before the other is made, or last by the
  // instruction that makes the other and may do so in place.
  bool is_before(ValueId a, ValueId b) const;
  // Constants, and parameters that the caller keeps: nothing may be written over them.
  bool is_read_only(ValueId value) const;

  static constexpr int64_t never = INT64_MAX;

 private:
  struct Life {
    int64_t start = 0, end = 0;
  };
  Life life_of(const Value& value) const;
  bool must_share(const ValueUse& use, const Position& result) const;
  int64_t moment_of_use(const ValueUse& use) const;
  int64_t first_moment(ComputationId computation) const { return spans_[computation.value].start; }

  const Module& module_;
  const Aliases& aliases_;
  Liveness liveness_;             // for its moments
  std::vector<LiveRange> spans_;  // by computation: first and last moment, callees included
  std::vector<bool> conditions_;  // by computation: whether it is a while's condition
  std::vector<Life> lives_;       // by value
};

}  // namespace hilo
