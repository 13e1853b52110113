// Lines of measured sharding rules as modules of one op and the rule in a form that compares.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "shape/shape.h"

namespace hilo::test {

// Factors named by their first use, so that two ways to name them compare equal.
inline std::string with_names_in_order(const std::string& rule) {
  std::map<char, char> names;
  const size_t arrow = rule.find("->"), sizes = rule.find('{');
  for (char c : rule.substr(0, std::min(sizes, rule.size())))
    if (std::islower(c)) names.try_emplace(c, static_cast<char>('a' + names.size()));
  (void)arrow;
  std::string head, out;
  for (char c : rule.substr(0, std::min(sizes, rule.size())))
    head += names.contains(c) ? names[c] : c;
  out = head.substr(0, head.find_last_not_of(' ') + 1);
  const std::regex list(R"((\w*)=?\{([^}]*)\})"), item(R"(([a-z])(=\d+)?)");
  for (std::sregex_iterator i(rule.begin(), rule.end(), list), end; i != end; ++i) {
    std::vector<std::string> items;
    const std::string inside = (*i)[2];
    for (std::sregex_iterator k(inside.begin(), inside.end(), item), last; k != last; ++k)
      items.push_back(std::string(1, names[(*k)[1].str()[0]]) + (*k)[2].str());
    std::ranges::sort(items);
    out += " " + (*i)[1].str() + "{";
    for (const std::string& each : items) out += each + " ";
    out += "}";
  }
  return out;
}

struct MeasuredRule {
  std::string rule;       // names in order
  std::string operation;  // "stablehlo.pad"
  std::string text;       // the rest of the line
  std::vector<Dims> operands, results;
  std::vector<std::string> operand_types, result_types;  // as HLO: "f32[4,8]"
};

inline void take_type(const std::string& inside, std::vector<Dims>& dims,
                      std::vector<std::string>& types) {
  static const std::map<std::string, std::string> names = {
      {"i32", "s32"},          {"ui32", "u32"}, {"ui64", "u64"}, {"i1", "pred"},
      {"complex<f32>", "c64"}, {"f32", "f32"},  {"i64", "s64"},  {"bf16", "bf16"}};
  Dims out;
  size_t at = 0;
  for (size_t x; (x = inside.find('x', at)) != std::string::npos && std::isdigit(inside[at]);
       at = x + 1)
    out.push_back(std::stoll(inside.substr(at, x - at)));
  std::string joined;
  for (int64_t dim : out) joined += (joined.empty() ? "" : ",") + std::to_string(dim);
  const auto name = names.find(inside.substr(at));
  types.push_back(fmt::format("{}[{}]", name == names.end() ? "f32" : name->second, joined));
  dims.push_back(out);
}

inline std::optional<MeasuredRule> read_rule(const std::string& line) {
  const size_t by = line.find("    <- ");
  if (by == std::string::npos || !line.starts_with("([")) return std::nullopt;
  MeasuredRule out;
  out.rule = with_names_in_order(line.substr(0, by));
  const std::string rest = line.substr(by + 7);
  out.operation = rest.substr(0, rest.find(' '));
  const size_t types = rest.rfind(" : ");
  out.text = rest.substr(0, types);
  const std::string given = rest.substr(types);
  const size_t arrow = given.find("->");
  const std::regex tensor(R"(tensor<((?:[^<>]|<[^<>]*>)*)>)");
  for (std::sregex_iterator i(given.begin(), given.end(), tensor), end; i != end; ++i) {
    const bool is_result = arrow == std::string::npos || i->position() > static_cast<long>(arrow);
    if (!is_result || arrow == std::string::npos)
      take_type((*i)[1], out.operands, out.operand_types);
    if (is_result) take_type((*i)[1], out.results, out.result_types);
  }
  return out;
}

// The numbers in brackets after the word: "dims = [0, 2]", also of nested ones, flat.
inline std::optional<Dims> numbers_after(const std::string& text, const std::string& word) {
  const size_t at = text.find(word);
  if (at == std::string::npos) return std::nullopt;
  size_t i = text.find('[', at);
  Dims out;
  for (int depth = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 0) break;
    if (std::isdigit(text[i]) || text[i] == '-') {
      size_t length = 0;
      out.push_back(std::stoll(text.substr(i), &length));
      i += length - 1;
    }
  }
  return out;
}

inline std::string joined(const Dims& dims, std::string_view by = ",") {
  std::string out;
  for (int64_t dim : dims) out += (out.empty() ? "" : std::string(by)) + std::to_string(dim);
  return out;
}
inline std::string listed(const std::optional<Dims>& dims) {
  return "{" + joined(dims.value_or(Dims())) + "}";
}

// Attributes and operands of the op in HLO; nothing for what is not known here.
class RuleAsHlo {
 public:
  explicit RuleAsHlo(const MeasuredRule& rule) : r_(rule) {}

  std::optional<std::string> module() {
    const std::string name = r_.operation.substr(r_.operation.find('.') + 1);
    const auto op = text_of(name);
    if (!op) return std::nullopt;
    std::string result = r_.result_types.size() == 1 ? r_.result_types[0] : "(";
    for (size_t i = 0; r_.result_types.size() > 1 && i < r_.result_types.size(); ++i)
      result +=
          (i > 0 ? ", " : "") + r_.result_types[i] + (i + 1 == r_.result_types.size() ? ")" : "");
    std::string parameters;
    for (size_t i = 0; i < r_.operands.size(); ++i) {
      // A concatenation that permutes is one of slices.
      const bool is_sliced =
          name == "concatenate" && r_.rule.find("permutation") != std::string::npos;
      if (!is_sliced) {
        parameters += fmt::format("  p{} = {} parameter({})\n", i, r_.operand_types[i], i);
        continue;
      }
      Dims whole = r_.operands[i];
      std::string limits;
      for (int64_t dim : whole) limits += fmt::format("{}[0:{}]", limits.empty() ? "" : ",", dim);
      for (int64_t& dim : whole) dim *= 2;
      parameters +=
          fmt::format("  q{0} = f32[{1}] parameter({0})\n  p{0} = {2} slice(q{0}), slice={{{3}}}\n",
                      i, joined(whole), r_.operand_types[i], limits);
    }
    return fmt::format("HloModule m, num_partitions=4\n{}ENTRY e {{\n{}  ROOT r = {} {}\n}}\n",
                       computations, parameters, result, *op);
  }

 private:
  static constexpr const char* computations =
      "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"
      "two { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n"
      " j = s32[] parameter(3)\n ROOT c = (f32[], s32[]) tuple(a, i) }\n";

  std::string call(std::string_view op) const {
    std::string out = std::string(op) + "(";
    for (size_t i = 0; i < r_.operands.size(); ++i)
      out += fmt::format("{}p{}", i > 0 ? ", " : "", i);
    return out + ")";
  }
  std::string list(const char* word) const { return listed(numbers_after(r_.text, word)); }

  std::optional<std::string> text_of(const std::string& name) const {
    const std::string dims = ", dimensions=" + list("dims = ");
    if (name == "reshard") return call("copy");
    if (name == "reshape") return call("reshape");
    if (name == "bitcast_convert") return call("bitcast-convert");
    if (name == "transpose" || name == "reverse") return call(name) + dims;
    if (name == "broadcast_in_dim") return call("broadcast") + dims;
    if (name == "concatenate")
      return call(name) + ", dimensions={" + r_.text.substr(r_.text.rfind(' ') + 1) + "}";
    if (name == "topk")
      return call("topk") + fmt::format(", k={}, largest=true", r_.results[0].back());
    if (name == "fft")
      return call("fft") +
             (r_.text.find("RFFT") != std::string::npos ? ", fft_type=RFFT" : ", fft_type=FFT") +
             ", fft_length=" + list("length = ");
    if (name == "rng_bit_generator") return call("rng-bit-generator") + ", algorithm=rng_default";
    if (name == "dynamic_slice")
      return call("dynamic-slice") + ", dynamic_slice_sizes=" + list("sizes = ");
    if (name == "dynamic_update_slice") return call("dynamic-update-slice");
    if (name == "collective_permute")
      return call("collective-permute") + ", channel_id=1, source_target_pairs={{0,1},{1,0}}";
    if (name == "all_gather" || name == "all_to_all") return of_collective(name);
    if (name == "slice") return of_slice();
    if (name == "pad") return of_pad();
    if (name == "reduce")
      return call("reduce") + ", dimensions=" + list("dimensions = ") +
             (r_.operands.size() == 2 ? ", to_apply=add" : ", to_apply=two");
    if (name == "dot")
      return call("dot") + fmt::format(", lhs_contracting_dims={{{}}}, rhs_contracting_dims={{0}}",
                                       r_.operands[0].size() - 1);
    if (name == "dot_general") return of_dot();
    if (name == "gather") return of_gather();
    if (name == "convolution") return of_convolution();
    return std::nullopt;
  }
  std::string of_collective(const std::string& name) const {
    size_t dim = 0;
    while (dim + 1 < r_.results[0].size() && r_.operands[0][dim] == r_.results[0][dim]) ++dim;
    if (name == "all_to_all")
      return call("all-to-all") + ", replica_groups={{0,1,2,3}}, channel_id=1, dimensions={0}";
    const bool two = r_.results[0][dim] / r_.operands[0][dim] == 2;
    return call("all-gather") + fmt::format(
                                    ", replica_groups={{{}}}, channel_id=1, dimensions={{{}}}, "
                                    "use_global_device_ids=true",
                                    two ? "{0,1},{2,3}" : "{0,1,2,3}", dim);
  }
  std::string of_slice() const {
    const std::regex range(R"((\d+):(\d+)(?::(\d+))?)");
    std::string out;
    for (std::sregex_iterator i(r_.text.begin(), r_.text.end(), range), end; i != end; ++i)
      out += (out.empty() ? "[" : ",[") + i->str() + "]";
    return call("slice") + ", slice={" + out + "}";
  }
  std::string of_pad() const {
    const Dims low = *numbers_after(r_.text, "low = "), high = *numbers_after(r_.text, "high = "),
               interior = *numbers_after(r_.text, "interior = ");
    std::string out;
    for (size_t d = 0; d < low.size(); ++d)
      out += fmt::format("{}{}_{}_{}", d > 0 ? "x" : "", low[d], high[d], interior[d]);
    return call("pad") + ", padding=" + out;
  }
  std::string of_dot() const {
    const auto pair = [&](const std::string& word) {
      const size_t at = r_.text.find(word);
      if (at == std::string::npos) return std::pair(std::string("{}"), std::string("{}"));
      const size_t second = r_.text.find(" x ", at);
      return std::pair(listed(numbers_after(r_.text.substr(at), word)),
                       listed(numbers_after(r_.text.substr(second), "x")));
    };
    const auto [lb, rb] = pair("batching_dims = ");
    const auto [lc, rc] = pair("contracting_dims = ");
    return call("dot") + fmt::format(
                             ", lhs_batch_dims={}, rhs_batch_dims={}, lhs_contracting_dims={}, "
                             "rhs_contracting_dims={}",
                             lb, rb, lc, rc);
  }
  std::string of_gather() const {
    const Dims collapsed = numbers_after(r_.text, "collapsed_slice_dims = ").value_or(Dims()),
               batching = numbers_after(r_.text, "operand_batching_dims = ").value_or(Dims());
    Dims sizes = r_.operands[0];
    for (const Dims* dims : {&collapsed, &batching})
      for (int64_t d : *dims) sizes[static_cast<size_t>(d)] = 1;
    const Dims map = numbers_after(r_.text, "start_index_map = ").value_or(Dims{1});
    return call("gather") +
           fmt::format(
               ", offset_dims={}, collapsed_slice_dims={}, start_index_map={{{}}}, "
               "operand_batching_dims={}, start_indices_batching_dims={}, "
               "index_vector_dim={}, slice_sizes={{{}}}",
               list("offset_dims = "), listed(collapsed), joined(map), listed(batching),
               list("start_indices_batching_dims = "), r_.operands[1].size() - 1, joined(sizes));
  }
  std::string of_convolution() const {
    const std::regex labels(R"(\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\])");
    std::smatch found;
    std::regex_search(r_.text, found, labels);
    const auto letters = [&](int k) {
      return std::regex_replace(found[k].str(), std::regex("[ ,]"), "");
    };
    const std::string input = letters(1), kernel = letters(2), output = letters(3);
    const Dims stride = *numbers_after(r_.text, "stride = "),
               pads = *numbers_after(r_.text, "pad = "),
               holes = *numbers_after(r_.text, "lhs_dilate = "),
               dilation = *numbers_after(r_.text, "rhs_dilate = ");
    Dims sizes;
    std::string pad;
    for (size_t k = 0; k < stride.size(); ++k) {
      sizes.push_back(r_.operands[1][kernel.find(static_cast<char>('0' + k))]);
      pad += fmt::format("{}{}_{}", k > 0 ? "x" : "", pads[2 * k], pads[2 * k + 1]);
    }
    const int64_t groups = r_.operands[0][input.find('f')] / r_.operands[1][kernel.find('i')];
    return call("convolution") +
           fmt::format(
               ", window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}, "
               "dim_labels={}_{}->{}, feature_group_count={}",
               joined(sizes, "x"), joined(stride, "x"), pad, joined(holes, "x"),
               joined(dilation, "x"), input, kernel, output, groups);
  }

  const MeasuredRule& r_;
};

}  // namespace hilo::test
