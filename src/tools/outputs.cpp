#include "tools/outputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/report.h"
#include "text/text.h"
#include "tools/array_file.h"
#include "tools/inputs.h"

namespace hilo::tools {
namespace {

constexpr size_t max_shown = 8;  // elements of an output

std::string name_of(const OutputLeaf& leaf) {
  return array_name("out", leaf.leaf,
                    leaf.has_several_devices ? std::optional(leaf.device) : std::nullopt);
}

// Whether the element at a row-major place lies within the sizes that dynamic dimensions have now.
bool is_inside(const Literal& value, int64_t place) {
  const Dims& dims = value.shape().dims;
  const Dims& sizes = value.dynamic_sizes();
  for (size_t d = sizes.size(); d-- > 0; place /= dims[d])
    if (place % dims[d] >= sizes[d]) return false;
  return true;
}

// Of real numbers; the least is above the largest where all are NaN.
struct Range {
  double low = HUGE_VAL, high = -HUGE_VAL;
  int64_t nans = 0;
};
Range range_of(const Literal& value) {
  Range out;
  visit_storage(value.type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (!requires(T number) { number.real(); }) {
      const auto numbers = value.data<T>();
      const bool is_whole = value.dynamic_sizes().empty();
      for (int64_t i = 0; i < value.count(); ++i) {
        if (!is_whole && !is_inside(value, i)) continue;
        const auto number = static_cast<double>(numbers[i]);
        out.low = number < out.low ? number : out.low;
        out.high = number > out.high ? number : out.high;
        out.nans += std::isnan(number);
      }
    }
  });
  return out;
}

// The first elements within the sizes of now, each as a scalar.
struct FirstElements {
  std::vector<Literal> elements;
  bool has_more = false;
};
FirstElements first_elements(const Literal& value) {
  FirstElements out;
  const Shape scalar = Shape::scalar(value.type());
  const size_t bytes = static_cast<size_t>(storage_bytes(value.type()));
  for (int64_t i = 0; i < value.count() && !out.has_more; ++i) {
    if (!is_inside(value, i)) continue;
    out.has_more = out.elements.size() == max_shown;
    if (out.has_more) break;
    Literal& element = out.elements.emplace_back(Literal::uninitialized(scalar));
    std::copy_n(value.raw().data() + i * bytes, bytes, element.mutable_raw().data());
  }
  return out;
}

nlohmann::ordered_json json_of_number(double number) {
  if (std::isfinite(number)) return number;
  return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

nlohmann::ordered_json json_of_element(const Literal& element) {
  if (element.type() == ElementType::Pred) return element.integer_at(0) != 0;
  if (is_complex(element.type())) return value_text(element);
  if (is_floating(element.type())) return json_of_number(element.number_at(0));
  if (is_unsigned(element.type())) return static_cast<uint64_t>(element.integer_at(0));
  return element.integer_at(0);
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
  const FirstElements first = first_elements(leaf.value);
  out += " =";
  for (const Literal& element : first.elements) out += " " + value_text(element);
  if (!first.has_more || is_complex(leaf.value.type())) return out + (first.has_more ? " ..." : "");
  const Range range = range_of(leaf.value);
  if (range.low > range.high) return out + " ... (all nan)";
  out += fmt::format(" ... ({:.6g} to {:.6g}", range.low, range.high);
  return out + (range.nans > 0 ? fmt::format(", {} nan)", range.nans) : ")");
}

nlohmann::ordered_json json_of(const OutputLeaf& leaf) {
  nlohmann::ordered_json out = {{"output", leaf.leaf},
                                {"device", leaf.device},
                                {"shape", to_string_without_layout(leaf.declared)}};
  if (!leaf.value.shape().is_array()) return out;
  if (!leaf.value.dynamic_sizes().empty()) out["sizes"] = leaf.value.dynamic_sizes();
  const FirstElements first = first_elements(leaf.value);
  nlohmann::ordered_json& values = out[first.has_more ? "first_values" : "values"];
  values = nlohmann::ordered_json::array();
  for (const Literal& element : first.elements) values.push_back(json_of_element(element));
  if (!first.has_more || is_complex(leaf.value.type())) return out;
  const Range range = range_of(leaf.value);
  if (range.low <= range.high) {
    out["min"] = json_of_number(range.low);
    out["max"] = json_of_number(range.high);
  }
  if (is_floating(leaf.value.type())) out["nans"] = range.nans;
  return out;
}

std::string value_text(const Literal& value) {
  std::string out = print(value);
  for (size_t at = 0; (at = out.find("-nan", at)) != std::string::npos;) out.erase(at, 1);
  return out;
}

Result<void> check_save_ending(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension();
  for (const std::string_view known : {"", ".npz", ".npy", ".safetensors"})
    if (ending == known) return {};
  return fail(ErrorKind::Usage,
              "--save={}: expected a name that ends in .npz, .safetensors or .npy", path);
}

Result<void> check_save(const std::string& path, const Module& module, int64_t devices) {
  if (!path.ends_with(".npy")) return {};
  int64_t arrays = 0;
  for_each_leaf(module.shape(module[module.entry].root),
                [&](const Shape& leaf, std::span<const int64_t>) { arrays += leaf.is_array(); });
  if (arrays * devices == 1) return {};
  return fail(ErrorKind::Usage, "--save={}: an .npy holds one array; there {} {} on {}: use .npz",
              path, arrays == 1 ? "is" : "are", counted(arrays, "output"),
              counted(devices, "device"));
}

Result<void> save(const std::string& path, const std::vector<OutputLeaf>& leaves,
                  const WholeLeaf& whole) {
  if (path.ends_with(".npy"))
    for (const OutputLeaf& leaf : leaves)
      if (leaf.declared.is_array()) return write_npy(path, leaf.value);
  std::vector<NamedLiteral> arrays;  // of a file whose head lists all
  std::optional<NpzWriter> writer;
  const bool is_npz = !path.ends_with(".safetensors");
  if (is_npz) {
    HILO_TRY(writer, NpzWriter::create(path));
  }
  for (const OutputLeaf& leaf : leaves) {
    if (!leaf.declared.is_array()) continue;
    HILO_TRY(OutputLeaf one, whole(leaf));
    if (writer) {
      HILO_DO(writer->add(name_of(leaf), one.value));
    } else {
      arrays.push_back({name_of(leaf), std::move(one.value)});
    }
  }
  return writer ? writer->finish() : write_safetensors(path, arrays);
}

Result<std::vector<LeafComparison>> compare_with(const std::string& path,
                                                 const std::vector<OutputLeaf>& leaves,
                                                 const WholeLeaf& whole,
                                                 const Tolerance& tolerance) {
  HILO_TRY(ArrayFile file, ArrayFile::open(path));
  std::vector<LeafComparison> out;
  for (const OutputLeaf& leaf : leaves) {
    if (!leaf.declared.is_array()) continue;
    std::string name = array_name("out", leaf.leaf, leaf.device);
    if (!file.has(name)) name = array_name("out", leaf.leaf, {});
    if (!file.has(name))
      return fail(ErrorKind::Input, "{} has no {} nor {}", path,
                  array_name("out", leaf.leaf, leaf.device), name);
    HILO_TRY(Literal read, file.read(name));
    HILO_TRY(const OutputLeaf one, whole(leaf));
    auto want = reinterpret_as(read, leaf.declared);
    // What was saved with --float=f64 is held in f64.
    if (!want && read.type() == ElementType::F64) want = reinterpret_as(read, one.value.shape());
    if (!want)
      return fail(ErrorKind::Input, "{} in {}: expected {}, {}", name, path,
                  to_string_without_layout(leaf.declared), want.error().message);
    out.push_back({&leaf, compare(one.value, *want, leaf.declared.type, tolerance)});
  }
  return out;
}

}  // namespace hilo::tools
