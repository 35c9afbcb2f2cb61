#include "core/report/archive/anonymous.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <span>

#include "core/base/error.h"
#include "core/base/input_limits.h"
#include "core/codec/byte_source.h"
#include "core/codec/csv_lines.h"
#include "core/report/text/run_table.h"
#include "core/results/csv.h"

namespace gpubench {
namespace {

// Folders that are the same on all machines.
constexpr std::array<std::string_view, 8> of_system{"proc", "sys", "dev", "usr", "etc", "lib", "bin", "opt"};
// Fields of run.json whose words are names of axes, columns and devices.
constexpr std::array<std::string_view, 6> named_fields{"axes", "axis_names", "figures", "columns", "charts", "devices"};
// "cpu:0 of process 1 (vm, pid 12)", "process 1 (vm, pid 12) with 2 threads"
constexpr std::string_view behind_host = ", pid ";
// More words would be looked for in each character of a run's files.
constexpr std::size_t most_words = 256;
// Users of whom the name says nothing.
constexpr std::array<std::string_view, 3> common_users{"root", "user", "nobody"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_in_path(char c) {
  return is_word(c) || c == '/' || c == '.' || c == '-' || c == '~' || c == '+' || c == '@' || c == '%' ||
         static_cast<unsigned char>(c) >= 0x80;
}

template <class List>
bool is_in(const List& list, std::string_view one) {
  return std::ranges::find(list, one) != std::ranges::end(list);
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The host whose name ends at `end`, in front of ", pid "; empty if there is none.
std::string_view host_at(std::string_view text, std::size_t end) {
  const std::size_t before = text.substr(0, end).find_last_of(" ,()");
  if (before == std::string_view::npos || text[before] != '(') return {};
  return text.substr(before + 1, end - before - 1);
}

std::string without_hosts(const std::string& text) {
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = 0; (at = text.find(behind_host, at)) != std::string::npos; at += behind_host.size()) {
    const std::string_view host = host_at(std::string_view(text).substr(0, at), at);
    if (host.empty()) continue;
    result.append(text, copied, at - host.size() - copied);
    result += "host";
    copied = at;
  }
  return result.append(text, copied);
}

/// "vm" of "vm-2": the host of two runs in one second.
std::string without_number(const std::string& host) {
  const std::size_t end = host.find_last_not_of("0123456789");
  const bool has_number = end != std::string::npos && end + 1 < host.size() && host[end] == '-';
  return has_number ? host.substr(0, end) : host;
}

// "/srv/anna/a.lua" becomes "a.lua"; "/proc/stat" and "/a" stay.
std::string shown_path(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const std::size_t first_end = path.find('/', 1);
  if (first_end == std::string_view::npos || is_in(of_system, path.substr(1, first_end - 1))) return std::string(path);
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string last_part(const std::string& text) {
  std::string_view path = text;
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

Anonymizer::Anonymizer(const Run& run) : own_name_(run.info.text("run")) {
  run_name_ = own_name_.substr(0, own_name_.find('-')) + "-anonymous";
  if (const Info* const machine = run.info.find("machine")) {
    add_word(machine->text("host"), "host");
    add_word(machine->text("id"), "machine");
  }
  if (const std::size_t dash = own_name_.find('-'); dash != std::string::npos) {
    const std::string host = own_name_.substr(dash + 1);
    add_word(host, "host");
    add_word(without_number(host), "host");
  }
  for (const std::string& process : run.info.texts("processes")) {
    if (const std::size_t end = process.find(behind_host); end != std::string::npos)
      add_word(std::string(host_at(process, end)), "host");
  }
  for (const std::string& user : {variable("USER"), variable("LOGNAME"), last_part(variable("HOME"))}) {
    if (!is_in(common_users, user)) add_word(user, "user");
  }
  // A name that is part of another one comes after it.
  std::ranges::stable_sort(words_, std::ranges::greater(), [](const Word& one) { return one.from.size(); });
}

void Anonymizer::add_word(const std::string& from, std::string_view to) {
  constexpr std::size_t short_name = 3;
  if (from.empty() || std::ranges::find(words_, from, &Word::from) != words_.end()) return;
  if (words_.size() == most_words)
    throw Error(fmt::format("pack: run.json names more than {} hosts, which cannot be replaced", most_words));
  words_.push_back({from, to, to == "user" && from.size() > short_name});
}

std::string Anonymizer::paths(std::string_view original) const {
  std::string result;
  for (std::size_t i = 0; i < original.size();) {
    const char before = i == 0 ? ' ' : original[i - 1];
    // Not the slashes of "a/b", "</g>" and "https://".
    const bool begins = original[i] == '/' && !is_in_path(before) && before != '<' && i + 1 < original.size() &&
                        original[i + 1] != '/' && is_in_path(original[i + 1]);
    std::size_t end = i + 1;
    while (begins && end < original.size() && is_in_path(original[end])) ++end;
    result += begins ? shown_path(original.substr(i, end - i)) : std::string(1, original[i]);
    i = end;
  }
  return without_hosts(result);
}

std::string Anonymizer::text(std::string_view original) const {
  std::string result;
  const std::string whole = paths(original);
  for (std::size_t i = 0; i < whole.size();) {
    const auto fits = [&](const Word& word) {
      const std::size_t end = i + word.from.size();
      const auto parts = [&](char c) { return !is_word(c) || (c == '_' && word.may_be_part); };
      return whole.compare(i, word.from.size(), word.from) == 0 && (i == 0 || parts(whole[i - 1])) &&
             (end >= whole.size() || parts(whole[end]));
    };
    const auto found = std::ranges::find_if(words_, fits);
    if (found == words_.end()) {
      result += whole[i++];
    } else {
      result += found->to;
      i += found->from.size();
    }
  }
  return result;
}

Cell Anonymizer::clean(const Cell& cell, std::string_view column) const {
  const auto* const own = std::get_if<std::string>(&cell);
  if (own == nullptr) return cell;
  return is_remark(column) ? text(*own) : paths(*own);
}

Info Anonymizer::clean(const Info& info, std::string_view field) const {
  if (const auto* const fields = info.fields()) {
    Info::Fields all;
    for (const auto& [name, value] : *fields) {
      // What is below a field of names is named too.
      all.emplace_back(name, clean(value, is_in(named_fields, field) ? field : std::string_view(name)));
    }
    return all;
  }
  if (const auto* const list = info.list()) {
    Info::List all;
    for (const Info& one : *list) all.push_back(clean(one, field));
    return all;
  }
  const auto* const own = std::get_if<std::string>(info.cell());
  if (own == nullptr) return info;
  if (*own == own_name_) return run_name_;
  const bool is_path = field == "directory" || (field == "arguments" && !own->starts_with('-'));
  if (is_path) return text(last_part(*own));
  return is_in(named_fields, field) ? paths(*own) : text(*own);
}

Run Anonymizer::run(const Run& original) const {
  Run result{
      .directory = original.directory, .columns = original.columns, .records = {}, .info = clean(original.info, "")};
  for (const Record& record : original.records) {
    Record& row = result.records.emplace_back();
    for (const auto& [column, value] : record.cells()) row.set(column, clean(value, column));
  }
  return result;
}

std::string Anonymizer::table(std::string_view csv) const {
  std::string result;
  std::vector<std::string> names;
  CsvLines lines(std::make_unique<ByteSpanSource>("table", std::as_bytes(std::span(csv))), ',');
  while (lines.next()) {
    // A row of commas takes thirty times its bytes.
    constexpr std::size_t longest_row = std::size_t{8} << 20;
    if (lines.text().size() > longest_row || lines.fields().size() > most_columns)
      throw Error(fmt::format("line {} has more than {} columns or {} bytes", lines.line(), most_columns, longest_row));
    std::vector<std::string> fields(lines.fields().begin(), lines.fields().end());
    if (names.empty()) {
      names = fields;
    } else {
      for (std::size_t i = 0; i < fields.size() && i < names.size(); ++i)
        fields[i] = is_remark(names[i]) ? text(fields[i]) : paths(fields[i]);
    }
    result += csv_line(fields);
  }
  return result;
}

}  // namespace gpubench
