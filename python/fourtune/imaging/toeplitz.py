"""The normal operator of a NUFFT as a convolution: two FFTs of twice the size instead of two NUFFTs."""

from __future__ import annotations

import numpy as np

from .. import fft
from .._errors import FourtuneValueError
from .._types import Array
from . import _checks
from ._namespace import as_array, cast, contiguous, like, namespace, require_shape
from .operators import NUFFT, Operator


def _doubled(nufft: NUFFT) -> NUFFT:
    return NUFFT(nufft.points, tuple(2 * n for n in nufft.shape), nufft.eps, dtype=nufft.dtype, **nufft.options)


class Toeplitz(Operator):
    """image -> adjoint(weights * forward(image)) of a NUFFT, with optional coils (Fessler et al. 2005).

    The matrix depends on r - r' alone: q[d] = sum_j weights[j] exp(i k[j].d). One adjoint NUFFT on a grid of twice the
    size gives q for all differences d; a circular convolution of that size applies it.

    Args:
        nufft: a NUFFT operator.
        weights: real, shape (m,), such as a density compensation; by default ones.
        maps: sensitivities of coils, shape (coils, *shape), or None.

    Apply it by `normal` (or `forward`, or `adjoint`: with real weights the matrix is Hermitian).
    """

    def __init__(self, nufft: NUFFT, weights: Array = None, maps: Array = None) -> None:
        _checks.nufft(nufft)
        self.shape, self.dtype = nufft.shape, nufft.dtype
        weights = like(np.ones(nufft.m), nufft.points[0]) if weights is None else as_array(weights, "weights")
        require_shape(weights, (nufft.m,), "weights")
        if "complex" in str(weights.dtype):
            raise FourtuneValueError(f"weights has dtype {weights.dtype}; real weights would be right")
        kernel = _doubled(nufft).adjoint(weights)
        # A Hermitian matrix has a real spectrum. Index -n of the doubled grid meets only zeros of the padded image, but
        # has no partner +n and would make the spectrum complex.
        self.spectrum = fft.fftn(contiguous(namespace(kernel).fft.ifftshift(kernel))).real
        self.maps = None if maps is None else cast(as_array(maps, "maps"), self.dtype)

    def forward(self, image: Array) -> Array:
        image = cast(as_array(image, "image"), self.dtype)
        require_shape(image, self.shape, "image")
        images = image[None] if self.maps is None else self.maps * image
        axes = tuple(range(1, len(self.shape) + 1))
        double = tuple(2 * n for n in self.shape)
        wide = fft.ifftn(self.spectrum * fft.fftn(contiguous(images), double, axes), axes=axes)
        found = wide[(slice(None), *(slice(n) for n in self.shape))]
        return found[0] if self.maps is None else (self.maps.conj() * found).sum(0)

    adjoint = normal = forward
