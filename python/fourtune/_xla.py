"""libfourtune_jax.so: handlers that compiled JAX programs call without Python, and the plans that they keep.

XLA is told of a handler when the first program that needs it is lowered. Were it told earlier, before its backend
exists, and did not accept the handler's version, it would give up the whole backend.
"""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from ctypes import c_int64
from pathlib import Path

import jax
import numpy as np

from . import _kept, _library

try:
    from jax import ffi
except ImportError:
    try:
        from jax.extend import ffi  # JAX 0.4.31 to 0.4.38
    except ImportError:
        ffi = None

_TARGET = "fourtune_nufft"  # by which programs name the handlers
_HANDLERS = {"cpu": "fourtune_jax_cpu", "cuda": "fourtune_jax_cuda"}


class NativePlans:
    """The plans that the handlers keep, bounded as those of Python are."""

    def __init__(self, library: ctypes.CDLL):
        self._library = library

    def __len__(self):
        return self._library.fourtune_jax_kept_plans()

    @property
    def held(self) -> int:
        """Bytes that the kept plans hold."""
        return self._library.fourtune_jax_kept_bytes()

    def limit(self, most: int, most_bytes: int) -> None:
        self._library.fourtune_jax_limit_plans(most, most_bytes)

    def clear(self) -> None:
        self._library.fourtune_jax_clear_plans()


def _load() -> ctypes.CDLL:
    """The library beside libfourtune.so. Raises OSError."""
    path = Path(_library.path())
    library = ctypes.CDLL("libfourtune_jax.so" if path.parent == Path() else path.with_name("libfourtune_jax.so"))
    for name, (result, arguments) in {
        "limit_plans": (None, [c_int64, c_int64]),
        "clear_plans": (None, []),
        "kept_plans": (c_int64, []),
        "kept_bytes": (c_int64, []),
    }.items():
        function = getattr(library, "fourtune_jax_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Handlers:
    """What XLA can call, and why not. Threads: any may call any method."""

    def __init__(self):
        self._lock = threading.Lock()
        self._library, self.plans = None, None
        self._answers: dict[str, str] = {}  # of each platform that was asked: why XLA refused; empty: it did not
        self._wanted = wanted = os.environ.get("FOURTUNE_JAX_VIA", "")
        if wanted not in ("", "ffi", "callback"):
            raise ImportError(f"the variable FOURTUNE_JAX_VIA is {wanted!r}; 'ffi' or 'callback' would be right")
        if wanted == "callback":
            return
        try:
            if not hasattr(ffi, "register_ffi_target"):
                raise OSError("this JAX has no foreign function interface; 0.4.31 or later would be right")
            self._library = _load()
        except OSError as error:
            if wanted:
                raise ImportError(f"the variable FOURTUNE_JAX_VIA is 'ffi', but {error}") from error
            self._warn(str(error))
            return
        self.plans = NativePlans(self._library)
        _kept.also_bounded(self.plans)

    @property
    def via(self) -> str:
        return "callback" if self._library is None or self._answers.get("cpu") else "ffi"

    def refused(self, platform: str) -> str:
        """Why programs for "cpu" or "cuda" cannot call the handler; empty: they can."""
        with self._lock:
            if self._library is None:
                return "libfourtune_jax.so is not loaded"
            if platform not in self._answers:
                self._answers[platform] = reason = self._register(platform)
                if reason and platform == "cpu" and not self._wanted:
                    self._warn(reason)
            reason = self._answers[platform]
        if reason and self._wanted:
            raise NotImplementedError(f"the variable FOURTUNE_JAX_VIA is 'ffi', but {reason}")
        return reason

    def _register(self, platform: str) -> str:
        try:
            jax.devices(platform)
        except RuntimeError:
            pass  # such a backend is not here: the program is for another machine
        handler = ffi.pycapsule(getattr(self._library, _HANDLERS[platform]))
        try:
            ffi.register_ffi_target(_TARGET, handler, platform="CUDA" if platform == "cuda" else platform)
        except Exception as error:  # XLA has no class of errors for this
            return f"XLA refuses libfourtune_jax.so: {error}"
        return ""

    @staticmethod
    def _warn(reason: str) -> None:
        warnings.warn(f"fourtune.jax calls back into Python, which is slower: {reason}", RuntimeWarning, stacklevel=4)

    def call(self, ctx, *operands, nufft_type, n_modes, eps, isign, modeord):
        """A lowering rule: one call of the handler. The shape of the result says n_modes."""
        lower = ffi.ffi_lowering(_TARGET)
        return lower(ctx, *operands, nufft_type=np.int64(nufft_type), eps=np.float64(eps), isign=np.int64(isign),
                     modeord=np.int64(modeord))
