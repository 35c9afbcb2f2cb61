// The changes to a script that remove what a finding names: one declared list, in the words of gpubench, PyTorch, Keras
// and JAX. A finding proposes some of them (finding.h); `gpubench tune` applies them one at a time and measures each.
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace gpubench {

enum class Remedy {
  // the input
  more_workers,
  parallel_reads,
  prefetch,
  cache,
  batched_map,
  // copies
  prefetch_to_device,
  pinned_memory,
  input_slots,
  one_device,
  // launches and the host
  larger_batch,
  graph,
  compiled_step,
  fewer_callbacks,
  fewer_synchronizations,
  fixed_shapes,
  kept_allocations,
  rarer_evaluation,
  rarer_saving,
  fewer_threads,
  // replicas
  larger_buckets,
  compressed_exchanges,
  device_exchanges,
  balanced_shares,
  // memory
  smaller_batch,
  gradient_accumulation,
  recomputation,
  no_offload,
  divided_layers,
  // the device
  mixed_precision,
  tensor_float32,
  padded_sizes,
  fused_attention,
  fused_kernels,
  kernel_search,
};

/// Whose words a remedy is shown in.
enum class Words { lua, pytorch, keras, jax };

/// A text in the words of each.
struct Wording {
  std::string_view lua, pytorch, keras, jax;

  std::string_view in(Words words) const;
};
/// Of texts that name no framework's own things.
constexpr Wording in_all_words(std::string_view text) {
  return {text, text, text, text};
}
/// Of texts that name columns or calls of gpubench, and mean the same step in the other frameworks.
constexpr Wording in_words(std::string_view lua, std::string_view others) {
  return {lua, others, others, others};
}

struct RemedyText {
  Remedy remedy;
  std::string_view name;  ///< "more_workers"
  /// What to do, as an imperative: "give the maps of the pipeline several workers".
  std::string_view advice;
  /// The line of code in the words of each; empty where that library has none. Capital words in angle brackets are
  /// the script's own: "<BATCH>".
  Wording code;
  /// Whether weights, or the numbers that training computes, may change: `tune` must say so beside the gain.
  bool changes_results = false;

  std::string_view line(Words words) const { return code.in(words); }
};

/// In the order of the enum.
std::span<const RemedyText> remedies();
const RemedyText& text_of(Remedy remedy);
/// "more_workers".
std::string_view to_string(Remedy remedy);
/// Nothing for a name that is not in the list.
std::optional<Remedy> remedy_named(std::string_view name);
/// "lua", "pytorch", "keras" or "jax". Throws Error listing the possible ones.
Words parse_words(std::string_view text);

}  // namespace gpubench
