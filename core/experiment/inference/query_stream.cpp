#include "core/experiment/inference/query_stream.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/thread_team.h"

namespace gpubench {
namespace {

class OneClient final : public QueryStream {
 public:
  explicit OneClient(InferenceService& service) : service_(service) {}

  AnsweredQuery next() override {
    check_interrupt();
    const auto asked = Clock::now();
    service_.start();
    service_.finish();
    return {asked, Clock::now()};
  }

 private:
  InferenceService& service_;
};

class BackToBack final : public QueryStream {
 public:
  explicit BackToBack(InferenceService& service) : service_(service), before_(Clock::now()) {}

  AnsweredQuery next() override {
    check_interrupt();
    while (service_.under_way() < service_.depth()) service_.start();
    service_.finish();
    const auto asked = before_;
    before_ = Clock::now();
    return {asked, before_};
  }

 private:
  InferenceService& service_;
  Clock::time_point before_;
};

/// Only the caller's thread uses the service, because a replica computes on one host thread.
class ManyClients final : public QueryStream {
 public:
  ManyClients(InferenceService& service, int clients)
      : service_(service),
        clients_(static_cast<std::size_t>(clients)),
        threads_(clients, [this](int index) { keep_asking(clients_[static_cast<std::size_t>(index)]); }) {}
  ~ManyClients() override {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    for (Client& client : clients_) client.answered.notify_one();
  }

  AnsweredQuery next() override {
    check_interrupt();
    while (service_.under_way() < service_.depth()) {
      Client* const client = take(service_.under_way() == 0);
      if (client == nullptr) break;
      service_.start();
      served_.push_back(client);
    }
    service_.finish();
    const AnsweredQuery query{served_.front()->asked, Clock::now()};
    answer(*served_.front());
    served_.pop_front();
    return query;
  }

 private:
  struct Client {
    Clock::time_point asked;
    bool waits = false;
    std::condition_variable answered;
  };

  void keep_asking(Client& client) {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      client.waits = true;
      client.asked = Clock::now();
      queue_.push_back(&client);
      asked_.notify_one();
      client.answered.wait(lock, [&] { return !client.waits || stopped_; });
    }
  }

  /// The client that has waited longest; if none waits, waits for one or returns nullptr.
  Client* take(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) {
      const SpanScope waiting(service_.spans(), SpanClass::input_wait, "waiting for a query");
      asked_.wait(lock, [this] { return !queue_.empty(); });
    }
    if (queue_.empty()) return nullptr;
    Client* const client = queue_.front();
    queue_.pop_front();
    return client;
  }

  void answer(Client& client) {
    {
      const std::lock_guard lock(mutex_);
      client.waits = false;
    }
    client.answered.notify_one();
  }

  InferenceService& service_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<Client*> queue_, served_;
  bool stopped_ = false;
  std::vector<Client> clients_;
  ThreadTeam threads_;  // the last member: it ends before the members that its threads use
};

constexpr EnumNames<InferenceMode, 2> inference_modes{"unknown mode of inference", {"single_stream", "offline"}};

}  // namespace

std::string_view to_string(InferenceMode mode) {
  return inference_modes[mode];
}

InferenceMode parse_inference_mode(std::string_view name) {
  return inference_modes.parse(name);
}

std::unique_ptr<QueryStream> make_query_stream(InferenceService& service, InferenceMode mode, int clients) {
  if (mode == InferenceMode::offline) return std::make_unique<BackToBack>(service);
  if (clients == 1) return std::make_unique<OneClient>(service);
  return std::make_unique<ManyClients>(service, clients);
}

}  // namespace gpubench
