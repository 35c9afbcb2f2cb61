// Iterators of datasets that are open. Each has threads and buffers, which Lua's collector does not see: a script that
// forgets iterators would make thousands before it runs.
#pragma once
#include <cstddef>
#include <memory>

struct lua_State;

namespace gpubench::lua {

class OpenIterators {
 public:
  /// Belongs to an iterator: counts while it lives.
  class Ticket {
   public:
    explicit Ticket(std::shared_ptr<int> count) : count_(std::move(count)) { ++*count_; }
    ~Ticket() { --*count_; }
    Ticket(const Ticket&) = delete;
    Ticket& operator=(const Ticket&) = delete;

   private:
    std::shared_ptr<int> count_;
  };

  /// For a new iterator; collects what the script has forgotten where many were made since it was last done, or where
  /// the process has grown.
  std::unique_ptr<Ticket> enter(lua_State* L);
  /// Collects what the script has forgotten.
  void collect(lua_State* L);
  int count() const { return *count_; }

 private:
  std::shared_ptr<int> count_ = std::make_shared<int>(0);
  int collect_at_count_ = 0;
  double collect_at_bytes_ = 0;
};

}  // namespace gpubench::lua
