// gb.measure.kernels: how fast single matrix products and convolutions are, as rows of results.
#include "core/experiment/kernels/kernels.h"

#include <optional>
#include <tuple>
#include <vector>

#include "core/device/device.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// { op = "matmul", m = , n = , k = } or { op = "conv2d", batch = , height = , width = , channels = , filters = }
struct KernelTable {
  std::string op;
  Dtype dtype = Dtype::f32;
  std::optional<std::int64_t> m, n, k;
  std::optional<std::int64_t> batch, height, width, channels, filters, kernel_size, strides;
  std::optional<std::string> padding;
  static constexpr auto fields = std::tuple{required("op", &KernelTable::op),
                                            field("dtype", &KernelTable::dtype),
                                            field("m", &KernelTable::m),
                                            field("n", &KernelTable::n),
                                            field("k", &KernelTable::k),
                                            field("batch", &KernelTable::batch),
                                            field("height", &KernelTable::height),
                                            field("width", &KernelTable::width),
                                            field("channels", &KernelTable::channels),
                                            field("filters", &KernelTable::filters),
                                            field("kernel_size", &KernelTable::kernel_size),
                                            field("strides", &KernelTable::strides),
                                            field("padding", &KernelTable::padding)};
};

struct KernelsTable {
  std::vector<KernelTable> kernels;
  std::optional<DeviceId> device;
  std::optional<double> budget;
  static constexpr auto fields =
      std::tuple{positional("kernels", &KernelsTable::kernels), field("device", &KernelsTable::device),
                 field("budget", &KernelsTable::budget)};
};

std::int64_t extent(const KernelTable& table, const char* name, const std::optional<std::int64_t>& value) {
  if (value) return *value;
  throw ArgumentError(table.op + " needs '" + name + "'");
}

void refuse(const KernelTable& table, const char* name, bool given) {
  if (given) throw ArgumentError(table.op + " has no '" + name + "'");
}

KernelCase matmul_from(const KernelTable& table) {
  refuse(table, "batch", table.batch.has_value());
  refuse(table, "height", table.height.has_value());
  refuse(table, "width", table.width.has_value());
  refuse(table, "channels", table.channels.has_value());
  refuse(table, "filters", table.filters.has_value());
  refuse(table, "kernel_size", table.kernel_size.has_value());
  refuse(table, "strides", table.strides.has_value());
  refuse(table, "padding", table.padding.has_value());
  return matmul_case(
      {.m = extent(table, "m", table.m), .n = extent(table, "n", table.n), .k = extent(table, "k", table.k)},
      table.dtype);
}

KernelCase conv2d_from(const KernelTable& table) {
  refuse(table, "m", table.m.has_value());
  refuse(table, "n", table.n.has_value());
  refuse(table, "k", table.k.has_value());
  return conv2d_case({.batch = extent(table, "batch", table.batch),
                      .height = extent(table, "height", table.height),
                      .width = extent(table, "width", table.width),
                      .channels = extent(table, "channels", table.channels),
                      .filters = extent(table, "filters", table.filters),
                      .kernel_size = table.kernel_size.value_or(3),
                      .strides = table.strides.value_or(1),
                      .padding = parse_padding(table.padding.value_or("valid"))},
                     table.dtype);
}

KernelCase case_from(const KernelTable& table) {
  if (table.op == "matmul") return matmul_from(table);
  if (table.op == "conv2d") return conv2d_from(table);
  throw ArgumentError("there is no kernel '" + table.op + "'; there are 'matmul' and 'conv2d'");
}

/// gb.measure.kernels { { op = "matmul", ... }, ..., device = , budget = }: an array of rows.
int kernels(lua_State* L) {
  const auto table = Value<KernelsTable>::read(L, 1);
  std::vector<KernelCase> cases;
  for (const KernelTable& one : table.kernels) cases.push_back(case_from(one));
  Session& session = session_of(L);
  const WorldPtr world = session.placement.world();
  const DeviceId id = table.device.value_or(world->dispatcher.device());
  Device& device = world->devices.device(id);
  const Backend& backend = world->devices.backend(id);
  const auto measured =
      measure_kernels(cases, backend, device, Seconds(table.budget.value_or(session.budgets.measuring_s())));
  lua_createtable(L, static_cast<int>(measured.size()), 0);
  lua_Integer index = 0;
  for (const KernelMeasurement& one : measured) {
    const auto peak = session.matmul_peak.flops_per_s(device, backend, one.kernel.dtype);
    Value<Record>::push(L, to_record(one, id, peak));
    Value<std::vector<double>>::push(L, one.samples);
    lua_setfield(L, -2, "samples");
    lua_rawseti(L, -2, ++index);
  }
  return 1;
}

}  // namespace

void open_measure_kernels(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&kernels, 1>("kernels");
}

}  // namespace gpubench::lua
