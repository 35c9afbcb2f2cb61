// The processes that a launcher has started, joined through Open MPI.
#pragma once
#include "core/group/mpi/mpi_link.h"
#include "core/group/process_group.h"

namespace gpubench {

class MpiGroup : public ProcessGroup {
 public:
  virtual MpiLink& link() = 0;
  /// A channel for one communicator: the same in all processes, and used until conclude(). A collective call.
  virtual int open_channel() = 0;
};

}  // namespace gpubench
