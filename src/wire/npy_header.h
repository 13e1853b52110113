// The header of a .npy file: a Python dictionary with descr, fortran_order and shape.
#pragma once

#include "wire/wire.h"

namespace hilo {

struct NpyHeader {
  ElementType type = ElementType::Invalid;
  bool swapped = false;  // big endian
  bool fortran_order = false;
  Dims dims;
};
// `text` is the dictionary alone, without magic and length.
Result<NpyHeader> parse_npy_header(std::string_view text);
std::string_view npy_descr(ElementType type);  // "<f4"

}  // namespace hilo
