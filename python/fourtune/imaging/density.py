"""Weights w of the samples with which adjoint(w * forward(image)) comes near the image.

Both ways look at the same matrix K[j, l] = sum_d T(d) exp(i (k[j] - k[l]).d), where T, the product over the axes of
1 - |d| / n, counts how many pairs of pixels are d apart. K is Fejer's kernel: real and nowhere negative.

The Frobenius norm of A^H W A - 1 is least where K w = 1 (its normal equations; Sedarat and Nishimura 2000). Pipe and
Menon (1999) iterate w <- w / (K w), whose fixed points are solutions of the same equations with positive weights.
"""

from __future__ import annotations

import numpy as np

from .._plan import integer
from .._types import Array
from . import _checks
from ._namespace import like
from .operators import NUFFT
from .solvers import conjugate_gradients
from .toeplitz import _doubled


def _kernel(nufft: NUFFT):
    wide = _doubled(nufft)
    window = np.ones((), nufft.real)
    for n in nufft.shape:
        window = np.multiply.outer(window, 1 - np.abs(np.arange(-n, n)) / n)
    window = like(window, nufft.points[0], nufft.real)
    return lambda w: wide.forward(window * wide.adjoint(w)).real


def density_pipe_menon(nufft: NUFFT, iterations: int = 20) -> Array:
    """Weights of shape (m,), positive, after some iterations of Pipe and Menon (1999); real, of the points' kind."""
    _checks.nufft(nufft)
    kernel, w = _kernel(nufft), like(np.ones(nufft.m), nufft.points[0], nufft.real)
    for _ in range(integer(iterations, "iterations", 1)):
        w = w / kernel(w)
    return w


def density_frobenius(nufft: NUFFT, iterations: int = 50, tolerance: float = 1e-3) -> Array:
    """Weights of shape (m,) that minimise |A^H W A - 1| in the Frobenius norm, by conjugate gradients. Some may be
    negative."""
    _checks.nufft(nufft)
    ones = like(np.ones(nufft.m), nufft.points[0], nufft.real)
    return conjugate_gradients(_kernel(nufft), ones, iterations=iterations, tolerance=tolerance).x
