// Why a GPU runs slower than it could: NVML's bits as words, and which of them spoil a measurement.
#pragma once
#include <cstdint>
#include <string>

namespace gpubench {

/// "power limit, thermal slowdown": without the idle state and the clocks that somebody chose, which slow nothing down.
/// Empty when there is no reason left.
std::string throttle_words(std::uint64_t reasons);
/// The reasons of which a measurement is worth nothing: slowdowns by the hardware, by heat or by the power brake. At
/// its power limit a GPU does what it is built for.
std::uint64_t harmful(std::uint64_t reasons);

}  // namespace gpubench
