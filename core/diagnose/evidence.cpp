#include "core/diagnose/evidence.h"

#include <algorithm>
#include <cmath>

#include "core/results/column.h"

namespace gpubench {
namespace {

std::optional<bool> flag_in(const Info& fields, std::string_view name) {
  const Info* const field = fields.find(name);
  const bool* const value = field && field->cell() ? std::get_if<bool>(field->cell()) : nullptr;
  return value ? std::optional(*value) : std::nullopt;
}

DevicePeaks peaks_of(const Info& device) {
  DevicePeaks peaks;
  const Info* const table = device.find("peaks");
  if (table == nullptr) return peaks;
  peaks.float32 = table->number("float32_flops_per_s");
  peaks.tf32 = table->number("tf32_flops_per_s");
  for (const char* half : {"float16_flops_per_s", "bfloat16_flops_per_s"}) {
    if (const auto peak = table->number(half)) peaks.half = std::max(peaks.half.value_or(0), *peak);
  }
  return peaks;
}

/// Whether a list such as "gpu:0 gpu:1" or "cpu:0+cpu:1" has the name.
bool names_device(std::string_view devices, std::string_view name) {
  constexpr std::string_view between = " +,";
  for (std::size_t begin = 0; begin < devices.size();) {
    const std::size_t end = std::min(devices.find_first_of(between, begin), devices.size());
    if (devices.substr(begin, end - begin) == name) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

RunFacts facts_of(const Info& run) {
  RunFacts facts;
  for (const Info& device : run.items("devices"))
    facts.devices.push_back({device.text("name"), peaks_of(device), device.number("memory_bytes"),
                             flag_in(device, "allows_tf32").value_or(false), flag_in(device, "shares_host_memory")});
  for (const Info& check : run.items("machine_checks")) {
    facts.machine.push_back({check.text("name"), check.text("device"), check_state(check.text("state")),
                             check.text("found"), check.text("consequence"), check.text("remedy")});
  }
  return facts;
}

std::optional<double> Evidence::number(std::string_view column) const {
  const std::optional<double> value = number_in(row_.get(column));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string Evidence::text(std::string_view column) const {
  return to_text(row_.get(column));
}

std::optional<Share> Evidence::share(std::string_view column) const {
  const std::optional<double> value = number(column);
  if (!value) return std::nullopt;
  const Column declared = column_of(column);
  const auto low = number(interval_end(declared, "low")), high = number(interval_end(declared, "high"));
  if (!low || !high) return Share{*value};
  return Share{*value, Interval{*low, *high}};
}

InputCauseKind Evidence::input_cause() const {
  return kind("input_cause_kind", input_cause_kinds).value_or(InputCauseKind::unknown);
}

std::optional<double> Evidence::step_s() const {
  const auto rate = number("examples_per_s"), batch = number("batch_size");
  if (rate && batch && *rate > 0 && *batch > 0) return *batch / *rate;
  const auto traced = number("traced_step_time_s");
  return traced && *traced > 0 ? traced : std::nullopt;
}

bool Evidence::has_own_memory() const {
  if (const DeviceFacts* const known = device(); known != nullptr && known->shares_host_memory)
    return !*known->shares_host_memory;
  const std::string name = text("device");
  return !name.empty() && !name.starts_with("cpu:");
}

bool Evidence::uses(std::string_view device) const {
  return names_device(text("device"), device);
}

const DeviceFacts* Evidence::device() const {
  const auto found = std::ranges::find_if(facts_.devices, [&](const DeviceFacts& one) { return uses(one.name); });
  return found == facts_.devices.end() ? nullptr : &*found;
}

bool has_steps(const Record& row) {
  static const RunFacts no_facts;
  const Evidence evidence(row, no_facts);
  if (evidence.text("status") == "out_of_memory") return true;
  return evidence.ok() && evidence.step_s() && (evidence.has("steps_of") || evidence.has("device"));
}

}  // namespace gpubench
