#include "compile/object_header.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace hilo {
namespace {

struct Array {
  std::string what;  // "x{0}: f32[4,8]"
  int64_t bytes;
};

// Names and shapes stand in a comment of C.
std::string in_comment(std::string text) {
  for (char& c : text)
    if (c == '*' || static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

// For a shell, where that needs it.
std::string in_quotes(const std::string& path) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) || std::strchr("/._-+", c); };
  if (std::ranges::all_of(path, is_plain)) return path;
  std::string out = "'";
  for (char c : path) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string listed(std::span<const int64_t> numbers, std::string_view between) {
  std::string out;
  for (size_t i = 0; i < numbers.size(); ++i)
    out += fmt::format("{}{}", i ? between : "", numbers[i]);
  return out;
}

void append_arrays(const Shape& shape, std::string_view name, std::vector<Array>& out) {
  for_each_leaf(shape, [&](const Shape& leaf, std::span<const int64_t> index) {
    if (!leaf.is_array()) return;
    const std::string part = index.empty() ? "" : "{" + listed(index, ",") + "}";
    out.push_back({in_comment(fmt::format("{}{}: {}", name, part, to_string_without_layout(leaf))),
                   literal_bytes(leaf)});
  });
}

std::string comment_of(std::string_view list, const std::vector<Array>& arrays) {
  std::string out;
  for (size_t i = 0; i < arrays.size(); ++i)
    out += fmt::format(" *   {}[{}]  {}, {} bytes\n", list, i, arrays[i].what, arrays[i].bytes);
  return out;
}

// C has no empty arrays.
std::string sizes_of(const std::vector<Array>& arrays) {
  std::vector<int64_t> out;
  for (const Array& array : arrays) out.push_back(array.bytes);
  if (out.empty()) out.push_back(0);
  return listed(out, ", ");
}

// {0} name, {1} module, {2} and {3} comments, {4} and {5} counts, {6} and {7} sizes, {8} workspace,
// {9} what it needs, {10} what it returns, {11} flags to link with
constexpr std::string_view form =
    R"(/* Compiled by Hilo from the module {1}. {9}
 *   c++ main.cpp {0}.o -o main {11}
 *
 * {0} computes the module once{10} It may be called from several
 * threads, with a workspace each. Arrays are dense and row-major, a byte at least for each element;
 * all of them and the workspace are aligned to {0}_ALIGNMENT bytes, and results overlap nothing.
{2}{3} */
#ifndef {0}_H
#define {0}_H

#include <stddef.h>

#define {0}_PARAMETERS {4}
#define {0}_RESULTS {5}
#define {0}_WORKSPACE_BYTES {8}
#define {0}_ALIGNMENT 64

static const size_t {0}_parameter_bytes[] = {{{6}}};
static const size_t {0}_result_bytes[] = {{{7}}};

#ifdef __cplusplus
extern "C" {{
#endif
int {0}(const void* const* parameters, void* const* results, void* workspace);
#ifdef __cplusplus
}}

#include <cstdlib>
#include <memory>
#include <new>

/* The function with a workspace of its own; not for several threads at once. */
class {0}_program {{
 public:
  {0}_program() : workspace_(std::aligned_alloc({0}_ALIGNMENT, {0}_WORKSPACE_BYTES), &std::free) {{
    if (!workspace_) throw std::bad_alloc();
  }}
  int operator()(const void* const* parameters, void* const* results) {{
    return {0}(parameters, results, workspace_.get());
  }}

 private:
  std::unique_ptr<void, void (*)(void*)> workspace_;
}};
#endif

#endif
)";

}  // namespace

bool is_c_name(std::string_view name) {
  static constexpr std::string_view taken[] = {
      "alignas",  "alignof",   "and",      "asm",      "auto",     "bool",    "break",    "case",
      "catch",    "char",      "class",    "const",    "continue", "default", "delete",   "do",
      "double",   "else",      "enum",     "explicit", "export",   "extern",  "false",    "float",
      "for",      "friend",    "goto",     "if",       "inline",   "int",     "long",     "main",
      "mutable",  "namespace", "new",      "noexcept", "not",      "nullptr", "operator", "or",
      "private",  "protected", "public",   "register", "restrict", "return",  "short",    "signed",
      "sizeof",   "static",    "struct",   "switch",   "template", "this",    "throw",    "true",
      "try",      "typedef",   "typename", "union",    "unsigned", "using",   "virtual",  "void",
      "volatile", "while",     "xor"};
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto fits = [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name[0]) && std::ranges::all_of(name, fits) &&
         std::ranges::find(taken, name) == std::end(taken);
}

std::string link_flags(bool needs_run_time) {
  if (!needs_run_time) return "-lm";
  for (const std::filesystem::path library : library_paths("libhilo_run.so"))
    if (std::filesystem::exists(library)) {
      const std::string folder = in_quotes(library.parent_path());
      return fmt::format("-L{0} -Wl,-rpath,{0} -lhilo_run -lm", folder);
    }
  return "-lhilo_run -lm";
}

std::string object_header(const Module& module, std::string_view name, int64_t workspace_bytes,
                          bool needs_run_time, std::string_view link_flags) {
  std::vector<Array> parameters, results;
  const Computation& entry = module[module.entry];
  for (InstructionId id : entry.parameters)
    append_arrays(module.shape(id), module[id].name, parameters);
  append_arrays(module.shape(entry.root), "result", results);
  return fmt::format(fmt::runtime(form), name, in_comment(module.header.name),
                     comment_of("parameters", parameters), comment_of("results", results),
                     parameters.size(), results.size(), sizes_of(parameters), sizes_of(results),
                     std::max<int64_t>(64, workspace_bytes),
                     needs_run_time ? "The object needs libhilo_run (-lhilo_run)."
                                    : "The object needs libm and nothing else.",
                     needs_run_time ? " and returns 0; otherwise no result\n * is of use, and the "
                                      "workspace begins with a text that says why."
                                    : ", on the calling thread, and returns 0.",
                     in_comment(std::string(link_flags)));
}

}  // namespace hilo
