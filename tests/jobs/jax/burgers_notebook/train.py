#!/usr/bin/env python
# coding: utf-8

# # A shock wave with a physics-informed network
# Exported from burgers.ipynb.

# In[1]:

import sys

import jax
import jax.numpy as jnp
import numpy as np

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
VISCOSITY = 0.01 / np.pi
SIZES = [2, 48, 48, 1]


# In[2]:

def init_layers(key):
    layers = []
    for inputs, outputs in zip(SIZES, SIZES[1:]):
        key, sub = jax.random.split(key)
        layers.append([jax.random.normal(sub, (inputs, outputs)) * (1 / inputs) ** 0.5, jnp.zeros(outputs)])
    return layers


def u(layers, t, x):
    """Velocity at one point."""
    h = jnp.stack([t, x])
    for w, b in layers[:-1]:
        h = jnp.tanh(h @ w + b)
    w, b = layers[-1]
    return (h @ w + b)[0]


# In[3]:

u_t = jax.grad(u, 1)
u_x = jax.grad(u, 2)
u_xx = jax.grad(u_x, 2)


def residual(layers, t, x):
    return u_t(layers, t, x) + u(layers, t, x) * u_x(layers, t, x) - VISCOSITY * u_xx(layers, t, x)


def loss_fn(layers, inside, start):
    equation = jax.vmap(residual, (None, 0, 0))(layers, inside[:, 0], inside[:, 1])
    begin = jax.vmap(u, (None, 0, 0))(layers, jnp.zeros_like(start), start) + jnp.sin(jnp.pi * start)
    return jnp.mean(equation**2) + 10 * jnp.mean(begin**2)


# In[4]:

def train_step(layers, velocity, inside, start, rate=2e-3, momentum=0.9):
    loss, grads = jax.value_and_grad(loss_fn)(layers, inside, start)
    for layer, speed, grad in zip(layers, velocity, grads):
        for i in range(2):
            speed[i] = momentum * speed[i] - rate * grad[i]
            layer[i] = layer[i] + speed[i]
    return layers, velocity, loss


# In[5]:

rng = np.random.default_rng(0)
layers = init_layers(jax.random.PRNGKey(1))
velocity = jax.tree_util.tree_map(jnp.zeros_like, layers)
losses = []
for step in range(1, STEPS + 1):
    inside = rng.uniform([0, -1], [1, 1], (512, 2)).astype(np.float32)
    start = rng.uniform(-1, 1, 128).astype(np.float32)
    layers, velocity, loss = train_step(layers, velocity, inside, start)
    losses.append(loss)
    if step % 10 == 0:
        print(f"step {step} loss {float(loss):.4f}", flush=True)


# In[6]:

print("last losses", [round(float(loss), 4) for loss in losses[-3:]])
