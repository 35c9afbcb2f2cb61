#include "core/group/mpi/mpi_library.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 2> library_names{"libmpi.so.40", "libmpi.so"};

SharedLibrary opened() {
  try {
    return {library_names, {}};
  } catch (const Error& error) {
    throw Error(
        fmt::format("processes that are started together need Open MPI's library (Debian: libopenmpi3, or {}): {}",
                    "openmpi-bin with mpirun", error.what()));
  }
}

}  // namespace

// Handles are the addresses of objects in the library.
template <class Handle>
void MpiLibrary::bind_handle(Handle& handle, const char* symbol) {
  char* address = nullptr;
  library_.bind(address, symbol);
  handle = reinterpret_cast<Handle>(address);
}

MpiLibrary::MpiLibrary() : library_(opened()) {
  library_.bind(init_thread, "MPI_Init_thread");
  library_.bind(finalize, "MPI_Finalize");
  library_.bind(comm_rank, "MPI_Comm_rank");
  library_.bind(comm_size, "MPI_Comm_size");
  library_.bind(comm_set_errhandler, "MPI_Comm_set_errhandler");
  library_.bind(isend, "MPI_Isend");
  library_.bind(irecv, "MPI_Irecv");
  library_.bind(testall, "MPI_Testall");
  library_.bind(cancel, "MPI_Cancel");
  library_.bind(allreduce, "MPI_Allreduce");
  library_.bind(error_string, "MPI_Error_string");
  library_.bind_if_there(query_cuda_support, "MPIX_Query_cuda_support");
  bind_handle(world, "ompi_mpi_comm_world");
  bind_handle(byte, "ompi_mpi_byte");
  bind_handle(f32, "ompi_mpi_float");
  bind_handle(sum, "ompi_mpi_op_sum");
  bind_handle(errors_return, "ompi_mpi_errors_return");
}

bool MpiLibrary::is_cuda_aware() const {
  const char* const chosen = std::getenv("GPUBENCH_MPI_CUDA_AWARE");
  const std::string_view text = chosen == nullptr ? "" : chosen;
  if (text == "1" || text == "0") return text == "1";
  if (!text.empty()) {
    throw Error(
        fmt::format("GPUBENCH_MPI_CUDA_AWARE is '{}'; 1 says that MPI takes messages from GPUs' memory, 0 that it does "
                    "not, and without it the library is asked",
                    text));
  }
  return query_cuda_support != nullptr && query_cuda_support() == 1;
}

void MpiLibrary::check(int result, const char* call) const {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  error_string(result, text.data(), &length);
  throw DeviceError("Open MPI", call, std::string_view(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace gpubench
