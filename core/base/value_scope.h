// State that something sets for its own duration. It becomes what it was, which need not be what it is outside of all
// such scopes: they nest where a script's function is called within one.
#pragma once
#include <type_traits>
#include <utility>

namespace gpubench {

/// While it lives, the variable has another value.
template <class T>
class ValueScope {
 public:
  ValueScope(T& variable, std::type_identity_t<T> value)
      : variable_(variable), before_(std::exchange(variable, std::move(value))) {}
  ~ValueScope() { variable_ = std::move(before_); }
  ValueScope(const ValueScope&) = delete;
  ValueScope& operator=(const ValueScope&) = delete;

 private:
  T& variable_;
  T before_;
};

}  // namespace gpubench
