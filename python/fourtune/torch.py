"""Nonuniform transforms of PyTorch tensors, differentiable with respect to data and points.

nufft1d1 ... nufft3d3 take the arguments of fourtune.nufft1d1 ... nufft3d3, without out=. They are one custom operator,
so torch.compile, torch.func.vmap and gradients of any order work with them.

>>> import math, torch, fourtune.torch
>>> x = torch.linspace(-3, 3, 50, dtype=torch.float64, requires_grad=True)
>>> f = fourtune.torch.nufft1d1(x, torch.ones(50, dtype=torch.complex128), 8, eps=1e-9)
>>> f.abs().square().sum().backward()
>>> x.grad.shape
torch.Size([50])

docs/design/python-frameworks.md has the formulas of the gradients, and how many transforms each takes.
"""

from __future__ import annotations

import math

import torch

from ._differentiable import SIGNATURES, adjoint_type, checked_arguments, described, modes_along, result_shape
from ._errors import FourtuneTypeError, FourtuneValueError
from ._kept import plans
from ._types import Array, Arrays, Modes

__all__ = ["nufft", *SIGNATURES]

_COMPLEX = {torch.float32: torch.complex64, torch.float64: torch.complex128}


@torch.library.custom_op(
    "fourtune::nufft", mutates_args=(),
    schema="(Tensor data, Tensor points, Tensor? targets, int nufft_type, int[] n_modes, float eps, int isign,"
           " int modeord) -> Tensor")
def _nufft(data, points, targets, nufft_type, n_modes, eps, isign, modeord):
    """data: (batch, *core), points: (dim, m), targets: (dim, k) or None. Sets the points each time: they may have
    changed, even in place."""
    data, points = data.detach().contiguous(), points.detach().contiguous()
    where = points.shape[0] if nufft_type == 3 else tuple(n_modes)
    device = "cpu" if points.device.type == "cpu" else f"cuda:{points.device.index}"
    dtype = "complex64" if data.dtype == torch.complex64 else "complex128"
    deterministic = torch.are_deterministic_algorithms_enabled()
    options = dict(dtype=dtype, device=device, modeord=modeord, deterministic=deterministic)
    with plans.taken(nufft_type, where, data.shape[0], eps, isign, **options) as plan:
        given = list(points) + [None] * (3 - len(points))
        plan.set_points(*given, *([] if targets is None else targets.detach().contiguous()))
        # One transform has no batch axis in a Plan's results, unless its data have one.
        return plan.execute(data)


@_nufft.register_fake
def _(data, points, targets, nufft_type, n_modes, eps, isign, modeord):
    return data.new_empty(result_shape(data.shape, points.shape, targets, nufft_type, n_modes))


def _setup_context(ctx, inputs, output):
    data, points, targets, *ctx.rest = inputs
    ctx.save_for_backward(data, points, targets)


def _coordinates(nufft_type, n_modes, modeord, targets, like):
    """Of each output of types 1 and 3, or input of type 2: (dim, ...), so that core arrays broadcast with one axis."""
    if nufft_type == 3:
        return list(targets)
    return [torch.as_tensor(k, dtype=like.dtype, device=like.device) for k in modes_along(n_modes, modeord)]


def _weighted(factors, values):
    """values (batch, *core) times each of the coordinates: (dim * batch, *core)."""
    return torch.cat([values * factor for factor in factors])


def _points_gradient(left, right, dim):
    """Re(conj(left) right), summed over the batch: (dim, m)."""
    right = right.reshape(dim, *left.shape)
    return (left.conj() * right).real.sum(1)


def _backward(ctx, g):
    data, points, targets = ctx.saved_tensors
    nufft_type, n_modes, eps, isign, modeord = ctx.rest
    dim = points.shape[0]
    back, sources, ends = adjoint_type(nufft_type, points, targets)

    def run(values, sign, kind=nufft_type, at=points, to=targets):
        return _nufft(values, at, to, kind, n_modes, eps, sign, modeord)

    def run_adjoint(values):
        return run(values, -isign, back, sources, ends)

    grad_data = grad_points = grad_targets = None
    if ctx.needs_input_grad[0]:
        grad_data = run_adjoint(g)
    if ctx.needs_input_grad[1]:
        k = _coordinates(nufft_type, n_modes, modeord, targets, points)
        if nufft_type == 2:
            grad_points = _points_gradient(g, run(_weighted(k, 1j * isign * data), isign), dim)
        else:
            grad_points = _points_gradient(data, run_adjoint(_weighted(k, -1j * isign * g)), dim)
    if targets is not None and ctx.needs_input_grad[2]:
        grad_targets = _points_gradient(g, run(_weighted(list(points), 1j * isign * data), isign), dim)
    return grad_data, grad_points, grad_targets, None, None, None, None, None


_nufft.register_autograd(_backward, setup_context=_setup_context)


@_nufft.register_vmap
def _(info, in_dims, data, points, targets, *rest):
    data_dim, points_dim, targets_dim = in_dims[:3]
    if points_dim is None and targets_dim is None:  # one set of points: one transform with a greater batch
        data = data.movedim(data_dim, 0)
        out = _nufft(data.flatten(0, 1), points, targets, *rest)
        return out.unflatten(0, data.shape[:2]), 0

    def one(array, dim, i):
        return array if dim is None or array is None else array.select(dim, i)

    return torch.stack([
        _nufft(one(data, data_dim, i), one(points, points_dim, i), one(targets, targets_dim, i), *rest)
        for i in range(info.batch_size)
    ]), 0


def _stack(arrays, name):
    if not isinstance(arrays, (tuple, list)) or not arrays:
        raise FourtuneTypeError(f"{name} is {arrays!r}; a list of one to three tensors would be right")
    for array in arrays:
        if not isinstance(array, torch.Tensor):
            raise FourtuneTypeError(f"{name}: a {type(array).__name__} was given; a torch.Tensor would be right")
        if array.dtype not in _COMPLEX:
            raise FourtuneTypeError(f"{name} has dtype {array.dtype}; float32 or float64 would be right")
        if array.layout is not torch.strided:
            raise FourtuneTypeError(f"{name} has layout {array.layout}; a dense tensor would be right")
        if array.ndim != 1 or array.shape != arrays[0].shape or array.device != arrays[0].device:
            raise FourtuneValueError(f"{name}: shape {tuple(array.shape)} on {array.device}; one shape (m,) and one"
                                     " device for all coordinates would be right")
    return torch.stack(list(arrays))


def nufft(nufft_type: int, points: Arrays, data: Array, n_modes: Modes = None, targets: Arrays | None = None,
          eps: float = 1e-6, isign: int | None = None, modeord: int = 0) -> Array:
    """A nonuniform transform of any type; fourtune.Plan has the formulas.

    Args:
        nufft_type: 1, 2 or 3.
        points: sequence of one to three tensors of shape (m,), real, in radians.
        data: complex or real; (m,) for types 1 and 3, the modes for type 2; any number of batch axes in front.
        n_modes: type 1: shape of the modes.
        targets: type 3: sequence of tensors of shape (k,).
        eps, isign, modeord: as in fourtune.Plan.

    Returns a complex tensor with the batch axes of data. Raises ValueError and TypeError for bad input.
    """
    points = _stack(points, "points")
    if not isinstance(data, torch.Tensor):
        raise FourtuneTypeError(f"data: a {type(data).__name__} was given; a torch.Tensor would be right")
    if data.layout is not torch.strided:
        raise FourtuneTypeError(f"data has layout {data.layout}; a dense tensor would be right")
    targets = None if targets is None else _stack(targets, "targets")
    for name, given in (("data", data), ("targets", targets)):
        if given is not None and given.dtype in (torch.complex128, torch.float64) and points.dtype == torch.float32:
            raise FourtuneTypeError(f"{name}: dtype {given.dtype} and the points float32; one precision would be right")
    targets = None if targets is None else targets.to(points.dtype)
    if data.device != points.device or (targets is not None and targets.device != points.device):
        raise FourtuneValueError(f"data is on {data.device} and the points on {points.device}; one device would be"
                                 " right")
    n_modes, isign, lead, core = checked_arguments(nufft_type, points.shape, data.shape, n_modes,
                                                   None if targets is None else targets.shape, eps, isign, modeord)
    data = data.to(_COMPLEX[points.dtype]).reshape(math.prod(lead), *core)
    out = _nufft(data, points, targets, nufft_type, list(n_modes), float(eps), isign, int(modeord))
    return out.reshape(*lead, *out.shape[1:])


nufft1d1, nufft1d2, nufft1d3, nufft2d1, nufft2d2, nufft2d3, nufft3d1, nufft3d2, nufft3d3 = (
    described(_name, nufft) for _name in SIGNATURES)
