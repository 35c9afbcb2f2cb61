// The events of a trace in Chrome's JSON format, one at a time: a text of any size is read in one pass, and an event
// that is damaged costs itself alone. Names with unescaped quotes, as Kineto wrote them until 2026, are read too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/codec/byte_source.h"
#include "core/results/info.h"
#include "core/traces/foreign_trace.h"

namespace gpubench {

/// Texts are those of the file, without the quotes around them and with their escapes; valid until the next event.
struct ChromeEvent {
  std::string_view name, category, process, thread;
  char phase = 0;
  std::optional<std::int64_t> begin_ns, length_ns;
  /// Numbers, texts and literals; lists and objects are left out.
  std::vector<std::pair<std::string_view, std::string_view>> args{};

  /// Empty if there is none.
  std::string_view arg(std::string_view key) const;
};

/// A decimal number of microseconds, whatever its length and exponent, in whole nanoseconds; nothing for other texts
/// and beyond what 64 bits hold.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);
/// Nothing for a text that is no whole number.
std::optional<std::int64_t> whole_number(std::string_view text);
/// The text that a JSON string stands for; of invalid escapes their characters.
std::string unescaped(std::string_view text);

class ChromeEvents {
 public:
  /// `report` must outlive the reader; it gets the counts of events and what is damaged.
  ChromeEvents(std::unique_ptr<ByteSource> source, ReadReport& report);
  /// Nullptr at the end of the events.
  const ChromeEvent* next();
  /// The fields of the file beside its events; complete when next() has returned nullptr. A field of more than a
  /// mebibyte is left out, and so is what comes behind a thousand fields.
  const Info& header() const { return header_; }
  /// Whether the text has a list of events at all.
  bool has_events() const { return has_events_; }

 private:
  enum class Outcome : std::uint8_t { ok, more, bad };
  enum class Place : std::uint8_t { start, fields, events, end };

  bool fill();
  std::string_view window() const { return std::string_view(memory_).substr(first_); }
  void pass(std::size_t count);
  char skip_blanks();
  void begin();
  void read_field();
  bool read_event();
  void give_up(std::string what);
  void resume();
  Outcome parse(std::string_view text, std::size_t& length);

  std::unique_ptr<ByteSource> source_;
  ReadReport& report_;
  std::string memory_;
  std::size_t first_ = 0;
  std::uint64_t position_ = 0;  ///< of first_ in the (uncompressed) text
  bool is_at_end_ = false;
  std::string source_error_;
  Place place_ = Place::start;
  bool is_list_ = false, has_events_ = false;
  std::uint64_t wasted_ = 0;  ///< bytes of events that could not be read
  const char* fault_ = "";
  ChromeEvent event_;
  Info header_;
};

}  // namespace gpubench
