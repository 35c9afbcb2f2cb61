// How the numbers of ChangeRule are chosen: truth_change_rule SERIES.jsonl
//
// SERIES: series that people annotated, as tests/truth/labelled_series.py reads them, with `metric`. A rule may be
// chosen if it rarely alarms on made series as hardware gives them, of a year without a fault. Among those,
// cross-validation over families: for each family of series (by metric, by length) the rule with the best F1 on all
// other families is scored on it. F1 is that of van den Burg and Williams 2020 with a margin of 5 values, where index 0
// counts as a change.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/compare/changes/find_changes.h"

namespace {

using gpubench::ChangeDetector;
using gpubench::ChangeRule;

struct Series {
  std::string metric;
  std::vector<double> values;
  std::vector<std::set<long>> annotators;  ///< marks with index 0
};

std::vector<Series> read(const char* file) {
  constexpr std::size_t fewest_annotators = 3;
  std::vector<Series> all;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line);
    Series series{json.at("metric"), json.at("values"), {}};
    for (const auto& [name, marks] : json.at("annotations").items()) {
      std::set<long>& own = series.annotators.emplace_back(std::set<long>{0});
      for (const long mark : marks) own.insert(mark);
    }
    if (series.annotators.size() >= fewest_annotators) all.push_back(std::move(series));
  }
  return all;
}

/// How many of the marks have a change within the margin that no earlier mark has taken.
std::size_t matched(const std::set<long>& marks, std::set<long> found) {
  constexpr long margin = 5;
  std::size_t count = 0;
  for (const long mark : marks) {
    auto nearest = found.end();
    for (auto one = found.lower_bound(mark - margin); one != found.end() && *one <= mark + margin; ++one)
      if (nearest == found.end() || std::labs(*one - mark) < std::labs(*nearest - mark)) nearest = one;
    if (nearest == found.end()) continue;
    ++count;
    found.erase(nearest);
  }
  return count;
}

struct Score {
  double f1 = 0;
  bool quiet = false, alarmed = false;
};

Score score(const Series& series, const ChangeDetector& detector) {
  std::set<long> found{0}, marks{0};
  for (const std::size_t change : detector.find(series.values).changes) found.insert(static_cast<long>(change));
  double recall = 0;
  for (const std::set<long>& own : series.annotators) {
    marks.insert(own.begin(), own.end());
    recall += static_cast<double>(matched(own, found)) / static_cast<double>(own.size());
  }
  recall /= static_cast<double>(series.annotators.size());
  const double precision = static_cast<double>(matched(marks, found)) / static_cast<double>(found.size());
  const double both = precision + recall;
  return {both > 0 ? 2 * precision * recall / both : 0, marks.size() == 1, found.size() > 1};
}

std::string length_family(const Series& series) {
  const std::size_t length = series.values.size();
  return length < 400 ? "below 400 values" : length < 800 ? "400 to 799" : length == 800 ? "800" : "above 800";
}

/// Metrics with few series are one family.
std::map<std::string, std::vector<std::size_t>> families_of(const std::vector<Series>& all) {
  constexpr std::size_t fewest = 15;
  std::map<std::string, std::vector<std::size_t>> by_metric, families;
  for (std::size_t i = 0; i < all.size(); ++i) {
    by_metric[all[i].metric].push_back(i);
    families[length_family(all[i])].push_back(i);
  }
  for (const auto& [metric, members] : by_metric) {
    auto& family = families[members.size() < fewest ? "other metrics" : metric];
    family.insert(family.end(), members.begin(), members.end());
  }
  return families;
}

constexpr std::size_t year = 365;
using Engine = std::mt19937_64;

double normal(Engine& engine) {
  return std::normal_distribution<double>()(engine);
}
double uniform(Engine& engine) {
  return std::uniform_real_distribution<double>()(engine);
}

std::vector<double> correlated(Engine& engine, double rho) {
  std::vector<double> values;
  double value = normal(engine);
  for (std::size_t i = 0; i < year; ++i) {
    values.push_back(100 + value);
    value = rho * value + std::sqrt(1 - rho * rho) * normal(engine);
  }
  return values;
}

std::vector<double> each(const std::function<double(std::size_t)>& value) {
  std::vector<double> values;
  for (std::size_t i = 0; i < year; ++i) values.push_back(100 + value(i));
  return values;
}

struct Kind {
  const char* name;
  double allowed;  ///< share of the series that may alarm in a year
  std::function<std::vector<double>(Engine&)> make;
};

const std::vector<Kind> kinds = {
    {"independent", 0.002, [](Engine& engine) { return correlated(engine, 0); }},
    {"correlated, 0.3", 0.02, [](Engine& engine) { return correlated(engine, 0.3); }},
    {"drift with the season's temperature", 0.02,
     [](Engine& engine) {
       const double phase = 2 * M_PI * uniform(engine);
       return each([&](std::size_t i) {
         return normal(engine) + std::sin(phase + 2 * M_PI * static_cast<double>(i) / static_cast<double>(year));
       });
     }},
    {"two states, 30 %", 0.02,
     [](Engine& engine) {
       return each([&](std::size_t) { return normal(engine) + (uniform(engine) < 0.3 ? 20 : 0); });
     }},
    {"a limit of the rate", 0.02,
     [](Engine& engine) { return each([&](std::size_t) { return std::max(normal(engine), -0.5); }); }},
    {"5 % outliers", 0.02,
     [](Engine& engine) {
       return each([&](std::size_t) { return normal(engine) + (uniform(engine) < 0.05 ? 20 : 0); });
     }},
};

double alarm_rate(const Kind& kind, const ChangeDetector& detector, int series) {
  Engine engine(1);
  int alarmed = 0;
  for (int i = 0; i < series; ++i) alarmed += !detector.find(kind.make(engine)).changes.empty();
  return static_cast<double>(alarmed) / series;
}

bool is_calm(const ChangeDetector& detector) {
  constexpr int series = 2000;
  return std::ranges::all_of(kinds,
                             [&](const Kind& kind) { return alarm_rate(kind, detector, series) <= kind.allowed; });
}

std::string text_of(const ChangeRule& rule) {
  return fmt::format("window {}, p {}, {} deviations", rule.window, rule.level, rule.least_in_noise);
}

double mean_f1(const std::vector<Score>& scores, const std::vector<std::size_t>& members) {
  double sum = 0;
  for (const std::size_t i : members) sum += scores[i].f1;
  return sum / static_cast<double>(members.size());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "truth_change_rule SERIES.jsonl\n");
    return 2;
  }
  const std::vector<Series> all = read(arguments[1]);
  const auto families = families_of(all);
  std::vector<std::pair<ChangeRule, std::vector<Score>>> rules;
  for (const std::size_t window : {30, 40, 50}) {
    for (const double level : {1e-6, 5e-7, 2e-7}) {
      for (const double noise : {2.0, 2.3, 2.6}) {
        const ChangeRule rule{window, level, noise};
        const ChangeDetector detector(rule);
        if (!is_calm(detector)) {
          fmt::print("{}: alarms too often on made series\n", text_of(rule));
          continue;
        }
        std::vector<Score>& scores = rules.emplace_back(rule, std::vector<Score>{}).second;
        for (const Series& series : all) scores.push_back(score(series, detector));
      }
    }
  }
  double sum = 0, worst = 1;
  fmt::print("\n{:24} {:>7} {:>7}  {}\n", "family", "series", "F1", "rule that the other families chose");
  for (const auto& [family, members] : families) {
    // A series belongs to a family by metric and to one by length: neither it nor its family is seen.
    const auto of_others = [&own_members = members](const std::vector<Score>& scores) {
      double total = 0;
      std::size_t number = 0;
      for (std::size_t i = 0; i < scores.size(); ++i) {
        if (std::ranges::find(own_members, i) != own_members.end()) continue;
        total += scores[i].f1;
        ++number;
      }
      return total / static_cast<double>(number);
    };
    const auto best = std::ranges::max_element(rules, {}, [&](const auto& rule) { return of_others(rule.second); });
    const double f1 = mean_f1(best->second, members);
    sum += f1;
    worst = std::min(worst, f1);
    fmt::print("{:24} {:>7} {:>7.3f}  {}\n", family, members.size(), f1, text_of(best->first));
  }
  fmt::print("{:24} {:>7} {:>7.3f}, worst {:.3f}\n", "mean over families", all.size(),
             sum / static_cast<double>(families.size()), worst);
  std::vector<Score> own;
  const ChangeDetector usual{ChangeRule()};
  for (const Series& series : all) own.push_back(score(series, usual));
  std::vector<std::size_t> every;
  for (std::size_t i = 0; i < all.size(); ++i) every.push_back(i);
  const auto quiet = std::ranges::count_if(own, &Score::quiet);
  const auto alarmed = std::ranges::count_if(own, [](const Score& one) { return one.quiet && one.alarmed; });
  fmt::print("\nthe rule of gpubench ({}): F1 {:.3f}, alarms on {} of {} quiet series\n", text_of({}),
             mean_f1(own, every), alarmed, quiet);
  for (const Kind& kind : kinds)
    fmt::print("  {:36} {:5.2f} % alarm in a year\n", kind.name, 100 * alarm_rate(kind, usual, 4000));
}
