#include "core/comm/mpi/mpi_communicator.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/comm/mpi/mpi_exchange.h"
#include "core/group/mpi/mpi_group.h"

namespace gpubench {

std::unique_ptr<Communicator> make_mpi_communicator(ProcessGroup& group, Device* gpu) {
  auto* const mpi = dynamic_cast<MpiGroup*>(&group);
  if (mpi == nullptr) return nullptr;
  if (gpu != nullptr) {
    const std::int64_t aware = mpi->link().library().is_cuda_aware() ? 1 : 0;
    std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
    group.all_gather({&aware, 1}, all);
    if (std::ranges::find(all, 0) != all.end()) return nullptr;
  }
  return make_host_communicator(std::make_unique<MpiExchange>(mpi->link(), mpi->open_channel(), gpu));
}

}  // namespace gpubench
