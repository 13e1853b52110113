#include "pass/shard/sharding_rule.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "eval/eval.h"

namespace hilo {
namespace {

using Kind = ShardingFactor::Kind;

class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : text_(text) {}

  Result<ShardingFactors> run() {
    HILO_DO(expect("#sdy.op_sharding_rule<"));
    HILO_DO(arrays(out_.operands));
    HILO_DO(expect("->"));
    HILO_DO(arrays(out_.results));
    HILO_DO(sizes());
    HILO_DO(kinds());
    accept(",");
    accept("custom");
    HILO_DO(expect(">"));
    return out_;
  }

 private:
  std::unexpected<Error> fault(std::string_view expected) const {
    return fail(ErrorKind::Syntax, "expected {} at '{}' of the sharding rule '{}'", expected,
                text_.substr(at_, 20), text_.substr(0, 200));
  }
  bool accept(std::string_view word) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  Result<void> expect(std::string_view word) {
    if (accept(word)) return {};
    return fault(fmt::format("'{}'", word));
  }
  bool is_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }

  // A letter, which a number may follow: i, z_1.
  Result<std::string_view> name() {
    accept("");
    if (at_ >= text_.size() || text_[at_] < 'a' || text_[at_] > 'z') return fault("a factor");
    const size_t begin = at_++;
    if (at_ < text_.size() && text_[at_] == '_')
      for (++at_; is_digit();) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // Of a dimension; the first one with its name is a new factor.
  Result<size_t> factor() {
    HILO_TRY(const std::string_view name, this->name());
    const auto [found, is_new] = numbers_.try_emplace(name, out_.factors.size());
    if (is_new) out_.factors.emplace_back();
    return found->second;
  }
  // That a dimension has.
  Result<size_t> known_factor() {
    const size_t begin = at_;
    HILO_TRY(const std::string_view name, this->name());
    if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
    at_ = begin;
    return fault("a factor of a dimension");
  }

  // ([i, jk], [])
  Result<void> arrays(std::vector<DimensionFactors>& out) {
    HILO_DO(expect("("));
    while (!accept(")")) {
      HILO_DO(expect("["));
      DimensionFactors& dims = out.emplace_back();
      while (!accept("]")) {
        if (at_ == text_.size()) return fault("']'");
        std::vector<size_t>& of_dim = dims.emplace_back();
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']') {
          HILO_TRY(of_dim.emplace_back(), factor());
        }
        accept(",");
      }
      accept(",");
    }
    return {};
  }

  Result<void> sizes() {
    if (!accept("{")) return {};
    std::set<size_t> sized;
    while (!accept("}")) {
      const size_t begin = at_;
      HILO_TRY(const size_t number, known_factor());
      if (!sized.insert(number).second) {
        at_ = begin;
        return fault("one size of each factor");
      }
      HILO_DO(expect("="));
      if (!is_digit()) return fault("a size");
      int64_t size = 0;
      for (; is_digit() && size < int64_t{1} << 40; ++at_) size = size * 10 + (text_[at_] - '0');
      out_.factors[number].size = size;
      accept(",");
    }
    return {};
  }

  Result<void> kinds() {
    constexpr std::pair<std::string_view, Kind> names[] = {
        {"reduction={", Kind::Reduction},
        {"need_replication={", Kind::NeedReplication},
        {"permutation={", Kind::Permutation}};
    for (bool found = true; found;) {
      found = false;
      for (const auto& [name, kind] : names) {
        if (!accept(name)) continue;
        found = true;
        HILO_DO(each([&](ShardingFactor& one) { one.kind = kind; }));
      }
      if (!accept("blocked_propagation={")) continue;
      found = true;
      HILO_DO(each([](ShardingFactor& one) { one.blocks_propagation = true; }));
    }
    return {};
  }
  Result<void> each(const std::function<void(ShardingFactor&)>& body) {
    while (!accept("}")) {
      HILO_TRY(const size_t number, known_factor());
      body(out_.factors[number]);
      accept(",");
    }
    return {};
  }

  std::string_view text_;
  size_t at_ = 0;
  std::map<std::string_view, size_t> numbers_;
  ShardingFactors out_;
};

bool fits_array(const ShardingFactors& factors, const DimensionFactors& dims, const Shape& shape) {
  if (dims.size() != shape.dims.size()) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t size = 1;
    for (size_t factor : dims[d])
      if (__builtin_mul_overflow(size, factors.factors[factor].size, &size)) return false;
    if (size != shape.dims[d]) return false;
  }
  return true;
}

}  // namespace

Result<ShardingFactors> parse_sharding_rule(std::string_view text) {
  std::string plain(text);  // a string within a string keeps its backslashes
  std::erase(plain, '\\');
  return RuleParser(plain).run();
}

bool fits_instruction(const ShardingFactors& factors, const Module& module, InstructionId id) {
  const auto fits = [&](const std::vector<DimensionFactors>& arrays,
                        const std::vector<const Shape*>& leaves) {
    return std::ranges::equal(arrays, leaves, [&](const auto& dims, const Shape* shape) {
      return fits_array(factors, dims, *shape);
    });
  };
  std::vector<const Shape*> operands, results;
  for (InstructionId operand : module.operands(id))
    for_each_leaf(module.shape(operand),
                  [&](const Shape& leaf, auto) { operands.push_back(&leaf); });
  for_each_leaf(module.shape(id), [&](const Shape& leaf, auto) { results.push_back(&leaf); });
  return fits(factors.operands, operands) && fits(factors.results, results);
}

bool is_identity_call(const Module& module, InstructionId id) {
  if (module[id].op != Op::CustomCall || module[id].operand_count != 1) return false;
  const CustomCallInfo* const known =
      find_custom_call(module.attributes<CustomCallAttributes>(id).custom_call_target);
  return known && (known->family == "sharding" || known->family == "placement") &&
         module.shape(module.operand(id, 0)) == module.shape(id);
}

std::optional<ShardingFactors> batch_rule(const Module& module, InstructionId id) {
  const FrontendAttributes& said = module.extra(module[id]).frontend_attributes;
  const auto at = said.find("num_batch_dims");
  size_t batch = 0;
  if (at == said.end() || module[id].operand_count == 0) return std::nullopt;
  const std::string& text = at->second.text;
  std::from_chars(text.data(), text.data() + text.size(), batch);
  ShardingFactors out;
  std::optional<Dims> sizes;
  bool fits = batch > 0;
  const auto add = [&](const Shape& leaf, std::vector<DimensionFactors>& arrays) {
    fits = fits && leaf.is_array() && leaf.dims.size() >= batch;
    if (!fits) return;
    const Dims front(leaf.dims.begin(), leaf.dims.begin() + static_cast<ptrdiff_t>(batch));
    if (!sizes) {
      for (int64_t size : front) out.factors.push_back({size});
      sizes = front;
    }
    fits = front == *sizes;
    DimensionFactors& dims = arrays.emplace_back();
    for (size_t d = 0; d < leaf.dims.size(); ++d) {
      dims.push_back({d < batch ? d : out.factors.size()});
      if (d >= batch) out.factors.push_back({leaf.dims[d], Kind::NeedReplication});
    }
  };
  for (InstructionId operand : module.operands(id))
    for_each_leaf(module.shape(operand), [&](const Shape& leaf, auto) { add(leaf, out.operands); });
  for_each_leaf(module.shape(id), [&](const Shape& leaf, auto) { add(leaf, out.results); });
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace hilo
