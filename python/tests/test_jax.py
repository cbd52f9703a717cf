"""fourtune.jax on the processor: values, jit, vmap, and derivatives against finite differences. test_jax_ffi.py runs
this file once more, with callbacks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
from jax.test_util import check_grads

import fourtune
import fourtune.jax as fj
from turns import of_turn

SHAPES = {1: (7,), 2: (4, 5), 3: (3, 4, 3)}
ALL = [(kind, dim) for dim in (1, 2, 3) for kind in (1, 2, 3)]
EPS = 1e-12
FAILURES = ValueError, RuntimeError  # JAX has either, as it waits for the call or not


def arguments(kind, dim, lead=(), real=False, seed=0, m=6, k=5):
    rng = np.random.default_rng(seed)
    points = [jnp.asarray(rng.uniform(-2, 2, m)) for _ in range(dim)]
    targets = [jnp.asarray(rng.uniform(-2, 2, k)) for _ in range(dim)] if kind == 3 else []
    shape = (*lead, *(SHAPES[dim] if kind == 2 else (m,)))
    data = rng.standard_normal(shape) + (0 if real else 1j * rng.standard_normal(shape))
    return jnp.asarray(data), *points, *targets


def function_of(kind, dim, modeord=0):
    def call(data, *places):
        return fj.nufft(kind, places[:dim], data, SHAPES[dim] if kind == 1 else None, places[dim:] or None, EPS,
                        modeord=modeord)

    return call


def by_plan(kind, dim, data, *places):
    plan = fourtune.Plan(kind, dim if kind == 3 else SHAPES[dim], eps=EPS)
    places = [np.asarray(p) for p in places]
    plan.set_points(*places[:dim], *[None] * (3 - dim), *places[dim:])
    return plan.execute(np.asarray(data))


@pytest.mark.parametrize("kind, dim", ALL)
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_values_are_those_of_plan(kind, dim, wrap):
    data, *places = arguments(kind, dim, (2,))
    found = wrap(function_of(kind, dim))(data, *places)
    expected = np.stack([by_plan(kind, dim, one, *places) for one in data])
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("lead, real, kind, dim", of_turn(
    [(lead, real, *one) for lead, real in [((), False), ((2,), False), ((), True)] for one in ALL], 4))
def test_derivatives_of_first_and_second_order_in_both_modes(lead, real, kind, dim):
    order = 2 if dim == 2 and not lead else 1  # compiling second derivatives takes seconds for each case
    check_grads(function_of(kind, dim), arguments(kind, dim, lead, real), order=order, modes=("fwd", "rev"), rtol=1e-4,
                atol=1e-4)


@pytest.mark.parametrize("kind", [1, 2])
def test_derivatives_in_fft_order(kind):
    check_grads(function_of(kind, 2, modeord=1), arguments(kind, 2), order=1, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_vmap_over_data_and_over_points(kind):
    call, sets = function_of(kind, 2), [arguments(kind, 2, seed=seed) for seed in range(3)]
    data, *places = (jnp.stack(a) for a in zip(*sets))
    first = [p[0] for p in places]
    np.testing.assert_allclose(jax.vmap(lambda d: call(d, *first))(data), call(data, *first), atol=1e-9)
    expected = np.stack([call(*one) for one in sets])
    np.testing.assert_allclose(jax.jit(jax.vmap(call))(data, *places), expected, atol=1e-9)
    places[0] = jnp.moveaxis(places[0], 0, 1)
    axes = (0, 1, *[0] * (len(places) - 1))
    np.testing.assert_allclose(jax.vmap(call, in_axes=axes)(data, *places), expected, atol=1e-9)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_jitted_gradients_are_those_of_eager_ones(kind):
    call, inputs = function_of(kind, 2), arguments(kind, 2)
    gradient = jax.grad(lambda *a: jnp.sum(jnp.abs(call(*a)) ** 2), argnums=tuple(range(len(inputs))))
    for a, b in zip(jax.jit(gradient)(*inputs), gradient(*inputs)):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_single_precision_stays_single():
    data, x = arguments(1, 1)
    found = fj.nufft1d1(x.astype(jnp.float32), data.astype(jnp.complex64), 7, eps=1e-5)
    assert found.dtype == jnp.complex64
    np.testing.assert_allclose(found, fj.nufft1d1(x, data, 7, eps=1e-12), atol=1e-3)


def test_arrays_of_many_megabytes_go_through():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.uniform(-3, 3, 300_000))
    found = jax.jit(lambda x: fj.nufft1d1(x, x + 1, 1000))(x)
    expected = fourtune.nufft1d1(np.asarray(x), np.asarray(x) + 1 + 0j, 1000)
    assert np.linalg.norm(found - expected) <= 1e-6 * np.linalg.norm(expected)


def test_other_devices_are_refused_and_not_copied():
    data, x = arguments(1, 1)
    traced = jax.jit(lambda x, c: fj.nufft1d1(x, c, 7)).trace(x, data)
    with pytest.raises(NotImplementedError, match="fourtune_nufft"):
        traced.lower(lowering_platforms=("tpu",))


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_loops_nested_jit_and_donated_data_give_the_same(kind):
    call, sets = function_of(kind, 2), [arguments(kind, 2, seed=seed) for seed in range(4)]
    stacked = [jnp.stack(a) for a in zip(*sets)]
    expected = np.stack([call(*one) for one in sets])
    looped = jax.jit(lambda *all_of_them: jax.lax.map(lambda one: jax.jit(call)(*one), all_of_them))
    np.testing.assert_allclose(looped(*stacked), expected, atol=1e-9)
    _, scanned = jax.lax.scan(lambda carry, one: (carry + 1, call(*one)), 0, tuple(stacked))
    np.testing.assert_allclose(scanned, expected, atol=1e-9)
    data, *places = sets[0]
    same = jax.jit(lambda d, *p: 2 * d + 0 * jnp.sum(call(d, *p)), donate_argnums=0)
    kept = np.array(data)
    np.testing.assert_allclose(same(data, *places), 2 * kept, atol=1e-9)


def test_calls_that_nothing_waits_for_give_the_same():
    call, sets = jax.jit(function_of(1, 2)), [arguments(1, 2, seed=seed, m=2000) for seed in range(20)]
    found = [call(*one) for one in sets]
    for one, values in zip(sets, found):
        np.testing.assert_allclose(values, by_plan(1, 2, *one), atol=1e-8)


def test_threads_share_a_program():
    call = jax.jit(jax.value_and_grad(lambda *a: jnp.sum(jnp.abs(function_of(2, 2)(*a)) ** 2), argnums=1))
    sets = [arguments(2, 2, seed=seed, m=500) for seed in range(16)]
    expected = [call(*one) for one in sets]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            for (value, slope), (value0, slope0) in zip(pool.map(lambda one: call(*one), sets), expected):
                np.testing.assert_allclose(value, value0, rtol=1e-9)
                np.testing.assert_allclose(slope, slope0, atol=1e-7)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_no_points_and_no_targets_are_allowed(kind):
    data, *places = arguments(kind, 2, m=0, k=3)
    found = jax.jit(function_of(kind, 2))(data, *places)
    assert found.shape == {1: SHAPES[2], 2: (0,), 3: (3,)}[kind]
    assert not np.any(found)
    if kind == 3:
        data, *places = arguments(3, 2, m=3, k=0)
        assert jax.jit(function_of(3, 2))(data, *places).shape == (0,)


@pytest.mark.parametrize("kind, bad, says", [
    (1, 1, "point 3: coordinate x is NaN"), (2, 2, "point 3: coordinate y is NaN"), (3, 1, r"(?i)x\[3\] is nan"),
    (3, 4, r"(?i)t\[3\] is nan")])
def test_nan_in_points_is_an_error_that_names_it_and_the_next_call_works(kind, bad, says):
    inputs = arguments(kind, 2)
    call = jax.jit(function_of(kind, 2))
    wrong = list(inputs)
    wrong[bad] = wrong[bad].at[3].set(np.nan)
    with pytest.raises(FAILURES, match=says):
        jax.block_until_ready(call(*wrong))
    np.testing.assert_allclose(call(*inputs), by_plan(kind, 2, *inputs), atol=1e-9)


@pytest.mark.parametrize("call, says", [
    (lambda x, c: fj.nufft1d1(x, c), "missing a required argument: 'n_modes'"),
    (lambda x, c: fj.nufft1d1(x, c[:2], 4), r"data has shape \(2,\); \(6,\)"),
    (lambda x, c: fj.nufft1d1("x", c, 4), "arrays would be right"),
    (lambda x, c: fj.nufft1d1(x.astype(int), c, 4), "float32 or float64"),
    (lambda x, c: fj.nufft1d1(x, c, 4, isign=0), "isign is 0"),
    (lambda x, c: fj.nufft1d1(x, c, 4, eps=3.0), "eps is 3.0"),
    (lambda x, c: fj.nufft1d1(x, c, 4, modeord=2), "modeord is 2"),
    (lambda x, c: fj.nufft1d1(x.astype(jnp.float32), c, 4), "one precision"),
    (lambda x, c: fj.nufft1d3(x.astype(jnp.float32), c.astype(jnp.complex64), x), "targets: .*one precision"),
    (lambda x, c: fj.nufft(1, None, c, 4), "points is None"),
    (lambda x, c: fj.nufft(3, [x], c), "targets were not given"),
    (lambda x, c: fj.nufft2d1(x, x[:3], c, (4, 4)), "one shape"),
])
def test_bad_input_is_named(call, says):
    data, x = arguments(1, 1)
    with pytest.raises((ValueError, TypeError), match=says) as raised:
        call(x, data)
    assert isinstance(raised.value, fourtune.FourtuneError)
