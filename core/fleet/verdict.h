// Who stands out tonight, as facts for text, page, JSON and CSV, with the action that each calls for. Nothing is done.
#pragma once
#include <string>
#include <vector>

#include "core/fleet/fleet.h"
#include "core/results/fleet_state.h"
#include "core/results/info.h"

namespace gpubench {

/// { schema, headline, tonight, state (fleet_states), machines, groups, not_reported, notes }.
/// groups: { suite, model, of_shares, tonight, nights, machines, figures, why_not, unreliable, far_from_percent,
///   named_nights, machine_nights, stand_outs, columns, rows }. why_not: empty where it is judged.
/// stand_outs: { machine, host, slot, signs, since, since_first, nights, text, most, action (machine_actions),
///   advice, figures }.
/// columns: { machine, host, slot, stands_out }; rows: { figure, experiment, axes, metric, unit, better, usual,
///   spread_percent, cells }; a cell for each column: { value, reliable, worse_percent, deviations, signs }.
/// not_reported: { host, slot, suite, last, nights }.
/// `hosts`: only these; all if empty. Throws Error for one that is not there.
Info fleet_verdict(const Fleet& fleet, const std::vector<std::string>& hosts = {});

/// A line for each figure and machine of tonight.
std::string fleet_csv(const Info& verdict);

}  // namespace gpubench
