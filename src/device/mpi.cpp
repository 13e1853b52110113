#include "device/mpi.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hilo {
namespace {

constexpr size_t broadcast_bytes = 1024;

// A handle is passed as an address by Open MPI and as an int by MPICH; in a register of the calling
// convention an int is the lower half of one.
using Handle = void*;
struct Handles {
  Handle world, byte;
};

// Names of files, the newest first.
std::vector<const char*> files_of(MpiKind kind) {
  if (kind == MpiKind::OpenMpi) return {"libmpi.so.40", "libmpi.so.80"};
  return {"libmpich.so.12", "libmpi.so.12"};
}

}  // namespace

struct Mpi::State {
  void* library = nullptr;
  Handles handles = {};
  int rank = 0, size = 1;
  int (*initialized)(int*) = nullptr;
  int (*init_thread)(int*, char***, int, int*) = nullptr;
  int (*finalize)() = nullptr;
  int (*comm_rank)(Handle, int*) = nullptr;
  int (*comm_size)(Handle, int*) = nullptr;
  int (*bcast)(void*, int, Handle, int, Handle) = nullptr;

  template <class Function>
  bool find(Function& to, const char* name) {
    to = reinterpret_cast<Function>(dlsym(library, name));
    return to != nullptr;
  }
  bool find_all(MpiKind kind) {
    if (kind == MpiKind::OpenMpi) {
      handles = {dlsym(library, "ompi_mpi_comm_world"), dlsym(library, "ompi_mpi_byte")};
    } else {
      constexpr uintptr_t world = 0x44000000, byte = 0x4c00010d;  // MPICH's ABI, since 3.1
      handles = {reinterpret_cast<Handle>(world), reinterpret_cast<Handle>(byte)};
    }
    return handles.world && handles.byte && find(initialized, "MPI_Initialized") &&
           find(init_thread, "MPI_Init_thread") && find(finalize, "MPI_Finalize") &&
           find(comm_rank, "MPI_Comm_rank") && find(comm_size, "MPI_Comm_size") &&
           find(bcast, "MPI_Bcast");
  }
};

std::optional<MpiKind> Mpi::launcher() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) return MpiKind::OpenMpi;
  if (std::getenv("PMI_SIZE")) return MpiKind::Mpich;
  if (std::getenv("PMIX_RANK")) return MpiKind::OpenMpi;
  return std::nullopt;
}

Mpi::Mpi(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Mpi>> Mpi::start(MpiKind kind) {
  auto state = std::make_unique<State>();
  std::string tried;
  for (const char* file : files_of(kind)) {
    state->library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    if (state->library) break;
    tried += fmt::format("{}{}", tried.empty() ? "" : "; ", dlerror());
  }
  if (!state->library)
    return fail(ErrorKind::Io,
                "an MPI launcher has started this process, and its library cannot be opened: {}",
                tried);
  if (!state->find_all(kind))
    return fail(ErrorKind::Io, "the MPI library lacks functions that are needed");
  int is_running = 0, granted = 0;
  state->initialized(&is_running);
  constexpr int funneled = 1;
  if (!is_running && state->init_thread(nullptr, nullptr, funneled, &granted) != 0)
    return fail(ErrorKind::Io, "MPI_Init_thread failed");
  state->comm_rank(state->handles.world, &state->rank);
  state->comm_size(state->handles.world, &state->size);
  return std::unique_ptr<Mpi>(new Mpi(std::move(state)));
}

Mpi::~Mpi() { state_->finalize(); }
int Mpi::rank() const { return state_->rank; }
int Mpi::size() const { return state_->size; }

Result<std::string> Mpi::broadcast(const std::string& text) const {
  std::array<char, broadcast_bytes> buffer = {};
  std::memcpy(buffer.data(), text.data(), std::min(text.size(), buffer.size() - 1));
  if (state_->bcast(buffer.data(), static_cast<int>(buffer.size()), state_->handles.byte, 0,
                    state_->handles.world) != 0)
    return fail(ErrorKind::Io, "MPI_Bcast failed");
  return std::string(buffer.data());
}

}  // namespace hilo
