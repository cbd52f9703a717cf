"""What fourtune.torch and fourtune.jax share: checks, shapes, and the functions nufft1d1 ... nufft3d3.

Data have exactly one batch axis here, and the coordinates are one array of shape (dim, m).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ._errors import FourtuneTypeError, FourtuneValueError
from ._plan import integer

def _sizes(value):
    """As _plan.sizes, but without NumPy, which torch.compile cannot look through."""
    try:
        value = (value,) if isinstance(value, int) else tuple(value)
    except TypeError:
        raise FourtuneTypeError(f"n_modes is {value!r}; a shape such as (64, 48) would be right") from None
    return tuple(integer(n, "n_modes", 1) for n in value)


def checked_arguments(nufft_type, points, data, n_modes, targets, eps, isign, modeord):
    """n_modes, isign, the batch axes and the core axes, from the shapes of the arrays."""
    if not (isinstance(eps, (int, float)) and 0 < eps < 1):
        raise FourtuneValueError(f"eps is {eps!r}; a number between 0 and 1 would be right")
    integer(modeord, "modeord", 0, 1)
    nufft_type = integer(nufft_type, "nufft_type", 1, 3)
    dim, m = points
    if not 1 <= dim <= 3:
        raise FourtuneValueError(f"points has {dim} coordinates; 1, 2 or 3 would be right")
    if (targets is not None) != (nufft_type == 3):
        raise FourtuneValueError(f"targets {'were' if targets else 'were not'} given; only type 3 takes them")
    if targets is not None and targets[0] != dim:
        raise FourtuneValueError(f"targets has {targets[0]} coordinates; {dim}, as the points, would be right")
    core_dim = dim if nufft_type == 2 else 1
    if len(data) < core_dim:
        raise FourtuneValueError(f"data has shape {tuple(data)}; at least {core_dim} axes would be right")
    lead, core = tuple(data[: len(data) - core_dim]), tuple(data[len(data) - core_dim:])
    if 0 in lead:
        raise FourtuneValueError(f"data has shape {tuple(data)}; a batch of at least 1 would be right")
    if nufft_type == 1:
        if n_modes is None:
            raise FourtuneValueError("n_modes is missing; type 1 needs the shape of the modes")
        n_modes = _sizes(n_modes)
        if len(n_modes) != dim:
            raise FourtuneValueError(f"n_modes has {len(n_modes)} sizes; {dim} would be right")
    elif n_modes is not None:
        raise FourtuneValueError("n_modes was given; only type 1 takes it")
    else:
        n_modes = _sizes(core) if nufft_type == 2 else ()
    if nufft_type != 2 and core != (m,):
        raise FourtuneValueError(f"data has shape {tuple(data)}; ({m},), one for each point, would be right")
    if isign is None:
        isign = -1 if nufft_type == 2 else 1
    if integer(isign, "isign", -1, 1) == 0:
        raise FourtuneValueError("isign is 0; +1 or -1 would be right")
    return n_modes, isign, lead, core


def result_shape(data, points, targets, nufft_type, n_modes):
    """Of data, the shape (batch, *core), to the shape of the result. targets: an array or None."""
    if nufft_type == 1:
        return (data[0], *n_modes)
    return (data[0], targets.shape[1] if nufft_type == 3 else points[1])


def adjoint_type(nufft_type, points, targets):
    """The type, points and targets of the conjugate transpose, which has the other sign."""
    return (3, targets, points) if nufft_type == 3 else (3 - nufft_type, points, None)


def modes_along(n_modes, modeord):
    """The modes of each axis, float64, shaped to broadcast with the array of modes."""
    found = []
    for axis, n in enumerate(n_modes):
        k = np.arange(n) - n // 2
        shape = [1] * len(n_modes)
        shape[axis] = n
        found.append((np.fft.ifftshift(k) if modeord else k).reshape(shape).astype(float))
    return found


SIGNATURES = tuple(f"nufft{dim}d{kind}" for dim in (1, 2, 3) for kind in (1, 2, 3))


def described(name: str, nufft: Callable[..., Any]) -> Callable[..., Any]:
    """nufft1d1 ... nufft3d3 over a function nufft, with FINUFFT's order of arguments."""
    dim, kind = int(name[5]), int(name[7])
    coordinates, targets = list("xyz"[:dim]), list("stu"[:dim]) if kind == 3 else []
    names = coordinates + ["f" if kind == 2 else "c"] + (["n_modes"] if kind == 1 else []) + targets
    required = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(n, required) for n in names] + [
        inspect.Parameter("eps", required, default=1e-6),
        inspect.Parameter("isign", required, default=-1 if kind == 2 else 1),
        inspect.Parameter("modeord", required, default=0),
    ])

    def function(*args, **kwargs):
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise FourtuneTypeError(f"{name}: {error}; {name}{signature} would be right") from None
        bound.apply_defaults()
        given = bound.arguments
        return nufft(kind, [given[n] for n in coordinates], given["f" if kind == 2 else "c"], given.get("n_modes"),
                     [given[n] for n in targets] or None, given["eps"], given["isign"], given["modeord"])

    function.__name__ = function.__qualname__ = name
    function.__signature__ = signature
    function.__doc__ = f"{dim}D transform of type {kind}: {name}{signature}. See nufft for the arguments' shapes."
    return function
