// The functions of CUPTI's activity API that gpubench calls. A table filled at run time, because CUPTI comes with the
// toolkit or a Python wheel and must not be linked. Only files of this folder that CMake compiles where cupti.h is
// there include this.
#pragma once
#include <cupti.h>

namespace gpubench {

struct CuptiFunctions {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNextRecord) next_record;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records;
  decltype(&cuptiGetTimestamp) timestamp;
  decltype(&cuptiGetCallbackName) callback_name;
  decltype(&cuptiGetResultString) result_string;
};

}  // namespace gpubench
