// Where the values of an evaluation live: freed buffers are used again, so that a loop of large
// values does not fault the same pages in each time, and the bytes alive are counted. Private to
// `eval`.
#pragma once

#include <atomic>

#include "shape/shape.h"

namespace hilo {

class StoragePool {
 public:
  // limit: bytes that may be alive at once; 0: what the machine has, which is asked once more than
  // some megabytes are needed: the answer is in twenty files. What `allocate` gives is counted but
  // not kept when it is not empty.
  StoragePool(int64_t limit, Allocate allocate);
  ~StoragePool();
  // Never fails; over_limit() tells that too much is alive. Values may outlive the pool.
  Bytes make(int64_t bytes);
  int64_t alive() const;
  int64_t limit() const;
  bool fits(int64_t more) const;
  bool over_limit() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace hilo
