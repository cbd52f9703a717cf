"""A backend for scipy.fft: `with scipy.fft.set_backend(fourtune.scipy): ...`

It serves Fourier transforms of single and double precision. SciPy itself does the rest: sine and cosine transforms,
long doubles and Hermitian transforms of many axes. As SciPy's, results have the same bits each time. As many threads
work as are useful, unless `workers` or scipy.fft.set_workers says otherwise.
"""

from __future__ import annotations

import os
from numbers import Integral

import numpy as np
from scipy.fft import get_workers

from . import fft as _fft

__ua_domain__ = "numpy.scipy.fft"
_NAMES = {
    "fftn",
    "ifftn",
    "fft",
    "ifft",
    "fft2",
    "ifft2",
    "rfft",
    "irfft",
    "rfftn",
    "irfftn",
    "rfft2",
    "irfft2",
    "hfft",
    "ihfft",
}


def _threads(workers) -> int:
    """scipy's workers as threads: negative ones count from the number of processors. SciPy's default of one worker is
    no wish of the caller's, and becomes 0: as many threads as are useful."""
    if workers is None:
        workers = get_workers()
        return 0 if workers == 1 else workers
    count = os.cpu_count() or 1
    if workers < 0 and workers >= -count:
        workers += 1 + count
    elif workers < -count:
        raise ValueError(f"workers value out of range; got {workers}, must not be less than {-count}")
    elif workers == 0:
        raise ValueError("workers must not be zero")
    return workers


def _refused_by_scipy(dim, s, axes, one) -> bool:
    """Sizes and axes that numpy.fft takes and SciPy answers with an error: SciPy shall say it."""
    names = [axis % dim if isinstance(axis, Integral) else axis for axis in (() if axes is None else axes)]
    return len(set(names)) < len(names) or (s is not None and any(n is None or (one and n == -1) for n in s))


def __ua_function__(method, args, kwargs):
    if method.__name__ not in _NAMES:
        return NotImplemented
    names = {"n": "s", "axis": "axes"}  # those of the transforms of one axis
    return _serve(method.__name__, *args, **{names.get(name, name): value for name, value in kwargs.items()})


def _serve(name, x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    if plan is not None:
        raise NotImplementedError("passing a precomputed plan is not supported by scipy.fft functions")
    if type(x) is not np.ndarray:
        x = np.asarray(x)
    if x.dtype.kind not in "biufc" or x.dtype.itemsize > (16 if x.dtype.kind == "c" else 8):
        return NotImplemented
    if x.ndim == 0 or x.size == 0:
        return NotImplemented
    one = name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    if one:
        axes = (-1 if axes is None else axes,)
        s = None if s is None else (s,)
    elif name.endswith("2") and axes is None:
        axes = (-2, -1)
    elif axes is not None and np.ndim(axes) == 0:
        axes = (axes,)
    if s is not None and np.ndim(s) == 0:
        s = (s,)
    if s is None and axes is not None and len(axes) == 0:
        return NotImplemented
    if _refused_by_scipy(x.ndim, s, axes, one):
        return NotImplemented
    if not one and s is not None and axes is not None and len(s) != len(axes):
        raise ValueError("when given, axes and shape arguments have to be of the same length")
    form = (
        "r2c" if name in ("rfft", "rfftn", "rfft2", "ihfft") else "c2r" if name[0] == "h" or "irfft" in name else "c2c"
    )
    if form == "r2c" and x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")
    sign = 1 if name[0] == "i" and name != "ihfft" or name == "hfft" else -1
    if name in ("hfft", "ihfft"):
        norm = _fft._INVERSE[_fft._norm(norm)]
    if name == "hfft":
        x = x.conj()
    if form == "c2r" and x.dtype.kind != "c":
        x = x.astype(np.complex64 if x.dtype in (np.float16, np.float32) else np.complex128)
    found = _fft._run(x, s, axes, norm, None, form, sign, _threads(workers), "allow", True)
    return np.conj(found, out=found) if name == "ihfft" else found
