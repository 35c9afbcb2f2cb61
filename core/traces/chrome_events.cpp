#include "core/traces/chrome_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <span>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/traces/json_cursor.h"

namespace gpubench {
namespace {

constexpr std::size_t piece = std::size_t{64} << 10;
constexpr std::size_t most_compacted = std::size_t{1} << 20;
constexpr std::size_t largest_field = std::size_t{1} << 20;
constexpr std::size_t most_header_fields = 1000;
/// A reader of damaged text looks at each byte a few times; more is no trace.
constexpr std::uint64_t most_wasted = std::uint64_t{128} << 20;

void read_args(JsonCursor& cursor, ChromeEvent& event) {
  if (cursor.peek() != '{') {
    cursor.skip();
    return;
  }
  cursor.object([&](std::string_view key) {
    const char first = cursor.peek();
    if (first == '{' || first == '[')
      cursor.skip();
    else
      event.args.emplace_back(key, cursor.scalar());
  });
}

}  // namespace

std::string_view ChromeEvent::arg(std::string_view key) const {
  for (const auto& [name, value] : args)
    if (name == key) return value;
  return {};
}

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  constexpr std::uint64_t most_digits = 1'000'000'000'000'000'000;
  std::size_t at = 0;
  const bool is_negative = microseconds.starts_with('-');
  if (is_negative) ++at;
  std::uint64_t digits = 0;
  long exponent = 3;  // of ten: nanoseconds
  bool has_digit = false, in_fraction = false;
  for (; at < microseconds.size(); ++at) {
    const char c = microseconds[at];
    if (c == '.' && !in_fraction) {
      in_fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    has_digit = true;
    if (digits < most_digits) {
      digits = digits * 10 + static_cast<std::uint64_t>(c - '0');
      exponent -= in_fraction ? 1 : 0;
    } else {
      exponent += in_fraction ? 0 : 1;
    }
  }
  if (!has_digit) return std::nullopt;
  if (at < microseconds.size()) {
    if (microseconds[at] != 'e' && microseconds[at] != 'E') return std::nullopt;
    std::string_view text = microseconds.substr(at + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    int power = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), power);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    exponent += power;
  }
  constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);
  for (; exponent > 0 && digits != 0; --exponent) {
    if (digits > most / 10) return std::nullopt;
    digits *= 10;
  }
  bool rounds_up = false;
  for (; exponent < 0 && digits != 0; ++exponent) {
    rounds_up = digits % 10 >= 5;
    digits /= 10;
  }
  if (exponent < 0) rounds_up = false;  // less than a tenth is left
  digits += rounds_up ? 1 : 0;
  if (digits > most) return std::nullopt;
  const auto value = static_cast<std::int64_t>(digits);
  return is_negative ? -value : value;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'n' || c == 't' || c == 'r' || c == 'b' || c == 'f') {
      result += ' ';
    } else if (c == 'u') {
      unsigned code = 0;
      const std::string_view digits = text.substr(i + 1, 4);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      i += static_cast<std::size_t>(end - digits.data());
      if (error == std::errc() && code >= 0x20 && code < 0x7F)
        result += static_cast<char>(code);
      else
        result += '?';
    } else {
      result += c;
    }
  }
  return result;
}

ChromeEvents::ChromeEvents(std::unique_ptr<ByteSource> source, ReadReport& report)
    : source_(std::move(source)), report_(report) {}

/// Reads another piece; false at the end.
bool ChromeEvents::fill() {
  if (is_at_end_) return false;
  if (first_ > most_compacted) {
    memory_.erase(0, first_);
    first_ = 0;
  }
  const std::size_t used = memory_.size();
  // Events that are larger than a piece are parsed anew for each piece: the pieces grow with them.
  const std::size_t count = std::max(piece, (used - first_) / 2);
  memory_.resize(used + count);
  std::size_t got = 0;
  try {
    got = source_->read_some(std::as_writable_bytes(std::span(memory_.data() + used, count)));
  } catch (const Error& error) {
    source_error_ = error.what();
  }
  memory_.resize(used + got);
  is_at_end_ = got == 0;
  return got > 0;
}

void ChromeEvents::pass(std::size_t count) {
  first_ += count;
  position_ += count;
}

char ChromeEvents::skip_blanks() {
  while (true) {
    const std::string_view text = window();
    std::size_t count = 0;
    while (count < text.size() && is_json_blank(text[count])) ++count;
    pass(count);
    if (count < text.size()) return text[count];
    if (!fill()) return 0;
  }
}

void ChromeEvents::give_up(std::string what) {
  if (report_.damage.empty()) {
    report_.damage = std::move(what);
    report_.first_damage = position_;
  }
  place_ = Place::end;
}

void ChromeEvents::begin() {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (memory_.empty()) fill();
  if (window().starts_with(mark)) pass(mark.size());
  const char first = skip_blanks();
  is_list_ = first == '[';
  has_events_ = is_list_;
  if (first == 0) return give_up(source_error_.empty() ? "the file is empty" : source_error_);
  if (first != '[' && first != '{') return give_up("the text begins with neither { nor [");
  pass(1);
  place_ = is_list_ ? Place::events : Place::fields;
}

/// The name and value of a field beside the events; at `traceEvents` the events begin.
void ChromeEvents::read_field() {
  const char first = skip_blanks();
  if (first == ',') return pass(1);
  if (first == '}') {
    place_ = Place::end;
    return pass(1);
  }
  while (true) {
    JsonCursor cursor(window());
    const std::string_view key = cursor.string();
    if (cursor) cursor.take(':', "a colon is expected behind a name");
    if (cursor && key == "traceEvents" && cursor.peek() == '[') {
      pass(cursor.passed() + 1);
      has_events_ = true;
      place_ = Place::events;
      return;
    }
    const std::size_t start = cursor.passed();
    if (cursor) cursor.skip();
    if (cursor.state() == JsonCursor::State::ended) {
      if (window().size() >= largest_text) return give_up("a field of the file is larger than 64 MiB");
      if (fill()) continue;
      report_.cut_at = position_ + window().size();
      place_ = Place::end;
      return;
    }
    if (!cursor) return give_up(cursor.fault());
    const std::string_view value = window().substr(start, cursor.passed() - start);
    const bool has_room = header_.fields() == nullptr || header_.fields()->size() < most_header_fields;
    if (value.size() <= largest_field && has_room) {
      try {
        header_.set(key, parse_json_with_nan(std::string(value), "a field of the trace"));
      } catch (const Error&) {
        // It has no events, and what it says is known to be missing.
      }
    }
    return pass(cursor.passed());
  }
}

ChromeEvents::Outcome ChromeEvents::parse(std::string_view text, std::size_t& length) {
  event_.name = event_.category = event_.process = event_.thread = {};
  event_.phase = 0;
  event_.begin_ns.reset();
  event_.length_ns.reset();
  event_.args.clear();
  JsonCursor cursor(text);
  cursor.object([&](std::string_view key) {
    if (key == "ph") {
      const std::string_view phase = cursor.scalar();
      event_.phase = phase.empty() ? '?' : phase.front();
    } else if (key == "name") {
      event_.name = cursor.scalar();
    } else if (key == "cat") {
      event_.category = cursor.scalar();
    } else if (key == "pid") {
      event_.process = cursor.scalar();
    } else if (key == "tid") {
      event_.thread = cursor.scalar();
    } else if (key == "ts") {
      event_.begin_ns = nanoseconds_of(cursor.scalar());
    } else if (key == "dur") {
      event_.length_ns = nanoseconds_of(cursor.scalar());
    } else if (key == "args") {
      read_args(cursor, event_);
    } else {
      cursor.skip();
    }
  });
  length = cursor.passed();
  fault_ = cursor.fault();
  if (cursor.state() == JsonCursor::State::ended) return Outcome::more;
  return cursor ? Outcome::ok : Outcome::bad;
}

/// Goes to where the next event may begin, behind one that could not be read.
void ChromeEvents::resume() {
  constexpr std::array<std::string_view, 8> first_fields = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "id"};
  pass(1);
  while (true) {
    std::string_view text = window();
    const std::size_t brace = text.find('{');
    if (brace == std::string_view::npos) {
      pass(text.size());
      if (!fill()) return;
      continue;
    }
    pass(brace);
    constexpr std::size_t most_first_field = 24;
    while (window().size() < most_first_field && fill()) {
    }
    text = window().substr(1);
    text.remove_prefix(std::min(text.find_first_not_of(" \n\t\r"), text.size()));
    const bool is_event = std::ranges::any_of(first_fields, [&](std::string_view field) {
      return text.size() > field.size() + 1 && text[0] == '"' && text.substr(1).starts_with(field) &&
             text[field.size() + 1] == '"';
    });
    if (is_event) return;
    pass(1);
  }
}

/// False where the next event could not be read, or there is none.
bool ChromeEvents::read_event() {
  const char first = skip_blanks();
  if (first == ',') {
    pass(1);
    return false;
  }
  if (first == ']') {
    pass(1);
    place_ = is_list_ ? Place::end : Place::fields;
    return false;
  }
  if (first == 0) {
    report_.cut_at = position_;
    place_ = Place::end;
    return false;
  }
  std::size_t length = 0;
  Outcome outcome = Outcome::bad;
  fault_ = "an event begins with {";
  if (first == '{') {
    outcome = parse(window(), length);
    while (outcome == Outcome::more && window().size() < largest_text && fill()) outcome = parse(window(), length);
  }
  if (outcome == Outcome::ok) {
    pass(length);
    if (event_.phase == 0) return false;  // the empty event with which some writers end the list
    ++report_.events;
    return true;
  }
  if (outcome == Outcome::more && is_at_end_) {
    report_.cut_at = position_ + window().size();
    place_ = Place::end;
    return false;
  }
  if (report_.damaged++ == 0) {
    report_.first_damage = position_;
    report_.damage = outcome == Outcome::more ? "an event is larger than 64 MiB" : fault_;
  }
  wasted_ += (outcome == Outcome::more ? window().size() : length) + 1;
  if (wasted_ > most_wasted) {
    report_.cut_at = position_;
    place_ = Place::end;
    return false;
  }
  resume();
  return false;
}

const ChromeEvent* ChromeEvents::next() {
  while (true) {
    switch (place_) {
      case Place::start:
        begin();
        break;
      case Place::fields:
        if (skip_blanks() == 0) {
          report_.cut_at = position_;
          place_ = Place::end;
        } else {
          read_field();
        }
        break;
      case Place::events:
        if (read_event()) return &event_;
        break;
      case Place::end:
        if (!source_error_.empty() && report_.damage.empty()) {
          report_.damage = source_error_;
          report_.first_damage = position_;
        }
        return nullptr;
    }
  }
}

}  // namespace gpubench
