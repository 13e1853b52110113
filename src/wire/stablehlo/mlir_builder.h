// Fills a Program: each type once, often used attributes once.
#pragma once

#include <unordered_map>

#include "wire/stablehlo/mlir.h"

namespace hilo::mlir {

using Fields = std::vector<std::pair<std::string, AttributeId>>;

class Builder {
 public:
  Program program;

  TypeId intern(Type type);  // the id of this type, its text or parts
  TypeId scalar(ElementType element);
  TypeId tensor(TypeId element, Dims dims);
  TypeId none();
  TypeId other(std::string text);

  AttributeId add(Attribute attribute);
  AttributeId integer(int64_t value);  // of type i64
  AttributeId integer(int64_t value, TypeId type);
  AttributeId number(double value, TypeId type);
  AttributeId boolean(bool value);
  AttributeId string(std::string_view text);
  AttributeId symbol(std::string_view text);
  AttributeId enumerator(std::string_view text);
  AttributeId type_attribute(TypeId type);
  AttributeId array(std::vector<AttributeId> items);
  AttributeId dictionary(Fields fields);
  AttributeId structure(std::string_view name, Fields fields);
  // A tensor of i64 or of booleans; equal values as one.
  AttributeId numbers(Dims values, Dims dims);
  AttributeId numbers(Dims values);  // of one dimension
  AttributeId splat(int64_t value, Dims dims);
  AttributeId flags(bool value, int64_t count);

 private:
  AttributeId cached(const std::string& key, Attribute attribute);

  std::unordered_map<std::string, TypeId> types_;
  std::unordered_map<std::string, AttributeId> attributes_;
};

void sort_fields(Fields& fields);
AttributeId find_field(const Fields& sorted, std::string_view name);  // or none
// Elements of a type, saturated at INT64_MAX; dynamic dimensions count as 0.
int64_t element_count(const Type& tensor);
// Bytes of an element in Attribute::data; 0 for what is no element.
int64_t element_bytes(const Program& program, const Type& tensor);
// The tensor's elements as integers, splats repeated; none where it holds no integers or more than
// `limit`.
std::optional<Dims> integers_of(const Program& program, const Attribute& tensor,
                                int64_t limit = 1 << 20);

}  // namespace hilo::mlir
