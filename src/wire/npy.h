// The .npy form, streamed. Format: NumPy Enhancement Proposal 1.
#pragma once

#include "wire/wire.h"

namespace hilo {

// Fills the span with the next bytes of a stream; fewer left is an Error.
using ReadNext = std::function<Result<void>(std::span<std::byte>)>;
using WriteNext = std::function<Result<void>(std::span<const std::byte>)>;

// Reads one array from a stream of `size` bytes in all.
Result<Literal> read_npy_stream(const ReadNext& read, int64_t size);
Result<void> write_npy_stream(const WriteNext& write, const Literal& literal);
// Magic, header and padding, without the data.
std::string npy_header(const Shape& shape);

}  // namespace hilo
