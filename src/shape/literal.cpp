#include "shape/literal.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace hilo {

// Large arrays lie in huge pages, for with small ones a processor that walks through them is slowed
// down by finding their pages.
Bytes allocate_bytes(int64_t bytes) {
  constexpr int64_t huge_page = int64_t{2} << 20;
  const bool is_large = bytes >= 2 * huge_page;
  const size_t alignment = is_large ? huge_page : 64;
  const size_t rounded = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  void* start = nullptr;
  if (posix_memalign(&start, alignment, rounded == 0 ? 64 : rounded) != 0) return nullptr;
  if (is_large) madvise(start, rounded, MADV_HUGEPAGE);
  return Bytes(static_cast<std::byte*>(start), std::free);
}

namespace {

// What others read before they let go of the storage happens before what we do after: the count
// alone, which is read relaxed, does not order them.
void acquire([[maybe_unused]] const Bytes& bytes) {
#ifdef __SANITIZE_THREAD__
  const Bytes copy = bytes;  // the sanitizer sees no fences; counting up acquires as well
#else
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

}  // namespace

const Shape& Literal::no_shape() {
  static const Shape none;
  return none;
}

Literal Literal::uninitialized(Shape shape, const Allocate& allocate) {
  return uninitialized(std::make_shared<const Shape>(std::move(shape)), allocate);
}

Literal Literal::uninitialized(SharedShape shape, const Allocate& allocate) {
  for (int64_t dim : shape->dims)
    check(dim >= 0 || dim == Shape::unbounded, "Literal: a dimension is negative");
  Literal out;
  if (shape->is_tuple())
    for (const Shape& element : shape->elements)
      out.elements_.push_back(uninitialized(element, allocate));
  if (shape->is_array()) {
    out.bytes_ = allocate(literal_bytes(*shape));
    if (!out.bytes_) throw OutOfMemory(literal_bytes(*shape));
  }
  out.shape_ = std::move(shape);
  return out;
}

Literal Literal::zeros(Shape shape) {
  Literal out = uninitialized(std::move(shape));
  if (out.bytes_) std::memset(out.bytes_.get(), 0, literal_bytes(*out.shape_));
  for (Literal& element : out.elements_) element = zeros(element.shape());
  return out;
}

Literal Literal::tuple(std::vector<Literal> elements) {
  Shape shape;
  shape.type = ElementType::Tuple;
  for (const Literal& element : elements) shape.elements.push_back(element.shape());
  return tuple(std::move(elements), std::make_shared<const Shape>(std::move(shape)));
}

Literal Literal::tuple(std::vector<Literal> elements, SharedShape shape) {
  Literal out;
  out.shape_ = std::move(shape);
  out.elements_ = std::move(elements);
  return out;
}

Literal Literal::token() { return zeros(Shape::token()); }

Literal Literal::view(Shape shape, Bytes bytes) {
  Literal out;
  out.shape_ = std::make_shared<const Shape>(std::move(shape));
  out.bytes_ = std::move(bytes);
  return out;
}

std::span<const std::byte> Literal::raw() const {
  return {bytes_.get(), bytes_ ? static_cast<size_t>(literal_bytes(shape())) : 0};
}

std::span<std::byte> Literal::mutable_raw() {
  own();
  return {bytes_.get(), bytes_ ? static_cast<size_t>(literal_bytes(shape())) : 0};
}

void Literal::check_count(const Shape& shape, size_t values) {
  if (static_cast<size_t>(element_count(shape)) == values) return;
  check(false, fmt::format("Literal::from: {} has {} elements, {} values were given",
                           to_string_without_layout(shape), element_count(shape), values));
}

void Literal::own() {
  if (!bytes_) return;
  if (bytes_.use_count() == 1) {
    acquire(bytes_);
    return;
  }
  const int64_t bytes = literal_bytes(shape());
  Bytes copy = allocate_bytes(bytes);
  if (!copy) throw OutOfMemory(bytes);
  std::memcpy(copy.get(), bytes_.get(), bytes);
  bytes_ = std::move(copy);
}

int64_t Literal::size(size_t dim) const { return sizes_.empty() ? shape_->dims[dim] : sizes_[dim]; }

void Literal::set_size(size_t dim, int64_t size) {
  if (sizes_.empty()) {
    if (size == shape_->dims[dim]) return;
    sizes_ = shape_->dims;
  }
  sizes_[dim] = size;
}

Literal Literal::with_shape(Shape shape) const {
  return with_shape(std::make_shared<const Shape>(std::move(shape)));
}

Literal Literal::with_shape(SharedShape shape) const {
  check(element_count(*shape) == count() && storage_bytes(shape->type) == storage_bytes(type()),
        "with_shape: another size");
  Literal out;
  out.bytes_ = bytes_;
  if (shape->dims == shape_->dims) out.sizes_ = sizes_;
  out.shape_ = std::move(shape);
  return out;
}

double Literal::number_at(int64_t position) const {
  return visit_storage(type(), [&]<class T>(std::type_identity<T>) -> double {
    const T value = data<T>()[position];
    if constexpr (requires { value.real(); }) return value.real();
    else return static_cast<double>(value);
  });
}

int64_t Literal::integer_at(int64_t position) const {
  if (type() == ElementType::U64) return static_cast<int64_t>(data<uint64_t>()[position]);
  if (type() == ElementType::S64) return data<int64_t>()[position];
  return static_cast<int64_t>(number_at(position));
}

bool same_bits(const Literal& a, const Literal& b) {
  if (!same_dims(a.shape(), b.shape()) || a.elements().size() != b.elements().size()) return false;
  for (size_t i = 0; i < a.elements().size(); ++i)
    if (!same_bits(a.elements()[i], b.elements()[i])) return false;
  for (int64_t i = 0; i < a.shape().rank(); ++i)
    if (a.size(i) != b.size(i)) return false;
  return a.raw().size() == b.raw().size() &&
         (a.raw().empty() || std::memcmp(a.raw().data(), b.raw().data(), a.raw().size()) == 0);
}

std::string literal_fault(const Literal& literal, const Shape& shape) {
  if (!literal.has_value()) return "nothing";
  if (!same_dims(literal.shape(), shape)) return to_string_without_layout(literal.shape());
  if (shape.is_tuple()) {
    if (literal.elements().size() != shape.elements.size())
      return fmt::format("a tuple of {} elements", literal.elements().size());
    for (size_t i = 0; i < shape.elements.size(); ++i)
      if (const std::string fault = literal_fault(literal.elements()[i], shape.elements[i]);
          !fault.empty())
        return fmt::format("{} as element {}", fault, i);
    return {};
  }
  if (shape.is_array() && !literal.storage() && literal.count() > 0)
    return to_string_without_layout(shape) + " without storage";
  for (size_t d = 0; d < literal.dynamic_sizes().size(); ++d)
    if (const int64_t size = literal.size(d); size < 0 || size > shape.dims[d])
      return fmt::format("a size of {} in dimension {}", size, d);
  return {};
}

void for_each_leaf(const Literal& literal, const std::function<void(const Literal&)>& body) {
  if (!literal.shape().is_tuple()) return body(literal);
  for (const Literal& element : literal.elements()) for_each_leaf(element, body);
}

}  // namespace hilo
