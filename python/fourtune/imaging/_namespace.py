"""The module (numpy, torch, cupy) that an array belongs to, and the few steps in which these modules differ."""

from __future__ import annotations

import sys

import numpy as np

from .._errors import FourtuneTypeError, FourtuneValueError


def namespace(array):
    for name, kind in (("torch", "Tensor"), ("cupy", "ndarray")):
        module = sys.modules.get(name)
        if module is not None and isinstance(array, getattr(module, kind)):
            return module
    return np


def as_array(array, name: str):
    """The array itself if it is one of NumPy, CuPy or PyTorch, else a NumPy array of it."""
    if namespace(array) is not np:
        return array
    try:
        found = np.asarray(array)
    except ValueError:  # a list of lists of different lengths
        found = np.asarray(None)
    if found.dtype.kind not in "biufc":
        raise FourtuneTypeError(f"{name} is a {type(array).__name__}; an array of numbers would be right")
    return found


def like(values, example, dtype=None):
    """NumPy values as an array of the example's kind, on its device; dtype is a NumPy dtype."""
    values = np.ascontiguousarray(values, dtype=dtype)
    xp = namespace(example)
    if xp is np:
        return values
    if xp.__name__ == "torch":
        return xp.from_numpy(values).to(example.device)
    with example.device:
        return xp.asarray(values)


def to_numpy(array):
    if namespace(array) is np:
        return np.asarray(array)
    return array.get() if hasattr(array, "get") else array.detach().cpu().numpy()


def cast(array, dtype):
    """The array in a NumPy dtype. A complex array is never made real."""
    if "complex" in str(array.dtype) and np.dtype(dtype).kind != "c":
        raise FourtuneTypeError(f"an array of dtype {array.dtype} was given; a real one would be right")
    xp = namespace(array)
    if xp.__name__ == "torch":
        return array.to(getattr(xp, np.dtype(dtype).name))
    return array.astype(dtype, copy=False)


def contiguous(array):
    xp = namespace(array)
    return array.contiguous() if xp.__name__ == "torch" else xp.ascontiguousarray(array)


def copied(array):
    """A copy in C order."""
    xp = namespace(array)
    return array.contiguous().clone() if xp.__name__ == "torch" else xp.array(array, order="C", copy=True)


def real_inner(a, b) -> float:
    """The real part of the inner product <a, b>."""
    return float((a.conj() * b).real.sum())


def require_shape(array, shape, name: str, batched: bool = False) -> None:
    """Raises unless the array has this shape, or with `batched` one more axis in front."""
    given, shape = tuple(array.shape), tuple(shape)
    if given != shape and not (batched and len(given) == len(shape) + 1 and given[1:] == shape):
        right = f"{shape} or (batch, {', '.join(map(str, shape))})" if batched else f"{shape}"
        raise FourtuneValueError(f"{name} has shape {given}; {right} would be right")
