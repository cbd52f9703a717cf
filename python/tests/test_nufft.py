"""Nonuniform transforms against direct sums, and their adjoints."""

import threading

import fourtune
import numpy as np
import pytest

MODES = {1: (23,), 2: (10, 7), 3: (6, 5, 4)}
REAL = {"complex64": np.float32, "complex128": np.float64}
EPS = {"complex64": 1e-5, "complex128": 1e-10}


def numbers(rng, shape, dtype):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def frequencies(modes, modeord):
    """Frequencies of all modes, shape (dim, number of modes), in C order with x first."""
    axes = [np.arange(n) - n // 2 for n in modes]
    if modeord:
        axes = [np.fft.ifftshift(axis) for axis in axes]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")])


def matrix(nufft_type, points, other, isign):
    """The transform as a matrix: rows are outputs."""
    phases = np.exp(1j * isign * (other.T @ points))
    return phases.T if nufft_type == 2 else phases


def error(found, right):
    return np.linalg.norm(found - right) / np.linalg.norm(right)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("nufft_type", [1, 2, 3])
@pytest.mark.parametrize("n_trans, modeord, isign", [(1, 0, None), (3, 1, 1), (2, 0, -1)])
def test_agrees_with_direct_sums_and_has_its_adjoint(nufft_type, dim, dtype, n_trans, modeord, isign):
    rng = np.random.default_rng(dim + 10 * nufft_type)
    modes, m = MODES[dim], 41
    points = rng.uniform(-np.pi, np.pi, (dim, m)).astype(REAL[dtype])
    targets = rng.uniform(-9, 9, (dim, 17)).astype(REAL[dtype])
    other = targets if nufft_type == 3 else frequencies(modes, modeord)
    plan = fourtune.Plan(
        nufft_type, dim if nufft_type == 3 else modes, n_trans, EPS[dtype], isign, dtype=dtype, modeord=modeord
    )
    coordinates = list(points) + [None] * (3 - dim)
    plan.set_points(*coordinates, *(targets if nufft_type == 3 else ()))
    sign = isign or (-1 if nufft_type == 2 else 1)
    assert plan.isign == sign and plan.m == m and plan.device == "cpu"
    transform = matrix(nufft_type, points.astype(float), other.astype(float), sign)
    lead = () if n_trans == 1 else (n_trans,)
    core_in = modes if nufft_type == 2 else (m,)
    core_out = {1: modes, 2: (m,), 3: (17,)}[nufft_type]
    data = numbers(rng, lead + core_in, dtype)
    right = (data.reshape(n_trans, -1) @ transform.T).reshape(lead + core_out)
    found = plan.execute(data)
    assert found.dtype == dtype and found.shape == right.shape
    assert error(found, right) < 3 * EPS[dtype]
    out = np.full_like(found, np.nan)
    assert plan.execute(data, out=out) is out and error(out, found) < EPS[dtype]
    back = numbers(rng, lead + core_out, dtype)
    adjoint = plan.execute_adjoint(back)
    assert error(adjoint, (back.reshape(n_trans, -1) @ transform.conj()).reshape(lead + core_in)) < 3 * EPS[dtype]
    assert plan.execute_adjoint(back, out=np.empty_like(adjoint)).shape == data.shape
    assert "plan" in plan.explain() and plan.memory().held > 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("nufft_type", [1, 2, 3])
@pytest.mark.parametrize("n_trans", [1, 2])
def test_functions_are_those_of_finufft(nufft_type, dim, dtype, n_trans):
    rng = np.random.default_rng(5)
    modes, m = MODES[dim], 33
    points = rng.uniform(-np.pi, np.pi, (dim, m)).astype(REAL[dtype])
    targets = rng.uniform(-9, 9, (dim, 12)).astype(REAL[dtype])
    lead = () if n_trans == 1 else (n_trans,)
    data = numbers(rng, lead + (modes if nufft_type == 2 else (m,)), dtype)
    function = getattr(fourtune, f"nufft{dim}d{nufft_type}")
    arguments = {1: (modes,), 2: (), 3: tuple(targets)}[nufft_type]
    found = function(*points, data, *arguments, eps=EPS[dtype])
    other = targets if nufft_type == 3 else frequencies(modes, 0)
    transform = matrix(nufft_type, points.astype(float), other.astype(float), -1 if nufft_type == 2 else 1)
    right = data.reshape(n_trans, -1) @ transform.T
    assert found.dtype == dtype and error(found, right.reshape(found.shape)) < 3 * EPS[dtype]
    assert found.shape == lead + {1: modes, 2: (m,), 3: (12,)}[nufft_type]
    out = np.empty_like(found)
    if nufft_type == 1:
        assert error(function(*points, data, out=out, eps=EPS[dtype]), found) < EPS[dtype]


def test_one_plan_in_many_threads_gives_right_results():
    rng = np.random.default_rng(1)
    plan = fourtune.Plan(1, (40, 30), eps=1e-8)
    plan.set_points(*rng.uniform(-3, 3, (2, 500)))
    datas = [numbers(rng, 500, complex) for _ in range(8)]
    right = [plan.execute(data) for data in datas]
    wrong = []

    def work(number):
        for _ in range(30):
            if error(plan.execute(datas[number]), right[number]) > 1e-12:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_copies_are_said_or_refused():
    x = np.linspace(-3, 3, 20)
    plan = fourtune.Plan(1, 8)
    with pytest.warns(fourtune.CopyWarning, match="x was copied"):
        plan.set_points(np.repeat(x, 2)[::2])
    with pytest.warns(fourtune.CopyWarning, match="dtype is int64"):
        assert error(plan.execute(np.ones(20, int)), plan.execute(np.ones(20, complex))) < 1e-12
    strict = fourtune.Plan(1, 8, on_copy="refuse")
    with pytest.raises(ValueError, match="needs a copy"):
        strict.set_points(np.repeat(x, 2)[::2])
    with pytest.raises(TypeError, match="complex128 would be right|float64 would be right"):
        strict.set_points(x.astype(complex))


def test_no_points_give_zeros():
    plan = fourtune.Plan(1, (4, 5))
    plan.set_points(np.empty(0), np.empty(0))
    assert np.array_equal(plan.execute(np.empty(0, complex)), np.zeros((4, 5)))


def test_one_number_of_modes_is_that_of_every_axis():
    x, c = np.linspace(-3, 3, 20), np.ones(20, complex)
    assert np.array_equal(fourtune.nufft2d1(x, x, c, 6), fourtune.nufft2d1(x, x, c, (6, 6)))
    with pytest.raises(ValueError, match="2 sizes; 3 would be right"):
        fourtune.nufft3d1(x, x, x, c, (6, 6))


@pytest.mark.parametrize("nufft_type", [1, 2, 3])
def test_exact_points_give_the_derivative_as_a_difference_over_a_small_step(nufft_type):
    rng = np.random.default_rng(7)
    x, targets, step = rng.uniform(2.5, 3, 200), rng.uniform(-9, 9, 30), 2.0**-27
    data = numbers(rng, 40 if nufft_type == 2 else 200, "complex128")

    other = targets[None] if nufft_type == 3 else frequencies((40,), 0)
    isign = -1 if nufft_type == 2 else 1
    phases, slopes = matrix(nufft_type, x[None], other, isign), 1j * isign * other[0]
    moves = (x > x.min()) & (x < x.max())  # a type 3 has its grid where its points are
    right = moves * (phases @ (slopes * data)) if nufft_type == 2 else slopes * (phases @ (moves * data))

    def off(exact):
        def at(points):
            plan = fourtune.Plan(nufft_type, 1 if nufft_type == 3 else (40,), eps=1e-4, exact_points=exact)
            plan.set_points(points, **({"s": targets} if nufft_type == 3 else {}))
            return plan.execute(data)

        return error((at(x + step * moves) - at(x)) / step, right)

    assert off(True) < 1e-2 < off(False)
