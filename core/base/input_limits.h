// Limits of whole inputs from elsewhere: results, tables, JSON, archives. With them 100 MB of anything are read or
// refused within seconds and in less than 1 GiB. Each limit is far above what this program writes, and messages name
// it. Files of data sets and weights have none: their readers take no more memory than the file has bytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace gpubench {

/// Bytes of a text that is held in memory as a whole: a table, a JSON text, a script of a run.
inline constexpr std::size_t largest_text = std::size_t{64} << 20;
/// Bytes of all files that are read for one archive or one list of runs.
inline constexpr std::size_t largest_texts = std::size_t{256} << 20;

/// Columns of a table: each is looked for by its name, in every row.
inline constexpr std::size_t most_columns = 2000;
/// Cells of a table, empty ones included. About 150 bytes of memory each; ten thousand points of a usual run have one
/// million.
inline constexpr std::size_t most_table_cells = 2'000'000;

/// Values of all series of `gpubench changes`: a second for a million of one series, three for as many series.
inline constexpr std::size_t most_series_values = 2'000'000;

/// Readers of JSON follow nested values by recursion, so that a million "[" would overflow the stack.
inline constexpr int deepest_json = 64;
/// Values and names of a JSON text, about 100 bytes of memory each.
inline constexpr std::size_t most_json_values = 4'000'000;
/// Fields of one JSON object: each is looked for by its name.
inline constexpr std::size_t most_json_fields = 5000;

/// Of an archive: files, and bytes after decompression, which takes two seconds.
inline constexpr std::size_t most_archive_entries = 10'000;
inline constexpr std::uint64_t largest_archive = std::uint64_t{1} << 30;

}  // namespace gpubench
