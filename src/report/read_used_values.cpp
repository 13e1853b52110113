#include "report/dump_reading.h"

namespace hilo {
namespace {

// "copy-start, operand 0 {1}" or "copy-start {1}".
std::optional<std::pair<DumpName, PicturePosition>> read_position(std::string_view line) {
  DumpCursor cursor{line};
  PicturePosition place;
  DumpName name;
  const size_t end = line.find_first_of(", ");
  name.instruction = line.substr(0, end);
  if (name.instruction.empty()) return std::nullopt;
  cursor.rest.remove_prefix(name.instruction.size());
  if (cursor.eat(", operand ")) {
    const auto operand = cursor.number();
    if (!operand) return std::nullopt;
    place.operand = *operand;
  }
  if (cursor.eat(" ")) {
    auto index = cursor.index();
    if (!index) return std::nullopt;
    place.has_index = true;
    place.index = std::move(*index);
  }
  if (!cursor.rest.empty()) return std::nullopt;
  return std::pair(std::move(name), std::move(place));
}

// Before 2026 the next value's label followed the text of an instruction on the same line.
std::string_view cut_label(std::string_view text) {
  const size_t at = text.rfind('<');
  if (at == std::string_view::npos || !text.ends_with('>')) return {};
  DumpCursor cursor{text.substr(at)};
  return read_label(cursor) && cursor.rest.empty() ? text.substr(at) : std::string_view{};
}

class UsedValues {
 public:
  UsedValues(DumpLines& lines, DumpContents& contents) : lines_(lines), contents_(contents) {}

  void read() {
    if (!lines_.line().starts_with('<')) lines_.advance();
    for (; !lines_.done(); lines_.advance()) {
      const std::string_view line = lines_.line();
      if (line.starts_with('<')) begin(line);
      else if (line == " positions:") part_ = &PictureValue::positions;
      else if (line == " uses:") part_ = &PictureValue::uses;
      else if (line.starts_with(" from instruction: ")) describe(line.substr(19));
      else if (line.starts_with("  ")) add_position(line.substr(2));
      else return;
    }
  }

 private:
  void begin(std::string_view text) {
    DumpCursor cursor{text};
    const auto label = read_label(cursor);
    value_ = nullptr;
    part_ = nullptr;
    if (!label || !cursor.rest.empty())
      return contents_.fault(lines_.error("expected \"<NUMBER NAME @COLOR>\""));
    size_t id = contents_.picture.values.size();
    if (const auto known = contents_.value_of_number.find(label->number);
        known != contents_.value_of_number.end()) {
      id = known->second;
      if (contents_.picture.values[id].positions.empty()) value_ = &contents_.picture.values[id];
      else
        contents_.fault(lines_.error(fmt::format(
            "value {} is described a second time; the first one counts", label->number)));
      return;
    }
    contents_.value_of_number.emplace(label->number, id);
    contents_.value_of_key.emplace(label->name.key(), id);
    PictureValue value;
    value.number = label->number;
    value.space = label->space;
    value.is_phi = label->is_phi;
    value.defined = {contents_.instruction(label->name.instruction), -1, label->name.has_index,
                     label->name.index};
    contents_.picture.values.push_back(std::move(value));
    value_ = &contents_.picture.values.back();
  }

  void add_position(std::string_view line) {
    if (line == "(none)" || !value_ || !part_) return;
    auto place = read_position(line);
    if (!place) return contents_.fault(lines_.error("expected \"INSTRUCTION, operand N {INDEX}\""));
    place->second.instruction = contents_.instruction(place->first.instruction);
    (value_->*part_).push_back(std::move(place->second));
  }

  void describe(std::string_view text) {
    const std::string_view label = cut_label(text);
    text.remove_suffix(label.size());
    if (value_)
      describe_instruction(contents_.picture.instructions[value_->defined.instruction], text);
    if (!label.empty()) begin(label);
  }

  DumpLines& lines_;
  DumpContents& contents_;
  PictureValue* value_ = nullptr;
  std::vector<PicturePosition> PictureValue::* part_ = nullptr;
};

}  // namespace

void read_used_values(DumpLines& lines, DumpContents& contents) {
  UsedValues(lines, contents).read();
}

}  // namespace hilo
