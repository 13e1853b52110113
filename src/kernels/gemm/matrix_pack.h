// Loads and stores of matrix tiles: any element type from and to the type that a product is summed
// in (float, double, complex, and int32_t and uint64_t, which wrap). Private to `kernels`.
#pragma once

#include <complex>

#include "kernels/kernels.h"

namespace hilo {

// A maximal piece [start, start + length) of an axis whose positions are consecutive.
struct Run {
  int64_t start, length;
};
std::vector<Run> consecutive_runs(std::span<const int64_t> positions);

// out[i * minor.size() + j] = data[base + major[i] + minor[j]] as T.
template <class T>
void pack(const void* data, ElementType type, int64_t base, std::span<const int64_t> major,
          std::span<const int64_t> minor, T* out);
// The inverse: data[base + major[i] + minor[j]] = in[i * leading + j] rounded to `type`.
template <class T>
void unpack(const T* in, int64_t leading, void* data, ElementType type, int64_t base,
            std::span<const int64_t> major, std::span<const int64_t> minor);

// All elements of an array as T, and back.
template <class T>
std::vector<T> values_of(ElementType type, const std::byte* data, int64_t count);
template <class T>
void store_values(std::span<const T> values, ElementType type, std::byte* data);

// Calls body(std::type_identity<T>()) with the type that matrices of floating or complex elements
// are factored in: of narrow floats f32.
template <class Body>
void visit_matrix_type(ElementType type, Body&& body) {
  if (type == ElementType::F64) return body(std::type_identity<double>());
  if (type == ElementType::C64) return body(std::type_identity<std::complex<float>>());
  if (type == ElementType::C128) return body(std::type_identity<std::complex<double>>());
  body(std::type_identity<float>());
}

}  // namespace hilo
