// Knowledge distillation: a model learns from the labels and from the outputs of a larger model, its teacher, for the
// same inputs (Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015).
#pragma once
#include "core/nn/loss.h"
#include "core/nn/model.h"

namespace gpubench {

struct DistillationOptions {
  /// Softens both models' distributions: softmax(logits / temperature).
  double temperature = 3;
  /// Weight of the teacher's part; the labels' part has the rest.
  double weight = 0.9;
  /// Whether the models' outputs are logits. Otherwise they are probabilities, and their logarithms are used: they
  /// differ from logits by a constant, which softmax ignores.
  bool from_logits = false;
};

/// (1 - weight) labels_loss(y, p) + weight temperature^2 cross_entropy(softened teacher, softened student), one value
/// per example. The square keeps the gradients of both parts at the same scale (section 2 of the paper). The teacher
/// predicts, in inference mode, inside the student's graph; it is not trained. Throws Error for a temperature that is
/// not positive, a weight outside [0, 1], a teacher without weights or with several outputs; at the call, for a teacher
/// with other classes, and for a loss with more than one value per example.
LossPtr make_distillation_loss(ModelPtr teacher, LossPtr labels_loss, DistillationOptions options);

}  // namespace gpubench
