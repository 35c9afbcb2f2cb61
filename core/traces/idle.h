// Why a device had no work: each moment without work is charged to what the thread did that launched the work which
// ended the gap, or to the way from that launch to the device.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/trace/timeline.h"
#include "core/traces/foreign_trace.h"
#include "core/traces/host_activity.h"

namespace gpubench {

enum class IdleKind : std::uint8_t {
  input,           ///< takes a batch
  sync,            ///< waits for the device
  drained,         ///< goes on after a wait for the device, before which it could not launch
  allocation,      ///< allocates or frees memory
  compile,         ///< traces or compiles
  first_use,       ///< launches a kernel that is loaded at that moment
  launch,          ///< is in a call that launches
  latency,         ///< has launched; the work has not begun
  between,         ///< the next work was launched before: the device's own pause, up to 10 us
  operators,       ///< runs the framework's operators
  exchange,        ///< starts or carries out an exchange between ranks
  annotation,      ///< is in a range that the program has marked
  python,          ///< runs Python
  nothing,         ///< nothing is recorded of it
  device_wait,     ///< the work was launched before the gap and waits for something on the device
  behind_unknown,  ///< it waits behind work that is not in the trace
  no_launch,       ///< the trace has no launch of the work that ended the gap
};
inline constexpr std::size_t idle_kind_count = 17;

struct IdleKindText {
  std::string_view name;     ///< "operators"
  SpanClass span_class;      ///< of a step to which it counts
  std::string_view meaning;  ///< "the thread that launches runs the framework's operators"
};
const IdleKindText& text_of(IdleKind kind);

struct IdlePart {
  TraceInterval time;
  IdleKind kind = IdleKind::nothing;
  NameId name{};  ///< what the thread did: an op, a call; the empty text where nothing is recorded
  std::uint32_t thread = 0;
};

/// The parts of the window in which the device has no work, in order; they sum to its idle time.
std::vector<IdlePart> idle_parts(const ForeignTrace& trace, const HostActivity& activity, std::uint16_t device,
                                 TraceInterval window);
/// What the main thread does in the window, where no device was recorded: operators are its work.
std::vector<IdlePart> main_thread_parts(const HostActivity& activity, TraceInterval window);

}  // namespace gpubench
