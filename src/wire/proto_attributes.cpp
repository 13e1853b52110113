#include "wire/proto_attributes.h"

#include <algorithm>

namespace hilo {
namespace {

using google::protobuf::Message;

struct Row {
  std::string_view attributes, member, path;
};
constexpr Row rows[] = {
#define PROTO_FIELD(Attributes, member, path) {#Attributes, #member, path},
#include "wire/proto_fields.def"
#undef PROTO_FIELD
};

#define ATTRIBUTES(X) \
  constexpr std::string_view name_of(std::type_identity<X##Attributes>) { return #X; }
#include "ir/attributes.def"
#undef ATTRIBUTES

// The descriptors from HloInstructionProto down to the field; empty for callees.
using Path = std::vector<const FieldDescriptor*>;

template <class Member>
constexpr bool is_callee =
    std::is_same_v<Member, ComputationId> || std::is_same_v<Member, std::vector<ComputationId>>;

Path find_path(std::string_view attributes, std::string_view member) {
  std::string_view text = member;
  for (const Row& row : rows)
    if (row.attributes == attributes && row.member == member) text = row.path;
  Path path;
  const auto* message = proto::HloInstructionProto::descriptor();
  while (message != nullptr) {
    const size_t dot = std::min(text.find('.'), text.size());
    const FieldDescriptor* field = message->FindFieldByName(std::string(text.substr(0, dot)));
    check(field != nullptr, "an attribute without a field of HloInstructionProto");
    path.push_back(field);
    const bool last = dot == text.size();
    message = last ? nullptr : field->message_type();
    text.remove_prefix(last ? dot : dot + 1);
  }
  return path;
}

// The field list, and the two structs whose text form is no list.
template <class A>
constexpr auto wire_fields() {
  if constexpr (std::is_same_v<A, ParameterAttributes>)
    return std::tuple{Field<A, int64_t>{"number", &A::number, Presence::Required}};
  else if constexpr (std::is_same_v<A, ConstantAttributes>)
    return std::tuple{Field<A, LiteralRef>{"literal", &A::literal, Presence::Required}};
  else return A::fields();
}

// One path for each field of A, in their order.
template <class A>
const std::vector<Path>& paths_of() {
  static const std::vector<Path> paths = std::apply(
      [](const auto&... field) {
        const auto path_of = []<class F>(const F& one) {
          using Member = std::remove_cvref_t<decltype(std::declval<A>().*one.member)>;
          return is_callee<Member> ? Path{proto::HloInstructionProto::descriptor()->FindFieldByName(
                                         "called_computation_ids")}
                                   : find_path(name_of(std::type_identity<A>()), one.name);
        };
        return std::vector<Path>{path_of(field)...};
      },
      wire_fields<A>());
  return paths;
}

// The wire has the body of a while before its condition.
bool is_reversed(Op op) { return op == Op::While; }

// How values of a type are compared when nothing else is said.
ComparisonType comparison_of(ElementType type) {
  switch (kind_of(type)) {
    case TypeKind::Signed: return ComparisonType::Signed;
    case TypeKind::Float:
    case TypeKind::Complex: return ComparisonType::Float;
    default: return ComparisonType::Unsigned;
  }
}

// pred: two callees; else a list.
Result<void> read_branches(ConditionalAttributes& attributes, bool is_pred,
                           const std::vector<ComputationId>& called) {
  if (!is_pred) return attributes.branch_computations = called, Result<void>();
  if (called.size() != 2)
    return fail(ErrorKind::Structure, "a conditional on pred with {} branches", called.size());
  attributes.true_computation = called[0];
  attributes.false_computation = called[1];
  return {};
}

template <class A>
Result<void> read_fields(A& attributes, ProtoSource source) {
  size_t i = 0;
  Result<void> done;
  const auto read_one = [&](const auto& field) {
    const Path& path = paths_of<A>()[i++];
    if (!done) return;
    const Message* message = &source.instruction;
    for (size_t k = 0; k + 1 < path.size(); ++k)
      message = &message->GetReflection()->GetMessage(*message, path[k]);
    done = get(ProtoSource{source.instruction, *message, *path.back(), source.rank, source.called},
               attributes.*field.member);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(attributes.*field.member)>,
                                 ComputationId>)
      if (done && !(attributes.*field.member) && field.presence == Presence::Required)
        done = fail(ErrorKind::Structure, "{} is missing: too few called computations", field.name);
  };
  std::apply([&](const auto&... field) { (read_one(field), ...); }, wire_fields<A>());
  return done;
}

int64_t rank_of(const Shape& shape) {
  if (shape.is_array() || shape.elements.empty()) return shape.rank();
  return rank_of(shape.elements.front());
}

}  // namespace

void write_attributes(const Module& module, const Instruction& instruction,
                      proto::HloInstructionProto& to, std::vector<ComputationId>& called) {
  visit_attributes_type(instruction.op, [&]<class A>(std::type_identity<A>) {
    const A& attributes = module.attributes<A>(instruction);
    size_t i = 0;
    const auto write_one = [&](const auto& field) {
      const Path& path = paths_of<A>()[i++];
      Message* message = &to;
      for (size_t k = 0; k + 1 < path.size(); ++k)
        message = message->GetReflection()->MutableMessage(message, path[k]);
      put(ProtoPlace{to, *message, *path.back(), static_cast<int>(instruction.operand_count),
                     called},
          attributes.*field.member);
    };
    std::apply([&](const auto&... field) { (write_one(field), ...); }, wire_fields<A>());
  });
  if (is_reversed(instruction.op)) std::reverse(called.begin(), called.end());
  if (instruction.op == Op::Compare && to.comparison_type().empty())
    to.set_comparison_type(std::string(
        text_of_enum(comparison_of(module.shape(module.operands(instruction)[0]).type))));
}

Result<AttributesId> read_attributes(Module& module, Op op, const Shape& shape,
                                     ElementType first_operand,
                                     const proto::HloInstructionProto& from,
                                     std::vector<ComputationId> called) {
  if (is_reversed(op)) std::reverse(called.begin(), called.end());
  return visit_attributes_type(op, [&]<class A>(std::type_identity<A>) -> Result<AttributesId> {
    A attributes;
    std::span<const ComputationId> left(called);
    const auto& field = *proto::HloInstructionProto::descriptor()->FindFieldByNumber(1);
    if constexpr (std::is_same_v<A, ConditionalAttributes>) {
      HILO_DO(read_branches(attributes, first_operand == ElementType::Pred, called));
    } else {
      HILO_DO(read_fields(attributes, ProtoSource{from, from, field, rank_of(shape), left}));
      if constexpr (std::is_same_v<A, CompareAttributes>)
        if (attributes.type == comparison_of(first_operand))
          attributes.type = ComparisonType::Default;
      const bool needs_all = !std::is_same_v<A, CustomCallAttributes>;
      if (needs_all && !left.empty())
        return fail(ErrorKind::Structure, "{} computations are called, {} too many", called.size(),
                    left.size());
    }
    return module.add_attributes(std::move(attributes));
  });
}

}  // namespace hilo
