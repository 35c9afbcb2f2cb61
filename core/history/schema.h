// The tables of a history file, and the steps that bring an older file up to date.
#pragma once
#include "core/history/sqlite.h"

namespace gpubench {

/// Throws HistoryUnavailable for a file of another program and for one of a newer gpubench. Older ones are migrated,
/// one step for each version, all in one transaction.
void prepare_schema(const Database& database);

}  // namespace gpubench
