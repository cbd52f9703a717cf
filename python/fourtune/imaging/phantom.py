"""The Shepp-Logan phantom (Shepp and Logan 1974) with Toft's contrast (1996), as an image and as exact Fourier samples.

Ten ellipses in the square [-1, 1]^2. The first axis of the image is y, upwards; the second x, to the right.
"""

from __future__ import annotations

import numpy as np

from .._errors import FourtuneValueError
from .._plan import sizes
from .._types import Array, Shape
from ._namespace import as_array, cast

# value, half axis along x, half axis along y, centre x, centre y, angle in degrees
ELLIPSES = (
    (1.0, 0.69, 0.92, 0.0, 0.0, 0),
    (-0.8, 0.6624, 0.874, 0.0, -0.0184, 0),
    (-0.2, 0.11, 0.31, 0.22, 0.0, -18),
    (-0.2, 0.16, 0.41, -0.22, 0.0, 18),
    (0.1, 0.21, 0.25, 0.0, 0.35, 0),
    (0.1, 0.046, 0.046, 0.0, 0.1, 0),
    (0.1, 0.046, 0.046, 0.0, -0.1, 0),
    (0.1, 0.046, 0.023, -0.08, -0.605, 0),
    (0.1, 0.023, 0.023, 0.0, -0.606, 0),
    (0.1, 0.023, 0.046, 0.06, -0.605, 0),
)


def _two(shape):
    shape = sizes(shape, "shape")
    if len(shape) != 2:
        raise FourtuneValueError(f"shape is {shape}; two sizes would be right")
    return shape


def shepp_logan(shape: Shape) -> np.ndarray:
    """The phantom at the centres of pixels: float64 of this shape."""
    shape = _two(shape)
    y, x = np.meshgrid(*(2 * (np.arange(n) - n // 2) / n for n in shape), indexing="ij")
    image = np.zeros(shape)
    for value, a, b, cx, cy, degrees in ELLIPSES:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        u, v = c * (x - cx) + s * (y - cy), -s * (x - cx) + c * (y - cy)
        image[(u / a) ** 2 + (v / b) ** 2 <= 1] += value
    return image


def shepp_logan_kspace(ky: Array, kx: Array, shape: Shape) -> np.ndarray:
    """The phantom's Fourier integral at (ky, kx) in radians per pixel of an image of this shape: what a scanner sees.

    An ellipse with half axes A, B pixels gives 2 pi A B J1(q) / q, q the modulus of (A ku, B kv). Needs SciPy.
    """
    from scipy.special import j1

    ny, nx = _two(shape)
    ky, kx = (cast(as_array(k, name), float) for k, name in ((ky, "ky"), (kx, "kx")))
    try:
        total = np.zeros(np.broadcast(ky, kx).shape, complex)
    except ValueError:
        raise FourtuneValueError(f"ky has shape {ky.shape} and kx {kx.shape}; one shape would be right") from None
    for value, a, b, cx, cy, degrees in ELLIPSES:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        # Pixels may have different sizes along x and y, so the frequencies go to the units of the square first.
        fx, fy = kx * nx / 2, ky * ny / 2
        q = np.hypot(a * (c * fx + s * fy), b * (-s * fx + c * fy))
        jinc = np.where(q < 1e-4, 0.5 - q * q / 16, j1(q) / np.where(q == 0, 1, q))
        total += value * 2 * np.pi * a * b * (nx * ny / 4) * jinc * np.exp(-1j * (fx * cx + fy * cy))
    return total
