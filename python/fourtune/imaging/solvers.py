"""Iterative solvers over any arrays that have +, *, conj and sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._errors import FourtuneValueError
from .._plan import integer
from .._types import Array, Map
from . import _checks
from ._namespace import as_array, like, namespace, real_inner


class Solution(NamedTuple):
    """The solution, and the relative residual (FISTA: relative change) after each iteration."""

    x: Any
    history: list[float]


def conjugate_gradients(normal: Map, b: Array, x: Array = None, *, iterations: int = 50, tolerance: float = 1e-6,
                        damping: float = 0.0) -> Solution:
    """Solves (normal + damping) x = b for a Hermitian, positive semidefinite `normal` (Hestenes and Stiefel 1952).

    Args:
        normal: function of an array, such as NUFFT(...).normal or Toeplitz(...).normal.
        b: right side, such as adjoint(samples).
        x: first guess, zero by default.
        tolerance: ends when |residual| <= tolerance * |b|.
        damping: real, at least 0.
    """
    _checks.function(normal, "normal")
    iterations = integer(iterations, "iterations", 0)
    damping, tolerance = _checks.number(damping, "damping", 0), _checks.number(tolerance, "tolerance", 0)
    b = as_array(b, "b")
    start = x is not None
    x = as_array(x, "x") * 1 if start else b * 0
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


def largest_eigenvalue(normal: Map, example: Array, excess: float = 0.15, seed: int = 0) -> float:
    """An upper bound of the largest eigenvalue of a Hermitian, positive semidefinite `normal`, at most 1 + `excess`
    times that eigenvalue.

    Args:
        normal: function of an array.
        example: an array of the shape, dtype and kind that `normal` takes.
        excess: how much too large the bound may be; a smaller one takes more calls of `normal`.
        seed: of the random start. For one start in a million the bound is too small.

    The greatest value that Lanczos' method finds is never too large. How much too small it can be after k steps from a
    random start, whatever the spectrum: Kuczynski and Wozniakowski 1992, theorem 4.2. Images of 256 x 256 take 29
    calls.
    """
    _checks.function(normal, "normal")
    excess, seed = _checks.number(excess, "excess", above=0), integer(seed, "seed", 0)
    example = as_array(example, "example")
    complex_numbers = "complex" in str(example.dtype)
    values = np.random.default_rng(seed).standard_normal((1 + complex_numbers, *example.shape))
    start = like(values[0] + 1j * values[1] if complex_numbers else values[0], example) + 0 * example
    # With probability 1 - 1e-6 the relative error is at most `below` once 1.648 sqrt(n) exp(-sqrt(below) (2k - 1)) is
    # 1e-6, with n real unknowns.
    below = excess / (1 + excess)
    steps = math.ceil((math.log(1e6 * 1.648 * math.sqrt(max(values.size, 1))) / math.sqrt(below) + 1) / 2)
    return (1 + excess) * _largest_ritz_value(normal, start, steps)


def _largest_ritz_value(normal, x, steps) -> float:
    """The largest eigenvalue of `normal` on the space of x, normal(x), normal(normal(x)), ... (Lanczos 1950)."""
    diagonal, beside, before = [], [], 0 * x
    length = math.sqrt(real_inner(x, x))
    for _ in range(steps):
        if length <= 1e-30 * sum(diagonal):  # nothing is left beyond this space; a remainder of rounding does no harm
            break
        x = x * (1 / length)
        applied = normal(x) - (beside[-1] if beside else 0.0) * before
        diagonal.append(real_inner(x, applied))
        before, x = x, applied - diagonal[-1] * x
        length = math.sqrt(real_inner(x, x))
        if not math.isfinite(length):
            raise FourtuneValueError("normal gives NaN or infinity; finite numbers would be right")
        beside.append(length)
    if not diagonal:
        return 0.0
    off = np.diag(beside[: len(diagonal) - 1], 1)
    return max(float(np.linalg.eigvalsh(np.diag(diagonal) + off + off.T)[-1]), 0.0)


def soft_threshold(x: Array, threshold: Any) -> Array:
    """The proximal map of threshold * sum |x|: moduli shrink by `threshold`, phases stay."""
    x = as_array(x, "x")
    if not hasattr(threshold, "shape"):  # an array has one for each number
        threshold = _checks.number(threshold, "threshold", 0)
    xp = namespace(x)
    modulus = xp.abs(x)
    return x * (xp.clip(modulus - threshold, 0, None) / (modulus + (modulus == 0)))


def fista(operator: Any, samples: Array, prox: Callable[[Array, float], Array], *, iterations: int = 100,
          step: float | None = None) -> Solution:
    """Minimises |operator.forward(x) - samples|^2 / 2 + g(x) (Beck and Teboulle 2009).

    Args:
        operator: with forward and adjoint.
        prox: function (x, step) -> the minimiser over z of |z - x|^2 / 2 + step * g(z); for g = lam * sum |x|:
            lambda x, step: soft_threshold(x, lam * step).
        step: at most 1 / largest eigenvalue of the normal operator; by default 1 / its upper bound.
    """
    _checks.operator(operator, "operator", "adjoint", "normal")
    _checks.function(prox, "prox")
    step = None if step is None else _checks.number(step, "step", above=0)
    back = operator.adjoint(samples)
    if step is None:
        step = 1 / (largest_eigenvalue(operator.normal, back) or 1.0)
    x, momentum, t, history = back * 0, back * 0, 1.0, []
    for _ in range(integer(iterations, "iterations", 0)):
        before, x = x, prox(momentum - step * (operator.normal(momentum) - back), step)
        t, t_before = (1 + math.sqrt(1 + 4 * t * t)) / 2, t
        change = x - before
        momentum = x + ((t_before - 1) / t) * change
        size = math.sqrt(real_inner(x, x))
        history.append(math.sqrt(real_inner(change, change)) / size if size else 0.0)
    return Solution(x, history)
