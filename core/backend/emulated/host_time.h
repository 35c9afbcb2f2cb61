// The host's side of emulated devices: what calls cost a host thread, and waiting. No thread is started: a thread that
// waits sleeps itself, and spins only for the last moment, because a sleep takes some 50 us too long.
#pragma once
#include "core/backend/emulated/engine.h"
#include "core/base/clock.h"

namespace gpubench {

/// Charges the calling thread a call that keeps it busy for `length`, after its earlier calls, and returns when that
/// is. The thread may return from its calls early, but never by more than 0.2 ms: then it sleeps. A sleep for every
/// launch would take longer than a launch.
Booking charge_host(Clock::duration length);
/// Keeps the calling thread busy until `time`, in the same way.
void hold_host_until(Clock::time_point time);

/// Blocks until `time`, and at most some microseconds longer on an idle machine. Returns early once an interrupt or a
/// time-out is requested: no memory depends on emulated work.
void wait_until(Clock::time_point time);

}  // namespace gpubench
