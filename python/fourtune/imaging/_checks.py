"""Wrong arguments of the operators and solvers, named before anything is computed with them."""

from __future__ import annotations

import math
import numbers

import numpy as np

from .._errors import FourtuneTypeError, FourtuneValueError


def number(value, name: str, low: float = -math.inf, above: float = -math.inf) -> float:
    """A finite real number, at least `low` and greater than `above`."""
    if not isinstance(value, numbers.Real) or isinstance(value, (bool, np.bool_)):
        raise FourtuneTypeError(f"{name} is {value!r}; a number would be right")
    if not (math.isfinite(value) and value >= low and value > above):
        right = f"from {low:g} on" if low > -math.inf else f"above {above:g}" if above > -math.inf else "that is finite"
        raise FourtuneValueError(f"{name} is {value}; a number {right} would be right")
    return float(value)


def function(value, name: str):
    if not callable(value):
        raise FourtuneTypeError(f"{name} is a {type(value).__name__}; a function, such as NUFFT(...).normal, would be"
                                " right")
    return value


def operator(value, name: str, *needs: str):
    """An object that has these attributes."""
    missing = [need for need in needs if not hasattr(value, need)]
    if missing:
        raise FourtuneTypeError(f"{name} is a {type(value).__name__} without {', '.join(missing)}; an operator, such as"
                                " NUFFT(...), would be right")
    return value


def nufft(value, name: str = "nufft"):
    return operator(value, name, "points", "shape", "m", "eps", "forward", "adjoint")
