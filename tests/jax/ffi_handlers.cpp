// Handlers of a user's, compiled against jaxlib's headers by ffi_peers.py: one that only computes,
// one whose stages leave states for the later ones.
#include <atomic>
#include <memory>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

static ffi::Error scale(ffi::Buffer<ffi::F32> x, float factor, ffi::ResultBuffer<ffi::F32> y) {
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = factor * x.typed_data()[i];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Scale, scale,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Attr<float>("factor")
                                  .Ret<ffi::Buffer<ffi::F32>>());

// How many states there are, and how many calls of each stage were seen.
static std::atomic<int> states, instantiated, prepared, initialized;
extern "C" int count_of(int which) {
  const int counts[] = {states, instantiated, prepared, initialized};
  return counts[which];
}

struct Counter {
  static ffi::TypeId id;
  explicit Counter(int64_t first) : next(first) { ++states; }
  ~Counter() { --states; }
  std::atomic<int64_t> next;
};
ffi::TypeId Counter::id = {};
struct Prepared {
  static ffi::TypeId id;
  int64_t elements = 0;
};
ffi::TypeId Prepared::id = {};

template <class T>
static XLA_FFI_TypeInfo info_of() {
  return {sizeof(XLA_FFI_TypeInfo), nullptr, [](void* at) { delete static_cast<T*>(at); }};
}
static XLA_FFI_TypeInfo counter_info = info_of<Counter>(), prepared_info = info_of<Prepared>();
extern "C" void* type_of(int which) {
  void* const types[] = {&Counter::id, &counter_info, &Prepared::id, &prepared_info};
  return types[which];
}

static ffi::ErrorOr<std::unique_ptr<Counter>> begin(int64_t first) {
  ++instantiated;
  if (first < 0) return ffi::Unexpected(ffi::Error::InvalidArgument("counts begin at 0 or above"));
  return std::make_unique<Counter>(first);
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Begin, begin, ffi::Ffi::BindInstantiate().Attr<int64_t>("first"));

static ffi::ErrorOr<std::unique_ptr<Prepared>> prepare(ffi::Result<ffi::Buffer<ffi::S32>> y) {
  ++prepared;
  return std::make_unique<Prepared>(static_cast<int64_t>(y->element_count()));
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Prepare, prepare, ffi::Ffi::Bind<ffi::ExecutionStage::kPrepare>().Ret<ffi::Buffer<ffi::S32>>());

static ffi::Error initialize(ffi::Result<ffi::Buffer<ffi::S32>>) {
  ++initialized;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Initialize, initialize,
    ffi::Ffi::Bind<ffi::ExecutionStage::kInitialize>().Ret<ffi::Buffer<ffi::S32>>());

static ffi::Error count(Counter* counter, Prepared* prepared,
                        ffi::Result<ffi::Buffer<ffi::S32>> y) {
  const int64_t value = counter->next++;
  for (int64_t i = 0; i < prepared->elements; ++i) y->typed_data()[i] = static_cast<int32_t>(value);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Count, count,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::State<Counter>>()
                                  .Ctx<ffi::Prepared<Prepared>>()
                                  .Ret<ffi::Buffer<ffi::S32>>());
