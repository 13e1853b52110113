#include "tools/outputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "text/text.h"
#include "tools/array_file.h"
#include "tools/inputs.h"

namespace hilo::tools {
namespace {

constexpr size_t most_shown = 8;  // elements of an output

std::string name_of(const OutputLeaf& leaf) {
  return array_name("out", leaf.leaf,
                    leaf.many_devices ? std::optional(leaf.device) : std::nullopt);
}

// Whether the element at a row-major place lies within the sizes that dynamic dimensions have now.
bool is_inside(const Literal& value, int64_t place) {
  const Dims& dims = value.shape().dims;
  const Dims& sizes = value.dynamic_sizes();
  for (size_t d = sizes.size(); d-- > 0; place /= dims[d])
    if (place % dims[d] >= sizes[d]) return false;
  return true;
}

// The least and the largest of real numbers; the least is above the largest where all are NaN.
std::pair<double, double> range_of(const Literal& value) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  visit_storage(value.type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (!requires(T number) { number.real(); }) {
      const auto numbers = value.data<T>();
      const bool is_whole = value.dynamic_sizes().empty();
      for (int64_t i = 0; i < value.count(); ++i) {
        if (!is_whole && !is_inside(value, i)) continue;
        const auto number = static_cast<double>(numbers[i]);
        low = number < low ? number : low;
        high = number > high ? number : high;
      }
    }
  });
  return {low, high};
}

}  // namespace

std::vector<OutputLeaf> output_leaves(const Module& module, const Outputs& outputs) {
  std::vector<Shape> shapes;
  for_each_leaf(module.shape(module[module.entry].root),
                [&](const Shape& leaf, std::span<const int64_t>) { shapes.push_back(leaf); });
  std::vector<OutputLeaf> out;
  for (size_t device = 0; device < outputs.devices.size(); ++device) {
    int64_t leaf = 0;
    for_each_leaf(outputs.devices[device], [&](const Literal& value) {
      out.push_back(
          {leaf, static_cast<int64_t>(device), outputs.devices.size() > 1, shapes[leaf], value});
      ++leaf;
    });
  }
  return out;
}

std::string show(const OutputLeaf& leaf) {
  std::string out = fmt::format("{} {}", name_of(leaf), to_string_without_layout(leaf.declared));
  if (!leaf.value.shape().is_array()) return out;
  if (const Dims& sizes = leaf.value.dynamic_sizes(); !sizes.empty())
    out += fmt::format(" now [{}]", fmt::join(sizes, ","));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < leaf.value.count() && places.size() <= most_shown; ++i)
    if (is_inside(leaf.value, i)) places.push_back(i);
  const bool has_more = places.size() > most_shown;
  if (has_more) places.pop_back();
  const Shape scalar = Shape::scalar(leaf.value.type());
  const size_t bytes = static_cast<size_t>(storage_bytes(leaf.value.type()));
  out += " =";
  for (int64_t i : places) {
    Literal element = Literal::uninitialized(scalar);
    std::copy_n(leaf.value.raw().data() + i * bytes, bytes, element.mutable_raw().data());
    out += " " + print(element);
  }
  if (!has_more || is_complex(leaf.value.type())) return out + (has_more ? " ..." : "");
  const auto [low, high] = range_of(leaf.value);
  if (low > high) return out + " ... (all nan)";
  return out + fmt::format(" ... ({:.6g} to {:.6g})", low, high);
}

Result<void> save(const std::string& path, const std::vector<OutputLeaf>& leaves) {
  HILO_TRY(NpzWriter writer, NpzWriter::create(path));
  for (const OutputLeaf& leaf : leaves)
    if (leaf.value.shape().is_array()) HILO_DO(writer.add(name_of(leaf), leaf.value));
  return writer.finish();
}

Result<std::vector<LeafComparison>> compare_with(const std::string& path,
                                                 const std::vector<OutputLeaf>& leaves,
                                                 const Tolerance& tolerance) {
  HILO_TRY(ArrayFile file, ArrayFile::open(path));
  std::vector<LeafComparison> out;
  for (const OutputLeaf& leaf : leaves) {
    if (!leaf.value.shape().is_array()) continue;
    std::string name = array_name("out", leaf.leaf, leaf.device);
    if (!file.has(name)) name = array_name("out", leaf.leaf, {});
    if (!file.has(name))
      return fail(ErrorKind::Input, "{} has no {} nor {}", path,
                  array_name("out", leaf.leaf, leaf.device), name);
    HILO_TRY(Literal read, file.read(name));
    auto want = reinterpret_as(read, leaf.declared);
    // What was saved with --float=f64 is held in f64.
    if (!want && read.type() == ElementType::F64) want = reinterpret_as(read, leaf.value.shape());
    if (!want)
      return fail(ErrorKind::Input, "{} in {}: expected {}, {}", name, path,
                  to_string_without_layout(leaf.declared), want.error().message);
    out.push_back({&leaf, compare(leaf.value, *want, leaf.declared.type, tolerance)});
  }
  return out;
}

}  // namespace hilo::tools
