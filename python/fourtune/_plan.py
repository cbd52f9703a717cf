"""Plan: a nonuniform transform that is made once, given points, and executed as often as you like."""

from __future__ import annotations

import inspect
import numbers
import operator
import re
import threading
from typing import Any, NamedTuple

import numpy as np

from . import _arrays
from ._errors import FourtuneTypeError, FourtuneValueError
from ._library import Transform, check, library
from ._types import Array, Shape

_execute, _execute_adjoint = library.fourtune_execute, library.fourtune_execute_adjoint


class Memory(NamedTuple):
    """Bytes allocated now, and once points are set (an estimate until then)."""

    held: int
    needed: int


def integer(value, name: str, low: int, high: int = 2**62) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise FourtuneTypeError(f"{name} is {value!r}; an integer would be right") from None
    if not low <= number <= high:
        right = f"at least {low}" if high == 2**62 else f"{low} .. {high}"
        raise FourtuneValueError(f"{name} is {number}; {right} would be right")
    return number


def sizes(value, name: str) -> tuple[int, ...]:
    """One size or a sequence of 1 to 3, in the order of an array's axes."""
    try:
        one = isinstance(value, numbers.Integral) or np.ndim(value) == 0
    except ValueError:  # lists of different lengths; integer() names them
        one = False
    if one:
        value = (value,)
    found = tuple(integer(size, name, 1) for size in value)
    if not 1 <= len(found) <= 3:
        raise FourtuneValueError(f"{name} has {len(found)} dimensions; 1, 2 or 3 would be right")
    return found


def precision(dtype: Any) -> tuple[str, np.dtype, np.dtype]:
    """The token's prec, the real and the complex dtype of any of the four dtypes."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype).rpartition(".")[2]  # torch.complex64
    if name in ("complex64", "float32"):
        return "f32", np.dtype(np.float32), np.dtype(np.complex64)
    if name in ("complex128", "float64"):
        return "f64", np.dtype(np.float64), np.dtype(np.complex128)
    raise FourtuneTypeError(f"dtype is {dtype!r}; complex64 or complex128 would be right")


def gpu_number(device: Any) -> int | None:
    """None for the processor, else the GPU's number, from "cpu", "cuda", "cuda:1", 1 or a torch.device."""
    text = str(device)
    if text == "cpu":
        return None
    if text == "cuda":
        return 0
    if text.startswith("cuda:"):
        text = text[5:]
    if text.isdigit() and int(text) < 1024:
        return int(text)
    raise FourtuneValueError(f"device is {device!r}; 'cpu', 'cuda', 'cuda:1' or a number would be right")


def devices_text(devices: Any) -> str:
    """The option of C from "all", "0,1" or numbers."""
    if isinstance(devices, str):
        return devices.replace(" ", "")
    try:
        numbers_of = [integer(device, "devices", 0, 1023) for device in devices]
    except TypeError as error:
        if isinstance(error, FourtuneTypeError):
            raise
        raise FourtuneTypeError(f"devices is {devices!r}; 'all' or GPUs' numbers such as [0, 1] would be right") from None
    if not numbers_of:
        raise FourtuneValueError("devices is empty; 'all' or GPUs' numbers such as [0, 1] would be right")
    return ",".join(map(str, numbers_of))


def flag(value, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_, int)):
        raise FourtuneTypeError(f"{name} is {value!r}; True or False would be right")
    return bool(value)


def copies(on_copy: str) -> str:
    if on_copy not in _arrays.ON_COPY:
        raise FourtuneValueError(f"on_copy is {on_copy!r}; one of {_arrays.ON_COPY} would be right")
    return on_copy


class Plan:
    """A nonuniform fast Fourier transform.

    Type 1 takes m points with strengths to modes, type 2 modes to values at m points, type 3 m points with strengths to
    values at k other points (targets)::

        type 1  f[k] = sum_j c[j] exp(isign i k.x[j])
        type 2  c[j] = sum_k f[k] exp(isign i k.x[j])
        type 3  f[l] = sum_j c[j] exp(isign i s[l].x[j])

    Args:
        nufft_type: 1, 2 or 3.
        n_modes_or_dim: types 1 and 2: shape of the array of modes, such as (64, 48); x belongs to its first axis, y to
            its second. Type 3: the dimension, 1 to 3.
        n_trans: number of transforms at once, stacked along the first axis.
        eps: relative l2 error asked for, between 0 and 1.
        isign: sign of the exponential, +1 or -1; by default +1 for types 1 and 3 and -1 for type 2.
        dtype: "complex128" (double precision) or "complex64".
        device: "cpu", "cuda", "cuda:1" or a GPU's number; by default where the points are.
        devices: "all" or GPUs' numbers such as [0, 1]: these share the n_trans transforms. Arrays may be in host memory
            or on any of the GPUs, and results are where the data is. A call returns when its work is done.
        modeord: 0: modes ascend from -n//2; 1: FFT order, as numpy.fft has it.
        threads: most threads on the processor; 0: as many as are useful.
        deterministic: the same bits from run to run.
        exact_points: points keep all digits of their precision, not only those that eps deserves, so that differences of
            results over small steps of a point are right, as checks of gradients need; set_points takes longer.
        plan: text of the tuned plan to force; by default Fourtune chooses (see explain).
        databases: path or paths of tuning databases and packs; by default the user's and the shipped ones.
        on_copy: what to do when an array must be copied (its strides or dtype): "warn", "allow" or "refuse".

    Threads that share a plan take turns. Arrays may be those of NumPy, PyTorch, CuPy or JAX (on the processor), or
    anything with DLPack or an array interface; results are of the same kind and on the same device. On a GPU work is
    queued on the library's current stream.

    Errors are ValueError, TypeError, MemoryError or RuntimeError, all of them also fourtune.FourtuneError.

    >>> import numpy as np, fourtune
    >>> x = np.linspace(-3, 3, 100)
    >>> plan = fourtune.Plan(1, (8,), eps=1e-9)
    >>> plan.set_points(x)
    >>> f = plan.execute(np.ones(100, complex))
    >>> f.shape, bool(abs(f[4] - 100) < 1e-6)  # the mode 0 is the sum of the strengths
    ((8,), True)
    """

    def __init__(
        self,
        nufft_type: int,
        n_modes_or_dim: Shape,
        n_trans: int = 1,
        eps: float = 1e-6,
        isign: int | None = None,
        *,
        dtype: Any = "complex128",
        device: Any = None,
        devices: Any = None,
        modeord: int = 0,
        threads: int = 0,
        deterministic: bool = False,
        exact_points: bool = False,
        plan: str | None = None,
        databases: Any = None,
        on_copy: str = "warn",
    ) -> None:
        self._type = integer(nufft_type, "nufft_type", 1, 3)
        if self._type == 3:
            self._n_modes, self._dim = None, integer(n_modes_or_dim, "n_modes_or_dim (type 3: the dimension)", 1, 3)
        else:
            try:
                self._n_modes = sizes(n_modes_or_dim, "n_modes")
            except TypeError as error:
                if isinstance(error, FourtuneTypeError):
                    raise
                raise FourtuneTypeError(
                    f"n_modes is {n_modes_or_dim!r}; a shape such as (64, 48) would be right"
                ) from None
            self._dim = len(self._n_modes)
        self._n_trans = integer(n_trans, "n_trans", 1)
        try:
            self._eps = float(eps)
        except (TypeError, ValueError):
            raise FourtuneTypeError(f"eps is {eps!r}; a number between 0 and 1 would be right") from None
        if not 0 < self._eps < 1:
            raise FourtuneValueError(f"eps is {eps!r}; a number between 0 and 1 would be right")
        if isign is None:
            isign = -1 if self._type == 2 else 1
        self._isign = integer(isign, "isign", -1, 1)
        if self._isign == 0:
            raise FourtuneValueError("isign is 0; +1 or -1 would be right")
        prec, self._real, self._dtype = precision(dtype)
        where = f"dim={self._dim}" if self._n_modes is None else "n=" + "x".join(map(str, reversed(self._n_modes)))
        self._problem = (
            f"nufft:type={self._type},{where},prec={prec},tol={self._eps!r},batch={self._n_trans},sign={self._isign}"
        )
        self._options = dict(
            threads=integer(threads, "threads", 0, 2**31 - 1),
            plan=plan,
            databases=databases,
            deterministic=flag(deterministic, "deterministic"),
            exact_points=flag(exact_points, "exact_points"),
            mode_order=integer(modeord, "modeord", 0, 1),
        )
        self._on_copy = copies(on_copy)
        if devices is not None:
            if device is not None:
                raise FourtuneValueError("device and devices were both given; one of them would be right")
            self._options["devices"] = devices_text(devices)
        self._shared = devices is not None
        self._follow_points = device is None
        self._device = None if device is None else gpu_number(device)
        self._lock = threading.Lock()
        self._m = self._k = None
        self._transform = Transform(self._problem, device=self._device, **self._options)

    type = property(lambda self: self._type, doc="1, 2 or 3.")
    n_modes = property(lambda self: self._n_modes, doc="Shape of the array of modes; None for type 3.")
    dim = property(lambda self: self._dim, doc="Number of dimensions.")
    n_trans = property(lambda self: self._n_trans, doc="Number of transforms at once.")
    eps = property(lambda self: self._eps, doc="Relative l2 error asked for.")
    isign = property(lambda self: self._isign, doc="Sign of the exponential.")
    dtype = property(lambda self: self._dtype, doc="NumPy dtype of the complex arrays.")
    m = property(lambda self: self._m, doc="Number of points; None before set_points.")
    n_targets = property(lambda self: self._k if self._type == 3 else None, doc="Type 3: number of targets.")
    on_copy = property(lambda self: self._on_copy, doc='"warn", "allow" or "refuse".')

    @property
    def device(self) -> str:
        """ "cpu" or, such as "cuda:0", a GPU; "cuda:0,1" or "cuda:all" where several share the transforms."""
        if self._shared:
            return f"cuda:{self._options['devices']}"
        return "cpu" if self._device is None else f"cuda:{self._device}"

    def __repr__(self):
        return f"<fourtune.Plan {self._problem} on {self.device}>"

    def set_points(self, x: Array, y: Array = None, z: Array = None, s: Array = None, t: Array = None,
                   u: Array = None) -> None:
        """Sets the points, in radians: any finite real numbers; type 3 also its targets s, t, u.

        Each coordinate is an array of shape (m,), or (k,) for targets, in the plan's real dtype. Arrays are not needed
        after the call.
        """
        names = ("x", "y", "z")[: self._dim] + (("s", "t", "u")[: self._dim] if self._type == 3 else ())
        views = {}
        for name, array in zip("xyzstu", (x, y, z, s, t, u)):
            if (array is not None) != (name in names):
                said = "is missing" if array is None else "was given"
                raise FourtuneValueError(f"{name} {said}; a type {self._type} in {self._dim}D takes {', '.join(names)}")
            if array is not None:
                views[name] = _arrays.look(array, name)
        first = views["x"]
        for name, view in views.items():
            if len(view.shape) != 1:
                raise FourtuneValueError(f"{name} has shape {view.shape}; (m,), one dimension, would be right")
            like = "s" if name in "stu" else "x"
            if view.shape != views[like].shape:
                raise FourtuneValueError(
                    f"{name} has {view.shape[0]} points and {like} {views[like].shape[0]}; as many would be right"
                )
            if view.device != first.device:
                raise FourtuneValueError(
                    f"{name} is on {_place(view.device)} and x on {_place(first.device)}; one device would be right"
                )
        for name, view in views.items():
            views[name] = _arrays.ready(view, name, self._real, self._on_copy)
        first = views["x"]
        with self._lock:
            if first.device != self._device and not self._shared:
                if not self._follow_points:
                    raise FourtuneValueError(
                        f"the points are on {_place(first.device)} and the plan is on {self.device};"
                        " move them there, or leave out device="
                    )
                self._transform = Transform(self._problem, device=first.device, **self._options)
                self._device, self._m = first.device, None
            self._transform.use_stream(first.kind.stream(first.array))
            # x is the first axis here and the fastest, last one in Fourtune.
            sources = [views[name].pointer or 8 for name in reversed("xyz"[: self._dim])] + [None] * (3 - self._dim)
            targets, count = [None] * 3, 0
            if self._type == 3:
                targets[: self._dim] = [views[name].pointer or 8 for name in reversed("stu"[: self._dim])]
                count = views["s"].shape[0]
            status = library.fourtune_set_points(self._transform.handle, first.shape[0], *sources, count, *targets)
            try:
                check(status)
            except FourtuneValueError as error:
                raise self._in_our_names(error) from None
            self._m, self._k = first.shape[0], count

    setpts = set_points

    def execute(self, data: Array, out: Array = None) -> Array:
        """Transforms data; returns a new array, or `out` when it is given.

        Types 1 and 3 take strengths of shape (m,), type 2 modes of shape n_modes. Type 1 returns modes, type 2 values
        of shape (m,), type 3 of shape (k,). With n_trans > 1 all of them have an axis of n_trans in front. `out` is C
        contiguous, of the plan's dtype, and shares no memory with data.
        """
        return self._run(data, out, adjoint=False)

    def execute_adjoint(self, data: Array, out: Array = None) -> Array:
        """The exact conjugate transpose of execute: takes what execute returns, returns what it takes."""
        return self._run(data, out, adjoint=True)

    def __reduce__(self):
        # A copy would share the transform and not what this object knows of its points.
        raise FourtuneTypeError("a plan cannot be copied or pickled; make another one of the same arguments")

    def explain(self) -> str:
        """Which tuned plan runs, and why."""
        with self._lock:
            return self._transform.explain()

    def memory(self) -> Memory:
        """Bytes that the plan holds and needs."""
        with self._lock:
            return Memory(*self._transform.memory())

    def _run(self, data, out, adjoint):
        with self._lock:
            if self._m is None:
                error = FourtuneValueError("execute was called before set_points")
                error.status = "points_not_set"
                raise error
            points = (self._m,)
            modes = (self._k,) if self._type == 3 else self._n_modes
            from_points = (self._type != 2) != adjoint
            given, made = (points, modes) if from_points else (modes, points)
            source = _arrays.look(data, "data")
            lead = self._lead(source.shape, given)
            if source.device != self._device and not self._shared:
                raise FourtuneValueError(
                    f"data is on {_place(source.device)} and the plan on {self.device}; the same device would be right"
                )
            source = _arrays.ready(source, "data", self._dtype, self._on_copy)
            kind, shape = source.kind, lead + made
            if out is None:
                out = kind.make(source.array, shape, self._dtype)
                target = (_arrays.NUMPY if kind is _arrays.JAX else kind).pointer(out)
            else:
                target = _arrays.output(out, shape, self._dtype, source.device, source).pointer
            self._transform.use_stream(kind.stream(source.array))
            arrays = (source.pointer or 8, target or 8)  # an empty array may have no address
            if not from_points:
                arrays = arrays[::-1]
            check((_execute_adjoint if adjoint else _execute)(self._transform.handle, *arrays))
        return kind.result(out)

    def _in_our_names(self, error):
        """Messages of C name its coordinates, which come in the opposite order."""
        ours = {}
        for names in ("xyz"[: self._dim], "stu"[: self._dim]):
            ours.update(zip(names, reversed(names)))
        text = re.sub(
            r"(?<=coordinate )[xyz]\b|^[xyzstu](?=\[)", lambda found: ours.get(found[0], found[0]), str(error)
        )
        renamed = FourtuneValueError(text)
        renamed.status = error.status
        return renamed

    def _lead(self, shape, core) -> tuple:
        """The axes before the core: none, or one of n_trans."""
        lead = shape[: len(shape) - len(core)] if len(shape) >= len(core) else None
        if (
            lead is None
            or shape[len(lead) :] != core
            or lead not in ((), (self._n_trans,))
            or (lead == () and self._n_trans > 1)
        ):
            right = core if self._n_trans == 1 else (self._n_trans, *core)
            raise FourtuneValueError(f"data has shape {tuple(shape)}; {right} would be right")
        return lead


def _place(device) -> str:
    return "the processor" if device is None else f"cuda:{device}"


_OPTIONS = {name for name, each in inspect.signature(Plan).parameters.items() if each.kind is each.KEYWORD_ONLY}


def check_options(options: Any) -> None:
    """Raises for a name that no keyword of Plan has."""
    unknown = set(options) - _OPTIONS
    if unknown:
        raise FourtuneTypeError(f"there is no option {unknown.pop()!r}; {', '.join(sorted(_OPTIONS))} would be right")
