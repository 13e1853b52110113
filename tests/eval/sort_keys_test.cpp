// Sorts by several keys: comparators in the forms that are recognised against the same ones behind
// an `and` with true, which are not and so compare elements one with another.
#include <fmt/ranges.h>

#include <complex>
#include <limits>

#include "wave.h"

namespace hilo::test {
namespace {

struct Key {
  std::string type, direction;
  bool is_total = false;      // TOTALORDER
  bool is_canonical = false;  // as JAX writes it: NaNs and zeros replaced
};
enum class Form { OrAnd, AndOr, Select };

// The instructions for one side of key `k`, named {side}{k}.
std::string side_of(const Key& key, size_t k, char side) {
  const size_t number = 2 * k + (side == 'b');
  if (!key.is_canonical)
    return fmt::format("  {}{} = {}[] parameter({})\n", side, k, key.type, number);
  return fmt::format(
      "  p{0}{1} = {2}[] parameter({3})\n  m{0}{1} = {2}[] constant(nan)\n"
      "  z{0}{1} = {2}[] constant(0)\n  x{0}{1} = pred[] compare(p{0}{1}, p{0}{1}), direction=NE\n"
      "  y{0}{1} = pred[] compare(p{0}{1}, z{0}{1}), direction=EQ\n"
      "  s{0}{1} = {2}[] select(y{0}{1}, z{0}{1}, p{0}{1})\n"
      "  {0}{1} = {2}[] select(x{0}{1}, m{0}{1}, s{0}{1})\n",
      side, k, key.type, number);
}

std::string chain(size_t k, Form form, const std::string& rest) {
  if (form == Form::Select)
    return fmt::format("  r{0} = pred[] select(e{0}, {1}, l{0})\n", k, rest);
  if (form == Form::OrAnd)
    return fmt::format("  n{0} = pred[] and(e{0}, {1})\n  r{0} = pred[] or(l{0}, n{0})\n", k, rest);
  return fmt::format("  n{0} = pred[] and({1}, e{0})\n  r{0} = pred[] or(n{0}, l{0})\n", k, rest);
}

std::string comparator(const std::vector<Key>& keys, Form form, bool is_hidden) {
  std::string out = "  t = pred[] constant(true)\n", rest;
  for (size_t k = 0; k < keys.size(); ++k)
    out += side_of(keys[k], k, 'a') + side_of(keys[k], k, 'b');
  out += fmt::format("  pa = s32[] parameter({})\n  pb = s32[] parameter({})\n", 2 * keys.size(),
                     2 * keys.size() + 1);
  for (size_t k = keys.size(); k-- > 0;) {
    const std::string kind = keys[k].is_total ? ", type=TOTALORDER" : "";
    for (const auto& [name, direction] : {std::pair<char, std::string>{'l', keys[k].direction},
                                          std::pair<char, std::string>{'e', "EQ"}})
      out += fmt::format("  {0}{1} = pred[] compare(a{1}, b{1}), direction={2}{3}\n", name, k,
                         direction, kind);
    if (!rest.empty()) out += chain(k, form, rest);
    rest = fmt::format("{}{}", rest.empty() ? 'l' : 'r', k);
  }
  if (is_hidden) return "less {\n" + out + "  ROOT h = pred[] and(" + rest + ", t)\n}\n";
  out.insert(out.find("  " + rest + " = ") + 2, "ROOT ");
  return "less {\n" + out + "}\n";
}

// Few different values, so that later keys count; floats with zeros of both signs and NaNs.
template <class T>
Literal values(const Dims& dims, uint64_t seed) {
  std::vector<T> out;
  for (uint64_t i = 0; i < static_cast<uint64_t>(element_count(dims)); ++i) {
    const uint64_t kind = (i + seed) * (2654435761U + 2 * seed) >> 7;
    double value = static_cast<double>(kind % 7) - 3;
    if constexpr (!std::is_integral_v<T>) {
      if (kind % 11 == 0) value = std::numeric_limits<double>::quiet_NaN();
      if (kind % 13 == 0) value = -std::numeric_limits<double>::quiet_NaN();
      if (kind % 5 == 0) value = -0.0;
    }
    out.push_back(static_cast<T>(value));
  }
  return Literal::from<T>(dims, out);
}

Literal values(const std::string& type, const Dims& dims, uint64_t seed) {
  if (type == "f32") return values<float>(dims, seed);
  if (type == "f64") return values<double>(dims, seed);
  if (type == "bf16") return values<BF16>(dims, seed);
  if (type == "s64") return values<int64_t>(dims, seed);
  return values<int8_t>(dims, seed);
}

// The places in which the elements of [2,n,3] stand once they are sorted along the middle.
Numbers order(const std::vector<Key>& keys, Form form, int64_t n, bool is_hidden) {
  const std::string dims = fmt::format("[2,{},3]", n);
  std::string body, operands, types;
  std::vector<Literal> inputs;
  for (size_t k = 0; k < keys.size(); ++k) {
    body += fmt::format("  x{0} = {1}{2} parameter({0})\n", k, keys[k].type, dims);
    operands += fmt::format("x{}, ", k), types += keys[k].type + dims + ", ";
    inputs.push_back(values(keys[k].type, {2, n, 3}, k + 1));
  }
  body += fmt::format(
      "  i = s32{0} iota(), iota_dimension=1\n  s = ({1}s32{0}) sort({2}i), dimensions={{1}}, "
      "is_stable=true, to_apply=less\n  ROOT o = s32{0} get-tuple-element(s), index={3}\n",
      dims, types, operands, keys.size());
  return run_one(module_of(body, comparator(keys, form, is_hidden)), std::move(inputs));
}

TEST(SortKeys, EveryFormOrdersAsItsComparator) {
  const Key jax = {"f32", "LT", true, true}, total = {"f64", "GT", true},
            narrow = {"bf16", "LT", true, true};
  const Key whole = {"s64", "GT"}, byte = {"s8", "LT"};
  const std::vector<std::vector<Key>> several = {{jax, jax},
                                                 {byte, whole},
                                                 {total, jax},
                                                 {whole, narrow, byte},
                                                 {jax, total, whole},
                                                 {narrow, byte, jax},
                                                 {byte, byte, byte, total}};
  for (const auto& keys : several)
    for (const Form form : {Form::OrAnd, Form::AndOr, Form::Select})
      for (const int64_t n : {5, 700})
        EXPECT_EQ(order(keys, form, n, false), order(keys, form, n, true))
            << comparator(keys, form, false) << n;
}

// The bits of arrays of these sizes once they are sorted along `dim`, alone or with their places.
Numbers sorted_bits(const Key& key, const Dims& dims, int64_t dim, bool has_places,
                    bool is_hidden) {
  const std::string sizes = fmt::format("[{}]", fmt::join(dims, ",")), values_of = key.type + sizes;
  const int64_t bits = bits_of(*element_type_of(key.type));
  const std::string as_bits = bits == 64 ? fmt::format("u32[{},2]", fmt::join(dims, ","))
                                         : fmt::format("u{}{}", bits, sizes);
  const std::string sort = fmt::format("dimensions={{{}}}, is_stable=true, to_apply=less\n", dim);
  std::string before = comparator({key}, Form::Select, is_hidden);
  if (!has_places)
    for (const char* place : {"  pa = s32[] parameter(2)\n", "  pb = s32[] parameter(3)\n"})
      before.erase(before.find(place), std::string_view(place).size());
  const std::string body =
      has_places
          ? fmt::format(
                "  i = s32{0} iota(), iota_dimension={1}\n  s = ({2}, s32{0}) sort(x, i), {3}"
                "  v = {2} get-tuple-element(s), index=0\n  b = {4} bitcast-convert(v)\n"
                "  p = s32{0} get-tuple-element(s), index=1\n"
                "  ROOT t = ({4}, s32{0}) tuple(b, p)\n",
                sizes, dim, values_of, sort, as_bits)
          : fmt::format("  v = {0} sort(x), {1}  ROOT b = {2} bitcast-convert(v)\n", values_of,
                        sort, as_bits);
  return run_one(module_of(fmt::format("  x = {} parameter(0)\n", values_of) + body, before),
                 {values(key.type, dims, 5)});
}

// Lines that are sorted side by side in networks, and those that are too long for it.
TEST(SortKeys, ManyShortLines) {
  const Key keys[] = {{"f32", "LT", true, true},
                      {"f32", "GT", true},
                      {"bf16", "GT", true, true},
                      {"f64", "LT", true, true},
                      {"f64", "GT", true},
                      {"s8", "GT"},
                      {"s64", "LT"},
                      {"bf16", "LT", true},
                      {"s64", "GT"}};
  for (const Key& key : keys)
    for (const int64_t n : {2, 3, 17, 32, 64, 65})
      for (const bool has_places : {false, true})
        for (const Dims& dims : {Dims{150, n}, Dims{3, n, 37}, Dims{60, n, 3}})
          EXPECT_EQ(sorted_bits(key, dims, 1, has_places, false),
                    sorted_bits(key, dims, 1, has_places, true))
              << comparator({key}, Form::Select, false) << fmt::format("{}", dims);
}

// Comparators that compute something of each side first, given for sides named {0}: those of
// operands x{0} (f32) and y{0} (s32). `cmp` orders them; behind `and` with true they are merged.
std::string computing(const std::string& side, const std::string& cmp, bool is_hidden) {
  std::string out = "  t = pred[] constant(true)\n";
  for (const char* name : {"a", "b"})
    out += fmt::format(
               "  x{0} = f32[] parameter({1})\n  y{0} = s32[] parameter({2})\n  z{0} = "
               "c64[] parameter({3})\n",
               name, *name - 'a', *name - 'a' + 2, *name - 'a' + 4) +
           fmt::format(fmt::runtime(side), name);
  out += cmp;
  if (is_hidden) out += "  ROOT h = pred[] and(r, t)\n";
  else out.insert(out.find("  r = ") + 2, "ROOT ");
  return "less {\n" + out + "}\n";
}

Numbers order_computing(const std::string& side, const std::string& cmp, bool is_hidden) {
  const Dims dims = {2, 700, 3};
  std::vector<std::complex<float>> complex;
  for (uint64_t i = 0; i < 4200; ++i)
    complex.emplace_back(static_cast<float>(i * 7919 % 3), static_cast<float>(i * 104729 % 5));
  const std::string operands = "f32[2,700,3], s32[2,700,3], c64[2,700,3], s32[2,700,3]";
  return run_one(
      module_of(
          "  x = f32[2,700,3] parameter(0)\n  y = s32[2,700,3] parameter(1)\n  z = "
          "c64[2,700,3] parameter(2)\n  i = s32[2,700,3] iota(), iota_dimension=1\n  s = (" +
              operands + ") sort(x, y, z, i), dimensions={1}, is_stable=true, to_apply=less\n" +
              "  ROOT o = s32[2,700,3] get-tuple-element(s), index=3\n",
          [&] {
            std::string text = computing(side, cmp, is_hidden);
            text.insert(text.rfind('}'), "  ia = s32[] parameter(6)\n  ib = s32[] parameter(7)\n");
            return text;
          }()),
      {values<float>(dims, 1), values<int32_t>(dims, 2),
       Literal::from<std::complex<float>>(dims, complex)});
}

TEST(SortKeys, ComputedKeysOrderAsTheirComparator) {
  const std::string bits =
      "  l{0} = s32[] constant(0)\n  m{0} = s32[] constant(2147483647)\n  i{0}i = s32[] "
      "bitcast-convert(x{0})\n  n{0} = pred[] compare(i{0}i, l{0}), direction=LT\n  f{0} = s32[] "
      "xor(m{0}, i{0}i)\n  k{0} = s32[] select(n{0}, f{0}, i{0}i)\n";
  const std::string parts = "  k{0} = f32[] real(z{0})\n  j{0} = f32[] imag(z{0})\n";
  const std::string product =
      "  g{0} = f32[] convert(y{0})\n  w{0} = f32[] abs(x{0})\n  k{0} = f32[] multiply(g{0}, "
      "w{0})\n";
  struct Comparator {
    std::string side, compare;
  };
  const std::vector<Comparator> all = {
      {bits, "  r = pred[] compare(ka, kb), direction=GT\n"},
      {bits,
       "  u = pred[] compare(kb, ka), direction=GT\n  v = pred[] compare(ka, kb), "
       "direction=GT\n  e = pred[] compare(u, v), direction=EQ\n  w = pred[] compare(ya, yb), "
       "direction=LT\n  r = pred[] select(e, w, u)\n"},
      {parts,
       "  u = pred[] compare(ka, kb), direction=LT, type=TOTALORDER\n  e = pred[] "
       "compare(ka, kb), direction=EQ, type=TOTALORDER\n  v = pred[] compare(ja, jb), "
       "direction=GT, type=TOTALORDER\n  w = pred[] and(e, v)\n  r = pred[] or(u, w)\n"},
      {product, "  r = pred[] compare(kb, ka), direction=LT, type=TOTALORDER\n"}};
  for (const auto& [side, compare] : all)
    EXPECT_EQ(order_computing(side, compare, false), order_computing(side, compare, true)) << side;
}

// The sides do different things, or one looks at both elements: compared one with another.
TEST(SortKeys, SidesThatDifferAreCompared) {
  const auto sorted = [](const std::string& body) {
    return run_one(
        module_of("  x = s32[4] constant({3, -4, 1, -2})\n  ROOT s = s32[4] sort(x), "
                  "dimensions={0}, to_apply=less\n",
                  "less {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n" + body + "}\n"),
        {});
  };
  EXPECT_EQ(sorted("  u = s32[] abs(a)\n  v = s32[] abs(b)\n  ROOT r = pred[] compare(u, v), "
                   "direction=LT\n"),
            (Numbers{1, -2, 3, -4}));
  EXPECT_EQ(sorted("  u = s32[] subtract(a, b)\n  v = s32[] subtract(b, a)\n  ROOT r = pred[] "
                   "compare(u, v), direction=LT\n"),
            (Numbers{-4, -2, 1, 3}));
}

// An equality that is not of the key it stands with is no such form: less by one key, equal by
// another.
TEST(SortKeys, EqualityOfAnotherKeyIsCompared) {
  const auto sorted = [](const std::string& root) {
    return run_one(
        module_of("  x = s32[4] constant({2, 1, 2, 1})\n  y = s32[4] constant({1, 2, 1, 3})\n"
                  "  s = (s32[4], s32[4]) sort(x, y), dimensions={0}, to_apply=less\n"
                  "  ROOT o = s32[4] get-tuple-element(s), index=1\n",
                  "less {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n"
                  "  c = s32[] parameter(2)\n  d = s32[] parameter(3)\n" +
                      root + "}\n"),
        {});
  };
  EXPECT_EQ(sorted("  l = pred[] compare(a, b), direction=LT\n"
                   "  e = pred[] compare(a, b), direction=EQ\n"
                   "  m = pred[] compare(c, d), direction=GT\n"
                   "  n = pred[] and(e, m)\n  ROOT r = pred[] or(l, n)\n"),
            (Numbers{3, 2, 1, 1}));
  EXPECT_EQ(sorted("  l = pred[] compare(a, b), direction=LT\n"
                   "  e = pred[] compare(c, c), direction=NE\n"
                   "  m = pred[] compare(c, d), direction=GT\n"
                   "  n = pred[] and(e, m)\n  ROOT r = pred[] or(l, n)\n"),
            (Numbers{2, 3, 1, 1}));
}

}  // namespace
}  // namespace hilo::test
