// What must be the same in processes that do something together. Shown through device.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/communicator.h"

namespace hilo {

// Its name as in "has another module", and a text or number that tells it.
struct SharedFact {
  std::string name, value;
};
// 128 bits of the bytes, as text.
std::string fingerprint(std::span<const std::byte> bytes);
std::string fingerprint(std::string_view text);

// Called by each of the ranks, in order, this process's among them; the first one judges. Input
// where the facts are not the same, in all of them, naming the rank that differs; else what
// Communicator::receive() says. Each comparison has a tag of its own.
Result<void> compare_facts(Communicator& communicator, std::span<const int> ranks,
                           const MessageTag& tag, const std::vector<SharedFact>& facts,
                           const std::atomic<bool>* interrupt = nullptr);

}  // namespace hilo
