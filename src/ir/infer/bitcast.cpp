#include "ir/infer/infer.h"

namespace hilo {

// A bitcast reinterprets the physical bytes: types and element counts may change as long as the
// padded sizes agree. Dynamic arrays may carry metadata beside their elements, so they go
// unchecked.
Result<Shape> infer_Bitcast(const Given& given) {
  HILO_TRY(const Shape out, need_stated(given));
  const Shape& from = given.operand(0);
  if (!from.is_array() || !out.is_array()) {
    if (same_dims(from, out)) return out;
    return misfit("a bitcast from {} to {} is not of arrays", text(from), text(out));
  }
  if (from.has_dynamic_dims() || out.has_dynamic_dims()) return out;
  for (const Shape* shape : {&from, &out})
    if (const std::string fault = layout_fault(*shape); !fault.empty())
      return misfit("{}: {}", to_string(*shape), fault);
  if (padded_bytes(from) != padded_bytes(out) && unpadded_bytes(from) != unpadded_bytes(out))
    return misfit("a bitcast keeps the padded size: {} has {} bytes, {} has {}", to_string(from),
                  padded_bytes(from), to_string(out), padded_bytes(out));
  return out;
}

// Element types of one width keep the dimensions; a narrower result has one more dimension of the
// ratio, minor-most; a wider one loses such a dimension.
Result<Shape> infer_BitcastConvert(const Given& given) {
  HILO_DO(need_arrays(given));
  HILO_TRY(const Shape stated, need_stated(given));
  if (!stated.is_array()) return misfit("bitcast-convert gives an array, found {}", text(stated));
  Shape out = given.operand(0);
  if (is_complex(out.type) != is_complex(stated.type))
    return misfit("bitcast-convert does not mix complex and other types: {} and {}", text(out),
                  text(stated));
  const int from = bits_of(out.type), to = bits_of(stated.type);
  Dims dims = out.dims;
  std::vector<bool> dynamic = out.dynamic;
  if (from > to) {
    if (from % to != 0) return misfit("{} bits do not divide into {}", from, to);
    dims.push_back(from / to);
    if (!dynamic.empty()) dynamic.push_back(false);
  } else if (from < to) {
    if (dims.empty() || dims.back() * from != to)
      return misfit("expected a last dimension of {} in {}", to / from, text(out));
    dims.pop_back();
    if (!dynamic.empty()) dynamic.pop_back();
  }
  if (dims.size() == out.dims.size()) {
    out.type = stated.type;
    return out;
  }
  return make_array(stated.type, std::move(dims), std::move(dynamic));
}

}  // namespace hilo
