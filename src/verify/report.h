// What rules see and write to. Private to `verify`.
#pragma once

#include "verify/verify.h"

namespace hilo {

// The mistakes found so far, up to a number.
class Report {
 public:
  Report(const Module& module, int limit) : module_(module), limit_(limit) {}
  bool is_full() const { return static_cast<int>(errors_.size()) >= limit_; }
  bool is_empty() const { return errors_.empty(); }
  void add(ErrorKind kind, std::string message);  // of the module
  void add(ErrorKind kind, ComputationId computation, std::string message);
  void add(ErrorKind kind, InstructionId instruction, std::string message);
  std::vector<Error> take() { return std::move(errors_); }

 private:
  const Module& module_;
  int limit_;
  std::vector<Error> errors_;
};

// One instruction under examination. Its number of operands is right, and so is the structure of
// the module.
struct Subject {
  Report& report;
  const Module& module;
  InstructionId id;
  const Instruction& instruction;

  const Shape& shape() const { return module.shape(instruction); }
  size_t count() const { return instruction.operand_count; }
  const Shape& operand(size_t i) const { return module.shape(module.operands(instruction)[i]); }
  template <class A>
  const A& attributes() const {
    return module.attributes<A>(instruction);
  }
  void misfit(std::string message) const { report.add(ErrorKind::Shape, id, std::move(message)); }
  void fault(std::string message) const {
    report.add(ErrorKind::Structure, id, std::move(message));
  }
};

using Rule = void (*)(const Subject&);
struct OpRule {
  Op op;
  Rule rule;
  bool is_of_form = false;  // left out by VerifyOptions::only_to_run
};
// The rules of each family, beside those that all ops share.
std::span<const OpRule> call_rules();        // calls.cpp
std::span<const OpRule> reducer_rules();     // reducers.cpp
std::span<const OpRule> fusion_rules();      // fusion.cpp
std::span<const OpRule> async_rules();       // async.cpp
std::span<const OpRule> collective_rules();  // collective.cpp

void verify_structure(const Module& module, Report& report);  // structure.cpp
void verify_order(const Module& module, Report& report);      // order.cpp
void verify_call_cycles(const Module& module, Report& report);
void verify_header(const Module& module, bool with_form, Report& report);  // header.cpp
void verify_sharding(const Subject& subject);                              // sharding.cpp
// Kept aliases of a fusion, call, custom-call or async-start; aliases.cpp.
void verify_output_aliases(const Subject& subject, const OutputOperandAliases& aliases);

// Same element types and dimensions; layouts and dynamic marks aside; '?' fits any size.
bool fits(const Shape& a, const Shape& b);
bool fits_but_precision(const Shape& a, const Shape& b);  // nor floating precision
std::string shown(const Shape& shape);                    // without layout
std::string listed(std::span<const int64_t> numbers);     // "{0,2}"
// The part of a shape at an index, or null when there is none.
const Shape* shape_at(const Shape& shape, std::span<const int64_t> index);

// Whether device numbers are sound: positive sizes, a permutation, at most `limit` devices, so that
// they can be expanded. The fault, or "".
std::string iota_fault(const IotaDevices& iota, int64_t limit);
std::string mesh_fault(const Mesh& mesh, int64_t limit);
std::string axes_fault(const Mesh& mesh, std::span<const AxisRef> references);
// The first number that stands twice or is outside [0, count), as a fault, or "".
std::string numbers_fault(std::span<const int64_t> numbers, int64_t count, std::string_view what);

}  // namespace hilo
