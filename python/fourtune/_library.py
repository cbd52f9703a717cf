"""libfourtune.so by ctypes, and the transforms that it makes.

ctypes gives up the interpreter's lock during every call. docs/design/python.md says why there is no extension module.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import warnings
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path

from ._errors import DatabaseWarning, FourtuneTypeError, FourtuneValueError, from_status

_PACKAGE = Path(__file__).parent


class Pack(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("name", c_char_p)]


class Options(Structure):  # fourtune_options of fourtune.h, field by field
    _fields_ = [
        ("size", c_size_t),
        ("databases", POINTER(c_char_p)),
        ("database_count", c_size_t),
        ("backend", c_char_p),
        ("device", c_int),
        ("threads", c_int),
        ("plan", c_char_p),
        ("deterministic", c_int),
        ("stream", c_void_p),
        ("mode_order", c_int),
        ("clamp_tolerance", c_int),
        ("trust_points", c_int),
        ("only", c_int),
        ("distinct_points", c_int),
        ("packs", POINTER(Pack)),
        ("pack_count", c_size_t),
        ("trusted_keys", POINTER(c_char_p)),
        ("trusted_key_count", c_size_t),
        ("default_databases", c_int),
        ("misses", c_char_p),
        ("devices", c_char_p),
        ("exact_points", c_int),
    ]


# Of the release that this package belongs to; the binary interface changes with the minor version.
SONAME = "libfourtune.so.0.10"


def path() -> str:
    """Where libfourtune.so is; a bare name where the loader has to find it."""
    chosen = os.environ.get("FOURTUNE_LIBRARY")
    if chosen:
        return chosen
    bundled = sorted((_PACKAGE / "lib").glob("libfourtune.so*"))
    return str(bundled[0]) if bundled else SONAME


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(path())
    except OSError as error:
        raise ImportError(
            f"cannot load {path()}: {error}. Install the wheel, or name the library by the variable FOURTUNE_LIBRARY"
        ) from error
    handle, text = c_void_p, c_char_p
    signatures = {
        "options_init": (c_int, [POINTER(Options)]),
        "create": (c_int, [text, POINTER(Options), POINTER(handle)]),
        "set_points": (c_int, [handle, c_int64] + [c_void_p] * 3 + [c_int64] + [c_void_p] * 3),
        "set_bounds": (c_int, [handle, POINTER(c_double), POINTER(c_double)]),
        "execute": (c_int, [handle, c_void_p, c_void_p]),
        "execute_adjoint": (c_int, [handle, c_void_p, c_void_p]),
        "set_stream": (c_int, [handle, c_void_p]),
        "memory": (c_int, [handle, POINTER(c_int64), POINTER(c_int64)]),
        "destroy": (None, [handle]),
        "last_error": (text, []),
        "explain": (text, [handle]),
        "warnings": (text, [handle]),
        "version": (text, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, "fourtune_" + name)
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


def version() -> str:
    """Version of the loaded library."""
    return library.fourtune_version().decode()


def check(status: int) -> None:
    if status:
        raise from_status(status, library.fourtune_last_error().decode(errors="replace"))


def _packaged_cuda_libraries() -> list[Path]:
    """NVRTC and cuFFT of NVIDIA's PyPI packages (extras cu12 and cu13), the newer ones first."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or []) if spec else []
    places = ["cu13/lib/libnvrtc.so.13", "cu13/lib/libcufft.so.12",
              "cuda_nvrtc/lib/libnvrtc.so.12", "cufft/lib/libcufft.so.11"]
    return [path for place in places for path in (Path(root, place) for root in roots) if path.is_file()]


_cuda_libraries_kept: list[ctypes.CDLL] | None = None


def load_cuda_libraries() -> None:
    """Opens NVRTC and cuFFT of NVIDIA's PyPI packages where the loader finds none; libfourtune.so then finds them."""
    global _cuda_libraries_kept
    if _cuda_libraries_kept is not None:
        return
    _cuda_libraries_kept = []
    for path in _packaged_cuda_libraries():
        for candidate in (path.name, str(path)):
            try:
                _cuda_libraries_kept.append(ctypes.CDLL(candidate, mode=ctypes.RTLD_GLOBAL))
                break
            except OSError:
                continue


def environment_with_cuda_libraries() -> dict[str, str]:
    """The environment of a program that shall find them, too, behind the folders that it searches already."""
    folders = [os.environ.get("LD_LIBRARY_PATH", ""), *(str(path.parent) for path in _packaged_cuda_libraries())]
    searched = os.pathsep.join(dict.fromkeys(filter(None, folders)))
    return {**os.environ, "LD_LIBRARY_PATH": searched} if searched else dict(os.environ)


def encode(text, name: str) -> bytes:
    """Text for C. A zero byte would end it early there, so it is refused."""
    try:
        raw = os.fsencode(text)
    except TypeError:
        raise FourtuneValueError(f"{name} is {text!r}; a text or path would be right") from None
    except UnicodeError as error:
        raise FourtuneValueError(f"{name} cannot be encoded: {error}") from None
    if b"\0" in raw:
        raise FourtuneValueError(f"{name} contains a zero byte")
    return raw


class Transform:
    """A fourtune_transform; freed with this object. One thread at a time."""

    __slots__ = ("handle", "device", "stream", "__weakref__")

    def __init__(
        self, problem: str, *, device=None, devices=None, threads=0, deterministic=False, plan=None, databases=None,
        mode_order=0, exact_points=False,
    ):
        self.handle = None  # for __del__ when a check below fails
        if devices is not None:
            device = 0
        self.device = device  # None: the processor; else the GPU's number; 0 where several share a batch
        self.stream = None
        options = Options()
        check(library.fourtune_options_init(byref(options)))
        if databases is not None:
            paths = [databases] if isinstance(databases, (str, bytes, os.PathLike)) else databases
            try:
                paths = [encode(path, "databases") for path in paths]
            except TypeError:  # no sequence
                raise FourtuneTypeError(f"databases is {databases!r}; a path or paths would be right") from None
            options.databases = (c_char_p * max(len(paths), 1))(*paths)
            options.database_count = len(paths)
        options.backend = b"cpu" if device is None else b"cuda"
        options.device = device or 0
        options.devices = None if devices is None else encode(devices, "devices")
        options.threads = threads
        options.plan = None if plan is None else encode(plan, "plan")
        options.deterministic = bool(deterministic)
        options.mode_order = mode_order
        options.exact_points = bool(exact_points)
        if device is not None:
            load_cuda_libraries()
        made = c_void_p()
        check(library.fourtune_create(problem.encode(), byref(options), byref(made)))
        self.handle = made.value
        unusable = library.fourtune_warnings(self.handle).decode().strip() if databases is not None else ""
        if unusable:
            warnings.warn(unusable, DatabaseWarning, stacklevel=4)

    def __del__(self):
        if self.handle and library is not None:
            library.fourtune_destroy(self.handle)
            self.handle = None

    def use_stream(self, stream) -> None:
        if self.device is not None and stream != self.stream:
            check(library.fourtune_set_stream(self.handle, stream))
            self.stream = stream

    def explain(self) -> str:
        return library.fourtune_explain(self.handle).decode()

    def memory(self) -> tuple[int, int]:
        held, needed = c_int64(), c_int64()
        check(library.fourtune_memory(self.handle, byref(held), byref(needed)))
        return held.value, needed.value
