"""Fourtune as a backend of mri-nufft: "fourtune" on the processor, "fourtune-gpu" for CuPy's arrays on a GPU.

Importing this module registers both:

    import fourtune.mrinufft
    from mrinufft import get_operator
    operator = get_operator("fourtune")(samples, shape, n_coils=4)

Arguments are those of mri-nufft's finufft and cufinufft operators; further ones (eps, threads, deterministic, ...) go
to fourtune.Plan.
"""

from __future__ import annotations

import numpy as np
from mrinufft._array_compat import CUPY_AVAILABLE, _array_to_numpy
from mrinufft._utils import proper_trajectory
from mrinufft.operators.base import FourierOperatorBase, FourierOperatorCPU, _ToggleGradPlanMixin
from mrinufft.operators.interfaces.cufinufft import MRICufiNUFFT

from ._plan import Plan
from .imaging import NUFFT, density_pipe_menon
from .imaging._namespace import like

__all__ = ["MRIFourtune", "MRIFourtuneGPU"]


class _RawPlan:
    """What mri-nufft's operators drive, on the processor or on a GPU, as their samples are: transforms both ways on one
    plan, into arrays that are given. A second plan, of the other sign, is for gradients of the trajectory."""

    def __init__(self, samples, shape, n_trans=1, eps=1e-6, **options):
        self.shape, self.n_trans, self.eps, self.options = tuple(int(n) for n in shape), n_trans, eps, options
        self.dtype = "complex64" if samples.dtype == np.float32 else "complex128"
        self.plan = self.forward = self.make(-1)
        self.gradient_plan = None
        self.set_points(samples)

    def make(self, isign):
        return Plan(2, self.shape, self.n_trans, self.eps, isign, dtype=self.dtype, **self.options)

    def make_gradient_plan(self):
        self.gradient_plan = self.make(+1)
        self.gradient_plan.set_points(*self.coordinates)

    def set_points(self, samples):
        self.n_samples = len(samples)
        self.coordinates = [x if x.flags.c_contiguous else x.copy() for x in samples.T]
        for plan in {self.plan, self.forward, self.gradient_plan} - {None}:
            plan.set_points(*self.coordinates)

    def op(self, coeffs, grid):
        return self._run(self.forward.execute, grid, self.shape, coeffs, (self.n_samples,))

    def adj_op(self, coeffs, grid):
        return self._run(self.plan.execute_adjoint, coeffs, (self.n_samples,), grid, self.shape)

    def _run(self, execute, source, source_core, target, target_core):
        source = source.reshape((self.n_trans, *source_core))
        if target.flags.c_contiguous:  # then this is a view
            execute(source, target.reshape((self.n_trans, *target_core)))
        else:
            target[...] = execute(source).reshape(target.shape)
        return target

    def toggle_grad_traj(self):
        self.forward, self.gradient_plan = self.gradient_plan, self.forward

    # The same by the names that MRICufiNUFFT uses.
    def type1(self, coeffs, grid):
        return self.adj_op(coeffs, grid)

    def type2(self, grid, coeffs):
        return self.op(coeffs, grid)


def _density(samples, volume_shape, max_iter, osf, normalize, options):
    """Weights of shape (m,) by Pipe and Menon's iteration (fourtune.imaging.density), over osf times the image.

    normalize: scaled so that adj_op(density * op(ones)) has mean modulus 1.
    """
    points = [x.copy() for x in samples.T]
    options = {"dtype": "complex64" if samples.dtype == np.float32 else "complex128", **options}
    shape = tuple(max(1, round(n * osf / 2)) for n in volume_shape)
    density = density_pipe_menon(NUFFT(points, shape, **options), max_iter)
    if normalize:
        operator = NUFFT(points, volume_shape, **options)
        # op and adj_op of mri-nufft are both divided by the square root of 2^dim times the image's size.
        scale = 2 ** len(volume_shape) * np.prod(volume_shape)
        ones = like(np.ones(volume_shape), density, options["dtype"])
        recon = operator.adjoint(density * operator.forward(ones)) / scale
        density = density / abs(recon).mean()
    return density


class MRIFourtune(FourierOperatorCPU, _ToggleGradPlanMixin):
    """mri-nufft's operator over fourtune.Plan.

    Args:
        samples: trajectory, shape (m, dim), in mri-nufft's units; real, its precision is that of the operator.
        shape: shape of the image.
        density: False, True, a method's name or weights of shape (m,).
        n_coils, n_batchs, n_trans, smaps, squeeze_dims: as in mri-nufft's other operators.
        options: those of fourtune.Plan, such as eps, threads, plan.
    """

    backend = "fourtune"
    available = True
    autograd_available = True

    def __init__(self, samples, shape, density=False, n_coils=1, n_batchs=1, n_trans=1, smaps=None, squeeze_dims=True,
                 **options):
        samples = np.asarray(_array_to_numpy(proper_trajectory(samples, normalize="pi")), order="F")
        super().__init__(samples, shape, density, n_coils=n_coils, n_batchs=n_batchs, n_trans=n_trans, smaps=smaps,
                         raw_op=_RawPlan(samples, shape, n_trans=n_trans, **options), squeeze_dims=squeeze_dims)

    def update_samples(self, new_samples, unsafe=False):
        """Sets another trajectory. `unsafe`: it has shape (m, dim) and lies in [-pi, pi] already."""
        self._samples = new_samples if unsafe else np.asarray(proper_trajectory(new_samples, normalize="pi"), order="F")
        self.raw_op.set_points(np.asarray(self._samples))
        self.compute_density(self._density_method)

    def _make_plan_grad(self, **options):
        self.raw_op.make_gradient_plan()

    @classmethod
    def pipe(cls, kspace_loc, volume_shape, max_iter=10, osf=2, normalize=True, **options):
        samples = np.asarray(_array_to_numpy(proper_trajectory(kspace_loc, normalize="pi")))
        return _density(samples, volume_shape, max_iter, osf, normalize, options)

    pipe.__func__.__doc__ = _density.__doc__


class MRIFourtuneGPU(MRICufiNUFFT):
    """mri-nufft's operator for GPUs over fourtune.Plan. It does not need cufinufft.

    Args:
        samples: trajectory, shape (m, dim), in mri-nufft's units, on the processor or the GPU.
        shape: shape of the image.
        density: False, True, a method's name or weights of shape (m,).
        n_coils, n_batchs, n_trans, smaps, smaps_cached, squeeze_dims: as in mri-nufft's cufinufft operator.
        options: those of fourtune.Plan, such as eps, plan, deterministic.
    """

    backend = "fourtune-gpu"
    available = CUPY_AVAILABLE
    autograd_available = True

    def __init__(self, samples, shape, density=False, n_coils=1, n_batchs=1, smaps=None, smaps_cached=False,
                 verbose=False, squeeze_dims=False, n_trans=1, **options):
        import cupy

        FourierOperatorBase.__init__(self)
        if n_batchs * n_coils % n_trans != 0:
            raise ValueError(f"n_trans is {n_trans}; a divisor of n_batchs * n_coils = {n_batchs * n_coils} would be"
                             " right")
        self.shape, self.n_coils, self.n_batchs, self.n_trans = shape, n_coils, n_batchs, n_trans
        self.squeeze_dims, self.smaps_cached = squeeze_dims, smaps_cached
        self._samples = cupy.asarray(proper_trajectory(samples, normalize="pi"), order="F")
        self.dtype = self._samples.dtype
        if isinstance(density, cupy.ndarray):
            self.density = density
        else:
            self.compute_density(density)
        self.compute_smaps(smaps)
        self.raw_op = _RawPlan(self._samples, shape, n_trans=n_trans, **options)

    def update_samples(self, new_samples, *, unsafe=False):
        """Sets another trajectory. `unsafe`: a CuPy array of shape (m, dim) in [-pi, pi] already."""
        import cupy

        if not unsafe:
            new_samples = cupy.asarray(proper_trajectory(new_samples, normalize="pi"), dtype=self.dtype, order="F")
        self._samples = new_samples
        self.raw_op.set_points(new_samples)
        self.compute_density(self._density_method)

    def _make_plan_grad(self, **options):
        self.raw_op.make_gradient_plan()

    @classmethod
    def pipe(cls, kspace_loc, volume_shape, max_iter=10, osf=2, normalize=True, **options):
        import cupy

        samples = cupy.asarray(proper_trajectory(kspace_loc, normalize="pi"))
        return _density(samples, volume_shape, max_iter, osf, normalize, options)

    pipe.__func__.__doc__ = _density.__doc__
