"""Iterative solvers over any arrays that have +, *, conj and sum."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .._errors import FourtuneValueError
from .._plan import integer
from ._namespace import as_array, like, namespace, real_inner


class Solution(NamedTuple):
    """The solution, and the relative residual (FISTA: relative change) after each iteration."""

    x: Any
    history: list


def conjugate_gradients(normal, b, x=None, *, iterations=50, tolerance=1e-6, damping=0.0) -> Solution:
    """Solves (normal + damping) x = b for a Hermitian, positive semidefinite `normal` (Hestenes and Stiefel 1952).

    Args:
        normal: function of an array, such as NUFFT(...).normal or Toeplitz(...).normal.
        b: right side, such as adjoint(samples).
        x: first guess, zero by default.
        tolerance: ends when |residual| <= tolerance * |b|.
        damping: real, at least 0.
    """
    iterations = integer(iterations, "iterations", 0)
    b = as_array(b, "b")
    if not (isinstance(damping, (int, float)) and damping >= 0 and tolerance >= 0):
        raise FourtuneValueError(f"damping is {damping} and tolerance {tolerance}; numbers from 0 on would be right")
    start = x is not None
    x = x * 1 if start else b * 0
    residual = b - (normal(x) + damping * x) if start else b * 1
    direction, norm_b = residual * 1, math.sqrt(real_inner(b, b))
    if not math.isfinite(norm_b):
        raise FourtuneValueError("b holds NaN or infinity; finite numbers would be right")
    squared, history = real_inner(residual, residual), []
    for _ in range(iterations):
        if math.sqrt(squared) <= tolerance * norm_b:
            break
        applied = normal(direction) + damping * direction
        curvature = real_inner(direction, applied)
        if curvature <= 0:  # the direction is in the null space, up to rounding: nothing left to gain
            break
        step = squared / curvature
        x, residual = x + step * direction, residual - step * applied
        squared, before = real_inner(residual, residual), squared
        direction = residual + (squared / before) * direction
        history.append(math.sqrt(squared) / norm_b)
    return Solution(x, history)


def largest_eigenvalue(normal, example, iterations=30, seed=0) -> float:
    """The largest eigenvalue of a Hermitian, positive semidefinite `normal`, by power iteration from random numbers."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((2, *example.shape))
    x = like(values[0] + 1j * values[1], example) if "complex" in str(example.dtype) else like(values[0], example)
    x, value = x + 0 * example, 0.0
    for _ in range(integer(iterations, "iterations", 1)):
        x = x * (1 / math.sqrt(real_inner(x, x)))
        x = normal(x)
        value = math.sqrt(real_inner(x, x))
        if value == 0:
            break
    return value


def soft_threshold(x, threshold):
    """The proximal map of threshold * sum |x|: moduli shrink by `threshold`, phases stay."""
    xp = namespace(x)
    modulus = xp.abs(x)
    return x * (xp.clip(modulus - threshold, 0, None) / (modulus + (modulus == 0)))


def fista(operator, samples, prox, *, iterations=100, step=None) -> Solution:
    """Minimises |operator.forward(x) - samples|^2 / 2 + g(x) (Beck and Teboulle 2009).

    Args:
        operator: with forward and adjoint.
        prox: function (x, step) -> the minimiser over z of |z - x|^2 / 2 + step * g(z); for g = lam * sum |x|:
            lambda x, step: soft_threshold(x, lam * step).
        step: at most 1 / largest eigenvalue of the normal operator; by default found by power iteration, less 2 %.
    """
    back = operator.adjoint(samples)
    step = 0.98 / largest_eigenvalue(operator.normal, back) if step is None else step
    if not 0 < step < math.inf:
        raise FourtuneValueError(f"step is {step}; a positive number would be right")
    x, momentum, t, history = back * 0, back * 0, 1.0, []
    for _ in range(integer(iterations, "iterations", 0)):
        before, x = x, prox(momentum - step * (operator.normal(momentum) - back), step)
        t, t_before = (1 + math.sqrt(1 + 4 * t * t)) / 2, t
        change = x - before
        momentum = x + ((t_before - 1) / t) * change
        size = math.sqrt(real_inner(x, x))
        history.append(math.sqrt(real_inner(change, change)) / size if size else 0.0)
    return Solution(x, history)
