// The original value of an instruction: origin={({"a"}, ({"b" {1,2}}, {}))}, a tree of leaves.
#include <algorithm>

#include "wire/braced_text.h"
#include "wire/proto_extra.h"
#include "wire/text_scanner.h"

namespace hilo {
namespace {

using proto::OriginalValueElementProto;
using proto::OriginalValueProto;
constexpr size_t deepest = 100;

bool read_leaf(TextScanner& scanner, OriginalValueElementProto& to) {
  if (!scanner.accept('{')) return false;
  std::string_view name;
  if (!scanner.peek('"')) return scanner.accept('}');
  if (!scanner.string(name)) return false;
  to.mutable_original_array()->set_instruction_name(unquoted(name));
  if (scanner.accept('{')) {
    int64_t index;
    do {
      if (!scanner.number(index)) return false;
      to.mutable_original_array()->add_shape_index(index);
    } while (scanner.accept(','));
    if (!scanner.accept('}')) return false;
  }
  return scanner.accept('}');
}

bool read_node(TextScanner& scanner, Dims& index, OriginalValueProto& to) {
  if (!scanner.accept('(')) {
    OriginalValueElementProto& leaf = *to.add_elements();
    put_dims(index, *leaf.mutable_shape_index());
    return read_leaf(scanner, leaf);
  }
  if (index.size() >= deepest) return false;
  if (scanner.accept(')')) return true;
  index.push_back(0);
  do {
    if (!read_node(scanner, index, to)) return false;
    ++index.back();
  } while (scanner.accept(','));
  index.pop_back();
  return scanner.accept(')');
}

std::string print_leaf(const OriginalValueElementProto& leaf) {
  if (!leaf.has_original_array()) return "{}";
  std::string text = "{" + quoted(leaf.original_array().instruction_name());
  for (int i = 0; i < leaf.original_array().shape_index_size(); ++i)
    text += fmt::format("{}{}", i == 0 ? " {" : ",", leaf.original_array().shape_index(i));
  return text + (leaf.original_array().shape_index_size() > 0 ? "}}" : "}");
}

using Leaves = std::span<const OriginalValueElementProto* const>;
Result<std::string> print_node(Leaves leaves, size_t depth) {
  const auto& first = leaves[0]->shape_index();
  if (leaves.size() == 1 && first.size() == static_cast<int>(depth)) return print_leaf(*leaves[0]);
  std::string text = "(";
  for (size_t i = 0; i < leaves.size();) {
    size_t end = i;
    const auto child = [&](size_t k) {
      const auto& index = leaves[k]->shape_index();
      return index.size() > static_cast<int>(depth) ? index[depth] : -1;
    };
    while (end < leaves.size() && child(end) == child(i)) ++end;
    if (child(i) < 0 || depth >= deepest)
      return fail(ErrorKind::Format, "an original value whose indices are no tree");
    HILO_TRY(const std::string part, print_node(leaves.subspan(i, end - i), depth + 1));
    text += (i == 0 ? "" : ", ") + part;
    i = end;
  }
  return text + ")";
}

}  // namespace

bool write_origin(std::string_view text, OriginalValueProto& to) {
  TextScanner scanner(text);
  Dims index;
  if (!scanner.accept('{')) return false;
  to.set_is_synthetic_call(scanner.accept("[synthetic_call]"));
  if (!to.is_synthetic_call() && !read_node(scanner, index, to)) return false;
  return scanner.accept('}') && scanner.at_end();
}

Result<std::string> print_origin(const OriginalValueProto& from) {
  if (from.is_synthetic_call()) return "{[synthetic_call]}";
  if (from.elements().empty()) return "{()}";
  std::vector<const OriginalValueElementProto*> leaves;
  for (const OriginalValueElementProto& leaf : from.elements()) leaves.push_back(&leaf);
  HILO_TRY(const std::string text, print_node(leaves, 0));
  return "{" + text + "}";
}

}  // namespace hilo
