#include "core/history/news.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/base/enum_names.h"
#include "core/codec/checksum.h"

namespace gpubench {
namespace {

constexpr EnumNames<NewsKind, 6> kinds{"unknown kind of news",
                                       {"regression", "missing", "refuted", "device", "recovered", "better"}};

/// Eight letters and digits that are not taken for one another (the alphabet of Crockford's base 32): 40 bits.
std::string id_of(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdefghjkmnpqrstvwxyz";
  const std::span bytes = std::as_bytes(std::span(text));
  std::uint64_t number = std::uint64_t{crc32_of(bytes)} << 32 | crc32c(bytes);
  std::string id;
  for (int i = 0; i < 8; ++i, number /= 32) id.insert(id.begin(), digits[number % 32]);
  return id;
}

News news_in(const Statement& row) {
  return {.id = row.text(0),
          .host = row.text(1),
          .suite = row.text(2),
          .kind = kinds.parse(row.text(3)),
          .night = row.text(4),
          .line = row.text(5),
          .told = row.text(6)};
}

void store(const Database& database, const News& news) {
  database.prepare("INSERT OR IGNORE INTO news VALUES(?, ?, ?, ?, ?, ?, ?)")
      .bind(1, news.id)
      .bind(2, news.host)
      .bind(3, news.suite)
      .bind(4, to_string(news.kind))
      .bind(5, news.night)
      .bind(6, news.line)
      .bind(7, news.told)
      .run();
}

}  // namespace

std::string_view to_string(NewsKind kind) {
  return kinds[kind];
}

bool is_alarm(NewsKind kind) {
  return kind <= NewsKind::device;
}

std::string add_news(const Database& database, News news, std::initializer_list<std::string_view> about) {
  std::string text(to_string(news.kind));
  const auto add = [&](std::string_view part) { text.append(1, '\0').append(part); };
  add(news.host);
  add(news.suite);
  for (const std::string_view part : about) add(part);
  news.id = id_of(text);
  store(database, news);
  return news.id;
}

std::vector<News> all_news(const Database& database) {
  std::vector<News> all;
  for (Statement row = database.prepare("SELECT id, host, suite, kind, night, line, told FROM news"); row.step();)
    all.push_back(news_in(row));
  std::ranges::stable_sort(all, {}, &News::kind);
  return all;
}

std::vector<News> untold_news(const RunHistory& history) {
  std::vector<News> all = all_news(history.database());
  std::erase_if(all, [](const News& news) { return !news.told.empty(); });
  return all;
}

std::vector<News> untold_news(const RunHistory& history, const std::string& suite, const std::string& host) {
  std::vector<News> all = untold_news(history);
  std::erase_if(all, [&](const News& news) { return news.suite != suite || news.host != host; });
  return all;
}

void set_told(RunHistory& history, const std::vector<std::string>& ids, const std::string& night) {
  Transaction transaction(history.database());
  Statement set = history.database().prepare("UPDATE news SET told = ? WHERE id = ? AND told = ''");
  for (const std::string& id : ids) set.bind(1, std::string_view(night)).bind(2, std::string_view(id)).run();
  transaction.commit();
}

void merge_news(RunHistory& history, const std::vector<News>& others) {
  Statement told = history.database().prepare("UPDATE news SET told = ? WHERE id = ? AND told = ''");
  for (const News& news : others) {
    store(history.database(), news);
    if (!news.told.empty()) told.bind(1, std::string_view(news.told)).bind(2, std::string_view(news.id)).run();
  }
}

}  // namespace gpubench
