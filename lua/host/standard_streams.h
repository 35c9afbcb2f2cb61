// The standard streams may be closed, full, or pipes that nobody reads any more. None of this may reach a run's files.
#pragma once

namespace gpubench {

/// Opens /dev/null as each of the descriptors 0 to 2 that is closed: the next file to be opened would get its number,
/// and what is printed would be written into that file. Before anything opens a file.
void open_standard_streams();

/// From now on, writing to a pipe that nobody reads fails instead of ending the process. Programs that this one starts
/// are not affected.
void outlive_closed_pipes();

/// Writes what the standard output still buffers. The exit status: `status`, unless that is 0 and not all could be
/// written: then 128 + SIGPIPE where the reader has left, as for other programs, else an error that is printed.
int end_standard_output(int status);

}  // namespace gpubench
