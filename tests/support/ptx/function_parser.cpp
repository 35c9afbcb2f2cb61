#include "tests/support/ptx/function_parser.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "tests/support/ptx/opcodes.h"

namespace gpubench::ptx {
namespace {

constexpr std::array<std::pair<std::string_view, Special>, 14> special_registers{{
    {"%tid.x", Special::tid_x},
    {"%tid.y", Special::tid_y},
    {"%tid.z", Special::tid_z},
    {"%ntid.x", Special::ntid_x},
    {"%ntid.y", Special::ntid_y},
    {"%ntid.z", Special::ntid_z},
    {"%ctaid.x", Special::ctaid_x},
    {"%ctaid.y", Special::ctaid_y},
    {"%ctaid.z", Special::ctaid_z},
    {"%nctaid.x", Special::nctaid_x},
    {"%nctaid.y", Special::nctaid_y},
    {"%nctaid.z", Special::nctaid_z},
    {"%laneid", Special::laneid},
    {"_", Special::sink},
}};

/// A number as it stands in PTX: 12, 0x1F, 7U, 0f3F800000 (the bits of a float), 0d3FF0000000000000.
std::uint64_t number_of(std::string_view word) {
  std::string_view digits = word;
  int base = 10;
  if (digits.ends_with('U')) digits.remove_suffix(1);
  if (digits.size() > 2 && digits[0] == '0' && std::isdigit(static_cast<unsigned char>(digits[1])) == 0) {
    digits.remove_prefix(2);
    base = 16;
  }
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (failed != std::errc{} || end != digits.data() + digits.size()) {
    throw Error("'" + std::string(word) + "' is no number");
  }
  return number;
}

bool is_number(std::string_view word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
}

struct Operand {
  std::vector<Register> registers;
  bool is_vector = false;
  std::int64_t offset = 0;  // of an address
};

class FunctionParser {
 public:
  FunctionParser(std::string_view text, const FunctionHead& head, const Symbols& symbols, std::size_t shared_bytes)
      : tokens_(text, head.body), symbols_(symbols) {
    function_.name = head.name;
    function_.most_threads = head.most_threads;
    function_.shared_bytes = shared_bytes;
    function_.registers = static_cast<std::size_t>(Special::count);
    for (const auto& [name, special] : special_registers) add_name(name, static_cast<Register>(special));
    for (const Declaration& each : head.results) function_.results.push_back(add_parameter(each));
    for (const Declaration& each : head.parameters) function_.parameters.push_back(add_parameter(each));
  }

  Function parse() {
    names_.emplace_back();
    while (names_.size() > 1) take_statement();
    function_.code.push_back({.run = opcodes().find("ret")->run, .text = "ret"});
    for (const auto& [at, label] : jumps_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) throw Error("a jump to '" + label + "', which is no label");
      function_.code[at].number = found->second;
    }
    return std::move(function_);
  }

 private:
  using Names = std::map<std::string, Register, std::less<>>;

  void take_statement() {
    const std::size_t begin = tokens_.at();
    if (tokens_.take_if("{")) {
      names_.emplace_back();
    } else if (tokens_.take_if("}")) {
      names_.pop_back();
    } else if (!tokens_.take_if(";")) {
      if (tokens_.peek().starts_with('.')) return take_directive(tokens_.take());
      Instruction instruction;
      take_guard(instruction);
      const std::string_view word = tokens_.take();
      if (word.empty()) throw Error("a body without its closing brace");
      if (tokens_.take_if(":")) {
        labels_[std::string(word)] = static_cast<std::int64_t>(function_.code.size());
        return;
      }
      take_instruction(instruction, word, begin);
    }
  }

  void take_guard(Instruction& instruction) {
    if (!tokens_.take_if("@")) return;
    instruction.guard_value = !tokens_.take_if("!");
    instruction.guard = register_of(tokens_.take());
  }

  void take_directive(std::string_view directive) {
    if (directive == ".reg") {
      take_registers();
    } else if (directive == ".shared") {
      const Declaration declared = take_declaration(tokens_);
      add_constant(declared.name, place_behind(function_.shared_bytes, declared));
    } else if (directive == ".local") {
      const Declaration declared = take_declaration(tokens_);
      add_constant(declared.name, place_behind(function_.local_bytes, declared));
    } else if (directive == ".param") {
      add_parameter(take_declaration(tokens_));
    } else if (directive != ".pragma" && directive != ".loc") {
      throw Error("the directive " + std::string(directive));
    }
    tokens_.skip_behind(";");
  }

  /// ".b32 %r<85>" are %r0 to %r84.
  void take_registers() {
    tokens_.take();
    do {
      const std::string name(tokens_.take());
      if (!tokens_.take_if("<")) {
        add_name(name, new_register());
        continue;
      }
      const std::size_t count = take_number(tokens_);
      for (std::size_t i = 0; i < count; ++i) add_name(name + std::to_string(i), new_register());
      tokens_.expect(">");
    } while (tokens_.take_if(","));
  }

  Register new_register() {
    if (function_.registers > std::numeric_limits<Register>::max()) throw Error("more registers than 65536");
    return static_cast<Register>(function_.registers++);
  }

  void add_name(std::string_view name, Register place) { names_.back().insert_or_assign(std::string(name), place); }

  Register constant(std::uint64_t value) {
    const auto [found, is_new] = constants_.try_emplace(value);
    if (is_new) {
      found->second = new_register();
      function_.constants.push_back({found->second, value});
    }
    return found->second;
  }
  void add_constant(std::string_view name, std::uint64_t value) { add_name(name, constant(value)); }

  Parameter add_parameter(const Declaration& declared) {
    const std::size_t offset = place_behind(function_.parameter_bytes, declared);
    add_constant(declared.name, offset);
    return parameters_.insert_or_assign(declared.name, Parameter{declared.name, offset, declared.bytes}).first->second;
  }

  Register register_of(std::string_view word) {
    for (auto scope = names_.rbegin(); scope != names_.rend(); ++scope) {
      if (const auto found = scope->find(word); found != scope->end()) return found->second;
    }
    if (const auto found = symbols_.find(word); found != symbols_.end()) return constant(found->second);
    if (word == "WARP_SZ") return constant(32);
    throw Error("the operand '" + std::string(word) + "'");
  }

  Register take_scalar() {
    if (tokens_.take_if("-")) return constant(0 - number_of(tokens_.take()));
    const std::string_view word = tokens_.take();
    return is_number(word) ? constant(number_of(word)) : register_of(word);
  }

  Operand take_operand() {
    Operand operand;
    if (tokens_.take_if("{")) {
      operand.is_vector = true;
      do operand.registers.push_back(take_scalar());
      while (tokens_.take_if(","));
      tokens_.expect("}");
    } else if (tokens_.take_if("[")) {
      operand.registers.push_back(take_scalar());
      if (tokens_.take_if("+")) {
        const bool is_negative = tokens_.take_if("-");
        const auto offset = static_cast<std::int64_t>(number_of(tokens_.take()));
        operand.offset = is_negative ? -offset : offset;
      }
      tokens_.expect("]");
    } else {
      operand.registers.push_back(take_scalar());
      if (tokens_.take_if("|")) operand.registers.push_back(take_scalar());
    }
    return operand;
  }

  std::vector<Operand> take_operands() {
    std::vector<Operand> operands;
    if (tokens_.take_if(";")) return operands;
    do operands.push_back(take_operand());
    while (tokens_.take_if(","));
    tokens_.expect(";");
    return operands;
  }

  /// "call.uni (result), name, (argument, argument);"
  std::int64_t take_call() {
    FunctionCall call;
    const auto take_list = [&] {
      std::vector<Parameter> list;
      if (!tokens_.take_if("(")) return list;
      if (tokens_.take_if(")")) return list;
      do {
        const auto found = parameters_.find(tokens_.take());
        if (found == parameters_.end()) throw Error("a call with what is no parameter");
        list.push_back(found->second);
      } while (tokens_.take_if(","));
      tokens_.expect(")");
      return list;
    };
    call.results = take_list();
    if (!call.results.empty()) tokens_.expect(",");
    call.callee = tokens_.take();
    if (tokens_.take_if(",")) call.arguments = take_list();
    tokens_.expect(";");
    function_.calls.push_back(std::move(call));
    return static_cast<std::int64_t>(function_.calls.size()) - 1;
  }

  void take_instruction(Instruction instruction, std::string_view opcode, std::size_t begin) {
    const std::string_view name = opcode.substr(0, opcode.find('.'));
    std::vector<Operand> operands;
    if (name == "bra") {
      jumps_.emplace_back(function_.code.size(), tokens_.take());
      tokens_.expect(";");
    } else if (name == "call") {
      instruction.number = take_call();
    } else {
      operands = take_operands();
    }
    instruction.text = tokens_.text_since(begin);
    instruction.text = instruction.text.substr(0, instruction.text.find(';'));
    place_operands(instruction, name, operands);
    const Meaning* const meaning = opcodes().find(key_of(opcode, operands));
    if (meaning == nullptr) throw Error("the instruction '" + std::string(instruction.text) + "'");
    instruction.run = meaning->run;
    instruction.variant = meaning->variant;
    instruction.lanes = meaning->lanes;
    instruction.bytes = meaning->bytes;
    function_.code.push_back(instruction);
  }

  static std::string key_of(std::string_view opcode, const std::vector<Operand>& operands) {
    std::string key(opcode);
    if (!opcode.starts_with("mov.") || operands.size() != 2) return key;
    if (operands[0].is_vector) key += " to vector of " + std::to_string(operands[0].registers.size());
    if (operands[1].is_vector) key += " from vector of " + std::to_string(operands[1].registers.size());
    return key;
  }

  /// The first operand is the result, except where an instruction has none.
  static void place_operands(Instruction& instruction, std::string_view name, const std::vector<Operand>& operands) {
    constexpr std::array<std::string_view, 5> without_result{"st", "bar", "barrier", "membar", "fence"};
    const bool has_result = std::find(without_result.begin(), without_result.end(), name) == without_result.end();
    const bool has_two = !operands.empty() && !operands[0].is_vector && operands[0].registers.size() > 1;
    if (has_two && name != "shfl") throw Error("two results of '" + std::string(instruction.text) + "'");
    std::size_t to = 0, from = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].offset != 0) instruction.number = operands[i].offset;
      for (const Register each : operands[i].registers) {
        const bool is_result = has_result && i == 0;
        if (is_result ? to == instruction.to.size() : from == instruction.from.size()) {
          throw Error("more operands than the interpreter knows in '" + std::string(instruction.text) + "'");
        }
        (is_result ? instruction.to[to++] : instruction.from[from++]) = each;
      }
    }
  }

  Tokens tokens_;
  const Symbols& symbols_;
  Function function_;
  std::vector<Names> names_ = std::vector<Names>(1);  // of the scopes that are open
  std::map<std::uint64_t, Register> constants_;
  std::map<std::string, Parameter, std::less<>> parameters_;
  std::map<std::string, std::int64_t, std::less<>> labels_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;
};

}  // namespace

Function parse_function(std::string_view text, const FunctionHead& head, const Symbols& symbols,
                        std::size_t shared_bytes) {
  try {
    return FunctionParser(text, head, symbols, shared_bytes).parse();
  } catch (const Error& error) {
    throw Error("PTX of " + head.name + ": not known: " + error.what());
  }
}

}  // namespace gpubench::ptx
