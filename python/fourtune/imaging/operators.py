"""The linear operators between an image and the samples of a scanner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import fft
from .._errors import FourtuneTypeError, FourtuneValueError
from .._plan import Plan, check_options, integer, precision, sizes
from .._types import Array, Shape
from . import _checks
from ._namespace import as_array, cast, contiguous, copied, like, namespace, require_shape, to_numpy

__all__ = ["Operator", "NUFFT", "Sense", "Stacked", "OffResonance"]


class Operator:
    """A linear map with `forward` and its conjugate transpose `adjoint`."""

    def forward(self, image: Array) -> Array:
        raise NotImplementedError

    def adjoint(self, samples: Array) -> Array:
        raise NotImplementedError

    def normal(self, image: Array) -> Array:
        """adjoint(forward(image))."""
        return self.adjoint(self.forward(image))


class NUFFT(Operator):
    """Samples of an image's Fourier transform: y[j] = sum_r image[r] exp(-i k[j].r), r the centred pixel indices.

    Args:
        points: one array of shape (m,) for each axis of the image, in radians per pixel.
        shape: shape of the image.
        eps: relative error asked for.
        dtype: "complex128" or "complex64".
        options: those of fourtune.Plan, such as threads.

    forward takes (*shape) or (batch, *shape) and returns (m,) or (batch, m); adjoint goes back. Real images are made
    complex, and arrays of another precision are converted. One plan is kept for each batch size. One thread at a time.
    """

    def __init__(self, points: Iterable[Array], shape: Shape, eps: float = 1e-6, *, dtype: Any = "complex128",
                 **options: Any) -> None:
        check_options(options)
        self.shape = sizes(shape, "shape")
        _, self.real, self.dtype = precision(dtype)
        try:
            points = tuple(points)
        except TypeError:
            kind = type(points).__name__
            raise FourtuneTypeError(f"points is a {kind}; a sequence of arrays would be right") from None
        if len(points) != len(self.shape):
            raise FourtuneValueError(f"points has {len(points)} coordinates and the image {len(self.shape)} axes;"
                                     " one array of coordinates for each axis would be right")
        # Ours: plans of other batch sizes are made of them later, when the caller's may have changed.
        self.points = tuple(copied(cast(as_array(p, "points"), self.real)) for p in points)
        self.eps, self.options, self._plans = eps, options, {}
        self.m = self._plan(1).m

    def _plan(self, batch: int) -> Plan:
        if batch not in self._plans:
            plan = Plan(2, self.shape, batch, self.eps, -1, dtype=self.dtype, **self.options)
            plan.set_points(*self.points)
            self._plans[batch] = plan
        return self._plans[batch]

    def _apply(self, data, core, name, adjoint):
        data = as_array(data, name)
        require_shape(data, core, name, batched=True)
        batched = len(data.shape) > len(core)
        batch = data.shape[0] if batched else 1
        if batch == 0:
            raise FourtuneValueError(f"{name} has a batch of 0; at least 1 would be right")
        plan = self._plan(batch)
        data = contiguous(cast(data, self.dtype))
        return plan.execute_adjoint(data) if adjoint else plan.execute(data)

    def forward(self, image: Array) -> Array:
        return self._apply(image, self.shape, "image", adjoint=False)

    def adjoint(self, samples: Array) -> Array:
        return self._apply(samples, (self.m,), "samples", adjoint=True)


class Sense(Operator):
    """Receiver coils (Pruessmann et al. 2001): coil c sees maps[c] * image. Samples have shape (coils, ...).

    Args:
        inner: the operator of one coil, which takes a batch, such as NUFFT or OffResonance.
        maps: sensitivities, complex, shape (coils, *shape).
    """

    def __init__(self, inner: Any, maps: Array) -> None:
        _checks.operator(inner, "inner", "shape", "dtype", "forward", "adjoint")
        self.inner, self.shape, self.dtype = inner, inner.shape, inner.dtype
        self.maps = cast(as_array(maps, "maps"), inner.dtype)
        if len(self.maps.shape) != len(self.shape) + 1:
            right = f"(coils, {', '.join(map(str, self.shape))})"
            raise FourtuneValueError(f"maps has shape {tuple(self.maps.shape)}; {right} would be right")
        require_shape(self.maps, (self.maps.shape[0], *self.shape), "maps")

    def forward(self, image: Array) -> Array:
        image = as_array(image, "image")
        require_shape(image, self.shape, "image")
        return self.inner.forward(self.maps * image)

    def adjoint(self, samples: Array) -> Array:
        return (self.maps.conj() * self.inner.adjoint(samples)).sum(0)


class Stacked(Operator):
    """Planes of one 2D trajectory, Cartesian along the first axis of the image (stack of stars, stack of spirals).

    Args:
        points: the two coordinates of a plane, for the second and third axis of the image.
        shape: (planes, n1, n2) of the image.
        acquired: which planes kz = -planes//2 .. (in centred order, counted from 0) were measured; by default all.
        eps, dtype, options: as in NUFFT.

    Samples have shape (len(acquired), m): y[q, j] = sum_r image[r] exp(-i (2 pi kz[q] r0 / planes + k[j].(r1, r2))).
    """

    def __init__(self, points: Iterable[Array], shape: Shape, acquired: Iterable[int] | None = None,
                 eps: float = 1e-6, *, dtype: Any = "complex128", **options: Any) -> None:
        self.shape = sizes(shape, "shape")
        if len(self.shape) != 3:
            raise FourtuneValueError(f"shape is {self.shape}; three sizes, (planes, n1, n2), would be right")
        planes = self.shape[0]
        acquired = range(planes) if acquired is None else acquired
        if not hasattr(acquired, "__iter__"):
            raise FourtuneTypeError(f"acquired is {acquired!r}; a sequence of planes, such as range({planes}), would be"
                                    " right")
        self.acquired = [integer(q, "acquired", 0, planes - 1) for q in acquired]
        if not self.acquired or len(set(self.acquired)) != len(self.acquired):
            raise FourtuneValueError(f"acquired is {self.acquired}; each plane at most once, and at least one, would be"
                                     " right")
        self.plane = NUFFT(points, self.shape[1:], eps, dtype=dtype, **options)
        self.dtype = self.plane.dtype

    def forward(self, image: Array) -> Array:
        image = as_array(image, "image")
        require_shape(image, self.shape, "image")
        shift = namespace(image).fft
        planes = fft.fft(contiguous(shift.ifftshift(cast(image, self.dtype), (0,))), axis=0)
        return self.plane.forward(shift.fftshift(planes, (0,))[self.acquired])

    def adjoint(self, samples: Array) -> Array:
        samples = as_array(samples, "samples")
        require_shape(samples, (len(self.acquired), self.plane.m), "samples")
        found, shift = self.plane.adjoint(samples), namespace(samples).fft
        planes = like(np.zeros(self.shape, self.dtype), found)
        planes[self.acquired] = found
        # "forward" divides by nothing here, as a conjugate transpose does.
        lines = fft.ifft(contiguous(shift.ifftshift(planes, (0,))), axis=0, norm="forward")
        return shift.fftshift(lines, (0,))


class OffResonance(Operator):
    """Field inhomogeneity by time segmentation: y[j] = sum_r image[r] exp(-i field[r] times[j]) exp(-i k[j].r).

    The exponential is approximated by exp(-i w t) = sum_l b[l](t) exp(-i w tau[l]) with `segments` equally spaced
    times tau (Noll et al. 1991). The b are the least-squares fit over the histogram of the field map (Sutton, Noll and
    Fessler 2003). `error` is the greatest error of that fit over the histogram and the times.

    Args:
        nufft: a NUFFT operator.
        field: off-resonance in radians per second, real, the image's shape.
        times: when each sample was taken, in seconds, shape (m,).
        segments: number of transforms for one image.
        bins: bins of the histogram.
    """

    def __init__(self, nufft: NUFFT, field: Array, times: Array, segments: int = 8, bins: int = 256) -> None:
        _checks.nufft(nufft)
        self.nufft, self.shape, self.dtype = nufft, nufft.shape, nufft.dtype
        segments, bins = integer(segments, "segments", 1), integer(bins, "bins", 1)
        field, times = as_array(field, "field"), as_array(times, "times")
        require_shape(field, self.shape, "field")
        require_shape(times, (nufft.m,), "times")
        field, times = cast(field, "float64"), cast(times, "float64")
        w, t = to_numpy(field), to_numpy(times)
        if not (np.isfinite(w).all() and np.isfinite(t).all()):
            raise FourtuneValueError("field and times must be finite")
        counts, edges = np.histogram(w, bins)
        centres, weights = (edges[:-1] + edges[1:]) / 2, np.sqrt(counts)[:, None]
        tau = np.linspace(t.min(), t.max(), segments) if t.size else np.zeros(segments)
        basis = np.exp(-1j * np.outer(centres, tau))
        wanted = np.exp(-1j * np.outer(centres, t))
        b = np.linalg.lstsq(weights * basis, weights * wanted, rcond=1e-12)[0]
        self.error = float(np.abs((basis @ b - wanted)[counts > 0]).max(initial=0))
        phases = np.exp(-1j * tau.reshape(-1, *[1] * w.ndim) * w)
        self.b, self.phases = like(b, field, self.dtype), like(phases, field, self.dtype)

    def forward(self, image: Array) -> Array:
        image = as_array(image, "image")
        require_shape(image, self.shape, "image", batched=True)
        if len(image.shape) > len(self.shape):
            return namespace(image).stack([self.forward(one) for one in image])
        return (self.b * self.nufft.forward(self.phases * image)).sum(0)

    def adjoint(self, samples: Array) -> Array:
        samples = as_array(samples, "samples")
        require_shape(samples, (self.nufft.m,), "samples", batched=True)
        if len(samples.shape) > 1:
            return namespace(samples).stack([self.adjoint(one) for one in samples])
        return (self.phases.conj() * self.nufft.adjoint(self.b.conj() * samples)).sum(0)
