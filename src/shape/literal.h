// Values of shapes. An array literal is dense in logical row-major order, whatever the layout of
// its shape says, one element in storage_bytes(type) bytes; dynamic dimensions are stored at their
// bounds beside their sizes. Copies share storage; writing to shared storage copies it first. What
// makes storage throws OutOfMemory where the system has not so much, and writing may make some.
#pragma once

#include <memory>
#include <span>

#include "shape/shape_value.h"

namespace hilo {

using Bytes = std::shared_ptr<std::byte>;              // 64-byte aligned
using Allocate = std::function<Bytes(int64_t bytes)>;  // contents undefined
Bytes allocate_bytes(int64_t bytes);                   // from the heap; null: it has not so many
using SharedShape = std::shared_ptr<const Shape>;      // many values have one shape

class Literal {
 public:
  Literal() = default;                // no value
  static Literal zeros(Shape shape);  // tuples: zeros in each leaf; tokens are values too
  static Literal uninitialized(Shape shape, const Allocate& allocate = allocate_bytes);
  static Literal uninitialized(SharedShape shape, const Allocate& allocate = allocate_bytes);
  static Literal tuple(std::vector<Literal> elements);  // shape from the elements' shapes
  static Literal tuple(std::vector<Literal> elements, SharedShape shape);
  static Literal token();
  // A literal that shows storage made elsewhere, of at least literal_bytes(shape) bytes.
  static Literal view(Shape shape, Bytes bytes);
  template <class T>
  static Literal scalar(T value) {
    Literal out = uninitialized(Shape::scalar(element_type<T>));
    *out.mutable_data<T>().data() = value;
    return out;
  }
  // There must be as many values as the dimensions say.
  template <class T>
  static Literal from(Dims dims, std::span<const T> values) {
    Literal out = uninitialized(Shape::array(element_type<T>, std::move(dims)));
    check_count(out.shape(), values.size());
    std::copy(values.begin(), values.end(), out.mutable_data<T>().begin());
    return out;
  }

  bool has_value() const { return shape_ != nullptr; }
  const Shape& shape() const { return shape_ ? *shape_ : no_shape(); }
  const SharedShape& shared_shape() const { return shape_; }
  ElementType type() const { return shape().type; }
  int64_t count() const { return element_count(shape()); }

  // Elements in row-major order; T must be the storage type of the element type.
  template <class T>
  std::span<const T> data() const {
    check(element_type<T> == type(), "Literal::data: wrong type");
    return {reinterpret_cast<const T*>(bytes_.get()), static_cast<size_t>(count())};
  }
  template <class T>
  std::span<T> mutable_data() {
    check(element_type<T> == type(), "Literal::mutable_data: wrong type");
    own();
    return {reinterpret_cast<T*>(bytes_.get()), static_cast<size_t>(count())};
  }
  std::span<const std::byte> raw() const;
  std::span<std::byte> mutable_raw();
  const Bytes& storage() const { return bytes_; }
  bool is_unique() const { return bytes_.use_count() <= 1; }  // writing will not copy

  // Of a tuple.
  const std::vector<Literal>& elements() const { return elements_; }
  std::vector<Literal>& mutable_elements() { return elements_; }

  // Size of a dimension now: dims[dim], or what was set for a dynamic dimension.
  int64_t size(size_t dim) const;
  void set_size(size_t dim, int64_t size);
  const std::vector<int64_t>& dynamic_sizes() const { return sizes_; }  // empty: all at bound

  // Same storage under another shape of as many elements and the same element storage.
  Literal with_shape(Shape shape) const;
  Literal with_shape(SharedShape shape) const;
  // Integer or pred scalar element as int64 (floats truncate); used for indices.
  int64_t integer_at(int64_t position) const;
  // Any real element as double; complex: the real part.
  double number_at(int64_t position) const;

 private:
  void own();  // copies shared storage
  static void check_count(const Shape& shape, size_t values);
  static const Shape& no_shape();

  SharedShape shape_;
  Bytes bytes_;
  std::vector<int64_t> sizes_;  // one for each dimension when any dynamic size was set
  std::vector<Literal> elements_;
};

// Same shapes (layouts aside) and same bits; NaNs equal when their bits are.
bool same_bits(const Literal& a, const Literal& b);
// How a literal from outside is no value of the shape: other types or dimensions, sizes beyond
// their bounds, elements of a tuple or storage that are missing. "" where it is one.
std::string literal_fault(const Literal& literal, const Shape& shape);
// Leaves in order.
void for_each_leaf(const Literal& literal, const std::function<void(const Literal&)>& body);

}  // namespace hilo
