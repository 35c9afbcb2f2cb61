#include "core/history/night_state.h"

namespace gpubench {
namespace {

void store(const Database& database, const std::string& host, const std::string& suite, const std::string& name,
           const std::string& value) {
  database.prepare("INSERT OR REPLACE INTO states VALUES(?, ?, ?, ?)")
      .bind(1, host)
      .bind(2, suite)
      .bind(3, name)
      .bind(4, value)
      .run();
}

}  // namespace

std::optional<std::string> remembered(const RunHistory& history, const std::string& host, const std::string& suite,
                                      const std::string& name) {
  Statement row = history.database().prepare("SELECT value FROM states WHERE host = ? AND suite = ? AND name = ?");
  if (!row.bind(1, host).bind(2, suite).bind(3, name).step()) return std::nullopt;
  return row.text(0);
}

void remember(RunHistory& history, const std::string& host, const std::string& suite, const std::string& name,
              const std::string& value) {
  if (!value.empty()) return store(history.database(), host, suite, name, value);
  history.database()
      .prepare("DELETE FROM states WHERE host = ? AND suite = ? AND name = ?")
      .bind(1, host)
      .bind(2, suite)
      .bind(3, name)
      .run();
}

std::string tell_state(RunHistory& history, const News& news, const std::string& name, const std::string& since) {
  Transaction transaction(history.database());
  if (const auto before = remembered(history, news.host, news.suite, name)) return *before;
  store(history.database(), news.host, news.suite, name, since);
  add_news(history.database(), news, {news.night, name});
  transaction.commit();
  return {};
}

std::map<std::string, std::string> cards_of(const RunHistory& history, const std::string& host) {
  Statement row = history.database().prepare("SELECT DISTINCT card, slot FROM series WHERE host = ?");
  std::map<std::string, std::string> cards;
  for (row.bind(1, host); row.step();) {
    const std::string card = row.text(0);
    if (is_card_id(card) && card.find('+') == std::string::npos) cards.emplace(card, row.text(1));
  }
  return cards;
}

std::size_t close_changes_of_card(RunHistory& history, const std::string& host, const std::string& card,
                                  const std::string& when) {
  Statement close = history.database().prepare(
      "UPDATE changes SET state = ?1, closed = ?2, note = 'its card is gone' WHERE state = ?3 AND series IN "
      "(SELECT id FROM series WHERE host = ?4 AND card = ?5)");
  close.bind(1, to_string(ChangeState::resolved)).bind(2, when).bind(3, to_string(ChangeState::open));
  close.bind(4, host).bind(5, card).run();
  return static_cast<std::size_t>(history.database().changed());
}

std::optional<std::pair<std::string, std::string>> machines_of_one_name(const RunHistory& history,
                                                                        const std::string& host) {
  Statement row = history.database().prepare(
      "SELECT machine FROM runs WHERE host = ? AND machine <> '' ORDER BY sequence DESC, id DESC");
  std::string latest, other;
  for (row.bind(1, host); row.step();) {
    const std::string machine = row.text(0);
    if (latest.empty()) latest = machine;
    if (machine != latest) other = machine;
    if (machine == latest && !other.empty()) return std::pair(latest, other);
  }
  return std::nullopt;
}

}  // namespace gpubench
