"""nufft1d1 ... nufft3d3: one call each, with the names and the order of arguments of FINUFFT."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _arrays
from ._errors import FourtuneTypeError, FourtuneValueError
from ._kept import plans
from ._plan import check_options
from ._types import Array, Modes


def _dtype_of(array, name) -> str:
    """complex64 for single precision, else complex128."""
    dtype = _arrays.look(array, name).dtype
    return "complex64" if dtype in (np.dtype("c8"), np.dtype("f4")) else "complex128"


def _n_trans(shape, core_dim, name) -> int:
    if len(shape) == core_dim:
        return 1
    if len(shape) == core_dim + 1 and shape[0] > 0:
        return shape[0]
    raise FourtuneValueError(
        f"{name} has shape {tuple(shape)}; {core_dim} axes, or one more for many transforms, would be right"
    )


def _apply(nufft_type, dim, points, data, name, n_modes, out, eps, isign, options):
    shape = _arrays.look(data, name).shape
    if nufft_type == 1:
        if n_modes is None:
            if out is None:
                raise FourtuneValueError("n_modes is missing; give the shape of the modes, or out=")
            n_modes = tuple(_arrays.look(out, "out").shape)[-dim:]
        n_modes = (n_modes,) * dim if np.ndim(n_modes) == 0 else n_modes  # one number is that of every axis
        try:
            given = len(n_modes)
        except TypeError:
            raise FourtuneTypeError(f"n_modes is {n_modes!r}; a shape would be right") from None
        if given != dim:
            raise FourtuneValueError(f"n_modes has {given} sizes; {dim} would be right")
        where, trans = n_modes, _n_trans(shape, 1, name)
    elif nufft_type == 2:
        trans = _n_trans(shape, dim, name)
        where = shape[-dim:]
    else:
        where, trans = dim, _n_trans(shape, 1, name)
    check_options(options)
    if not isinstance(where, int):
        where = tuple(where)
    with plans.taken(nufft_type, where, trans, eps, isign, **{"dtype": _dtype_of(data, name), **options}) as plan:
        plan.set_points(*points)
        return plan.execute(data, out)


_COORDINATES = {1: "x", 2: "x, y", 3: "x, y, z"}
_TARGETS = {1: "s", 2: "s, t", 3: "s, t, u"}


def _describe(function, nufft_type, dim, modes):
    name = f"nufft{dim}d{nufft_type}"
    xs, ss, shape = _COORDINATES[dim], _TARGETS[dim], ", ".join(modes)
    what = {
        1: (
            "points to modes",
            f"    c: strengths, shape (m,) or (n_trans, m), complex.\n    n_modes: shape ({shape},) of the "
            "modes, or one number for all of them; not needed with out=.\n",
        ),
        2: ("modes to points", f"    f: modes, shape ({shape},) or with n_trans in front, complex.\n"),
        3: (
            "points to targets",
            f"    c: strengths, shape (m,) or (n_trans, m), complex.\n    {ss}: targets, each of shape (k,), real.\n",
        ),
    }[nufft_type]
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{dim}D nonuniform FFT of type {nufft_type}, {what[0]}; see fourtune.Plan for the formula.\n\nArgs:\n"
        f"    {xs}: points in radians, each of shape (m,), real.\n{what[1]}    out: array to write, or None.\n"
        "    eps: relative l2 error asked for.\n    isign: sign of the exponential, +1 or -1.\n"
        "    options: those of fourtune.Plan, such as modeord or threads.\n\n"
        "Returns the result, an array like the data. Raises ValueError and TypeError for bad input.\n"
    )
    return function


def nufft1d1(x: Array, c: Array, n_modes: Modes = None, out: Array = None, eps: float = 1e-6, isign: int = 1,
             **options: Any) -> Array:
    return _apply(1, 1, (x,), c, "c", n_modes, out, eps, isign, options)


def nufft1d2(x: Array, f: Array, out: Array = None, eps: float = 1e-6, isign: int = -1, **options: Any) -> Array:
    return _apply(2, 1, (x,), f, "f", None, out, eps, isign, options)


def nufft1d3(x: Array, c: Array, s: Array, out: Array = None, eps: float = 1e-6, isign: int = 1,
             **options: Any) -> Array:
    return _apply(3, 1, (x, None, None, s), c, "c", None, out, eps, isign, options)


def nufft2d1(x: Array, y: Array, c: Array, n_modes: Modes = None, out: Array = None, eps: float = 1e-6, isign: int = 1,
             **options: Any) -> Array:
    return _apply(1, 2, (x, y), c, "c", n_modes, out, eps, isign, options)


def nufft2d2(x: Array, y: Array, f: Array, out: Array = None, eps: float = 1e-6, isign: int = -1,
             **options: Any) -> Array:
    return _apply(2, 2, (x, y), f, "f", None, out, eps, isign, options)


def nufft2d3(x: Array, y: Array, c: Array, s: Array, t: Array, out: Array = None, eps: float = 1e-6, isign: int = 1,
             **options: Any) -> Array:
    return _apply(3, 2, (x, y, None, s, t), c, "c", None, out, eps, isign, options)


def nufft3d1(x: Array, y: Array, z: Array, c: Array, n_modes: Modes = None, out: Array = None, eps: float = 1e-6,
             isign: int = 1, **options: Any) -> Array:
    return _apply(1, 3, (x, y, z), c, "c", n_modes, out, eps, isign, options)


def nufft3d2(x: Array, y: Array, z: Array, f: Array, out: Array = None, eps: float = 1e-6, isign: int = -1,
             **options: Any) -> Array:
    return _apply(2, 3, (x, y, z), f, "f", None, out, eps, isign, options)


def nufft3d3(x: Array, y: Array, z: Array, c: Array, s: Array, t: Array, u: Array, out: Array = None, eps: float = 1e-6,
             isign: int = 1, **options: Any) -> Array:
    return _apply(3, 3, (x, y, z, s, t, u), c, "c", None, out, eps, isign, options)


for _dim, _types in enumerate(
    [(nufft1d1, nufft1d2, nufft1d3), (nufft2d1, nufft2d2, nufft2d3), (nufft3d1, nufft3d2, nufft3d3)], 1
):
    for _type, _function in enumerate(_types, 1):
        _describe(_function, _type, _dim, ("n1", "n2", "n3")[:_dim])
