// The files that SQLite opens beside a database. They may come from elsewhere, like the database: SQLite restores a
// journal before the first read, and deletes the file that the journal names as its super-journal.
#pragma once
#include <filesystem>
#include <string>

namespace gpubench {

/// What is wrong with the journal, write-ahead log or shared memory beside `database`; empty if SQLite may use them:
/// plain files with one name, owned by this user or by the owner of the database, that name no other file.
std::string fault_beside(const std::filesystem::path& database);

/// Name of a VFS of SQLite that opens no super-journal, whatever a journal says by the time SQLite reads it.
/// Source: https://www.sqlite.org/c3ref/vfs.html
const char* vfs_without_super_journals();

}  // namespace gpubench
