// Why a figure or a claim cannot be relied on: a kind, which code reads, and a sentence with the figures of the case,
// which is for people alone. A row holds both: `quality` the sentence, `doubt` the kind.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/results/record.h"

namespace gpubench {

/// A new kind needs a value here and a row in the table of doubt.cpp.
enum class DoubtKind : std::uint8_t {
  none,     ///< the figure can be relied on
  unknown,  ///< of a run of an older program, or from a script
  busy,
  too_long,
  unfinished,
  buffers,
  cache,
  tuning,
  first_read,
  few_samples,
  scatter,
  unsettled,
  measured_once,
  trained_once,
  slow_gpu,
  shared_gpu,
  shared_processors,
  trace,
  wrong_result,
  other_device,
  kept_memory,
  no_figure,
  overlap,
  bound,
  last_value,
};
inline constexpr std::size_t doubt_kind_count = 25;

/// What people are told of a kind.
struct DoubtWords {
  DoubtKind kind;
  std::string_view name;    ///< as in the columns `doubt` and `memory_doubt`
  std::string_view why;     ///< in a few words, without the figures of the case; empty: the sentence itself is told
  std::string_view remedy;  ///< empty: nothing is known that settles it
  /// If the figure is one that a training learned; empty: as `remedy`.
  std::string_view remedy_if_learned{};
};

/// In the order of the enumeration.
const std::array<DoubtWords, doubt_kind_count>& doubt_words();
const DoubtWords& words_of(DoubtKind kind);
std::string_view to_string(DoubtKind kind);
/// `unknown` for a name that this program does not have.
DoubtKind doubt_kind(std::string_view name);

struct Doubt {
  DoubtKind kind = DoubtKind::none;
  std::string text{};

  explicit operator bool() const { return kind != DoubtKind::none; }
};

/// The cell of `quality` with this sentence: "unreliable: ...".
std::string quality_text(std::string_view sentence);
/// From the cells of a quality and of its kind, either of which may be empty.
Doubt read_doubt(std::string_view quality, std::string_view kind);
/// Sets the quality and its doubt; of the row's times, or with "memory_quality" of its memory.
void set_doubt(Record& row, const Doubt& doubt, std::string_view quality = "quality");
/// Of the row's times, or with "memory_quality" of its memory.
Doubt doubt_in(const Record& row, std::string_view quality = "quality");
/// The column of the kind that belongs to a quality: "doubt" for "quality", "memory_doubt" for "memory_quality".
std::string doubt_column(std::string_view quality);

}  // namespace gpubench
