// Equations over arrays, written as they stand in books, in place of one instruction. Private to
// `pass`.
//   Term mean = f.sum(x, {0}) / count;
#pragma once

#include "pass/pass.h"

namespace hilo {

class Formula;

struct Term {
  Formula* formula;
  InstructionId value;
  Shape shape() const;
};
// Elementwise, of equal shapes; a number stands for an array of the term's shape.
Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator+(Term a, double b);
Term operator-(Term a, double b);
Term operator*(Term a, double b);
Term operator/(Term a, double b);
Term operator/(double a, Term b);
Term operator-(Term a);
Term operator&(Term a, Term b);
Term operator|(Term a, Term b);
Term operator^(Term a, Term b);

class Formula {
 public:
  // What is made stands in the computation of `root` and has its metadata.
  Formula(Editor& editor, InstructionId root) : editor_(editor), root_(root) {}
  Editor& editor() { return editor_; }
  const Module& module() const { return editor_.module(); }
  InstructionId root() const { return root_; }
  Term operand(size_t i) { return term(module().operand(root_, i)); }
  Term term(InstructionId value) { return {this, value}; }

  Term elementwise(Op op, std::span<const Term> operands);
  Term apply(Op op, Term x) { return elementwise(op, std::array{x}); }
  Term apply(Op op, Term x, Term y) { return elementwise(op, std::array{x, y}); }
  Term compare(Term x, ComparisonDirection direction, Term y);
  Term select(Term which, Term x, Term y);
  Term number(const Shape& shape, double number) {
    return term(editor_.add_splat(root_, shape, number));
  }
  Term bits(const Shape& shape, uint64_t bits);  // of an integer type
  Term convert(Term x, ElementType type);
  Term bitcast_convert(Term x, ElementType type);  // of the same width
  Term reshape(Term x, Dims dims);
  Term transpose(Term x, Dims permutation);  // x as it is when that changes nothing
  Term broadcast(Term x, Dims dims, Dims dimensions);
  Term iota(ElementType type, Dims dims, int64_t dim);
  // Over these dimensions, by a computation that adds.
  Term sum(Term x, Dims dims);
  Term slice(Term x, std::vector<SliceDim> slice);
  // One row of dimension `dim` at a place that is a scalar; x with that row written over.
  Term row(Term x, int64_t dim, Term place);
  Term with_row(Term x, Term row, int64_t dim, Term place);
  Term dot(Term x, Term y, DotAttributes attributes, ElementType type);
  Term tuple(std::span<const Term> elements);
  Term element(Term tuple, int64_t index) {
    return term(editor_.add_element(root_, tuple.value, index));
  }

 private:
  Editor& editor_;
  InstructionId root_;
};

// The arrays after so many rounds of a loop: `round` makes from its number (a scalar s32) and the
// arrays the arrays of the next. It sees nothing else of the formula around it.
using Round = std::function<std::vector<Term>(Formula& inside, Term number, std::vector<Term>)>;
std::vector<Term> repeat(Formula& formula, int64_t rounds, std::vector<Term> arrays,
                         const Round& round);

// What replaces an instruction, or a term without a value when the expansion does not cover it.
using Expansion = Term (*)(Formula& formula);
// Replaces the instructions of one op in open computations; those that control dependences hold,
// and those of dynamic dimensions or with layouts that say something, stay.
bool expand(Editor& editor, Op op, Expansion expansion);

}  // namespace hilo
