---@meta
-- Optimizers, loss scaling and schedules of the learning rate. Names, options and defaults are those of Keras.

---@class gpubench
local gb = {}

--- Turns gradients into updates of variables, all of them by one operation.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
--- local optimizer, loss_fn = gb.optimizers.Adam { learning_rate = 0.1 }, gb.losses.MeanSquaredError()
--- local x, y = gb.tensor { { 1, 0 }, { 0, 1 } }, gb.tensor { { 1 }, { -1 } }
--- local first, last
--- for _ = 1, 50 do
---   local tape <close> = gb.tape()
---   last = loss_fn(y, model(x, { training = true }))
---   first = first or last:item()
---   local gradients = tape:gradient(last, model.trainable_variables)
---   optimizer:apply_gradients(gradients, model.trainable_variables)
--- end
--- assert(last:item() < 0.1 * first and optimizer.iterations == 50)
--- ```
---@class Optimizer
---@field name string "adam", ...
---@field iterations integer updates so far
---@field learning_rate number that of the next step; can be set, unless it follows a schedule
---@field loss_scale number? of a LossScaleOptimizer: the scale of the next step; nil of others
---@field skipped_steps integer? of a LossScaleOptimizer: steps that changed no weight; nil of others
local Optimizer = {}

--- One gradient per variable, in order; `false` where there is none.
---@param gradients (Tensor|false)[]
---@param variables Tensor[]
function Optimizer:apply_gradients(gradients, variables) end

--- Variables whose name contains one of the texts, such as "bias" in "dense/bias", are not decayed. To be called before
--- the first step. Keras takes regular expressions and variables as well.
---
--- ```lua
--- local gb = require "gpubench"
--- local optimizer = gb.optimizers.AdamW { learning_rate = 0.001, global_clipnorm = 1 }
--- optimizer:exclude_from_weight_decay { var_names = { "bias", "gamma", "beta" } }
--- ```
---@param options { var_names: string[] }
function Optimizer:exclude_from_weight_decay(options) end

--- Variables whose name contains one of the texts learn at `factor` times the learning rate, also of a schedule. Each
--- call makes a group; of several groups that name a variable the last holds. To be called before the first step. Keras
--- has no such groups; a factor of 0 keeps weights as they are, and `trainable = false` saves their gradients too.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(8, { input_shape = { 4 }, name = "stem" }), gb.layers.Dense(2) }
--- local optimizer = gb.optimizers.Adam { learning_rate = 0.01 }
--- optimizer:multiply_learning_rate { var_names = { "stem/" }, factor = 0.1 }
--- model:compile { optimizer = optimizer, loss = "mse" }
--- ```
---@param group { var_names: string[], factor: number }
function Optimizer:multiply_learning_rate(group) end

--- Puts the moving averages of `use_ema` into the variables, as fit does at its end; for loops written by hand.
---@param variables Tensor[]
function Optimizer:finalize_variable_values(variables) end

--- What a loop written by hand differentiates with a LossScaleOptimizer: the loss times the scale.
---@param loss Tensor
---@return Tensor
function Optimizer:get_scaled_loss(loss) end

--- float32 gradients of the loss, of those of the scaled loss; `false` stays. apply_gradients then skips the step where
--- one is infinite or not a number.
---@param gradients (Tensor|false)[]
---@return (Tensor|false)[]
function Optimizer:get_unscaled_gradients(gradients) end

---@alias StepFunction fun(step: Tensor): Tensor a learning rate, traced once, so that a step runs no Lua; the step
--- counts from 0 as a float32 number

--- Of all optimizers; at most one of the three limits. They are applied where the update reads a gradient: clipvalue
--- costs nothing, the other two one more read of the gradients. With replicas and accumulation they limit the gradients
--- of the whole batch, with loss scaling the unscaled ones.
---@class OptimizerOptions
---@field clipnorm number? the norm of each variable's gradient is at most this; no limit unless given
---@field clipvalue number? elements of gradients are limited to [-clipvalue, clipvalue]; none unless given
---@field global_clipnorm number? the norm of all gradients together is at most this; none unless given
---@field use_ema boolean? keeps a moving average of each weight, which takes its place at the end of fit; false unless
--- given
---@field ema_momentum number? share of the average that a step keeps; 0.99 unless given
---@field ema_overwrite_frequency integer? steps after which the averages become the weights, again and again; only at
--- the end unless given

---@class SGDOptions: OptimizerOptions
---@field learning_rate number|Schedule|StepFunction|nil 0.01 unless given
---@field momentum number? 0 unless given
---@field nesterov boolean? steps from where the momentum leads; needs a momentum; false unless given
---@field weight_decay number? decoupled; 0 unless given

--- Optimizers, with the names, options and defaults of Keras. Options may stand without their names in Keras' order,
--- in front of a table of others; nil leaves one out.
---
--- ```lua
--- local gb = require "gpubench"
--- assert(gb.optimizers.Adam(1e-4, 0.9, 0.99).learning_rate == 1e-4)
--- gb.optimizers.SGD(0.1, 0.9, true, { clipnorm = 1 })
--- gb.optimizers.RMSprop(1e-3, nil, 0.9)
--- ```
---@class gpubench.optimizers
gb.optimizers = {}

--- Gradient descent: w = w - learning_rate * gradient, with a momentum if given.
---@param options SGDOptions?
---@return Optimizer
function gb.optimizers.SGD(options) end

---@class AdamOptions: OptimizerOptions
---@field learning_rate number|Schedule|StepFunction|nil 0.001 unless given
---@field beta_1 number? 0.9 unless given
---@field beta_2 number? 0.999 unless given
---@field epsilon number? 1e-7 unless given
---@field weight_decay number? decoupled; 0.004 for AdamW and 0 for the others unless given

---@class AmsgradOptions: AdamOptions
---@field amsgrad boolean? divides by the largest average of squares so far; false unless given

---@class AdadeltaOptions: OptimizerOptions
---@field learning_rate number|Schedule|StepFunction|nil 0.001 unless given
---@field rho number? 0.95 unless given
---@field epsilon number? 1e-7 unless given
---@field weight_decay number? decoupled; 0 unless given

--- Divides gradients by the root of a moving average of their squares, and multiplies by that of its own steps.
---@param options AdadeltaOptions?
---@return Optimizer
function gb.optimizers.Adadelta(options) end

---@class AdagradOptions: OptimizerOptions
---@field learning_rate number|Schedule|StepFunction|nil 0.001 unless given
---@field initial_accumulator_value number? what the sums begin with; 0.1 unless given
---@field epsilon number? 1e-7 unless given
---@field weight_decay number? decoupled; 0 unless given

--- Divides gradients by the root of the sum of their squares so far, so that rare ones make larger steps.
---@param options AdagradOptions?
---@return Optimizer
function gb.optimizers.Adagrad(options) end

--- Adam with the largest gradient, fading, in place of the root of the average of squares.
---@param options AdamOptions?
---@return Optimizer
function gb.optimizers.Adamax(options) end

--- Adam with Nesterov's momentum.
---@param options AdamOptions?
---@return Optimizer
function gb.optimizers.Nadam(options) end

--- Steps by moving averages of gradients and of their squares, which take twice the memory of
--- the weights.
---@param options AmsgradOptions?
---@return Optimizer
function gb.optimizers.Adam(options) end

--- Adam with a decay of the weights: each step also takes learning_rate * weight_decay * w away.
---@param options AmsgradOptions?
---@return Optimizer
function gb.optimizers.AdamW(options) end

---@class LionOptions: OptimizerOptions
---@field learning_rate number|Schedule|StepFunction|nil 0.001 unless given
---@field beta_1 number? 0.9 unless given
---@field beta_2 number? 0.99 unless given
---@field weight_decay number? decoupled; 0 unless given

--- Steps of one size for all elements, in the direction of a mixture of momentum and gradient.
---@param options LionOptions?
---@return Optimizer
function gb.optimizers.Lion(options) end

---@class RMSpropOptions: OptimizerOptions
---@field learning_rate number|Schedule|StepFunction|nil 0.001 unless given
---@field rho number? 0.9 unless given
---@field momentum number? 0 unless given
---@field epsilon number? 1e-7 unless given
---@field centered boolean? divides by the root of the variance of gradients instead; false unless given
---@field weight_decay number? decoupled; 0 unless given

--- Divides gradients by the root of a moving average of their squares.
---@param options RMSpropOptions?
---@return Optimizer
function gb.optimizers.RMSprop(options) end

---@class LossScaleOptions
---@field initial_scale number? 2^15 unless given; from 1
---@field dynamic_growth_steps integer? good steps in a row after which the scale doubles; 2000 unless given
---@field dynamic boolean? false keeps the initial scale; true unless given

--- Wraps an optimizer for training in float16, whose small gradients vanish: the loss is multiplied by a scale before
--- it is differentiated, the gradients are divided by it before they are used. Where one of them is infinite or not a
--- number, the step is skipped, weights, optimizer state and `iterations` stay as they are, and the scale is halved
--- (down to 1; Keras goes on). All this happens on the device. `learning_rate` and `iterations` are those of the inner
--- optimizer.
---
--- ```lua
--- local gb = require "gpubench"
--- local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 }, dtype = "mixed_float16" }) }
--- local optimizer = gb.optimizers.LossScaleOptimizer(gb.optimizers.SGD { learning_rate = 0.1 },
---   { initial_scale = 1024 })
--- local loss_fn = gb.losses.MeanSquaredError()
--- local x, y = gb.tensor { { 1, 0 }, { 0, 1 } }, gb.tensor { { 1 }, { -1 } }
--- local loss
--- for _ = 1, 50 do
---   local tape <close> = gb.tape()
---   loss = loss_fn(y, model(x, { training = true }))
---   local gradients = tape:gradient(optimizer:get_scaled_loss(loss), model.trainable_variables)
---   optimizer:apply_gradients(optimizer:get_unscaled_gradients(gradients), model.trainable_variables)
--- end
--- assert(loss:item() < 0.1 and optimizer.loss_scale == 1024 and optimizer.skipped_steps == 0)
--- ```
---@param inner_optimizer string|Optimizer
---@param options LossScaleOptions?
---@return Optimizer
function gb.optimizers.LossScaleOptimizer(inner_optimizer, options) end

--- A learning rate that follows the step counter; called with a step, it gives the rate. An optimizer takes a function
--- of the step as well, which is computed on the device like the others. Keras has no schedule that only warms up:
---
--- ```lua
--- local gb = require "gpubench"
--- local decay = gb.schedules.CosineDecay(0.1, 1000, { warmup_target = 1, warmup_steps = 100 })
--- assert(decay(0):item() == gb.tensor(0.1):item() and decay(100):item() == 1)
--- local constant_after_warm_up = function(step) return (step * 0.01):minimum(1.0) end
--- gb.optimizers.SGD { learning_rate = constant_after_warm_up }
--- ```
---@class Schedule
---@overload fun(step: integer|Tensor): Tensor
local Schedule = {}

--- Learning rates that follow the step.
---@class gpubench.schedules
gb.schedules = {}

---@class CosineDecayOptions
---@field alpha number? share of the highest rate that is left at the end; 0 unless given
---@field warmup_target number? the rate rises to it linearly and decays from there; no warm-up unless given
---@field warmup_steps integer? steps of the warm-up, before those of the decay; 0 unless given

--- Half a cosine from the rate down to `alpha` of it in `decay_steps` steps, after a linear warm-up if given.
---@param initial_learning_rate number
---@param decay_steps integer
---@param options CosineDecayOptions?
---@return Schedule
function gb.schedules.CosineDecay(initial_learning_rate, decay_steps, options) end

---@class CosineDecayRestartsOptions
---@field t_mul number? each half cosine is so many times as long as the one before; 2 unless given; at least 1
---@field m_mul number? and begins with so many times its rate; 1 unless given
---@field alpha number? share of the initial rate that is left at the ends; 0 unless given

--- Half a cosine in `first_decay_steps` steps, begun anew at each end.
---
--- ```lua
--- local gb = require "gpubench"
--- local rate = gb.schedules.CosineDecayRestarts(1, 10)
--- assert(rate(0):item() == 1 and rate(10):item() == 1 and math.abs(rate(20):item() - 0.5) < 1e-6)
--- ```
---@param initial_learning_rate number
---@param first_decay_steps integer
---@param options CosineDecayRestartsOptions?
---@return Schedule
function gb.schedules.CosineDecayRestarts(initial_learning_rate, first_decay_steps, options) end

---@class InverseTimeDecayOptions
---@field staircase boolean? step / decay_steps is rounded down; false unless given

--- initial_learning_rate / (1 + decay_rate * step / decay_steps).
---@param initial_learning_rate number
---@param decay_steps integer
---@param decay_rate number
---@param options InverseTimeDecayOptions?
---@return Schedule
function gb.schedules.InverseTimeDecay(initial_learning_rate, decay_steps, decay_rate, options) end

---@class ExponentialDecayOptions
---@field staircase boolean? the exponent is rounded down; false unless given

--- initial_learning_rate * decay_rate ^ (step / decay_steps).
---@param initial_learning_rate number
---@param decay_steps integer
---@param decay_rate number
---@param options ExponentialDecayOptions?
---@return Schedule
function gb.schedules.ExponentialDecay(initial_learning_rate, decay_steps, decay_rate, options) end

---@class PolynomialDecayOptions
---@field end_learning_rate number? 0.0001 unless given
---@field power number? 1 unless given: a straight line
---@field cycle boolean? begins anew at the end, over twice as many steps, then three times as many; false unless given

--- From the initial rate to `end_learning_rate` in `decay_steps` steps: (1 - step / decay_steps) ^ power of their
--- difference is left.
---@param initial_learning_rate number
---@param decay_steps integer
---@param options PolynomialDecayOptions?
---@return Schedule
function gb.schedules.PolynomialDecay(initial_learning_rate, decay_steps, options) end

--- values[i] up to and including step boundaries[i], then the last value.
---@param boundaries integer[] at most 32
---@param values number[] one more than boundaries
---@return Schedule
function gb.schedules.PiecewiseConstantDecay(boundaries, values) end

return gb
