"""Uniform transforms with the names and arguments of numpy.fft.

Single precision stays single; half precision, integers and booleans are raised, as scipy.fft does. Arrays may be those
of NumPy, PyTorch, CuPy or JAX (on the processor); results are of the same kind, on the same device. Transforms are
kept in a bounded cache (set_options).

>>> import numpy as np, fourtune.fft
>>> x = np.arange(6.0)
>>> bool(np.allclose(fourtune.fft.irfft(fourtune.fft.rfft(x)), x))
True
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

import numpy as np
from numpy.fft import fftfreq, fftshift, ifftshift, rfftfreq

from . import _arrays
from ._errors import FourtuneTypeError, FourtuneValueError
from ._plan import copies, flag, integer
from ._types import Array, Axes, Norm
from ._uniform import GPU_ALIGNMENT as _GPU_ALIGNMENT
from ._uniform import cache as _cache
from ._uniform import direct as _direct
from ._uniform import options as _options
from ._uniform import ordered as _ordered
from ._uniform import result_of as _result_of
from ._uniform import run as _run_direct
from ._uniform import transform as _transform
from ._uniform import working_dtype as _working_dtype

__all__ = [
    "fft",
    "ifft",
    "rfft",
    "irfft",
    "hfft",
    "ihfft",
    "fft2",
    "ifft2",
    "rfft2",
    "irfft2",
    "fftn",
    "ifftn",
    "rfftn",
    "irfftn",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
    "reversed_positions",
    "Plan",
    "set_options",
    "clear_cache",
]

_INVERSE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def set_options(*, cache_size: int | None = None, cache_bytes: int | None = None, on_copy: str | None = None,
                threads: int | None = None, deterministic: bool | None = None) -> None:
    """Sets how many transforms are kept (16 at first) and how many bytes they may hold together (1 GiB), what happens
    when an array has to be copied ("warn", "allow" or "refuse"), the most threads of a transform (0: as many as are
    useful), and whether it gives the same bits always."""
    if cache_size is not None:
        cache_size = integer(cache_size, "cache_size", 0, 10**6)
    if cache_bytes is not None:
        cache_bytes = integer(cache_bytes, "cache_bytes", 0)
    if on_copy is not None:
        on_copy = copies(on_copy)
    if threads is not None:
        threads = integer(threads, "threads", 0, 2**31 - 1)
    if deterministic is not None:
        deterministic = flag(deterministic, "deterministic")
    for name, value in (
        ("deterministic", deterministic),
        ("cache_size", cache_size),
        ("cache_bytes", cache_bytes),
        ("on_copy", on_copy),
        ("threads", threads),
    ):
        if value is not None:
            _options[name] = value
    _known.clear()
    _cache.trim()


def clear_cache() -> None:
    """Frees the transforms that are kept."""
    _known.clear()
    _cache.clear()


def _norm(norm) -> str:
    norm = "backward" if norm is None else norm
    if not isinstance(norm, str) or norm not in _INVERSE:
        raise FourtuneValueError(f"norm is {norm!r}; 'backward', 'ortho' or 'forward' would be right")
    return norm


def _list_of(value, name):
    try:
        return list(value)
    except TypeError:
        raise FourtuneTypeError(f"{name} is {value!r}; a sequence of integers would be right") from None


def _sizes_and_axes(shape, s, axes, last_halved):
    """Sizes to crop or pad to and axes, as numpy.fft has them. last_halved: the last size is of a c2r's result."""
    dim = len(shape)
    if axes is None:
        axes = list(range(dim)) if s is None else list(range(-len(_list_of(s, "s")), 0))
    axes = [integer(axis, "axes", -dim, dim - 1) % dim for axis in _list_of(axes, "axes")]
    if not axes:
        raise FourtuneValueError("axes is empty; at least one axis would be right")
    if s is None:
        s = [shape[axis] for axis in axes]
        if last_halved:
            s[-1] = 2 * (s[-1] - 1)
    else:
        s = _list_of(s, "s")
        if len(s) != len(axes):
            raise FourtuneValueError(f"s has {len(s)} sizes and axes {len(axes)}; as many would be right")
        for at, (size, axis) in enumerate(zip(s, axes)):
            if size is None and last_halved and at == len(s) - 1:
                s[at] = 2 * (shape[axis] - 1)
            elif size is None or size == -1:  # as many as the array has, also of a real result
                s[at] = shape[axis]
    for size in s:
        if integer(size, "s", -1) < 1:
            raise FourtuneValueError(f"invalid number of data points ({size}): 1 or more would be right")
    return [int(size) for size in s], axes


def _resize(array, kind, sizes, axes, dtype, device):
    """Crops, or pads with zeros, to these sizes."""
    wanted = list(array.shape)
    for size, axis in zip(sizes, axes):
        wanted[axis] = size
    kept = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, wanted))
    if all(a >= b for a, b in zip(array.shape, wanted)):
        return array[kept]
    made = kind.empty(tuple(wanted), dtype, device)
    made[...] = 0
    made[kept] = array[kept]
    return made


# Calls that one transform serves without a copy: their arguments and what _again needs. Most calls are like one before.
_known: dict = {}


def _run(x, s, axes, norm, out, form, sign, threads=None, on_copy=None, deterministic=None, order="natural"):
    call, known = None, None
    plain = _arrays.kind_of_type.get(type(x))
    signature = None if plain is None or (out is not None and type(out) is not type(x)) else plain.signature(x)
    if signature is not None:
        try:
            call = (
                form,
                sign,
                signature,
                None if s is None else tuple(s),
                None if axes is None else tuple(axes),
                norm,
                threads,
                deterministic,
                order,
            )
            known = _known.get(call)
        except TypeError:  # arguments that no dictionary takes; what is wrong with them is said below
            call = None
    if known is not None and (out is None or plain.can_hold(out, x, *known[1:3])):
        made = _again(plain, x, out, *known)
        if made is not None:
            return made
    norm = _norm(norm)
    view = _arrays.look(x, "the array")
    array, kind = view.array, view.kind
    if kind is _arrays.JAX:
        array = np.asarray(array)
    if not view.shape:
        raise FourtuneValueError("the array has no axes; at least one would be right")
    sizes, axes = _sizes_and_axes(view.shape, s, axes, form == "c2r")
    dtype = _working_dtype(view.dtype, form != "r2c")
    if len(set(axes)) < len(axes) and (s is not None or form != "c2c"):
        wrong = "s gives it lengths; leave out s" if form == "c2c" else "a real transform halves one; name each once"
        raise FourtuneValueError(f"axes {tuple(axes)} name an axis twice and {wrong}")
    inner = sizes[:-1] + [sizes[-1] // 2 + 1] if form == "c2r" else sizes
    if any(view.shape[axis] != size for axis, size in zip(axes, inner)):
        array = _resize(array, kind, inner, axes, dtype, view.device)

    def once(data, some, how, length=None, into=None):
        return _transform(data, some, how, sign, length, into, threads, on_copy, deterministic, order)

    # Four axes at a time, the last ones first; a c2r comes last. An axis that is named twice is transformed twice.
    chunks = [[]]
    for axis in reversed(axes):
        if len(chunks[-1]) == 4 or axis in chunks[-1]:
            chunks.append([])
        chunks[-1].insert(0, axis)
    forms = [form] + ["c2c"] * (len(chunks) - 1)
    steps = list(zip(chunks, forms))
    if form == "c2r":
        steps.reverse()
    into = _writable(out, kind)
    for number, (some, how) in enumerate(steps):
        last = number == len(steps) - 1
        if last and into is not None:
            _check_out(into, array, some, how, sizes[-1], dtype)
        array = once(array, some, how, sizes[-1] if how == "c2r" else None, into if last else None)
    scale = {"ortho": 1 / sqrt(prod(sizes)), "forward" if sign == -1 else "backward": 1 / prod(sizes)}.get(norm)
    if scale is not None:
        array *= scale
    if (
        call is not None
        and len(steps) == 1
        and view.dtype == dtype
        and 0 not in view.shape
        and all(x.shape[axis] == size for axis, size in zip(axes, inner))
    ):
        found = _direct(view, _ordered(axes, form), form, sign, sizes[-1], threads, deterministic, order)
        if found is not None:
            if len(_known) >= 256:
                _known.clear()
            _known[call] = (*found, scale)
    return kind.result(array) if kind is _arrays.JAX else array


def _again(kind, x, out, key, shape, dtype, scale):
    """A call like one before it, which asked the same of an array of the same shape, strides and dtype. None where an
    array starts at an address that the transform may not take."""
    made = kind.make(x, shape, dtype) if out is None else out
    source, target = kind.pointer(x), kind.pointer(made)
    if (source | target) % (dtype.alignment if key[1] is None else _GPU_ALIGNMENT):
        return None
    _run_direct(key, source, target, kind.stream(x))
    if scale is not None:
        made *= scale
    return made


def _writable(out, kind):
    if out is not None and (kind is _arrays.JAX or type(out) is list):
        raise FourtuneTypeError("out cannot be written; a writable array of the input's kind would be right")
    return out


def _check_out(out, array, axes, form, length, dtype):
    shape, wanted = _result_of(array.shape, dtype, axes, form, length)
    view, given = _arrays.look(out, "out"), _arrays.look(array, "the array")
    if view.kind is not given.kind:
        raise FourtuneTypeError(
            f"out is of {view.kind.name} and the array of {given.kind.name}; one kind would be right"
        )
    if view.dtype != wanted:
        raise FourtuneTypeError(f"out has dtype {view.dtype}; {wanted} would be right")
    if view.shape != shape:
        raise FourtuneValueError(f"out has shape {view.shape}; {shape} would be right")
    if (
        view.array is not out
        or not view.writable
        or not _arrays.is_contiguous(view)
        or view.pointer % 8 % (wanted.itemsize // (2 if wanted.kind == "c" else 1))
    ):
        raise FourtuneValueError("out is read-only or not C contiguous; a writable C contiguous array would be right")
    if view.device != given.device:
        raise FourtuneValueError("out is on another device than the array; the same one would be right")


def _order(order, inverse: bool) -> str:
    if order not in ("natural", "reversed"):
        raise FourtuneValueError(f"order is {order!r}; 'natural' or 'reversed' would be right")
    return "unreversed" if inverse and order == "reversed" else order


def reversed_positions(n: int) -> np.ndarray:
    """Where order="reversed" puts the frequencies 0 .. n-1 along an axis: n integers. The digits of a frequency are those
    of the prime factors of n, ascending; for powers of two they are bits.

    >>> import fourtune.fft
    >>> fourtune.fft.reversed_positions(8)
    array([0, 4, 2, 6, 1, 5, 3, 7])
    """
    rest, positions, left, p = np.arange(integer(n, "n", 1)), np.zeros(n, np.int64), n, 2
    while left > 1:
        if p * p > left:
            p = left
        if left % p:
            p += 1
            continue
        positions, rest, left = positions * p + rest % p, rest // p, left // p
    return positions


def fftn(
    x: Array, s: Axes = None, axes: Axes = None, norm: Norm = None, out: Array = None, *, order: str = "natural"
) -> Array:
    """Transform over several axes (all by default): sum_j x[j] exp(-2 pi i j.k/n). x: any shape; returns complex.

    order: "reversed" leaves the frequencies of every axis where reversed_positions says, which may save work.

    >>> import numpy as np, fourtune.fft
    >>> fourtune.fft.fftn(np.eye(2)).real
    array([[2., 0.],
           [0., 2.]])
    """
    return _run(x, s, axes, norm, out, "c2c", -1, order=_order(order, False))


def ifftn(
    x: Array, s: Axes = None, axes: Axes = None, norm: Norm = None, out: Array = None, *, order: str = "natural"
) -> Array:
    """Inverse of fftn, for a spectrum in this order."""
    return _run(x, s, axes, norm, out, "c2c", 1, order=_order(order, True))


def rfftn(x: Array, s: Axes = None, axes: Axes = None, norm: Norm = None, out: Array = None) -> Array:
    """fftn of a real array: the last axis of the result has n//2+1 elements, the others follow from symmetry."""
    return _run(x, s, axes, norm, out, "r2c", -1)


def irfftn(x: Array, s: Axes = None, axes: Axes = None, norm: Norm = None, out: Array = None) -> Array:
    """Inverse of rfftn; the last size of s, 2 (n-1) by default, is that of the real result."""
    return _run(x, s, axes, norm, out, "c2r", 1)


def _one(n):
    if n == -1:  # in `s` it means the whole axis
        raise FourtuneValueError("invalid number of data points (-1): 1 or more would be right")
    return None if n is None else (n,)


def fft(x: Array, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """fftn over one axis, cropped or padded with zeros to n."""
    return _run(x, _one(n), (axis,), norm, out, "c2c", -1)


def ifft(x: Array, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """Inverse of fft."""
    return _run(x, _one(n), (axis,), norm, out, "c2c", 1)


def rfft(x: Array, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """rfftn over one axis."""
    return _run(x, _one(n), (axis,), norm, out, "r2c", -1)


def irfft(x: Array, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """Inverse of rfft; n, 2 (m-1) by default, is the size of the real result."""
    return _run(x, _one(n), (axis,), norm, out, "c2r", 1)


def hfft(x: Array, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """Transform of a signal with Hermitian symmetry, given by its first half: real."""
    return _run(_conjugate(x), _one(n), (axis,), _INVERSE[_norm(norm)], out, "c2r", 1)


def ihfft(x: Array, n: int | None = None, axis: int = -1, norm: Norm = None, out: Array = None) -> Array:
    """Inverse of hfft."""
    found = _run(x, _one(n), (axis,), _INVERSE[_norm(norm)], out, "r2c", -1)
    if out is None:
        return _conjugate(found)
    found.imag *= -1
    return found


def _conjugate(x):
    return x.conj() if hasattr(x, "conj") else np.conj(_arrays.look(x, "the array").array)


def fft2(x: Array, s: Axes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Array = None) -> Array:
    """fftn over two axes."""
    return fftn(x, s, axes, norm, out)


def ifft2(x: Array, s: Axes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Array = None) -> Array:
    """ifftn over two axes."""
    return ifftn(x, s, axes, norm, out)


def rfft2(x: Array, s: Axes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Array = None) -> Array:
    """rfftn over two axes."""
    return rfftn(x, s, axes, norm, out)


def irfft2(x: Array, s: Axes = None, axes: Axes = (-2, -1), norm: Norm = None, out: Array = None) -> Array:
    """irfftn over two axes."""
    return irfftn(x, s, axes, norm, out)


class Plan:
    """A uniform transform of arrays of one shape, and its inverse.

    Args: shape of the input; axes (all by default); real: transform real arrays; norm, as for fftn.

    >>> import numpy as np, fourtune.fft
    >>> plan = fourtune.fft.Plan((4, 6), real=True)
    >>> spectrum = plan.execute(np.ones((4, 6)))
    >>> spectrum.shape, plan.inverse(spectrum).shape
    ((4, 4), (4, 6))
    """

    def __init__(self, shape: Sequence[int], axes: Axes = None, real: bool = False, norm: Norm = None) -> None:
        self.shape = tuple(integer(size, "shape", 1) for size in _list_of(shape, "shape"))
        self.sizes, self.axes = _sizes_and_axes(self.shape, None, axes, False)
        self.real, self.norm = bool(real), _norm(norm)

    def execute(self, x: Array, out: Array = None) -> Array:
        """Transforms x, an array of the plan's shape."""
        if tuple(np.shape(x)) != self.shape:
            raise FourtuneValueError(f"the array has shape {tuple(np.shape(x))}; {self.shape} would be right")
        return (rfftn if self.real else fftn)(x, None, self.axes, self.norm, out)

    def inverse(self, x: Array, out: Array = None) -> Array:
        """Undoes execute."""
        return (irfftn if self.real else ifftn)(x, self.sizes, self.axes, self.norm, out)
