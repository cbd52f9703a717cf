"""Fourtune as a backend of mri-nufft, by the name "fourtune", on the processor.

Importing this module registers it:

    import fourtune.mrinufft
    from mrinufft import get_operator
    operator = get_operator("fourtune")(samples, shape, n_coils=4)

Arguments are those of mri-nufft's finufft operator; further ones (eps, threads, deterministic, ...) go to
fourtune.Plan.
"""

from __future__ import annotations

import numpy as np
from mrinufft._array_compat import _array_to_numpy
from mrinufft._utils import proper_trajectory
from mrinufft.operators.base import FourierOperatorCPU, _ToggleGradPlanMixin

from ._plan import Plan
from .imaging import NUFFT, density_pipe_menon

__all__ = ["MRIFourtune"]


class _RawPlan:
    """What FourierOperatorCPU drives: op and adj_op on one plan. The adjoint needs no second plan."""

    def __init__(self, samples, shape, n_trans=1, eps=1e-6, **options):
        self.shape, self.n_trans, self.eps, self.options = tuple(int(n) for n in shape), n_trans, eps, options
        self.dtype = "complex64" if samples.dtype == np.float32 else "complex128"
        self.plan, self.gradient_plan = self.make(-1), None
        self.set_points(samples)

    def make(self, isign):
        return Plan(2, self.shape, self.n_trans, self.eps, isign, dtype=self.dtype, **self.options)

    def set_points(self, samples):
        self.n_samples = len(samples)
        self.coordinates = [np.ascontiguousarray(x) for x in np.asarray(samples).T]
        self.plan.set_points(*self.coordinates)
        if self.gradient_plan is not None:
            self.gradient_plan.set_points(*self.coordinates)

    def _core(self, array, core):
        """The array without axes of size 1 for one transform, as it came or with them gone; never a copy."""
        return array.reshape(core if self.n_trans == 1 else (self.n_trans, *core))

    def op(self, coeffs, grid):
        return self._run(self.plan.execute, grid, self.shape, coeffs, (self.n_samples,))

    def adj_op(self, coeffs, grid):
        return self._run(self.plan.execute_adjoint, coeffs, (self.n_samples,), grid, self.shape)

    def _run(self, execute, source, source_core, target, target_core):
        view = self._core(target, target_core)
        if np.shares_memory(view, target) and view.flags.c_contiguous:
            execute(self._core(source, source_core), view)
        else:
            target[...] = execute(self._core(source, source_core)).reshape(target.shape)
        return target

    def toggle_grad_traj(self):
        self.plan, self.gradient_plan = self.gradient_plan, self.plan


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
        self.raw_op.set_points(self._samples)
        self.compute_density(self._density_method)

    def _make_plan_grad(self, **options):
        self.raw_op.gradient_plan = self.raw_op.make(+1)
        self.raw_op.set_points(self._samples)

    @classmethod
    def pipe(cls, kspace_loc, volume_shape, max_iter=10, osf=2, normalize=True, **options):
        """Weights of shape (m,) by Pipe and Menon's iteration (fourtune.imaging.density), over osf times the image.

        normalize: scaled so that adj_op(density * op(ones)) has mean modulus 1.
        """
        samples = np.asarray(_array_to_numpy(proper_trajectory(kspace_loc, normalize="pi")))
        dtype = "complex64" if samples.dtype == np.float32 else "complex128"
        shape = tuple(max(1, round(n * osf / 2)) for n in volume_shape)
        options = {"dtype": dtype, **options}
        density = density_pipe_menon(NUFFT(np.ascontiguousarray(samples.T), shape, **options), max_iter)
        if normalize:
            operator = NUFFT(np.ascontiguousarray(samples.T), volume_shape, **options)
            # op and adj_op of mri-nufft are both divided by the square root of 2^dim times the image's size.
            scale = 2 ** len(volume_shape) * np.prod(volume_shape)
            recon = operator.adjoint(density * operator.forward(np.ones(volume_shape, dtype))) / scale
            density = density / np.mean(np.abs(recon))
        return density
