// What a history keeps of a run: its figures, each with the key of its series, and what may explain a change of them.
// A figure is known by what its column declares (unit, direction, kind), never by its name.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/results/column.h"
#include "core/results/run_reader.h"

namespace gpubench {

/// Figures with the same key are one series. Another card in the same slot begins a new one; a card that is_card_id()
/// takes its series along to another slot.
struct SeriesKey {
  std::string host;
  /// The UUID of a GPU; of a processor its description.
  std::string card;
  /// The device's name on its host: "gpu:0".
  std::string slot;
  std::string suite;  ///< empty for runs that no suite has asked for
  std::string experiment;
  std::string axes;  ///< "batch_size=8 dtype=float32", with parameters of the script that are not its defaults
  std::string metric;
};

struct RunValue {
  SeriesKey key;
  std::string axes_alone = {};  ///< without parameters, as older programs had them
  Column column;
  /// A direction is declared, and a claim or chart of the experiment is about it: changes of it are reported.
  bool watched = false;
  double value = 0;
  std::optional<double> low, high;
  bool reliable = true;
};

struct RunValues {
  std::string host, experiment, name, suite;
  std::string started;       ///< by the host's clock
  std::string environment;   ///< JSON: "program.commit", "devices.gpu:0.details.driver", ... with their texts
  std::string night = {};    ///< the id of the night that measured it; empty for runs by hand
  std::string machine = {};  ///< tells machines of one host name apart; empty where the run does not say it
  std::vector<RunValue> values = {};
  std::vector<std::string> changed_params = {};
};

/// The night that measured a run, by its tags ("night=20260301T020000Z-node7"); empty for others.
std::string night_of(const Info& info);
/// Whether a run is a second look at a night's suspects, by its tag "again=<night>". No history takes such runs.
bool is_second_look(const Info& info);

/// Whether the text names one card in the world, or several of them: UUIDs of GPUs. Such a card keeps its series in
/// whatever slot it is. Processors and emulated devices are known by their description and slot.
bool is_card_id(std::string_view card);

/// Of the rows with status ok, with several processes as their means.
RunValues values_of(const Run& run);

}  // namespace gpubench
