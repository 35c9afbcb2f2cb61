// The classes into which the time of a step is divided: the one table of their columns, names and meanings. Rows,
// merged rows, comparisons, findings, the waterfall and the documents read it.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/results/record.h"
#include "core/trace/breakdown.h"

namespace gpubench {

struct StepClass {
  std::string_view column;  ///< "input_wait_share"
  SpanClass first, last;    ///< the classes of spans that it sums
  std::string_view name;    ///< "input wait"
  /// What happens in these moments, if nothing of the classes before does: "the step waits for its batch".
  std::string_view meaning;
};

/// In the order of SpanClass. The shares of a step sum to 1.
inline constexpr std::array step_classes{
    StepClass{"compute_share", SpanClass::compute, SpanClass::compute, "compute", "kernels run"},
    StepClass{"communication_share", SpanClass::communication, SpanClass::communication, "communication",
              "replicas exchange, and no kernel runs"},
    StepClass{"peer_wait_share", SpanClass::peer_wait, SpanClass::peer_wait, "peer wait",
              "replicas wait for a late one"},
    StepClass{"copy_share", SpanClass::copy, SpanClass::memset, "copy", "only copies and fills run"},
    StepClass{"input_wait_share", SpanClass::input_wait, SpanClass::input_wait, "input wait",
              "the step waits for its batch"},
    StepClass{"launch_share", SpanClass::launch, SpanClass::launch, "launch",
              "the device idles while the host launches work"},
    StepClass{"host_share", SpanClass::host_sync, SpanClass::compile, "host",
              "the device idles while the host computes or waits"},
    StepClass{"other_share", SpanClass::other, SpanClass::other, "other", "no class explains what happens"},
};

/// Who knows the times of the replicas' exchanges.
enum class ExchangeSource : std::uint8_t {
  none,    ///< there are no replicas
  host,    ///< the traced host threads
  devices  ///< a tracer, whose exchanges need the traces of all ranks
};

/// Sets the shares, device_busy, small_kernel_share and traced_step_time_s; peer_wait_share only of replicas. The
/// shares of exchanges that a tracer of devices sees are left to the caller.
void set_breakdown(Record& record, const Breakdown& parts, int steps, ExchangeSource exchanges = ExchangeSource::none);

/// Sets the ends of the 95 % intervals of the shares that the row has, from how much the steps differ. A share that is
/// not that of these steps gets an interval of the same relative width. Nothing for fewer than six steps.
void set_share_intervals(Record& record, std::span<const Breakdown> steps,
                         ExchangeSource exchanges = ExchangeSource::none);

}  // namespace gpubench
