#include "ir/infer/infer.h"

namespace hilo {

// Operand, source, initial value. The source has one element for each place of the window.
Result<Shape> infer_SelectAndScatter(const Given& given) {
  HILO_DO(need_arrays(given));
  const Shape& source = given.operand(1);
  const Shape& initial = given.operand(2);
  HILO_TRY(const Shape places,
           windowed(given.operand(0), given.attributes<SelectAndScatterAttributes>().window,
                    source.type));
  if (places.dims != source.dims)
    return misfit("expected a source of {}, found {}", text(places), text(source));
  if (given.operand(0).type != source.type)
    return misfit("operand and source have different element types: {} and {}",
                  text(given.operand(0)), text(source));
  if (!initial.is_scalar() || initial.type != source.type)
    return misfit("expected {}[] as initial value, found {}", text_of(source.type), text(initial));
  return given.operand(0);
}

}  // namespace hilo
