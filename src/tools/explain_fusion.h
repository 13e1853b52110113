// What the pass `fusion` decided of each producer and consumer (hilo opt --explain-fusion).
#pragma once

#include <nlohmann/json.hpp>

#include "pass/pass.h"

namespace hilo::tools {

class FusionExplanation {
 public:
  // Names are copied: the pair's instructions may be removed afterwards.
  void add(const Module& module, const FusionPair& pair);
  // In the order in which they were added; the last line counts them.
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
  static Instruction instruction_of(const Module& module, InstructionId id);

  std::vector<Row> rows_;
};

}  // namespace hilo::tools
