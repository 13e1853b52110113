// window={size=3x3 stride=2x2 pad=1_1x1_1 ...}: the size, and what is not the default; and
// dim_labels=b01f_01io->b01f.
#include <algorithm>

#include "text/print.h"

namespace hilo {
namespace {

template <class Part>
void append_part(Printer& printer, const Window& window, std::string_view name, bool always,
                 std::type_identity_t<std::function<bool(const WindowDim&)>> is_default,
                 Part part) {
  if (!always && std::all_of(window.dims.begin(), window.dims.end(), is_default)) return;
  printer.text(always ? "" : " ").text(name).text("=").list(window.dims, "x", part);
}

// Labels of one array: its two named dimensions, the spatial ones and the unknown ones.
std::string labels(char first, int64_t first_dim, char second, int64_t second_dim,
                   const Dims& spatial, const Dims& unknown) {
  std::string out(2 + spatial.size() + unknown.size(), '?');
  const auto put = [&](int64_t dim, char label) {
    if (dim >= 0 && dim < static_cast<int64_t>(out.size())) out[dim] = label;
  };
  put(first_dim, first), put(second_dim, second);
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], static_cast<char>('0' + i));
  return out;
}

}  // namespace

void Printer::value(const Window& value) {
  const auto one = [](int64_t WindowDim::* member) {
    return [member](const WindowDim& dim) { return dim.*member == 1; };
  };
  const auto number = [this](int64_t WindowDim::* member) {
    return [this, member](const WindowDim& dim) { integer(dim.*member); };
  };
  text("{");
  if (!value.dims.empty())
    append_part(*this, value, "size", true, nullptr, number(&WindowDim::size));
  append_part(*this, value, "stride", false, one(&WindowDim::stride), number(&WindowDim::stride));
  append_part(
      *this, value, "pad", false,
      [](const WindowDim& dim) { return dim.padding_low == 0 && dim.padding_high == 0; },
      [&](const WindowDim& dim) { integer(dim.padding_low).text("_").integer(dim.padding_high); });
  append_part(*this, value, "lhs_dilate", false, one(&WindowDim::base_dilation),
              number(&WindowDim::base_dilation));
  append_part(*this, value, "rhs_dilate", false, one(&WindowDim::window_dilation),
              number(&WindowDim::window_dilation));
  append_part(
      *this, value, "rhs_reversal", false, [](const WindowDim& dim) { return !dim.reversal; },
      [&](const WindowDim& dim) { text(dim.reversal ? "1" : "0"); });
  text("}");
}

void Printer::value(const ConvolutionLabels& value) {
  text(labels('b', value.input_batch, 'f', value.input_feature, value.input_spatial,
              value.input_unknown));
  text("_").text(labels('i', value.kernel_input_feature, 'o', value.kernel_output_feature,
                        value.kernel_spatial, value.kernel_unknown));
  text("->").text(
      labels('b', value.output_batch, 'f', value.output_feature, value.output_spatial, {}));
}

}  // namespace hilo
