// The MPI functions that gpubench uses, from a library that is opened only under a launcher: linking it would cost 9 ms
// at every start, and an archive would contain libmpi without its plug-ins. Open MPI's ABI (the library and the values
// of its handles) is the same in versions 2 to 5.
#pragma once
#include <mpi.h>
#include <string>

#include "core/base/shared_library.h"

namespace gpubench {

class MpiLibrary {
 public:
  /// Throws Error naming the package if Open MPI's library cannot be opened.
  MpiLibrary();

  decltype(&MPI_Init_thread) init_thread = nullptr;
  decltype(&MPI_Finalize) finalize = nullptr;
  decltype(&MPI_Comm_rank) comm_rank = nullptr;
  decltype(&MPI_Comm_size) comm_size = nullptr;
  decltype(&MPI_Comm_set_errhandler) comm_set_errhandler = nullptr;
  decltype(&MPI_Isend) isend = nullptr;
  decltype(&MPI_Irecv) irecv = nullptr;
  decltype(&MPI_Testall) testall = nullptr;
  decltype(&MPI_Cancel) cancel = nullptr;
  decltype(&MPI_Allreduce) allreduce = nullptr;  ///< only as a reference for measurements
  decltype(&MPI_Error_string) error_string = nullptr;
  int (*query_cuda_support)() = nullptr;  ///< MPIX_Query_cuda_support; null in libraries without GPU support

  MPI_Comm world = nullptr;
  MPI_Datatype byte = nullptr;
  MPI_Datatype f32 = nullptr;
  MPI_Op sum = nullptr;
  MPI_Errhandler errors_return = nullptr;

  /// Whether messages may be in GPU memory, according to GPUBENCH_MPI_CUDA_AWARE ("1", "0"), else to the library.
  /// Throws Error for other values.
  bool is_cuda_aware() const;
  /// Throws DeviceError with the library's reason unless `result` is MPI_SUCCESS.
  void check(int result, const char* call) const;

 private:
  template <class Handle>
  void bind_handle(Handle& handle, const char* symbol);

  SharedLibrary library_;
};

}  // namespace gpubench
