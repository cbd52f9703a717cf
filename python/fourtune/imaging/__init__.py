"""Operators for imaging by magnetic resonance, each a few lines over fourtune.Plan.

Arrays of NumPy, CuPy and PyTorch alike: results are of the kind and on the device of what was given. An operator has
`forward` (image to samples), `adjoint` (samples to image, the exact conjugate transpose) and `normal` (one after the
other). Points are in radians per pixel: one array of shape (m,) for each axis of the image, in the order of its axes.

>>> from fourtune import imaging
>>> points = imaging.radial(spokes=40, samples=48)
>>> scan = imaging.NUFFT(points, (24, 24), eps=1e-9)
>>> image = imaging.shepp_logan((24, 24))
>>> found = imaging.conjugate_gradients(scan.normal, scan.adjoint(scan.forward(image)), iterations=60)
>>> found.x.shape, found.history[-1] < 1e-3
((24, 24), True)
"""

from .density import density_frobenius, density_pipe_menon
from .operators import NUFFT, OffResonance, Sense, Stacked
from .phantom import shepp_logan, shepp_logan_kspace
from .solvers import Solution, conjugate_gradients, fista, largest_eigenvalue, soft_threshold
from .toeplitz import Toeplitz
from .trajectories import Scan, brain_radial_2019, radial, spiral

__all__ = [
    "NUFFT", "Sense", "Stacked", "OffResonance", "Toeplitz", "density_pipe_menon", "density_frobenius",
    "conjugate_gradients", "fista", "soft_threshold", "largest_eigenvalue", "Solution", "shepp_logan",
    "shepp_logan_kspace", "radial", "spiral", "Scan", "brain_radial_2019",
]
