#include "tools/outputs.h"

#include <algorithm>
#include <cmath>

#include "text/text.h"
#include "tools/array_file.h"
#include "tools/inputs.h"

namespace hilo::tools {
namespace {

std::string name_of(const OutputLeaf& leaf) {
  return array_name("out", leaf.leaf,
                    leaf.many_devices ? std::optional(leaf.device) : std::nullopt);
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
  const int64_t count = leaf.value.count(), shown = std::min<int64_t>(count, 8);
  const Shape scalar = Shape::scalar(leaf.value.type());
  const size_t bytes = static_cast<size_t>(storage_bytes(leaf.value.type()));
  out += " =";
  for (int64_t i = 0; i < shown; ++i) {
    Literal element = Literal::uninitialized(scalar);
    std::copy_n(leaf.value.raw().data() + i * bytes, bytes, element.mutable_raw().data());
    out += " " + print(element);
  }
  if (shown == count || is_complex(leaf.value.type())) return out + (shown < count ? " ..." : "");
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int64_t i = 0; i < count; ++i) {
    low = std::min(low, leaf.value.number_at(i));
    high = std::max(high, leaf.value.number_at(i));
  }
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
