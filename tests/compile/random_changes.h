// Changes at random of a module: of its text, and of what no text can hold.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>

#include "ir/ir.h"

namespace hilo::test {

inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
}

// Words, numbers and single signs, with what stands between them.
inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (is_word(text[i]))
      while (end < text.size() && is_word(text[end])) ++end;
    out.emplace_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

inline std::string other_number(std::mt19937_64& random) {
  static constexpr const char* numbers[] = {
      "0", "1", "2", "3", "4", "5", "7", "8", "-1", "1000", "2147483648", "9223372036854775807"};
  return numbers[random() % std::size(numbers)];
}

inline std::string any_type(std::mt19937_64& random) {
  static constexpr const char* types[] = {"pred", "s8",  "u32",  "s32",       "s64",  "bf16",
                                          "f16",  "f32", "f64",  "f8e4m3fn",  "c64",  "s4",
                                          "u8",   "u2",  "c128", "f8e8m0fnu", "token"};
  return types[random() % std::size(types)];
}

// One to three words are changed: others of the text, other numbers, types, ops; or left out.
inline std::string change_text(const std::string& text, std::mt19937_64& random) {
  std::vector<std::string> words = words_of(text);
  for (uint64_t n = 1 + random() % 3; n > 0; --n) {
    std::string& word = words[random() % words.size()];
    const bool is_number = std::isdigit(static_cast<unsigned char>(word[0]));
    const bool is_type = word == "f32" || word == "s32" || word == "bf16" || word == "pred";
    if (is_number && random() % 4 != 0) word = other_number(random);
    else if (is_type && random() % 2 == 0) word = any_type(random);
    else if (op_of(word) && random() % 2 == 0) word = text_of(static_cast<Op>(random() % op_count));
    else if (random() % 8 == 0) word.clear();
    else if (is_word(word[0])) {
      const std::string& other = words[random() % words.size()];
      if (is_word(other[0])) word = other;
    } else if (random() % 4 == 0) {
      word = words[random() % words.size()];
    }
  }
  std::string out;
  for (const std::string& word : words) out += word;
  return out;
}

// Fields of attributes get other values; those of other kinds stay.
class FieldChange {
 public:
  FieldChange(const Module& module, std::mt19937_64& random) : module_(module), random_(random) {}

  void operator()(bool& field) const { field = !field; }
  void operator()(int64_t& field) const { field = number(); }
  void operator()(std::optional<int64_t>& field) const {
    if (random_() % 2 == 0) field.reset();
    else field = number();
  }
  void operator()(std::vector<int64_t>& field) const {
    const uint64_t way = random_() % 4;
    if (way == 0 || field.empty()) field.push_back(number());
    else if (way == 1) field.pop_back();
    else field[random_() % field.size()] = number();
  }
  void operator()(ComputationId& field) const {
    field = {static_cast<uint32_t>(random_() % (module_.computations.size() + 1))};
    if (random_() % 8 == 0) field = {};
  }
  void operator()(std::vector<ComputationId>& field) const {
    if (!field.empty()) (*this)(field[random_() % field.size()]);
  }
  template <class Other>
  void operator()(Other&) const {}

 private:
  int64_t number() const {
    static constexpr int64_t numbers[] = {0,  1,  2,   3,         4,         5,        8,
                                          -1, -2, 100, INT32_MAX, INT64_MAX, INT64_MIN};
    return numbers[random_() % std::size(numbers)];
  }
  const Module& module_;
  std::mt19937_64& random_;
};

inline void change_attributes(Module& module, InstructionId id, std::mt19937_64& random) {
  if (!module[id].attributes) return;
  visit_attributes_type(module[id].op, [&]<class A>(std::type_identity<A>) {
    A& attributes = module.mutable_attributes<A>(id);
    const FieldChange change(module, random);
    std::apply(
        [&](const auto&... field) {
          const size_t count = sizeof...(field);
          if (count == 0) return;
          size_t left = random() % std::max<size_t>(count, 1);
          [[maybe_unused]] const auto at = [&](const auto& one) {
            if (left-- == 0) change(attributes.*one.member);
          };
          (at(field), ...);
        },
        A::fields());
  });
}

inline void change_shape(Module& module, InstructionId id, std::mt19937_64& random) {
  Shape shape = module.shape(id);
  switch (random() % 5) {
    case 0: shape.type = static_cast<ElementType>(random() % 30); break;
    case 1:
      if (!shape.dims.empty())
        shape.dims[random() % shape.dims.size()] = static_cast<int64_t>(random() % 9) - 1;
      break;
    case 2:
      if (!shape.elements.empty()) shape.elements.pop_back();
      break;
    case 3: shape = Shape::tuple({shape, shape}); break;
    case 4:
      if (!shape.layout.minor_to_major.empty())
        shape.layout.minor_to_major[0] = static_cast<int64_t>(random() % 3);
      break;
  }
  module[id].shape = module.shapes.intern(shape);
}

// One part becomes another of the module, or anything.
inline void change_module(Module& module, std::mt19937_64& random) {
  if (module.instructions.empty()) return;
  const auto any = [&] {
    return InstructionId{static_cast<uint32_t>(random() % module.instructions.size())};
  };
  const InstructionId id = any(), other = any();
  Computation& computation = module.computations[random() % module.computations.size()];
  switch (random() % 12) {
    case 0:
    case 1:
      if (const size_t count = module[id].operand_count; count > 0)
        module.set_operand(id, random() % count, other);
      break;
    case 2: module[id].shape = module[other].shape; break;
    case 3:
    case 4: change_shape(module, id, random); break;
    case 5: computation.instructions.push_back(other); break;
    case 6: computation.root = random() % 4 == 0 ? InstructionId() : other; break;
    case 7:
      if (!computation.parameters.empty()) computation.parameters.back() = other;
      break;
    case 8: module.mutable_extra(id).control_predecessors.push_back(other); break;
    default: change_attributes(module, id, random);
  }
}

}  // namespace hilo::test
