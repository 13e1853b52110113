#include "verify/report.h"

#include <algorithm>

namespace hilo {

void Report::add(ErrorKind kind, std::string message) {
  if (is_full()) return;
  Place place;
  place.file = module_.file;
  errors_.push_back({kind, std::move(message), std::move(place)});
}

void Report::add(ErrorKind kind, ComputationId computation, std::string message) {
  add(kind, std::move(message));
  if (!errors_.empty() && errors_.back().place.computation.empty())
    errors_.back().place.computation = module_[computation].name;
}

void Report::add(ErrorKind kind, InstructionId instruction, std::string message) {
  if (is_full()) return;
  errors_.push_back({kind, std::move(message), module_.place(instruction)});
}

namespace {

bool fits_with(const Shape& a, const Shape& b, bool any_precision) {
  const bool types =
      a.type == b.type || (any_precision && is_floating(a.type) && is_floating(b.type));
  if (!types || a.dims.size() != b.dims.size() || a.elements.size() != b.elements.size())
    return false;
  for (size_t i = 0; i < a.dims.size(); ++i)
    if (a.dims[i] != b.dims[i] && a.dims[i] != Shape::unbounded && b.dims[i] != Shape::unbounded)
      return false;
  for (size_t i = 0; i < a.elements.size(); ++i)
    if (!fits_with(a.elements[i], b.elements[i], any_precision)) return false;
  return true;
}

}  // namespace

bool fits(const Shape& a, const Shape& b) { return fits_with(a, b, false); }
bool fits_but_precision(const Shape& a, const Shape& b) { return fits_with(a, b, true); }
std::string shown(const Shape& shape) { return to_string_without_layout(shape); }

const Shape* shape_at(const Shape& shape, std::span<const int64_t> index) {
  const Shape* out = &shape;
  for (int64_t i : index) {
    if (!out->is_tuple() || i < 0 || i >= static_cast<int64_t>(out->elements.size()))
      return nullptr;
    out = &out->elements[i];
  }
  return out;
}

std::string listed(std::span<const int64_t> numbers) {
  std::string out = "{";
  constexpr size_t longest = 200;  // of what a message shows, which may be a million numbers
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (out.size() > longest) return out + ",...}";
    out += (i > 0 ? "," : "") + std::to_string(numbers[i]);
  }
  return out + "}";
}

}  // namespace hilo
