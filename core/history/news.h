// What nights have to tell: each alarm, repair and improvement, once. It is stored together with what it is about,
// before anybody is told, and counts as told when the summary that has it is on disk and its command has run. A night
// that ends in between leaves it to the next one.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "core/history/history.h"

namespace gpubench {

enum class NewsKind { regression, missing, refuted, device, recovered, better };
std::string_view to_string(NewsKind kind);
/// Whether somebody has to look: the first four.
bool is_alarm(NewsKind kind);

struct News {
  std::string id = {};  ///< "7f3k2qa9": the same wherever and whenever the same is found
  std::string host = {}, suite = {};
  NewsKind kind = NewsKind::regression;
  std::string night = {};  ///< that found it
  std::string line = {};   ///< in words, without the id
  std::string told = {};   ///< the night that has told it; empty: nobody yet
};

/// Stores it, without a transaction of its own. Its id is made of `about`, which differs between any two news; what has
/// that id already is left as it is. Returns the id.
std::string add_news(const Database& database, News news, std::initializer_list<std::string_view> about);

/// What no night of this suite and host has told, in the order of kinds and of ids.
std::vector<News> untold_news(const RunHistory& history, const std::string& suite, const std::string& host);
/// Of all suites and hosts.
std::vector<News> untold_news(const RunHistory& history);
void set_told(RunHistory& history, const std::vector<std::string>& ids, const std::string& night);

/// Told or not.
std::vector<News> all_news(const Database& database);
/// Of another history: what it has told is told here too.
void merge_news(RunHistory& history, const std::vector<News>& others);

}  // namespace gpubench
