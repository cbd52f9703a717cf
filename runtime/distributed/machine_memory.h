// Memory that all ranks of one machine see, each in a place of its address space.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/distributed/communicator.h"

namespace fourtune::runtime::distributed {

class MachineMemory {
 public:
  // Collective: all ranks ask for the same size, at least 1. Does nothing where there is that much already; else what
  // was there is lost. Throws the same Error on every rank.
  void resize(const Communicator& ranks, std::int64_t bytes);
  char* data() const { return memory_.get(); }

 private:
  struct Unmap {
    std::int64_t bytes;
    void operator()(char* memory) const noexcept;
  };
  std::unique_ptr<char, Unmap> memory_;
};

// Collective. Returns when all ranks have called it; what each wrote before, the others read afterwards.
void meet(const Communicator& ranks);

// Collective. Why the ranks cannot share memory, the same on every rank; empty: they can.
std::string why_no_machine_memory(const Communicator& ranks);

}  // namespace fourtune::runtime::distributed
