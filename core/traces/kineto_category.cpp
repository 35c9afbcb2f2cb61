#include "core/traces/kineto_category.h"

#include <algorithm>
#include <array>

namespace gpubench {
namespace {

struct CategoryName {
  std::string_view name;
  KinetoCategory category;
};

constexpr std::array category_names = {
    CategoryName{"cpu_op", KinetoCategory::op},
    CategoryName{"Operator", KinetoCategory::op},
    CategoryName{"python_function", KinetoCategory::python},
    CategoryName{"cuda_runtime", KinetoCategory::call},
    CategoryName{"cuda_driver", KinetoCategory::driver_call},
    CategoryName{"Runtime", KinetoCategory::call},
    CategoryName{"mtia_runtime", KinetoCategory::call},
    CategoryName{"xpu_runtime", KinetoCategory::call},
    CategoryName{"xpu_driver", KinetoCategory::driver_call},
    CategoryName{"privateuse1_runtime", KinetoCategory::call},
    CategoryName{"privateuse1_driver", KinetoCategory::driver_call},
    CategoryName{"kernel", KinetoCategory::kernel},
    CategoryName{"Kernel", KinetoCategory::kernel},
    CategoryName{"gpu_memcpy", KinetoCategory::copy},
    CategoryName{"Memcpy", KinetoCategory::copy},
    CategoryName{"gpu_memset", KinetoCategory::memset},
    CategoryName{"Memset", KinetoCategory::memset},
    CategoryName{"mtia_ccp_events", KinetoCategory::accelerator},
    CategoryName{"user_annotation", KinetoCategory::annotation},
    CategoryName{"overhead", KinetoCategory::overhead},
};

}  // namespace

KinetoCategory category_of(std::string_view name) {
  if (name.empty()) return KinetoCategory::none;
  const auto found = std::ranges::find(category_names, name, &CategoryName::name);
  return found == category_names.end() ? KinetoCategory::skipped : found->category;
}

HostRecord record_of(KinetoCategory category) {
  switch (category) {
    case KinetoCategory::op:
      return HostRecord::op;
    case KinetoCategory::annotation:
      return HostRecord::annotation;
    case KinetoCategory::call:
      return HostRecord::call;
    default:
      return HostRecord::other;
  }
}

bool is_of_device(KinetoCategory category) {
  return category >= KinetoCategory::kernel && category <= KinetoCategory::accelerator;
}

}  // namespace gpubench
