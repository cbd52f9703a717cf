"""Fourtune: fast Fourier transforms, uniform (fourtune.fft) and nonuniform (Plan, nufft1d1 .. nufft3d3).

>>> import numpy as np, fourtune
>>> x = np.array([0.1, 0.2, 0.3])
>>> fourtune.nufft1d1(x, np.ones(3, complex), 4).shape
(4,)
"""

from . import fft
from ._errors import (
    CopyWarning,
    DatabaseWarning,
    FourtuneError,
    FourtuneMemoryError,
    FourtuneOSError,
    FourtuneRuntimeError,
    FourtuneTypeError,
    FourtuneValueError,
)
from ._kept import clear_plan_cache, set_plan_cache
from ._library import version as _version
from ._plan import Memory, Plan
from ._simple import nufft1d1, nufft1d2, nufft1d3, nufft2d1, nufft2d2, nufft2d3, nufft3d1, nufft3d2, nufft3d3
from ._tune import tune

__version__ = _version()
__all__ = [
    "Plan",
    "tune",
    "set_plan_cache",
    "clear_plan_cache",
    "Memory",
    "fft",
    "FourtuneError",
    "FourtuneValueError",
    "FourtuneTypeError",
    "FourtuneMemoryError",
    "FourtuneRuntimeError",
    "FourtuneOSError",
    "CopyWarning",
    "DatabaseWarning",
    "nufft1d1",
    "nufft1d2",
    "nufft1d3",
    "nufft2d1",
    "nufft2d2",
    "nufft2d3",
    "nufft3d1",
    "nufft3d2",
    "nufft3d3",
]
