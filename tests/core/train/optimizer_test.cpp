#include "core/train/optimizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_variables.h"

namespace gpubench {
namespace {

using support::FakeVariables;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

VariablePtr weight(const char* name, DeviceId device = {}) {
  return std::make_shared<const Variable>(Variable{99, name, {{2, 3}, Dtype::f32}, std::move(device), true});
}

struct Applied {
  Applied(std::string_view name, const ConfigEntries& entries, std::vector<VariablePtr> variables)
      : optimizer(make_optimizer(name, entries)) {
    optimizer->build(factory, variables);
    std::vector<Value> gradients;
    for (const VariablePtr& variable : variables) gradients.push_back(graph.input(variable->type, "g"));
    optimizer->apply_gradients(graph, gradients, variables);
  }
  std::vector<std::string> ops() const {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) {
      if (!node.inputs.empty()) names.emplace_back(node.op->name());
    }
    return names;
  }
  FakeVariables factory;
  OptimizerPtr optimizer;
  Graph graph;
};

TEST(Optimizer, UpdatesAllVariablesByOneOp) {
  const Applied adam("adam", {}, {weight("a"), weight("b"), weight("c")});
  EXPECT_THAT(adam.ops(), ElementsAre("assign_add", "adam_update"));
  EXPECT_THAT(adam.factory.names, ElementsAre("adam/iterations", "adam/learning_rate", "adam/a/m", "adam/a/v",
                                              "adam/b/m", "adam/b/v", "adam/c/m", "adam/c/v"));
}

TEST(Optimizer, UpdatesEachDeviceByItself) {
  const Applied adam("adam", {}, {weight("a"), weight("b", {DeviceId::Kind::cpu, 1, ""})});
  EXPECT_THAT(adam.ops(), ElementsAre("assign_add", "adam_update", "adam_update"));
  EXPECT_EQ(adam.graph.nodes().back().device.index, 1);
}

TEST(Optimizer, HasKerasDefaults) {
  const Applied sgd("sgd", {}, {weight("a")});
  EXPECT_THAT(sgd.factory.names, ElementsAre("sgd/iterations", "sgd/learning_rate"));
  EXPECT_EQ(sgd.factory.initials.at("sgd/learning_rate").values<float>()[0], 0.01F);
  const Applied adam("Adam", {}, {weight("a")});
  EXPECT_EQ(adam.factory.initials.at("adam/learning_rate").values<float>()[0], 0.001F);
  EXPECT_EQ(make_optimizer("adamw")->config().number("weight_decay"), 0.004);
  EXPECT_EQ(make_optimizer("rmsprop")->config().number("rho"), 0.9);
}

TEST(Optimizer, MakesSlotsOncePerVariable) {
  FakeVariables factory;
  const std::vector variables{weight("a")};
  const OptimizerPtr adam = make_optimizer("adam");
  adam->build(factory, variables);
  adam->build(factory, variables);
  EXPECT_EQ(factory.names.size(), 4U);
  EXPECT_EQ(adam->state_of(variables).size(), 4U);
}

TEST(Optimizer, LeavesVariablesWithoutGradientAlone) {
  FakeVariables factory;
  const std::vector variables{weight("a"), weight("b")};
  const OptimizerPtr sgd = make_optimizer("sgd");
  sgd->build(factory, variables);
  Graph graph;
  const std::vector gradients{Value{}, graph.input(variables[1]->type, "g")};
  sgd->apply_gradients(graph, gradients, variables);
  EXPECT_EQ(graph.nodes().back().inputs.size(), 3U);  // rate, one variable, one gradient
}

TEST(Optimizer, LimitsNormsByOneReduction) {
  const std::vector variables{weight("a"), weight("b"), weight("c", {DeviceId::Kind::cpu, 1, ""})};
  EXPECT_THAT(Applied("sgd", {{"clipvalue", 0.5}}, {weight("a"), weight("b")}).ops(),
              ElementsAre("assign_add", "sgd_update"));
  EXPECT_THAT(Applied("sgd", {{"clipnorm", 1.0}}, {weight("a"), weight("b")}).ops(),
              ElementsAre("assign_add", "sums_of_squares", "sgd_update"));
  EXPECT_THAT(Applied("sgd", {{"global_clipnorm", 1.0}}, variables).ops(),
              ElementsAre("assign_add", "sums_of_squares", "sums_of_squares", "add", "sgd_update", "sgd_update"));
}

TEST(Optimizer, DecaysVariablesUnlessTheirNameIsExcluded) {
  FakeVariables factory;
  const std::vector variables{weight("dense/kernel"), weight("dense/bias")};
  const OptimizerPtr adamw = make_optimizer("adamw");
  adamw->exclude_from_weight_decay({"bias", "gamma"});
  adamw->build(factory, variables);
  Graph graph;
  const std::vector gradients{graph.input(variables[0]->type, "g"), graph.input(variables[1]->type, "g")};
  adamw->apply_gradients(graph, gradients, variables);
  std::vector<std::string> decays;
  for (const Node& node : graph.nodes()) {
    if (const auto* update = op_as<AdamUpdate>(node))
      decays.push_back(fmt::format("{}", update->settings.weight_decay));
  }
  EXPECT_THAT(decays, ElementsAre("0.004", "0"));
  EXPECT_ERROR("optimizer adamw: exclude_from_weight_decay must be called before the first step",
               adamw->exclude_from_weight_decay({"kernel"}));
}

TEST(Optimizer, KeepsStateOfEachRule) {
  const auto slots = [](const char* name, const ConfigEntries& entries = {}) {
    std::vector<std::string> names = Applied(name, entries, {weight("a")}).factory.names;
    return std::vector(names.begin() + 2, names.end());  // behind step and learning rate
  };
  EXPECT_THAT(slots("adagrad"), ElementsAre("adagrad/a/accumulator"));
  EXPECT_THAT(slots("adadelta"), ElementsAre("adadelta/a/mean_square", "adadelta/a/mean_change"));
  EXPECT_THAT(slots("Adamax"), ElementsAre("adamax/a/m", "adamax/a/u"));
  EXPECT_THAT(slots("nadam"), ElementsAre("nadam/a/m", "nadam/a/v"));
  EXPECT_THAT(slots("adam", {{"amsgrad", true}}), ElementsAre("adam/a/m", "adam/a/v", "adam/a/largest_v"));
  EXPECT_THAT(slots("sgd", {{"use_ema", true}}), ElementsAre("sgd/a/average"));
  const Applied adagrad("adagrad", {{"initial_accumulator_value", 0.5}}, {weight("a")});
  EXPECT_EQ(adagrad.factory.initials.at("adagrad/a/accumulator").values<float>()[5], 0.5F);
  EXPECT_THAT(Applied("nadam", {}, {weight("a"), weight("b")}).ops(),
              ElementsAre("assign_add", "nadam_momentum", "nadam_update"));
}

TEST(Optimizer, AveragesAllVariablesBehindTheUpdate) {
  EXPECT_THAT(Applied("adam", {{"use_ema", true}}, {weight("a"), weight("b")}).ops(),
              ElementsAre("assign_add", "adam_update", "moving_average_update"));
  const ConfigEntries overwrites{{"use_ema", true}, {"ema_overwrite_frequency", std::int64_t{3}}};
  EXPECT_THAT(Applied("adam", overwrites, {weight("a"), weight("b")}).ops(),
              ElementsAre("assign_add", "adam_update", "moving_average_update", "moving_average_update"));
  EXPECT_ERROR("sgd: ema_momentum must be from 0 to 1, got 1.5", make_optimizer("sgd", {{"ema_momentum", 1.5}}));
  EXPECT_ERROR("sgd: ema_overwrite_frequency must be at least 0, got -1",
               make_optimizer("sgd", {{"ema_overwrite_frequency", std::int64_t{-1}}}));
  EXPECT_ERROR("sgd: ema_overwrite_frequency needs use_ema = true",
               make_optimizer("sgd", {{"ema_overwrite_frequency", std::int64_t{2}}}));
  FakeVariables factory;
  const OptimizerPtr sgd = make_optimizer("sgd", {{"use_ema", true}});
  const VariablePtr a = weight("a"), b = weight("b");
  sgd->build(factory, std::vector{a});
  EXPECT_ERROR(
      "optimizer sgd: 'b' is trained from now on, and an average begins with the first step; make another "
      "optimizer",
      sgd->build(factory, std::vector{a, b}));
}

TEST(Optimizer, GivesGroupsOfVariablesTheirOwnRate) {
  FakeVariables factory;
  const std::vector variables{weight("stem/kernel"), weight("stem/bias"), weight("head/kernel")};
  const OptimizerPtr adam = make_optimizer("adam");
  adam->multiply_learning_rate({"stem/"}, 0.1);
  adam->multiply_learning_rate({"bias"}, 2);
  adam->build(factory, variables);
  Graph graph;
  std::vector<Value> gradients;
  for (const VariablePtr& variable : variables) gradients.push_back(graph.input(variable->type, "g"));
  adam->apply_gradients(graph, gradients, variables);
  int updates = 0, products = 0;
  for (const Node& node : graph.nodes()) {
    updates += op_as<AdamUpdate>(node) != nullptr ? 1 : 0;
    products += node.op->name() == "mul" ? 1 : 0;
  }
  EXPECT_EQ(updates, 3);
  EXPECT_EQ(products, 2);
  EXPECT_ERROR("optimizer adam: multiply_learning_rate must be called before the first step",
               adam->multiply_learning_rate({"head"}, 2));
  const OptimizerPtr other = make_optimizer("sgd");
  EXPECT_ERROR("optimizer sgd: multiply_learning_rate: a factor of at least 0 is expected, got -1",
               other->multiply_learning_rate({"stem"}, -1));
  other->multiply_learning_rate({"backbone"}, 2);
  EXPECT_ERROR(
      "optimizer sgd: multiply_learning_rate: 'backbone' is in the name of no variable (stem/kernel, "
      "stem/bias, head/kernel)",
      other->build(factory, variables));
}

// Its step counter would count the steps of both.
TEST(Optimizer, ServesOneModel) {
  FakeVariables factory;
  const auto built = [&](std::vector<std::vector<VariablePtr>> calls) {
    const OptimizerPtr optimizer = make_optimizer("adam");
    for (const std::vector<VariablePtr>& variables : calls) optimizer->build(factory, variables);
  };
  const VariablePtr a = weight("a"), b = weight("b"), c = weight("c");
  EXPECT_NO_THROW(built({{a, b}, {a, b}}));
  EXPECT_NO_THROW(built({{a, b}, {b}})) << "some of them";
  EXPECT_NO_THROW(built({{a}, {a, b}})) << "frozen layers that are trained from now on";
  for (const auto& calls :
       std::vector<std::vector<std::vector<VariablePtr>>>{{{a}, {c}}, {{a, b}, {b, c}}, {{weight("gone")}, {c}}})
    EXPECT_ERROR(
        "optimizer adam: it serves another model, of which 'c' is "
        "no variable; make another optimizer",
        built(calls));
}

TEST(Optimizer, RefusesLimits) {
  const auto with = [](const ConfigEntries& entries) { return [entries] { make_optimizer("adam", entries); }; };
  EXPECT_THAT(with({{"clipnorm", 0.0}}), ThrowsMessage<Error>("adam: clipnorm must be above 0, got 0"));
  EXPECT_THAT(with({{"clipvalue", -1.0}}), ThrowsMessage<Error>("adam: clipvalue must be above 0, got -1"));
  EXPECT_THAT(with({{"clipnorm", 1.0}, {"global_clipnorm", 1.0}}),
              ThrowsMessage<Error>("adam: only one of clipnorm, clipvalue and global_clipnorm can be given, got "
                                   "clipnorm and global_clipnorm"));
}

TEST(Schedule, RefusesPiecesThatDoNotFit) {
  const std::vector<double> two{10, 5}, one{10}, rates{0.1, 0.01, 0.001}, negative{0.1, -1};
  EXPECT_ERROR("piecewise_constant_decay: 1 boundaries need 2 values, got 3",
               make_piecewise_constant_decay(one, rates));
  EXPECT_ERROR("piecewise_constant_decay: boundaries must rise, got 5 after 10",
               make_piecewise_constant_decay(two, rates));
  EXPECT_ERROR("piecewise_constant_decay: values must be at least 0, got -1",
               make_piecewise_constant_decay(one, negative));
  EXPECT_ERROR("piecewise_constant_decay: at most 32 boundaries are possible, got 33",
               make_piecewise_constant_decay(std::vector<double>(33), std::vector<double>(34)));
  EXPECT_ERROR(
      "cosine_decay: warmup_steps needs warmup_target, the rate that the warm-up ends with",
      make_schedule("cosine_decay", {{"initial_learning_rate", 0.1}, {"decay_steps", 5.0}, {"warmup_steps", 2.0}}));
}

TEST(Optimizer, Refuses) {
  FakeVariables factory;
  const std::vector variables{weight("a")};
  const OptimizerPtr sgd = make_optimizer("sgd");
  Graph graph;
  const std::vector none{Value{}}, wrong{graph.input({{3}, Dtype::f32}, "g")};
  EXPECT_ERROR("optimizer sgd: there are no trainable variables", sgd->build(factory, {}));
  sgd->build(factory, variables);
  EXPECT_ERROR("optimizer sgd: the loss depends on none of the 1 variables",
               sgd->apply_gradients(graph, none, variables));
  EXPECT_ERROR("optimizer sgd: the gradient of a must be float32[2, 3], got float32[3]",
               sgd->apply_gradients(graph, wrong, variables));
  EXPECT_ERROR("optimizer sgd: got 0 gradients for 1 variables", sgd->apply_gradients(graph, {}, variables));
  EXPECT_ERROR(HasSubstr(" (known: adadelta, adagrad, adam, adamax, adamw, lion, nadam, rmsprop, sgd)"),
               make_optimizer("adamx"));
  EXPECT_ERROR(HasSubstr("sgd: unknown option 'lr'"), make_optimizer("sgd", {{"lr", 0.1}}));
  EXPECT_ERROR(HasSubstr("learning_rate must be at least 0"), make_optimizer("sgd", {{"learning_rate", -0.1}}));
  EXPECT_ERROR(
      "unknown schedule 'cosine' (known: cosine_decay, cosine_decay_restarts, exponential_decay, "
      "inverse_time_decay, polynomial_decay)",
      make_schedule("cosine", {}));
  EXPECT_ERROR("cosine_decay_restarts: t_mul must be at least 1, got 0.5",
               make_schedule("cosine_decay_restarts",
                             {{"initial_learning_rate", 0.1}, {"first_decay_steps", 5.0}, {"t_mul", 0.5}}));
  EXPECT_ERROR(HasSubstr("inverse_time_decay: decay_rate must be at least 0"),
               make_schedule("inverse_time_decay",
                             {{"initial_learning_rate", 0.1}, {"decay_steps", 5.0}, {"decay_rate", -1.0}}));
}

}  // namespace
}  // namespace gpubench
