"""Prints the sizes report; fails over a limit. The scanner is tried on every hard form first."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

import sizes
import source_scan

SOURCE = Path(os.environ.get("HILO_SOURCE", Path(__file__).resolve().parents[2]))

HARD_FORMS = r'''#include <map>
// { an unmatched brace in a comment
#define OPENS {  // and one in a macro \
  more {
namespace hilo {
namespace {
const char* text = "}}}{\"{";
const char* raw = R"x(}} "{{ )" )x";
const int big = 1'000'000;
constexpr int table[] = {1, 2, 3};
struct Options { int depth = 3; std::vector<int> list = {1, 2}; };
enum class Kind : uint8_t { A, B };
}  // namespace
int one() { return '{' + '\''; }
struct alignas(64) Owner : Base {
 public:
  Owner(int a, int b = {}) : Base(a), first_{a}, second_{b, {}} {
    first_ += 1;
  }
  ~Owner() { release(); }
  bool operator==(const Owner&) const = default;
  Owner& operator=(const Owner& other) {
    return *this;
  }
  int operator()(int x) const noexcept { return x; }
  template <class T = std::map<int, int>>
  auto visit(T&& body) const& -> decltype(body(1)) {
    return std::vector<int>{1, 2, 3}, body(1);
  }
  int first_{0};
};
const auto lambda = [](int a) {
  return a;
};
Result<Module> parse(std::string_view text, const Options& options = {}) {
  if (auto x = [&] { return 1; }(); x) {
    switch (x) { case 1: { break; } }
  }
  return {};
}
TEST(Suite, Name) {
}
}  // namespace hilo
'''
EXPECTED = [("one", 14, 1), ("Owner", 17, 3), ("~Owner", 20, 1), ("operator=", 22, 3),
            ("operator", 25, 1), ("visit", 26, 4), ("lambda", 32, 3), ("parse", 35, 6),
            ("TEST", 41, 2)]


class Sizes(unittest.TestCase):
    def breaches_of(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return sizes.measure(Path(folder))[1]

    def expect_limit(self, name, text, message):
        breaches = self.breaches_of(name, text)
        self.assertEqual(len(breaches), 1, breaches)
        self.assertIn(message, breaches[0])

    def test_source_keeps_the_limits(self):
        table, errors = sizes.measure(SOURCE)
        print()
        sizes.report(table)
        sys.stdout.flush()
        self.assertEqual(errors, [], "\n" + "\n".join(errors))

    def test_scanner_on_hard_forms(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "hard.cpp")
            path.write_text(HARD_FORMS)
            found = [(f.name.split("(")[0], f.line, f.lines) for f in source_scan.functions(path)]
        self.assertEqual([(line, lines) for _, line, lines in found],
                         [(line, lines) for _, line, lines in EXPECTED], found)
        for (name, *_), (expected, *_) in zip(found, EXPECTED):
            self.assertIn(expected, name)

    def test_scanner_says_when_it_is_lost(self):
        self.expect_limit("src/ir/a.cpp", "int f() {\n", "never closed")
        self.expect_limit("src/ir/a.cpp", "int f() {}\n}\n", "without '{'")

    def test_long_file(self):
        self.assertEqual(self.breaches_of("src/ir/a.cpp", "int a;\n" * 600), [])
        self.expect_limit("src/ir/a.cpp", "int a;\n" * 601, "source file of 601")

    def test_long_function(self):
        body = "int f() {\n" + "  g();\n" * 78 + "}\n"
        self.assertEqual(self.breaches_of("src/ir/a.cpp", body), [])
        self.expect_limit("src/ir/a.cpp", body.replace("}", "  g();\n}"), "f: function of 81")
        self.expect_limit("tests/ir/a_test.cpp", body.replace("}", "  g();\n}"), "function of 81")

    def test_long_evaluator_function(self):
        body = "Result<Literal> evaluate_Add(Call& call) {\n" + "  g();\n" * 39 + "}\n"
        self.expect_limit("src/eval/add.cpp", body, "evaluator function of 41")

    def test_long_front_door(self):
        self.expect_limit("src/ir/ir.h", "int a;\n" * 301, "room header of 301")

    def test_many_includes(self):
        text = "".join(f"#include <h{i}>\n" for i in range(26))
        self.expect_limit("src/ir/a.cpp", text, "includes in a file of 26")

    def test_long_line(self):
        self.assertEqual(self.breaches_of("src/ir/a.cpp", "//" + "x" * 98 + "\n"), [])
        self.expect_limit("src/ir/a.cpp", "//" + "x" * 99 + "\n", "a.cpp:1: 101 columns")


if __name__ == "__main__":
    unittest.main(verbosity=2)
