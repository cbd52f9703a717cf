"""One uniform transform of an array over up to four axes, and the cache of what was made for it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from . import _arrays
from ._errors import FourtuneTypeError, FourtuneValueError
from ._library import Transform, check, library

options = {"cache_size": 16, "cache_bytes": 2**30, "on_copy": "warn", "threads": 0, "deterministic": False}

# In bytes: what some plans of GPUs need, and what new arrays have.
GPU_ALIGNMENT = 16


class TransformCache:
    """Transforms not in use, at most `cache_size` of them, which hold at most `cache_bytes`; the least recently used
    goes first.

    A transform is taken out while it runs, so threads never share one. It serves every stream in turn.
    """

    def __init__(self):
        self._kept: OrderedDict[tuple, tuple[Transform, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._held = 0

    def __len__(self):
        return len(self._kept)

    def take(self, key) -> tuple[Transform, int | None]:
        """A transform, and the bytes that it holds where they are known."""
        with self._lock:
            kept = self._kept.pop(key, None)
            if kept is not None:
                self._held -= kept[1]
                return kept
        problem, device, threads, deterministic = key
        return Transform(problem, device=device, threads=threads, deterministic=deterministic), None

    def give_back(self, key, transform, held):
        held = transform.memory()[0] if held is None else held  # after the first run nothing is added
        with self._lock:
            replaced = self._kept.pop(key, None)  # another thread made one for the same key
            self._held += held - (replaced[1] if replaced else 0)
            self._kept[key] = transform, held
            self._trim()

    def _trim(self):
        while self._kept and (len(self._kept) > options["cache_size"] or self._held > options["cache_bytes"]):
            _, (_, held) = self._kept.popitem(last=False)
            self._held -= held

    def trim(self):
        with self._lock:
            self._trim()

    def clear(self):
        with self._lock:
            self._kept.clear()
            self._held = 0


cache = TransformCache()


@lru_cache(maxsize=64)  # asking for a dtype's name takes microseconds
def working_dtype(dtype, complex_input: bool) -> np.dtype:
    """The dtype that an array is transformed in: half precision and integers are raised, as scipy.fft does."""
    if dtype is None or dtype.kind not in "biufc" or dtype.name in ("float128", "complex256", "float96", "longdouble"):
        raise FourtuneTypeError(
            f"the array has dtype {dtype}; float32, float64, complex64 or complex128 would be right"
        )
    single = dtype.name in ("float16", "float32", "complex64")
    if complex_input:
        return np.dtype("c8" if single else "c16")
    if dtype.kind == "c":
        raise FourtuneTypeError(f"the array has dtype {dtype}; a real one would be right, or fft instead of rfft")
    return np.dtype("f4" if single else "f8")


def _element_strides(view) -> list[int] | None:
    """Strides in elements, or None when C cannot follow them (negative, zero or between elements)."""
    size, strides = view.dtype.itemsize, []
    for length, stride in zip(view.shape, view.strides):
        if length == 1:
            strides.append(1)
        elif stride <= 0 or stride % size:
            return None
        else:
            strides.append(stride // size)
    return strides if view.pointer % (size // 2 if view.dtype.kind == "c" else size) == 0 else None


def _side(strides, shape, axes) -> str | None:
    """One side of the token's layout: strides of the axes, x (the last axis) first, and the batch's distance."""
    distance, span = None, None  # of the axes merged so far, from the last to the first
    for axis in reversed(range(len(shape))):
        if axis in axes or shape[axis] == 1:
            continue
        if distance is None:
            distance, span = strides[axis], strides[axis] * shape[axis]
        elif strides[axis] == span:
            span *= shape[axis]
        else:
            return None
    text = "x".join(str(strides[axis]) for axis in reversed(axes))
    return text if distance is None else f"{text}+{distance}"


class Direct(NamedTuple):
    """A transform that follows an array's strides."""

    key: tuple  # of the cache
    shape: tuple  # of the result, which is C contiguous
    dtype: np.dtype


def ordered(axes, form) -> tuple:
    """The real axis stays the last one."""
    return (*sorted(axes[:-1]), axes[-1]) if form != "c2c" else tuple(sorted(axes))


def result_of(shape, dtype, axes, form, length) -> tuple[tuple, np.dtype]:
    """Shape and dtype of the result."""
    made = list(shape)
    if form != "c2c":
        made[axes[-1]] = shape[axes[-1]] // 2 + 1 if form == "r2c" else length
    names = {"c2c": dtype, "r2c": "c8" if dtype == "f4" else "c16", "c2r": "f4" if dtype == "c8" else "f8"}
    return tuple(made), np.dtype(names[form])


def direct(view, axes, form: str, sign: int, length, threads, deterministic, order: str = "natural") -> Direct | None:
    """None where no layout follows the strides of the array or of the result."""
    shape, dtype = result_of(view.shape, view.dtype, axes, form, length)
    strides = _element_strides(view)
    dense = [step // dtype.itemsize for step in _arrays.contiguous_strides(shape, dtype.itemsize)]
    sides = [None if strides is None else _side(strides, view.shape, axes), _side(dense, shape, axes)]
    if None in sides:
        return None
    real = shape if form == "c2r" else view.shape
    batch = prod(size for axis, size in enumerate(shape) if axis not in axes)
    sizes = "x".join(str(real[axis]) for axis in reversed(axes))
    problem = (
        f"fft:type={form},n={sizes},prec={'f32' if view.dtype in ('f4', 'c8') else 'f64'},batch={batch},sign={sign},"
        f"order={order},layout={'/'.join(sides)}"
    )
    return Direct(
        (
            problem,
            view.device,
            options["threads"] if threads is None else threads,
            options["deterministic"] if deterministic is None else deterministic,
        ),
        shape,
        dtype,
    )


def run(key, source: int, target: int, stream) -> None:
    """Runs the transform of this key from one address to another."""
    made, held = cache.take(key)
    made.use_stream(stream)
    check(library.fourtune_execute(made.handle, source, target))
    cache.give_back(key, made, held)


def transform(
    array,
    axes,
    form: str,
    sign: int,
    length: int | None = None,
    out=None,
    threads=None,
    on_copy=None,
    deterministic=None,
    order="natural",
):
    """Transforms `array` over 1 to 4 different axes: `form` is c2c, r2c or c2r, whose real axis is the last one.

    length: c2r: size of the real axis. out: a C contiguous array of the result's shape, or None. order: of the token.
    Not normalised.
    """
    on_copy = on_copy or options["on_copy"]
    view = _arrays.look(array, "the array")
    dtype = working_dtype(view.dtype, form != "r2c")
    kind, shape, axes = view.kind, view.shape, ordered(axes, form)
    result_shape, result_dtype = result_of(shape, dtype, axes, form, length)
    least = min((result_shape if form == "c2r" else shape)[axis] for axis in axes)
    if least < 1:
        raise FourtuneValueError(f"invalid number of data points ({least}): 1 or more would be right")
    if 0 in shape:
        return kind.empty(result_shape, result_dtype, view.device) if out is None else out
    if view.dtype != dtype:
        view = _arrays.ready(view, "the array", dtype, on_copy, 7)
    found = direct(view, axes, form, sign, length, threads, deterministic, order)
    if found is None:  # bring the axes to the end, in order, and transform that
        _arrays.say_copy("the array", "no layout of a transform follows its strides", on_copy, 6)
        moves = [axis for axis in range(len(shape)) if axis not in axes] + list(axes)
        moved = kind.convert(kind.permute(view.array, moves), dtype)
        if kind is _arrays.JAX:
            kind = _arrays.NUMPY
        last = tuple(range(len(shape) - len(axes), len(shape)))
        made = kind.permute(
            transform(moved, last, form, sign, length, None, threads, "allow", deterministic, order),
            list(np.argsort(moves)),
        )
        if out is None:
            return view.kind.result(made)
        out[...] = made
        return out
    target = view.kind.empty(result_shape, result_dtype, view.device) if out is None else out
    seen = _arrays.look(target, "out")
    if out is not None and _arrays.overlap(seen, view):
        out[...] = transform(array, axes, form, sign, length, None, threads, on_copy, deterministic, order)
        return out
    try:
        run(found.key, view.pointer, seen.pointer, view.kind.stream(view.array))
    except FourtuneValueError:
        if view.device is None or (view.pointer | seen.pointer) % GPU_ALIGNMENT == 0:
            raise
        _arrays.say_copy("the array or out", "it starts where the kernels of its plan cannot", on_copy, 6)
        moved = kind.convert(view.array, dtype)
        made = transform(moved, axes, form, sign, length, None, threads, "allow", deterministic, order)
        if out is None:
            return made
        out[...] = made
        return out
    return target if out is not None else kind.result(target)
