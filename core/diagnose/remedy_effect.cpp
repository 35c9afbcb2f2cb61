#include "core/diagnose/remedy_effect.h"

#include <algorithm>
#include <array>

#include "core/diagnose/rules/rules.h"

namespace gpubench {
namespace {

Share scaled(Share share, double factor) {
  share.value *= factor;
  if (share.interval) share.interval = Interval{share.interval->low * factor, share.interval->high * factor};
  return share;
}

/// The larger of the wait and of what disappears with resident data, where that was measured.
std::optional<Share> input_of(const Evidence& evidence) {
  std::optional<Share> input = evidence.share("input_wait_share");
  const std::optional<Share> ratio = evidence.share("input_ratio");
  if (!ratio) return input;
  const auto saved = [](double times) { return times > 1 ? 1 - 1 / times : 0.0; };
  Share proven{saved(ratio->value)};
  if (ratio->interval) proven.interval = Interval{saved(ratio->interval->low), saved(ratio->interval->high)};
  return input && input->value > proven.value ? input : proven;
}

/// The kernels' time: their arithmetic, and what they take longer.
void divide_kernels(StepDivision& division, const Evidence& evidence) {
  const auto set = [&](StepPart part, const Share& share) { division[static_cast<std::size_t>(part)] = share; };
  const std::optional<Share> compute = evidence.share("compute_share");
  std::optional<Share> mfu = evidence.share("mfu");
  if (mfu && compute && mfu->value > compute->value) mfu = compute;  // traced steps differ a little from timed ones
  if (!mfu) return;
  if (compute) set(StepPart::slow_kernels, less(*compute, mfu->value));
  const auto fixed = evidence.number("fixed_flops_per_step"), all = evidence.number("flops_per_step");
  // All of it may be fixed where that is not known.
  if (!fixed || !all || !(*all > 0)) return;
  const double share = std::clamp(*fixed / *all, 0.0, 1.0);
  set(StepPart::arithmetic, scaled(*mfu, 1 - share));
  set(StepPart::fixed_arithmetic, scaled(*mfu, share));
}

using enum StepPart;

constexpr StepParts host_work{launches, host}, waits{launches, host, input, copies};

constexpr std::array effects = {
    RemedyEffect{.remedy = Remedy::more_workers, .removes = {input}},
    RemedyEffect{.remedy = Remedy::parallel_reads, .removes = {input}},
    RemedyEffect{.remedy = Remedy::prefetch, .removes = {input}, .hides = true},
    RemedyEffect{.remedy = Remedy::cache, .removes = {input}, .shortens = host_work, .frees_host = true},
    RemedyEffect{.remedy = Remedy::batched_map, .removes = {input}, .shortens = host_work, .frees_host = true},
    RemedyEffect{.remedy = Remedy::prefetch_to_device, .removes = {input, copies}, .shortens = host_work},
    RemedyEffect{.remedy = Remedy::pinned_memory, .removes = {input, copies}, .shortens = host_work},
    RemedyEffect{.remedy = Remedy::input_slots, .removes = {input, copies}, .shortens = host_work},
    RemedyEffect{.remedy = Remedy::one_device, .removes = {copies}, .shortens = all_but_arithmetic},
    RemedyEffect{.remedy = Remedy::larger_batch, .removes = all_but_arithmetic},
    RemedyEffect{.remedy = Remedy::graph, .removes = host_work, .shortens = {slow_kernels, input, copies, other}},
    RemedyEffect{
        .remedy = Remedy::compiled_step, .removes = host_work, .shortens = {slow_kernels, input, copies, other}},
    RemedyEffect{.remedy = Remedy::fewer_callbacks, .removes = host_work, .shortens = waits},
    RemedyEffect{.remedy = Remedy::fewer_synchronizations, .removes = host_work, .shortens = waits},
    RemedyEffect{.remedy = Remedy::fixed_shapes, .removes = host_work, .shortens = waits},
    RemedyEffect{.remedy = Remedy::kept_allocations, .removes = host_work, .shortens = waits},
    RemedyEffect{.remedy = Remedy::rarer_evaluation, .removes = host_work, .shortens = waits},
    RemedyEffect{.remedy = Remedy::rarer_saving, .removes = host_work, .shortens = waits},
    RemedyEffect{.remedy = Remedy::fewer_threads, .removes = {slow_kernels}, .shortens = waits},
    RemedyEffect{.remedy = Remedy::larger_buckets,
                 .removes = {exchanges},
                 .shortens = host_work | StepParts{late_replicas},
                 .frees_host = true},
    RemedyEffect{.remedy = Remedy::compressed_exchanges,
                 .removes = {exchanges},
                 .shortens = host_work | StepParts{late_replicas},
                 .frees_host = true},
    RemedyEffect{.remedy = Remedy::device_exchanges,
                 .removes = {exchanges},
                 .shortens = waits | StepParts{late_replicas},
                 .frees_host = true},
    RemedyEffect{.remedy = Remedy::balanced_shares, .removes = {late_replicas}, .moves_work = true},
    RemedyEffect{.remedy = Remedy::smaller_batch, .removes = {copies}, .shortens = all_but_arithmetic},
    RemedyEffect{.remedy = Remedy::gradient_accumulation, .removes = {copies}, .shortens = all_but_arithmetic},
    RemedyEffect{.remedy = Remedy::recomputation, .removes = {copies}, .shortens = waits | StepParts{slow_kernels}},
    RemedyEffect{.remedy = Remedy::no_offload, .removes = {copies}, .shortens = waits | StepParts{slow_kernels}},
    RemedyEffect{.remedy = Remedy::divided_layers, .removes = {copies}, .shortens = all_but_arithmetic},
    RemedyEffect{.remedy = Remedy::mixed_precision,
                 .removes = {slow_kernels, arithmetic, fixed_arithmetic},
                 .shortens = {copies, exchanges},
                 .arithmetic = Arithmetic::bits_16},
    RemedyEffect{.remedy = Remedy::tensor_float32,
                 .removes = {slow_kernels, arithmetic, fixed_arithmetic},
                 .arithmetic = Arithmetic::tf32},
    RemedyEffect{.remedy = Remedy::padded_sizes, .removes = {slow_kernels}},
    RemedyEffect{.remedy = Remedy::fused_attention, .removes = {slow_kernels}},
    RemedyEffect{.remedy = Remedy::fused_kernels, .removes = {slow_kernels, launches}, .shortens = {host}},
    RemedyEffect{.remedy = Remedy::kernel_search, .removes = {slow_kernels}},
};

/// New over old time of kernels that keep their part of the peak; 0 if it is not known.
double time_ratio(Arithmetic arithmetic, const Evidence& evidence) {
  if (arithmetic == Arithmetic::same) return 1;
  const DeviceFacts* const device = evidence.device();
  if (device == nullptr) return 0;
  const auto& [float32, tf32, half] = device->peaks;
  const std::optional<double> own = device->allows_tf32 ? tf32 : float32;
  const std::optional<double> other = arithmetic == Arithmetic::tf32 ? tf32 : half;
  if (!own || !other) return 0;
  constexpr double half_the_bytes = 0.5;
  const double rates = std::min(1.0, *own / *other);
  return arithmetic == Arithmetic::bits_16 ? std::min(rates, half_the_bytes) : rates;
}

Interval ends_of(const Share& share) {
  return share.interval.value_or(Interval{share.value, share.value});
}

/// Sums of parts that stay, and of those that may disappear.
class Balance {
 public:
  void keep(const std::optional<Share>& part) {
    if (!part) return;
    kept_ += part->value;
    less_kept_ += std::max(0.0, part->value - ends_of(*part).low);
  }
  void remove(const std::optional<Share>& part) {
    if (!part) return;
    removed_ += part->value;
    more_removed_ += std::max(0.0, ends_of(*part).high - part->value);
  }
  /// Both sums say what stays; the lesser one does at least.
  double kept() const { return std::min(kept_ - less_kept_, 1 - removed_ - more_removed_); }

 private:
  double kept_ = 0, less_kept_ = 0, removed_ = 0, more_removed_ = 0;
};

/// The arithmetic of all kernels, whether it is known how it is divided or not.
std::optional<Share> whole_arithmetic(const Evidence& evidence) {
  std::optional<Share> all = evidence.share("mfu");
  const auto compute = evidence.share("compute_share");
  return all && compute && compute->value < all->value ? compute : all;
}

/// Kernels that get faster by another arithmetic stay for that part of their time.
Share in_ratio(Share share, double ratio) {
  share.value *= ratio;
  if (share.interval) share.interval = Interval{share.interval->low * ratio, share.interval->high * ratio};
  return share;
}

void add_kernels(Balance& balance, StepParts gone, const RemedyEffect& effect, const Evidence& evidence,
                 const StepDivision& division) {
  const std::optional<Share> kernels = evidence.share("compute_share"), all = whole_arithmetic(evidence);
  if (effect.arithmetic != Arithmetic::same) {
    if (kernels) balance.keep(in_ratio(*kernels, time_ratio(effect.arithmetic, evidence)));
  } else if (gone.has(fixed_arithmetic)) {
    balance.keep(part_of(division, arithmetic));
  } else if (gone.has(slow_kernels)) {
    balance.keep(all);
  } else {
    balance.keep(kernels ? kernels : all);
  }
}

constexpr std::array beside_kernels = {launches, copies, input, exchanges, late_replicas, host, other};

/// The means of replicas will do: a step takes at least the mean of what stays of theirs.
double kept_share(const RemedyEffect& effect, const Evidence& evidence) {
  const StepDivision division = division_of(evidence);
  StepParts gone = effect.removes | effect.shortens;
  if (effect.frees_host && !evidence.has_own_memory()) gone = gone | StepParts{slow_kernels};
  // Kernels that may get shorter keep their arithmetic; where that is not known, nothing is.
  if (gone.has(slow_kernels) && effect.arithmetic == Arithmetic::same && !whole_arithmetic(evidence)) return 0;
  Balance balance;
  add_kernels(balance, gone, effect, evidence, division);
  for (const StepPart part : beside_kernels) {
    if (gone.has(part))
      balance.remove(part_of(division, part));
    else
      balance.keep(part_of(division, part));
  }
  if (!effect.hides) return balance.kept();
  Balance hidden;
  hidden.keep(part_of(division, input));
  return std::max(balance.kept(), hidden.kept());
}

/// The replica that waits longest keeps its work, and gets some of the late one's. The mean wait of all may be its own.
double kept_by_the_idlest(const Evidence& evidence) {
  const std::optional<Share> waiting = evidence.share("peer_wait_share");
  const std::optional<double> replicas = evidence.replicas();
  if (!waiting || !replicas) return 0;
  return 1 - *replicas * ends_of(*waiting).high;
}

Share plus(const Share& a, const Share& b) {
  const Interval x = ends_of(a), y = ends_of(b);
  return {a.value + b.value, Interval{x.low + y.low, x.high + y.high}};
}

Share lesser(const Share& a, const Share& b) {
  const Interval x = ends_of(a), y = ends_of(b);
  return {std::min(a.value, b.value), Interval{std::min(x.low, y.low), std::min(x.high, y.high)}};
}

/// What the parts that the remedy removes take; nothing if one is not known.
std::optional<Share> reach(const RemedyEffect& effect, const StepDivision& division) {
  Share reached;
  for (std::size_t index = 0; index < division.size(); ++index) {
    if (!effect.removes.has(static_cast<StepPart>(index))) continue;
    if (!division[index]) return std::nullopt;
    reached = plus(reached, *division[index]);
  }
  if (!effect.hides) return reached;
  const Interval ends = ends_of(reached);
  return lesser(reached, {1 - reached.value, Interval{1 - ends.high, 1 - ends.low}});
}

}  // namespace

StepDivision division_of(const Evidence& evidence) {
  StepDivision division;
  const auto set = [&](StepPart part, const std::optional<Share>& share) {
    division[static_cast<std::size_t>(part)] = share;
  };
  divide_kernels(division, evidence);
  const double late_host = host_time_of_late_replica(evidence);
  set(StepPart::launches, evidence.share("launch_share"));
  set(StepPart::copies, evidence.share("copy_share"));
  set(StepPart::input, input_of(evidence));
  set(StepPart::exchanges, evidence.share("communication_share"));
  if (const auto waiting = evidence.share("peer_wait_share")) set(StepPart::late_replicas, less(*waiting, -late_host));
  if (const auto host = evidence.share("host_share")) set(StepPart::host, less(*host, late_host));
  set(StepPart::other, evidence.share("other_share"));
  return division;
}

std::span<const RemedyEffect> remedy_effects() {
  return effects;
}

const RemedyEffect& effect_of(Remedy remedy) {
  return effects[static_cast<std::size_t>(remedy)];
}

std::optional<double> at_most_times_as_fast(Remedy remedy, const Evidence& evidence) {
  const RemedyEffect& effect = effect_of(remedy);
  const double kept = effect.moves_work ? kept_by_the_idlest(evidence) : kept_share(effect, evidence);
  return kept > 0 ? std::optional(1 / kept) : std::nullopt;
}

std::optional<Share> expected_gain(Remedy remedy, std::span<const Finding> findings, const Evidence& evidence) {
  std::optional<Share> sum;
  for (const Finding& finding : findings) {
    if (std::ranges::find(finding.remedies, remedy) == finding.remedies.end()) continue;
    sum = sum ? plus(*sum, finding.gain) : finding.gain;
  }
  const std::optional<Share> most = reach(effect_of(remedy), division_of(evidence));
  return sum && most ? lesser(*sum, *most) : sum;
}

}  // namespace gpubench
