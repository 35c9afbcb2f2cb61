#include "core/comm/mpi/mpi_communicator.h"

namespace gpubench {

std::unique_ptr<Communicator> make_mpi_communicator(ProcessGroup&, Device*) {
  return nullptr;
}

}  // namespace gpubench
