// What is known of the standard streams as terminals, and threads that work beside a measurement.
#pragma once
#include <optional>
#include <string_view>

namespace gpubench {

/// Columns of the window; 80 if the terminal tells none. Empty if the descriptor is no terminal.
std::optional<int> terminal_columns(int descriptor);

/// Whether a terminal interprets escape sequences: TERM is set, and not to "dumb".
bool terminal_has_escapes();

/// Whether the terminal breaks its lines anew when its window becomes narrower. Most do; xterm, screen and the Linux
/// console cut them.
bool terminal_reflows();

/// Whether a write of a few lines would not block. A pipe that nobody reads takes none; a file takes all.
bool takes_output(int descriptor);

/// Prints a message and a line break on standard error, as shown_message(): the one way there for text that others may
/// have a part in. A standard error that fails ends nothing.
void print_message(std::string_view message);

/// For the calling thread: signals go to other threads.
void block_signals();

/// The calling thread runs only while a processor has nothing else to do, so that it interrupts no other thread.
void run_when_idle();

}  // namespace gpubench
