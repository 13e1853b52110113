// What the pass `fusion` decided of each producer and consumer (hilo opt --explain-fusion).
#pragma once

#include <nlohmann/json.hpp>

#include "pass/pass.h"

namespace hilo::tools {

class FusionExplanation {
 public:
  // Names are copied: the pair's instructions may be removed afterwards.
  void add(const Module& module, const FusionPair& pair);
  // What was added since the run before is this run's.
  void end_run(const PassRun& run);
  // In the order in which they were added; the last line of each run counts them. Where there are
  // several, the first names it.
  std::string text() const;
  nlohmann::ordered_json json() const;

 private:
  struct Instruction {
    std::string name, source;  // "model.py:12", or empty
  };
  struct Row {
    Instruction producer, consumer;
    FusionPair pair;
  };
  struct Run {
    int64_t number;
    std::vector<Row> rows;
  };
  static nlohmann::ordered_json json_of(const Run& run, const Row& row);
  static std::string text_of(const std::vector<Row>& rows);
  static Instruction instruction_of(const Module& module, InstructionId id);

  std::vector<Row> rows_;  // of the run that has not ended
  std::vector<Run> runs_;
};

}  // namespace hilo::tools
