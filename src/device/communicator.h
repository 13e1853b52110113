// The processes that run the devices of one program together. Shown through device.h.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "device/transport.h"

namespace hilo {

// What a process waits for.
struct ProcessStanding {
  bool is_blocked = false;  // nothing in it goes on before another process sends
  int64_t receivers = 0;    // threads that are in receive(), or on their way there or back
  std::string text;         // "device 2 waits in all-reduce 'x' (execution 1) for device 1"
};

// A run of a program on devices of several processes. Called on any thread.
class Participant {
 public:
  virtual ~Participant() = default;
  virtual uint64_t run() const = 0;
  virtual bool needs(int rank) const = 0;
  virtual ProcessStanding standing() const = 0;
  // A process that it needs has failed, has died or has left. It calls wake().
  virtual void stop_for(const Error& error) = 0;
};

struct CommunicatorOptions {
  // Each process does nothing but take part: when all of them wait, they do so for ever.
  bool finds_deadlocks = false;
  double max_silence_s = 3;  // one that was not heard of for so long is dead
  double heartbeat_s = 0.5;
};

// How a message is waited for.
struct MessageWait {
  const std::atomic<bool>* stopped = nullptr;    // set before wake()
  const std::atomic<bool>* interrupt = nullptr;  // by a signal; asked ten times a second
  std::string_view text;                         // of a wait outside of runs: what for
  bool takes_far_arrays = false;                 // else they are brought here
};

// Callable from several threads.
class Communicator {
 public:
  explicit Communicator(std::unique_ptr<Transport> transport,
                        const CommunicatorOptions& options = {});
  ~Communicator();
  int rank() const;
  int size() const;

  // Never waits. To another process.
  void send(int to, const MessageTag& tag, Message message);
  // Waits. Io where the sender has died or left; its own error where it has failed; Interrupted
  // where `wait` says so.
  Result<Message> receive(int from, const MessageTag& tag, const MessageWait& wait = {});
  // Why arrays of one that has sent them cannot be read: that it has died.
  Error gone(int from) const;
  // Tells all others that this process has failed in a run, or (0) altogether.
  void stop(uint64_t run, const Error& error);
  void wake();  // who waits in receive() looks at `stopped`

  // Until it is removed it hears of what ends its run, also of what came before.
  void add(Participant& participant);
  void remove(Participant& participant);
  // "rank 1: device 2 waits in …; rank 2: …", as the processes have last said.
  std::string standings() const;

 private:
  Result<void> bring(int from, Message& message) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hilo
