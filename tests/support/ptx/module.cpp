#include "tests/support/ptx/module.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "core/base/error.h"

namespace gpubench::ptx {
namespace {

constexpr std::size_t hash_digits = 8;

bool is_hash(std::string_view text) {
  return text.size() == hash_digits && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

std::vector<Declaration> take_parameters(Tokens& tokens) {
  std::vector<Declaration> all;
  if (!tokens.take_if("(")) return all;
  while (!tokens.take_if(")")) {
    tokens.expect(".param");
    all.push_back(take_declaration(tokens));
    tokens.take_if(",");
  }
  return all;
}

}  // namespace

/// "_GLOBAL__N__", a number, the length of the source's name, this name, and another number.
std::string plain_name(std::string_view name) {
  std::string plain(name);
  for (const std::string_view marker : {"_GLOBAL__N__", "_INTERNAL_"}) {
    for (std::size_t at = plain.find(marker); at != std::string::npos; at = plain.find(marker, at + 1)) {
      const std::size_t first = at + marker.size();
      if (!is_hash(std::string_view(plain).substr(first, hash_digits))) continue;
      plain.replace(first, hash_digits, hash_digits, '0');
      std::size_t length = 0;
      const char* const digits = plain.data() + first + hash_digits + 1;
      const auto [end, failed] = std::from_chars(digits, plain.data() + plain.size(), length);
      const std::size_t second = static_cast<std::size_t>(end - plain.data()) + 1 + length + 1;
      if (failed != std::errc{} || second + hash_digits > plain.size()) continue;
      if (is_hash(std::string_view(plain).substr(second, hash_digits))) {
        plain.replace(second, hash_digits, hash_digits, '0');
      }
    }
  }
  return plain;
}

Module::Module(std::string text) : text_(std::move(text)) {
  Tokens tokens(text_);
  read_header(tokens);
  while (!tokens.peek().empty()) read_top_level(tokens);
}

void Module::read_header(Tokens& tokens) {
  if (!tokens.take_if(".version")) throw Error("PTX: the file does not begin with .version");
  const std::string version(tokens.take());
  if (!version.starts_with("9.")) throw Error("PTX " + version + ": the interpreter knows version 9");
}

void Module::read_top_level(Tokens& tokens) {
  const std::string_view word = tokens.take();
  if (word == ".target") {
    do tokens.take();
    while (tokens.take_if(","));
  } else if (word == ".address_size") {
    tokens.expect("64");
  } else if (word == ".entry" || word == ".func") {
    read_function_head(tokens, word == ".entry");
  } else if (word == ".global" || word == ".const" || word == ".shared") {
    read_variable(tokens, word);
  } else if (word != ".visible" && word != ".weak" && word != ".extern" && word != ".common") {
    throw Error("PTX: '" + std::string(word) + "' outside of functions is not known");
  }
}

void Module::read_variable(Tokens& tokens, std::string_view space) {
  const Declaration declared = take_declaration(tokens);
  if (space == ".shared") {
    symbols_[declared.name] = place_behind(shared_bytes_, declared);
    return tokens.expect(";");
  }
  // operator new aligns by 16 bytes, as any load of it needs.
  std::vector<std::byte>& bytes = constants_.emplace_back(std::max<std::size_t>(declared.bytes, 1));
  symbols_[declared.name] = reinterpret_cast<std::uint64_t>(bytes.data());
  if (tokens.take_if("=")) {
    tokens.expect("{");
    for (std::size_t i = 0; !tokens.take_if("}"); ++i) {
      if (i >= declared.bytes) throw Error("PTX: the constant " + declared.name + " is no row of bytes");
      bytes[i] = static_cast<std::byte>(take_number(tokens));
      tokens.take_if(",");
    }
  }
  tokens.expect(";");
}

void Module::read_function_head(Tokens& tokens, bool is_kernel) {
  FunctionHead head;
  head.results = take_parameters(tokens);
  head.name = tokens.take();
  head.parameters = take_parameters(tokens);
  while (tokens.peek().starts_with('.')) {
    const bool is_bound = tokens.take() == ".maxntid";
    if (is_bound) head.most_threads = 1;
    while (!tokens.peek().starts_with('.') && tokens.peek() != "{" && tokens.peek() != ";") {
      const std::size_t number = take_number(tokens);
      if (is_bound) head.most_threads *= static_cast<unsigned>(number);
      tokens.take_if(",");
    }
  }
  if (tokens.take_if(";")) return;  // it follows below
  tokens.expect("{");
  // Behind the brace; comments that follow are part of the body.
  head.body = tokens.at();
  tokens.skip_body();
  const std::string name = plain_name(head.name);
  if (is_kernel) kernels_.push_back(name);
  heads_.insert_or_assign(name, std::move(head));
}

const Function& Module::function(std::string_view name) const {
  const auto found = read_.find(name);
  if (found != read_.end()) return *found->second;
  const auto head = heads_.find(name);
  if (head == heads_.end()) throw Error("PTX: there is no kernel " + std::string(name));
  auto read = std::make_unique<Function>(parse_function(text_, head->second, symbols_, shared_bytes_));
  const Function& result = *read_.emplace(name, std::move(read)).first->second;
  for (const FunctionCall& call : result.calls) function(call.callee);
  return result;
}

bool Module::holds(const void* at, std::size_t bytes) const {
  const auto* const begin = static_cast<const std::byte*>(at);
  return std::any_of(constants_.begin(), constants_.end(), [&](const std::vector<std::byte>& constant) {
    return begin >= constant.data() && begin + bytes <= constant.data() + constant.size();
  });
}

}  // namespace gpubench::ptx
