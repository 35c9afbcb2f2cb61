// The part of a report about its rows: what went wrong, and the table. Large tables are cut, since results.csv has all.
#pragma once
#include <cstddef>
#include <kainjow/mustache.hpp>
#include <string>
#include <vector>

#include "core/report/text/table.h"
#include "core/results/run_reader.h"

namespace gpubench {

/// Sets the values that the template names between "results" and "meanings".
void set_results(kainjow::mustache::data& page, const Run& run);

kainjow::mustache::data empty_list();
/// Sets `name` and "has_<name>".
void set_list(kainjow::mustache::data& page, const std::string& name, const kainjow::mustache::data& values);
/// Sets `name`; a section of that name is left out where the text is empty.
void set_text(kainjow::mustache::data& one, const std::string& name, const std::string& text);
/// Cells of a table with their "text" and "class"; `extra` marks columns that paper leaves out.
kainjow::mustache::data headings_of(const Table& table, const std::vector<bool>& extra = {});
/// Cells of one row; the first `heads` of them are "head", and the first one has the class `first_class`. `marks`:
/// looks of cells ("refuted"), empty for those without.
kainjow::mustache::data cells_of(const Table& table, const std::vector<std::string>& row, std::size_t heads,
                                 const std::vector<bool>& extra = {}, const std::string& first_class = {},
                                 const std::vector<std::string>& marks = {});

}  // namespace gpubench
