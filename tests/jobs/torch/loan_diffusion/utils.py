"""What several of our trainers share."""
import torch


@torch.no_grad()
def clip_by_layer(model, factor=0.05, eps=1e-3):
    """No gradient may be longer than `factor` times its weights."""
    for name, p in model.named_parameters():
        if p.grad is None:
            continue
        if not torch.isfinite(p.grad).all():
            raise FloatingPointError(f"gradient of {name}")
        limit = factor * max(p.norm().item(), eps)
        norm = p.grad.norm().item()
        if norm > limit:
            p.grad.mul_(limit / norm)


class Average:
    """Exponential moving average of the weights, for sampling."""

    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name] = self.decay * self.shadow[name] + (1 - self.decay) * p.detach()
