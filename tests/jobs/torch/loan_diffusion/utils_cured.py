"""What several of our trainers share."""
import torch


@torch.no_grad()
def clip_by_layer(model, factor=0.05, eps=1e-3):
    """No gradient may be longer than `factor` times its weights."""
    parameters = [p for p in model.parameters() if p.grad is not None]
    grads = [p.grad for p in parameters]
    norms = torch.stack(list(torch._foreach_norm(grads)))
    if not torch.isfinite(norms).all():
        raise FloatingPointError("gradient")
    limits = factor * torch.stack(list(torch._foreach_norm(parameters))).clamp_min(eps)
    scales = (limits / norms.clamp_min(1e-12)).clamp_max(1.0)
    torch._foreach_mul_(grads, list(scales.unbind()))


class Average:
    """Exponential moving average of the weights, for sampling."""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def update(self, model):
        torch._foreach_lerp_(self.shadow, [p.detach() for p in model.parameters()], 1 - self.decay)
