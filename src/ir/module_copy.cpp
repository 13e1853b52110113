// Making, copying and destroying a module: code for forty vectors, written once.
#include "ir/ir.h"

namespace hilo {

Module::Module() = default;
Module::Module(const Module& other) = default;
Module::Module(Module&& other) noexcept = default;
Module& Module::operator=(const Module& other) = default;
Module& Module::operator=(Module&& other) noexcept = default;
Module::~Module() = default;

}  // namespace hilo
