"""Nonuniform transforms of JAX arrays: jit, grad, jvp, vmap and vjp of any order, on the processor and on CUDA GPUs.

nufft1d1 ... nufft3d3 take the arguments of fourtune.nufft1d1 ... nufft3d3, without out=. n_modes, eps, isign and
modeord are static under jit. Single precision unless jax_enable_x64 is set, as everything in JAX.

>>> import jax, jax.numpy as jnp, fourtune.jax
>>> x = jnp.linspace(-3, 3, 50)
>>> energy = lambda x: jnp.sum(jnp.abs(fourtune.jax.nufft1d1(x, jnp.ones(50), 8, eps=1e-5)) ** 2)
>>> jax.jit(jax.grad(energy))(x).shape
(50,)

fourtune.jax.via says how compiled programs reach a transform. "ffi": they call libfourtune_jax.so, without Python.
"callback": that library is missing or does not fit this JAX (a warning says which), or the variable FOURTUNE_JAX_VIA
asks for it; each transform then calls back into Python, and arrays on a GPU are refused.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _xla
from ._differentiable import SIGNATURES, adjoint_type, checked_arguments, described, modes_along, result_shape
from ._errors import FourtuneTypeError, FourtuneValueError
from ._kept import plans
from ._library import load_cuda_libraries
from ._types import Array, Arrays, Modes

__all__ = ["nufft", "register_handlers", "via", *SIGNATURES]

# Operands: data (batch, *core), points (dim, m), and for type 3 targets (dim, k).
# Parameters: nufft_type, n_modes, eps, isign, modeord.
_nufft_p = Primitive("fourtune_nufft")


def _shape(data, points, *targets, nufft_type, n_modes, **_):
    return result_shape(data.shape, points.shape, targets[0] if targets else None, nufft_type, n_modes)


def _on_host(data, points, *targets, nufft_type, n_modes, eps, isign, modeord):
    data, points, *targets = (np.ascontiguousarray(a) for a in (data, points, *targets))
    where = points.shape[0] if nufft_type == 3 else n_modes
    options = dict(dtype=data.dtype.name, device="cpu", modeord=modeord)
    with plans.taken(nufft_type, where, data.shape[0], eps, isign, **options) as plan:
        plan.set_points(*points, *[None] * (3 - len(points)), *(targets[0] if targets else ()))
        return plan.execute(data)


def _callback(*operands, **parameters):
    result = jax.ShapeDtypeStruct(_shape(*operands, **parameters), operands[0].dtype)
    return jax.pure_callback(partial(_on_host, **parameters), result, *operands)


@lru_cache(maxsize=256)
def _compiled(parameters):
    return jax.jit(partial(_nufft_p.bind, **dict(parameters)))


_nufft_p.def_impl(lambda *operands, **parameters: _compiled(tuple(parameters.items()))(*operands))
_nufft_p.def_abstract_eval(
    lambda data, *rest, **parameters: jax.core.ShapedArray(_shape(data, *rest, **parameters), data.dtype))
_handlers = _xla.Handlers()
_lower_to_callback = mlir.lower_fun(_callback, multiple_results=False)


def _lower_to_processor(ctx, *operands, **parameters):
    lower = _lower_to_callback if _handlers.refused("cpu") else _handlers.call
    return lower(ctx, *operands, **parameters)


def register_handlers(platform: str = "cpu") -> None:
    """Tells XLA of the handler for "cpu" or "cuda". Transforms do so by themselves; a process that runs a program which
    another one exported calls this first. Raises NotImplementedError if XLA cannot call the handler."""
    if platform not in ("cpu", "cuda"):
        raise FourtuneValueError(f"platform is {platform!r}; 'cpu' or 'cuda' would be right")
    reason = _handlers.refused(platform)
    if reason:
        raise NotImplementedError(f"fourtune.jax on {platform!r}: {reason}")
    if platform == "cuda":
        load_cuda_libraries()


def _lower_to_gpu(ctx, *operands, **parameters):
    register_handlers("cuda")
    return _handlers.call(ctx, *operands, **parameters)


mlir.register_lowering(_nufft_p, _lower_to_processor, platform="cpu")
mlir.register_lowering(_nufft_p, _lower_to_gpu, platform="cuda")


via: str  # "ffi" or "callback"; __getattr__ has the value


def __getattr__(name: str) -> Any:
    if name == "via":
        return _handlers.via
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _jvp(primals, tangents, **parameters):
    """The derivative along data is the transform of the tangent; along points and targets see python-frameworks.md."""
    data, points, *targets = primals
    nufft_type, isign = parameters["nufft_type"], parameters["isign"]
    dim, batch = points.shape[0], data.shape[0]
    bind = partial(_nufft_p.bind, **parameters)

    def sum_of_axes(before, after):
        """sum_a after[a] * transform(before[a] * data), as one transform with a greater batch."""
        many = bind(jnp.concatenate([factor * data for factor in before]), points, *targets)
        many = many.reshape(dim, batch, *many.shape[1:])
        return 1j * isign * sum(factor * one for factor, one in zip(after, many))

    out = bind(data, points, *targets)
    k = targets[0] if targets else [jnp.asarray(k, points.dtype) for k in
                                    modes_along(parameters["n_modes"], parameters["modeord"])]
    terms = []
    if not isinstance(tangents[0], ad.Zero):
        terms.append(bind(tangents[0], points, *targets))
    if not isinstance(tangents[1], ad.Zero):
        terms.append(sum_of_axes(k, tangents[1]) if nufft_type == 2 else sum_of_axes(tangents[1], k))
    if targets and not isinstance(tangents[2], ad.Zero):
        terms.append(sum_of_axes(points, tangents[2]))
    return out, sum(terms[1:], terms[0]).astype(out.dtype) if terms else ad.Zero.from_primal_value(out)


ad.primitive_jvps[_nufft_p] = _jvp


def _transpose(cotangent, data, points, *targets, nufft_type, n_modes, **rest):
    """Linear in data: the plain transpose swaps points and modes (or targets) and keeps the sign."""
    if isinstance(cotangent, ad.Zero):
        return (ad.Zero(data.aval), *[None] * (1 + len(targets)))
    kind, sources, ends = adjoint_type(nufft_type, points, targets[0] if targets else None)
    places = (sources,) if ends is None else (sources, ends)
    back = _nufft_p.bind(cotangent, *places, nufft_type=kind, n_modes=n_modes, **rest)
    return (back, *[None] * (1 + len(targets)))


ad.primitive_transposes[_nufft_p] = _transpose


def _batch(operands, axes, **parameters):
    data, *places = operands
    if all(axis is None for axis in axes[1:]):  # one set of points: one transform with a greater batch
        data = jnp.moveaxis(data, axes[0], 0)
        out = _nufft_p.bind(data.reshape(-1, *data.shape[2:]), *places, **parameters)
        return out.reshape(*data.shape[:2], *out.shape[1:]), 0
    mapped = [i for i, axis in enumerate(axes) if axis is not None]

    def one(given):
        all_of_them = list(operands)
        for i, value in zip(mapped, given):
            all_of_them[i] = value
        return _nufft_p.bind(*all_of_them, **parameters)

    return jax.lax.map(one, tuple(jnp.moveaxis(operands[i], axes[i], 0) for i in mapped)), 0


batching.primitive_batchers[_nufft_p] = _batch


def _stack(arrays, name):
    if not isinstance(arrays, (tuple, list)) or not arrays:
        raise FourtuneTypeError(f"{name} is {arrays!r}; a list of one to three arrays would be right")
    arrays = [jnp.asarray(a) for a in arrays]
    for a in arrays:
        if a.dtype not in (jnp.float32, jnp.float64):
            raise FourtuneTypeError(f"{name} has dtype {a.dtype}; float32 or float64 would be right")
        if a.ndim != 1 or a.shape != arrays[0].shape:
            raise FourtuneValueError(f"{name}: shape {a.shape}; one shape (m,) for all coordinates would be right")
    return jnp.stack(arrays)


def nufft(nufft_type: int, points: Arrays, data: Array, n_modes: Modes = None, targets: Arrays | None = None,
          eps: float = 1e-6, isign: int | None = None, modeord: int = 0) -> Array:
    """A nonuniform transform of any type; fourtune.Plan has the formulas.

    Args:
        nufft_type: 1, 2 or 3.
        points: sequence of one to three arrays of shape (m,), real, in radians.
        data: complex or real; (m,) for types 1 and 3, the modes for type 2; any number of batch axes in front.
        n_modes: type 1: shape of the modes.
        targets: type 3: sequence of arrays of shape (k,).
        eps, isign, modeord: as in fourtune.Plan.

    Returns a complex array, in the points' precision, with the batch axes of data. Raises ValueError and TypeError for
    bad input; NaN in points is seen when the transform runs, and JAX reports it as
    jax.errors.JaxRuntimeError, or as ValueError if it waits for the transform.
    """
    try:
        points, data = _stack(points, "points"), jnp.asarray(data)
        targets = None if targets is None else _stack(targets, "targets")
    except (TypeError, ValueError) as error:
        if isinstance(error, (FourtuneTypeError, FourtuneValueError)):
            raise
        raise FourtuneTypeError(f"arrays would be right: {error}") from None
    for name, given in (("data", data), ("targets", targets)):
        if given is not None and given.dtype in (jnp.complex128, jnp.float64) and points.dtype == jnp.float32:
            raise FourtuneTypeError(f"{name}: dtype {given.dtype} and the points float32; one precision would be right")
    targets = None if targets is None else targets.astype(points.dtype)
    n_modes, isign, lead, core = checked_arguments(nufft_type, points.shape, data.shape, n_modes,
                                                   None if targets is None else targets.shape, eps, isign, modeord)
    data = data.astype(jnp.complex64 if points.dtype == jnp.float32 else jnp.complex128).reshape(math.prod(lead), *core)
    out = _nufft_p.bind(data, points, *([] if targets is None else [targets]), nufft_type=nufft_type, n_modes=n_modes,
                        eps=float(eps), isign=isign, modeord=int(modeord))
    return out.reshape(*lead, *out.shape[1:])


nufft1d1, nufft1d2, nufft1d3, nufft2d1, nufft2d2, nufft2d3, nufft3d1, nufft3d2, nufft3d3 = (
    described(_name, nufft) for _name in SIGNATURES)
