#include "core/experiment/inference/inference.h"

#include <gmock/gmock.h>
#include <numeric>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/data/source/from_tensor_slices.h"
#include "core/data/stage/batch.h"
#include "core/experiment/inference/inference_service.h"
#include "tests/core/experiment/declared.h"
#include "tests/core/train/fixture.h"
#include "tests/support/expect_error.h"
#include "tests/support/failing_threads.h"

namespace gpubench {
namespace {

using support::Blobs;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Inference = support::TrainTest;

InferenceOptions quick_inference() {
  InferenceOptions options;
  options.duration = Seconds(0.01);
  options.budget = Seconds(5);
  options.warmup.max_time = Seconds(0.02);
  return options;
}

TEST_F(Inference, OneClientGetsALatencyForEachQuery) {
  Trainer model = trainer(support::small_classifier());
  InferenceOptions options = quick_inference();
  options.batch = 4;
  options.best.flops_per_s = 1e9;
  const auto [record, samples, timeline] = measure_inference(model, options);
  EXPECT_EQ(std::get<std::string>(record.get("mode")), "single_stream");
  EXPECT_EQ(number(record, "batch_size"), 4);
  EXPECT_EQ(number(record, "concurrency"), 1);
  EXPECT_GE(samples.size(), queries_for_p99);
  EXPECT_EQ(number(record, "queries"), static_cast<double>(samples.size()));
  EXPECT_EQ(number(record, "latency_max_s"), *std::ranges::max_element(samples));
  EXPECT_EQ(number(record, "weights_bytes"), 4 * (4 * 8 + 8 + 8 * 3 + 3));
  EXPECT_GE(number(record, "flops_per_step"), 2 * 4 * (4 * 8 + 8 * 3));
  EXPECT_GT(number(record, "peak_memory_bytes"), 0);
  EXPECT_NEAR(number(record, "mfu"), number(record, "flops_per_s") / 1e9, 1e-9);
  EXPECT_THAT(std::get<std::string>(record.get("stop_reason")), StartsWith("duration: "));
  // What is between two queries is the measurement's own, so answers cannot come faster than latencies say.
  const double in_queries = std::accumulate(samples.begin(), samples.end(), 0.0);
  EXPECT_LE(number(record, "examples_per_s"), 4 * static_cast<double>(samples.size()) / in_queries * (1 + 1e-9));
  expect_declared(record, "inference");
}

TEST_F(Inference, TheSharesOfAQuerySumToOne) {
  Trainer model = trainer(support::small_classifier());
  InferenceOptions options = quick_inference();
  options.trace.new_tracer = &Devices::new_tracer;
  for (const std::int64_t clients : {1, 3}) {
    options.concurrency = clients;
    const auto [record, samples, timeline] = measure_inference(model, options);
    EXPECT_NEAR(sum_of_shares(record), 1, 1e-6);
    EXPECT_GT(number(record, "compute_share"), 0);
    EXPECT_GT(number(record, "copy_share"), 0) << "the answers";
    EXPECT_EQ(timeline, nullptr);
    expect_declared(record, "inference");
  }
}

TEST_F(Inference, ManyClientsWaitForEachOther) {
  Trainer model = trainer(support::small_classifier());
  InferenceOptions options = quick_inference();
  options.concurrency = 4;
  const auto [record, samples, timeline] = measure_inference(model, options);
  EXPECT_EQ(number(record, "concurrency"), 4);
  EXPECT_GE(samples.size(), queries_for_p99);
  // A client has one query under way at a time (Little's law: latency times rate), whatever the machine is doing.
  const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  EXPECT_LE(mean * number(record, "examples_per_s"), 4.5);
}

TEST_F(Inference, ClientsAreServedInTheOrderInWhichTheyAsked) {
  Trainer model = trainer(support::small_classifier());
  InferenceService service(model, load_queries(model, nullptr, 2, "test"), {});
  const auto stream = make_query_stream(service, InferenceMode::single_stream, 3);
  AnsweredQuery before = stream->next();
  for (int i = 0; i < 200; ++i) {
    const AnsweredQuery query = stream->next();
    EXPECT_GE(query.asked, before.asked);
    EXPECT_GE(query.answered, before.answered);
    EXPECT_GE(query.answered, query.asked);
    before = query;
  }
}

TEST_F(Inference, ClientsStartWholeOrNotAtAll) {
  Trainer model = trainer(support::small_classifier());
  InferenceService service(model, load_queries(model, nullptr, 2, "test"), {});
  for (int allowed = 0; allowed < 4; ++allowed) {
    const FailingThreads failing(allowed);
    EXPECT_THROW(make_query_stream(service, InferenceMode::single_stream, 4), Error);
  }
}

TEST_F(Inference, OfflineHasARateAndNoLatencies) {
  Trainer model = trainer(support::small_classifier());
  InferenceOptions options = quick_inference();
  options.mode = InferenceMode::offline;
  options.batch = 16;
  const auto [record, samples, timeline] = measure_inference(model, options);
  EXPECT_GT(number(record, "examples_per_s"), 0);
  EXPECT_FALSE(record.has("latency_s"));
  EXPECT_FALSE(record.has("latency_p99_s"));
  EXPECT_FALSE(record.has("latency_max_s"));
}

TEST_F(Inference, AnswersAreWhatPredictGives) {
  const Blobs blobs(6);
  for (const Execution execution : {Execution::graph, Execution::eager}) {
    Trainer model = trainer(support::small_classifier());
    const DatasetPtr examples = from_tensor_slices({blobs.points, blobs.one_hot});
    const std::vector<HostTensor> expected = model.predict(*batch(examples, 2));
    ExecutorOptions options;
    options.execution = execution;
    InferenceService service(model, load_queries(model, examples, 2, "test"), options);
    for (std::int64_t query = 0; query < 5; ++query) {  // in turn: the fourth is the first again
      service.start();
      EXPECT_EQ(service.under_way(), 1);
      service.finish();
      EXPECT_EQ(service.under_way(), 0);
      const auto answer = service.answer(0).values<float>();
      const auto rows = expected[0].rows(query % 3 * 2, query % 3 * 2 + 2);
      for (std::size_t i = 0; i < answer.size(); ++i) EXPECT_NEAR(answer[i], rows.values<float>()[i], 1e-6);
    }
  }
}

TEST_F(Inference, ReadsTheWeightsThatTheModelHasNow) {
  const Blobs blobs(2);
  Trainer model = trainer(support::small_classifier());
  InferenceService service(model, load_queries(model, from_tensor_slices({blobs.points}), 2, "test"), {});
  std::vector<HostTensor> zeros;
  for (const HostTensor& weight : model.weights()) zeros.push_back(HostTensor::zeros(weight.type()));
  model.set_weights(zeros);
  service.start();
  service.finish();
  for (const float share : service.answer(0).values<float>()) EXPECT_FLOAT_EQ(share, 1.0F / 3);
}

TEST_F(Inference, TellsNoPercentileThatNoQueryLiesBeyond) {
  std::vector<double> latencies(queries_for_p99 - 1);
  std::iota(latencies.begin(), latencies.end(), 1);
  Record record;
  set_latencies(record, latencies);
  EXPECT_EQ(number(record, "latency_s"), 50);
  EXPECT_NEAR(number(record, "latency_p90_s"), 89.2, 1e-9);
  EXPECT_NEAR(number(record, "latency_p95_s"), 94.1, 1e-9);
  EXPECT_FALSE(record.has("latency_p99_s"));
  EXPECT_EQ(number(record, "latency_max_s"), 99);
  latencies.push_back(100);
  set_latencies(record, latencies);
  EXPECT_NEAR(number(record, "latency_p99_s"), 99.01, 1e-9);
  Record few;
  set_latencies(few, std::vector<double>{3, 1, 2});
  EXPECT_EQ(number(few, "latency_s"), 2);
  EXPECT_FALSE(few.has("latency_low_s"));
  EXPECT_FALSE(few.has("latency_p90_s"));
}

TEST_F(Inference, SaysThatTheBudgetLeftNoTimeForThePercentile) {
  Trainer model = trainer(support::small_classifier());
  InferenceOptions options = quick_inference();
  options.duration = options.budget = Seconds(1e-9);
  const auto [record, samples, timeline] = measure_inference(model, options);
  EXPECT_LT(samples.size(), queries_for_p99);
  EXPECT_FALSE(record.has("latency_p99_s"));
  EXPECT_THAT(std::get<std::string>(record.get("stop_reason")),
              HasSubstr("fewer than the 100 that a 99th percentile needs"));
}

TEST_F(Inference, RefusesWhatMakesNoSense) {
  const auto text = [&](auto change) {
    Trainer model = trainer(support::small_classifier());
    InferenceOptions options = quick_inference();
    change(options);
    return support::error_of([&] { measure_inference(model, options); });
  };
  const Blobs blobs(6);
  const DatasetPtr examples = from_tensor_slices({blobs.points});
  EXPECT_EQ(text([](auto& o) { o.batch = 0; }), "measure.inference: batch must be at least 1, got 0");
  EXPECT_EQ(text([](auto& o) { o.concurrency = 0; }), "measure.inference: concurrency must be 1 to 1024, got 0");
  EXPECT_EQ(text([](auto& o) { o.mode = InferenceMode::offline, o.concurrency = 2; }),
            "measure.inference: offline has no clients that wait for answers, so its concurrency is 1, got 2");
  EXPECT_EQ(text([](auto& o) { o.duration = Seconds(0); }),
            "measure.inference: duration must be seconds above 0, got 0");
  EXPECT_EQ(text([&](auto& o) { o.input = batch(examples, 2); }),
            "measure.inference: the input has batches of 2 already; it takes single examples and the option batch");
  EXPECT_EQ(text([&](auto& o) { o.input = examples, o.batch = 7; }),
            "measure.inference: the input has fewer than the 7 examples of a batch");
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  EXPECT_EQ(text([&](auto& o) { o.input = examples, o.batch = huge; }),
            "measure.inference: the input has fewer than the 4611686018427387904 examples of a batch");
  EXPECT_THAT(text([](auto& o) { o.batch = huge; }), HasSubstr("140737488355329"));
  EXPECT_ERROR("unknown mode of inference 'server' (known: single_stream, offline)", parse_inference_mode("server"));
}

TEST_F(Inference, ARandomInputNeedsAShape) {
  Trainer model = trainer(std::make_shared<Model>("open", std::vector{support::dense(3, "softmax")}));
  EXPECT_ERROR(
      "measure.inference: model 'open' does not know the shape of its input yet; give "
      "input = dataset, or the first layer an input_shape",
      measure_inference(model, quick_inference()));
}

TEST_F(Inference, AnInterruptEndsItWithClientsWaiting) {
  Trainer model = trainer(support::small_classifier());
  InferenceOptions options = quick_inference();
  options.concurrency = 3;
  request_interrupt();
  EXPECT_THROW(measure_inference(model, options), Interrupted);
  clear_interrupt();
}

}  // namespace
}  // namespace gpubench
