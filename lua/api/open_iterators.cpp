#include "lua/api/open_iterators.h"

#include <array>
#include <lua.hpp>

#include "core/telemetry/proc/process_probes.h"

namespace gpubench::lua {
namespace {

// So many iterators, or so much memory, more than after the last collection.
constexpr int most_new = 16;
constexpr double most_growth = 256 << 20;

double resident_bytes() {
  MemoryProbe probe;
  std::array<double, 2> values{};
  probe.read(values);
  return values[0];
}

}  // namespace

std::unique_ptr<OpenIterators::Ticket> OpenIterators::enter(lua_State* L) {
  const bool first = collect_at_bytes_ == 0;
  if (!first && (*count_ >= collect_at_count_ || resident_bytes() >= collect_at_bytes_)) {
    collect(L);
  } else if (first) {
    collect_at_count_ = most_new;
    collect_at_bytes_ = resident_bytes() + most_growth;
  }
  return std::make_unique<Ticket>(count_);
}

void OpenIterators::collect(lua_State* L) {
  lua_gc(L, LUA_GCCOLLECT);
  collect_at_count_ = *count_ + most_new;
  collect_at_bytes_ = resident_bytes() + most_growth;
}

}  // namespace gpubench::lua
