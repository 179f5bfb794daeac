"""The class log-loss of one column with every row left out, from tables of what rows have in common.

Rows of one code and one class all have the same score when they are left out, so the loss is a sum over codes and
classes. A table knows weights, not rows: what leaves is what a row of the class weighs in the mean (``row``), and what
weighs less leaves as a whole.
"""

from __future__ import annotations

import numpy as np

from ...kernels.layouts import Array, Floats, Positions

# What is left of a share when rounding has taken all of it.
LEAST = 1e-12


def log_others(joint: Floats) -> Floats:
    """For each class, the logarithm of the sum over all other classes; the classes are the last axis.

    >>> np.exp(log_others(np.log([[0.5, 0.3, 0.2]]))).round(9)
    array([[0.5, 0.7, 0.8]])
    """
    if joint.shape[-1] <= 2:
        return joint[..., ::-1] if joint.shape[-1] == 2 else np.full_like(joint, -np.inf)
    top = joint.max(axis=-1, keepdims=True)
    share = np.exp(joint - top)
    # Sums from both ends: a total minus the class's own share would lose the digits of what is left.
    rest = np.zeros_like(share)
    np.cumsum(share[..., :-1], axis=-1, out=rest[..., 1:])
    rest[..., :-1] += np.cumsum(share[..., :0:-1], axis=-1)[..., ::-1]
    gone = (rest <= 0).any(axis=-1)
    with np.errstate(divide="ignore"):
        out = np.log(rest) + top
    if gone.any():
        out[gone] = _far_others(joint[gone])
    return np.asarray(out)


def _far_others(joint: Floats) -> Floats:
    """Return the same where the others are negligible relative to one class."""
    out = np.full_like(joint, -np.inf)
    out[:, 1:] = np.logaddexp.accumulate(joint[:, :-1], axis=1)
    after = np.logaddexp.accumulate(joint[:, :0:-1], axis=1)[:, ::-1]
    out[:, :-1] = np.logaddexp(out[:, :-1], after)
    return out


def log_rest(joint: Floats, own: Positions) -> Floats:
    """The logarithm of the sum over all classes but the own one of each row."""
    if joint.shape[1] == 1:
        return np.full(len(joint), -np.inf)
    rest = joint.copy()
    rest[np.arange(len(rest)), own] = -np.inf
    top = rest.max(axis=1, keepdims=True)
    rest -= top
    return np.asarray(np.log(np.exp(rest, out=rest).sum(axis=1)) + top[:, 0])


def own_left(part: Floats, whole: Floats, own: Floats, weight: float | Floats) -> Floats:
    """log p of a code under the own class, from which such a weight was taken."""
    return np.asarray(np.log(np.maximum(part - own * weight, LEAST)) - np.log(np.maximum(whole - weight, LEAST)))


def own_kept(part: Floats, whole: Floats, own: Floats, weight: float | Floats) -> Floats:
    """The same with the size of the class kept.

    A class that is smaller by the row gives all of its values a little more, also those that no other row has. Beside a
    prior that stays, that little tells which class the row was taken from, and whoever weighs scores finds it.
    """
    return np.asarray(np.log(np.maximum(part - own * weight, LEAST)) - np.log(whole))


def size_kept(weight: Floats, gone: float | Floats) -> Floats:
    """The same for a distribution without a table: what its class of such a weight, which loses some, takes off."""
    gone = np.minimum(weight, gone)
    return np.asarray(np.log((weight - gone + 0.5) / (weight + 0.5)))


def table_losses(
    part: Floats, whole: Floats, own: Floats, count: Floats, of: Floats, log_prior: Floats, row: float | Floats
) -> Floats:
    """Summed losses of tables ``(tables, codes, classes)``; ``of``: the weight whose loss is asked, all of ``count`` or
    some of it.
    """
    whole, own = whole[:, None, :], own[:, :, None]
    joint = np.log(part) - np.log(whole) + log_prior
    alone = own_kept(part, whole, own, np.minimum(count, row)) + log_prior
    return np.asarray(weighted_losses(log_others(joint), alone, of).sum(axis=(1, 2)))


def weighted_losses(others: Floats, own: Floats, weight: Floats) -> Floats:
    """The weight of rows times -log of the own class's share."""
    with np.errstate(invalid="ignore"):
        ahead = others - own
        # log(1 + e^ahead) as np.logaddexp has it, but vectorised.
        losses = np.maximum(ahead, 0.0) + np.log1p(np.exp(-np.abs(ahead)))
    return np.asarray(np.multiply(losses, weight, out=np.zeros_like(losses), where=weight > 0))


def log_shares(rows: Floats) -> Floats:
    """The logarithms of the classes' shares, each by a row more than it has: what columns are judged beside."""
    return np.asarray(np.log((rows + 1.0) / (rows.sum() + len(rows))))


def gain(rows: Floats, losses: float | Floats) -> Floats:
    """How much less a mean log-loss is than that of the classes' shares alone.

    >>> float(gain(np.array([5.0, 5.0]), 0.5).round(4))
    0.1931
    """
    return np.asarray(-float(rows @ log_shares(rows)) / max(float(rows.sum()), 1e-300) - losses)


def loss_of_nothing(weight: Floats, log_prior: Floats) -> float:
    """The summed loss of rows of which only the class prior is known."""
    if not weight.any():
        return 0.0
    seen: Array = weight > 0
    return float(weight[seen] @ (np.logaddexp.reduce(log_prior) - log_prior[seen]))
