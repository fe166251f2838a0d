"""A loop in JAX: the labels or targets of an epoch are one array."""

import jax
import jax.numpy as jnp
import numpy as np

from dissensus import Delivery, Votes


def train(method="multipass", epochs=6, items=96):
    random = np.random.default_rng(0)
    inputs = jnp.asarray(random.normal(size=(items, 4)))
    liked = np.asarray(inputs @ random.normal(size=(4, 3))).argmax(1)
    votes = Votes.from_counts(1 + 4 * np.eye(3, dtype=int)[liked])
    delivery = Delivery(votes, method, seed=0)

    def loss(weights, targets):
        return -(targets * jax.nn.log_softmax(inputs @ weights)).sum(1).mean()

    step = jax.jit(lambda weights, targets: weights - 0.5 * jax.grad(loss)(weights, targets))
    weights, losses = jnp.zeros((4, 3)), []
    for epoch in range(epochs):
        targets = jnp.asarray(delivery.targets(epoch))
        weights = step(weights, targets)
        losses.append(float(loss(weights, jnp.asarray(votes.targets()))))
    return losses


if __name__ == "__main__":
    print(train())
