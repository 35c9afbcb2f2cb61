#include "core/diagnose/no_use.h"

#include <gmock/gmock.h>

#include "tests/core/diagnose/row.h"

namespace gpubench::no_use_test {
namespace {

using support::trained_row;

std::string why(Remedy remedy, const Record& more) {
  static const RunFacts facts;
  const Record row = trained_row(more);
  return why_no_use(remedy, Evidence(row, facts));
}

std::string in_pipeline(Remedy remedy, const std::string& stages) {
  return why(remedy, {{"pipeline_stages", stages}});
}

TEST(NoUse, OfStagesThatThePipelineHas) {
  const std::string all = "list_files; interleave parallel=4; map workers=2; cache; batch; prefetch; take";
  for (const Remedy remedy : {Remedy::prefetch, Remedy::more_workers, Remedy::parallel_reads, Remedy::cache})
    EXPECT_NE(in_pipeline(remedy, all), "") << to_string(remedy);
  const std::string serial = "list_files; interleave; map; map workers=2; batch";
  for (const Remedy remedy : {Remedy::prefetch, Remedy::more_workers, Remedy::parallel_reads, Remedy::cache})
    EXPECT_EQ(in_pipeline(remedy, serial), "") << to_string(remedy);
  EXPECT_EQ(in_pipeline(Remedy::prefetch, "idx; prefetch; map; batch"), "") << "the batches are not made ahead";
  EXPECT_EQ(in_pipeline(Remedy::prefetch_to_device, "idx; batch; prefetch"), "");
  EXPECT_NE(in_pipeline(Remedy::prefetch_to_device, "idx; batch; prefetch_to_device"), "");
}

TEST(NoUse, OneWorkerIsNotSeveral) {
  const std::string one = "list_files; interleave parallel=1; map workers=1; batch", eleven = "map workers=11; batch";
  EXPECT_EQ(in_pipeline(Remedy::more_workers, one), "");
  EXPECT_EQ(in_pipeline(Remedy::parallel_reads, one), "");
  EXPECT_EQ(in_pipeline(Remedy::more_workers, eleven), "every map has several workers already");
}

TEST(NoUse, OfStagesThatHaveNothingToDo) {
  EXPECT_EQ(in_pipeline(Remedy::more_workers, "idx; batch"), "the pipeline has no map");
  EXPECT_EQ(in_pipeline(Remedy::batched_map, "idx; batch"), "the pipeline has no map");
  EXPECT_EQ(in_pipeline(Remedy::parallel_reads, "from_tensor_slices; batch"), "the pipeline reads no files");
  EXPECT_EQ(in_pipeline(Remedy::parallel_reads, "from_tensor_slices; csv; zip; batch"), "");
  EXPECT_EQ(in_pipeline(Remedy::parallel_reads, "random; batch"), "the pipeline reads no files");
  EXPECT_EQ(in_pipeline(Remedy::parallel_reads, "range; csv; sample_from_datasets; batch"), "");
  EXPECT_NE(in_pipeline(Remedy::prefetch, "from_generator; batch"), "");
}

TEST(NoUse, OfWhatTheModelIsCompiledWith) {
  EXPECT_NE(why(Remedy::graph, {}), "");
  EXPECT_EQ(why(Remedy::graph, {{"execution", std::string("eager")}}), "");
  EXPECT_EQ(why(Remedy::fused_kernels, {}), "") << "whether passes are off is not known";
  EXPECT_EQ(why(Remedy::fused_kernels, {{"passes_off", std::string("fuse_epilogue")}}), "");
  EXPECT_EQ(why(Remedy::fused_kernels, {{"passes_off", std::string("none")}}), "no pass is switched off");
  EXPECT_NE(why(Remedy::mixed_precision, {}), "");
  EXPECT_EQ(why(Remedy::mixed_precision, {{"precision", std::string("float32")}}), "");
}

TEST(NoUse, OfCopiesToADeviceThatWorksInTheHostsMemory) {
  for (const Remedy remedy :
       {Remedy::prefetch_to_device, Remedy::pinned_memory, Remedy::input_slots, Remedy::device_exchanges}) {
    EXPECT_NE(why(remedy, {{"device", std::string("cpu:0")}}), "") << to_string(remedy);
    EXPECT_EQ(why(remedy, {}), "") << to_string(remedy);
  }
  EXPECT_EQ(why(Remedy::input_slots, {{"input_slots", std::int64_t{2}}}), "the model has several input slots already");
  EXPECT_EQ(why(Remedy::input_slots, {{"input_slots", std::int64_t{1}}}), "");
  EXPECT_NE(why(Remedy::larger_buckets, {{"exchanges", 1.0}}), "");
  EXPECT_EQ(why(Remedy::larger_buckets, {{"exchanges", 3.0}}), "");
}

TEST(NoUse, WhatARowDoesNotSayRulesOutNothing) {
  static const RunFacts facts;
  const Record row{{"status", std::string("ok")}};
  for (const RemedyText& text : remedies()) EXPECT_EQ(why_no_use(text.remedy, Evidence(row, facts)), "") << text.name;
  for (const char* odd : {";", "; ", "  ", "map", "\x01; workers=; =", "; ; batch"}) {
    for (const RemedyText& text : remedies()) in_pipeline(text.remedy, odd);  // nothing is read beyond its end
  }
}

}  // namespace
}  // namespace gpubench::no_use_test
