// Private to report: what values are to a training step, as far as names tell.
#pragma once

#include "report/report.h"

namespace hilo {

enum class Role : uint8_t { Parameter, OptimiserState, Input, Activation, Gradient, Other };
std::string_view text_of(Role role);  // "parameters", "optimiser state", …

// Whether some name said it: inputs and others are what is left.
bool tells_role(Role role);

// By the kind of its allocation and by op_name: JAX names the entry's parameters after the
// arguments' tree, forward values of a gradient with jvp, backward ones with transpose(jvp.
Role role_of(const MemoryPicture& picture, size_t value);

// Of the parameter that is donated, else of the first value that a change makes smaller.
Role role_of(const MemoryPicture& picture, const Advice& advice);

struct RoleBytes {
  Role role = Role::Other;
  int64_t bytes = 0;
};
// What is in use at the peak of a space, by role, most bytes first; empty when no name tells.
std::vector<RoleBytes> bytes_by_role(const MemoryPicture& picture, const PictureSpace& space);

// A loop's carried buffer is written in its body: the instruction there that writes it, where the
// value stands for such a buffer.
std::optional<size_t> writer_in_body(const MemoryPicture& picture, const PictureValue& value);

// "fusion.2 in while.1{3}" of such a value, else its name.
std::string shown_name(const MemoryPicture& picture, const PictureValue& value);

}  // namespace hilo
