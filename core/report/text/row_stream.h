// Rows of a run as lines of text, each one as soon as it is final. Columns are planned from what is known before the
// other rows are: the values of the axes, and the figures that claims and charts use with the usual width of their
// unit.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/report/text/render.h"
#include "core/report/text/table.h"
#include "core/results/column.h"
#include "core/results/doubt.h"
#include "core/results/info.h"
#include "core/results/record.h"

namespace gpubench {

/// "error: why", as a line of text says that a row failed. Of memory that did not suffice it says how much was asked
/// for, and "..." for what filled it: some 600 letters, which results.csv and the page have.
std::string failure_text(std::string_view status, std::string_view detail);

class RowStream {
 public:
  /// `info`: run.json of a run that has begun; its `axes`, `figures` and `processes` are used.
  RowStream(const Info& info, const TextStyle& style);

  /// The line of a row; empty for a point that was skipped. Headings stand above the first row, and again where the
  /// columns change: the window has another width, or a figure comes that the rows before did not have. `width`:
  /// columns of the window now, 0: any. `columns`: those of the run.
  std::string text_of(const Record& row, std::span<const Column> columns, std::size_t width);

  /// All rows of a run that is over, in columns that take every one.
  std::string table_of(std::span<const Record> rows, std::span<const Column> columns, std::size_t width);

  /// Headings of the columns that the latest rows have.
  std::vector<std::string> headings() const;

 private:
  struct Planned {
    std::string column;  // empty: half-width of the step time's interval
    std::string name;
    std::string heading;  // the name as far as it has room
    Unit unit = Unit::none;
    bool is_axis = false;
    Align align = Align::left;
    std::size_t width = 0;
  };

  std::vector<Column> candidates(std::span<const Column> columns) const;
  bool is_axis(std::string_view column) const { return axes_.contains(std::string(column)); }
  bool shows_all() const;
  bool is_setting(const Column& column, const Cell& cell) const;
  void note_widths(const Record& row, std::span<const Column> figures);
  bool fits(const Record& row, std::span<const Column> figures);
  void plan(std::span<const Column> columns);
  void plan_axis(const Column& column);
  void plan_figure(const Column& column);
  void drop_what_has_no_room();
  std::size_t planned_width() const;
  std::string cell_of(const Planned& planned, const Record& row) const;
  std::string heading_lines() const;
  std::string line_of(const Record& row);
  std::string note_of(const Record& row);

  TextStyle style_;
  std::size_t width_ = 0;
  bool has_processes_ = false;
  std::vector<std::string> axis_order_, figures_;
  std::map<std::string, std::vector<Cell>> axes_;
  /// Figures with a value in any row so far, and the widest text of each.
  std::map<std::string, std::size_t> seen_;
  /// The figures that the plan was made of, also those without room.
  std::set<std::string> known_;
  std::vector<Planned> planned_;
  std::string last_detail_;
  /// The doubts of rows so far.
  std::set<DoubtKind> told_;
};

}  // namespace gpubench
