// Knowledge distillation: a model learns from the labels and from what a larger model, its teacher, says of the same
// inputs (Hinton, Vinyals and Dean, "Distilling the Knowledge in a Neural Network", 2015).
#pragma once
#include "core/nn/loss.h"
#include "core/nn/model.h"

namespace gpubench {

struct DistillationOptions {
  /// Both models' distributions are softened by it: softmax(logits / temperature).
  double temperature = 3;
  /// Of the teacher's part; the labels' has the rest.
  double weight = 0.9;
  /// The models' outputs are logits. Otherwise they are probabilities, whose logarithms serve as well: logits are known
  /// but for a constant, which softmax leaves out.
  bool from_logits = false;
};

/// (1 - weight) labels_loss(y, p) + weight temperature^2 cross_entropy(softened teacher, softened student), one value
/// per example. The square keeps the gradients of the soft part as large as those of the hard one (section 2 of the
/// paper). The teacher predicts, as in inference, inside the student's own graph; it is not trained. Throws Error for a
/// temperature that is not above 0, a weight outside [0, 1], a teacher without weights or with several outputs; and
/// when called, for a teacher that has other classes, and for a loss with more than one value per example.
LossPtr make_distillation_loss(ModelPtr teacher, LossPtr labels_loss, DistillationOptions options);

}  // namespace gpubench
