// What must be the same in processes that do something together. Shown through device.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/communicator.h"

namespace hilo {

// Its name as in "has another module", and a text or number that tells it; who has it, as in
// "device 3", where that is not a rank as a whole.
struct SharedFact {
  std::string name, value;
  std::string owner = {};
};
// What few owners have otherwise than most, or than the first where none are more; "" where all
// facts of one name have one value.
std::string difference(std::span<const SharedFact> facts);
// 128 bits of the bytes, as text.
std::string fingerprint(std::span<const std::byte> bytes);
std::string fingerprint(std::string_view text);

// Called by each of the ranks, in order, this process's among them; the first one judges. Input
// where facts of one name are not the same, in all of them, naming who differs; else what
// Communicator::receive() says. Each comparison has a tag of its own. A rank may leave out facts
// that it knows nothing of.
Result<void> compare_facts(Communicator& communicator, std::span<const int> ranks,
                           const MessageTag& tag, const std::vector<SharedFact>& facts,
                           const std::atomic<bool>* interrupt = nullptr);

}  // namespace hilo
