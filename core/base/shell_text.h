// A command as text that people copy into a shell, whatever is in its words.
#pragma once
#include <span>
#include <string>

namespace gpubench {

/// The words with blanks between, each quoted where it is not plain, so that sh, bash, zsh and fish read the same words
/// and run nothing else. Characters that a terminal executes or does not show are escaped as $'\x1b', which sh and fish
/// do not know: they get another word, but no other command.
std::string shell_text(std::span<const std::string> words);

}  // namespace gpubench
