"""Problems drawn at random, through Plan and fourtune.fft: sizes, dtypes, signs, orders, strides, axes, batches.

FOURTUNE_SEED chooses other ones, FOURTUNE_COUNT how many of each; a failure is repeated by the seed in its name.
"""

import os

import fourtune
import fourtune.fft
import numpy as np
import pytest
from test_nufft import REAL, error, frequencies, matrix, numbers

SEED, COUNT = int(os.environ.get("FOURTUNE_SEED", 1)), int(os.environ.get("FOURTUNE_COUNT", 40))
SEEDS = range(SEED * 1000, SEED * 1000 + COUNT)


def laid_out(rng, array):
    """The same numbers with other strides: C order, Fortran order, every second element, backwards."""
    how = rng.integers(4)
    if how == 1:
        return np.asfortranarray(array)
    if how == 2:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return array[..., ::-1].copy()[..., ::-1] if how == 3 else array


@pytest.mark.filterwarnings("ignore::fourtune.CopyWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_nonuniform_transform(seed):
    rng = np.random.default_rng(seed)
    kind, dim, m = rng.integers(1, 4), rng.integers(1, 4), int(rng.integers(0, 200))
    dtype = str(rng.choice(["complex64", "complex128"]))
    eps = 10 ** rng.uniform(*((-5, -1) if dtype == "complex64" else (-12, -1)))
    modes = tuple(int(n) for n in rng.integers(1, {1: 90, 2: 24, 3: 10}[dim], dim))
    n_trans, modeord, isign = int(rng.integers(1, 5)), int(rng.integers(2)), int(rng.choice([-1, 1]))
    reach = rng.choice([1.0, np.pi, 40.0])
    if kind == 3 and dim == 3:
        reach = min(reach, np.pi)  # the grid of a larger one may take all of a machine's memory
    points = rng.uniform(-reach, reach, (dim, m)).astype(REAL[dtype])
    targets = rng.uniform(-12, 12, (dim, int(rng.integers(1, 60)))).astype(REAL[dtype])
    other = targets if kind == 3 else frequencies(modes, modeord)
    transform = matrix(kind, points.astype(float), other.astype(float), isign)
    plan = fourtune.Plan(int(kind), int(dim) if kind == 3 else modes, n_trans, eps, isign, dtype=dtype, modeord=modeord,
                         deterministic=bool(rng.integers(2)))
    plan.set_points(*[laid_out(rng, x) for x in points], *[None] * (3 - dim),
                    *([laid_out(rng, s) for s in targets] if kind == 3 else ()))
    lead = () if n_trans == 1 else (n_trans,)
    data = numbers(rng, lead + (modes if kind == 2 else (m,)), dtype)
    right = (data.reshape(n_trans, -1) @ transform.T).reshape(lead + {1: modes, 2: (m,), 3: targets.shape[1:]}[kind])
    found = plan.execute(laid_out(rng, data))
    assert found.shape == right.shape and found.dtype == dtype
    # Relative to what the terms of the sums can reach, since few sums may cancel.
    scale = max(np.linalg.norm(right), np.linalg.norm(data) * np.sqrt(len(right.reshape(n_trans, -1)[0])))
    assert np.linalg.norm(found - right) <= 3 * eps * scale
    sent = numbers(rng, right.shape, dtype)
    difference = np.vdot(sent, found) - np.vdot(plan.execute_adjoint(sent), data)
    # Deconvolution magnifies rounding, to which plans leave a share of the tolerance.
    rounding = max(3e2 * np.finfo(dtype).eps, 0.3 * eps)
    assert abs(difference) <= rounding * np.linalg.norm(sent) * scale


@pytest.mark.filterwarnings("ignore::fourtune.CopyWarning")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_fft(seed):
    rng = np.random.default_rng(seed)
    dim = rng.integers(1, 5)
    shape = tuple(int(n) for n in rng.integers(2, 14, dim))
    axes = tuple(int(axis) for axis in rng.permutation(dim)[: rng.integers(1, dim + 1)])
    name = str(rng.choice(["fftn", "ifftn", "rfftn", "irfftn"]))
    dtype = str(rng.choice(["complex64", "complex128"]))
    s = [int(n) for n in rng.integers(2, 16, len(axes))] if rng.integers(3) == 0 else None
    norm = [None, "ortho", "forward", "backward"][rng.integers(4)]
    values = numbers(rng, shape, dtype)
    if name == "rfftn":
        values = values.real
    values = laid_out(rng, values)
    right = getattr(np.fft, name)(values.astype(complex if name != "rfftn" else float), s, axes, norm)
    for _ in range(2):  # the second call goes the short way
        found = getattr(fourtune.fft, name)(values, s, axes, norm)
        single = dtype == "complex64"
        assert found.shape == right.shape and found.dtype in (np.float32, np.complex64) if single else True
        assert error(found, right) <= (2e-6 if single else 1e-14) * 5
