"""Each operator of fourtune.imaging against its dense matrix, the solvers against NumPy's."""

import numpy as np
import pytest

import fourtune
from fourtune import imaging

SHAPE = (6, 8)
RNG = np.random.default_rng(1)


def numpy_array(values):
    return values


def torch_array(values):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.from_numpy(np.ascontiguousarray(values))
    return tensor.cuda() if torch.cuda.is_available() else tensor


def cupy_array(values):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not cupy.is_available():
        pytest.skip("CuPy finds no GPU")
    return cupy.asarray(values)


KINDS = pytest.mark.parametrize("kind", [numpy_array, torch_array, cupy_array])


def back(array):
    return array.get() if hasattr(array, "get") else np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def random_complex(*shape):
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


def random_points(m=40, dim=2):
    return tuple(RNG.uniform(-np.pi, np.pi, m) for _ in range(dim))


def dense(points, shape):
    """The matrix exp(-i k.r) of the definition, (m, pixels)."""
    grids = np.meshgrid(*(np.arange(n) - n // 2 for n in shape), indexing="ij")
    return np.exp(-1j * sum(np.outer(k, r.ravel()) for k, r in zip(points, grids)))


def matrix_of(function, shape, kind=numpy_array):
    """The matrix of a linear function, column by column."""
    columns = []
    for index in range(int(np.prod(shape))):
        unit = np.zeros(shape, complex)
        unit.flat[index] = 1
        columns.append(back(function(kind(unit))).ravel())
    return np.array(columns).T


def check_operator(operator, expected, samples_shape, kind):
    np.testing.assert_allclose(matrix_of(operator.forward, operator.shape, kind), expected, atol=1e-7)
    np.testing.assert_allclose(matrix_of(operator.adjoint, samples_shape, kind), expected.conj().T, atol=1e-7)


@KINDS
def test_nufft_is_its_matrix(kind):
    points = random_points()
    check_operator(imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-10), dense(points, SHAPE), (40,), kind)


@KINDS
def test_sense_is_one_matrix_for_each_coil(kind):
    points, maps = random_points(), random_complex(3, *SHAPE)
    operator = imaging.Sense(imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-10), kind(maps))
    expected = np.concatenate([dense(points, SHAPE) * coil.ravel() for coil in maps])
    check_operator(operator, expected, (3, 40), kind)


@KINDS
@pytest.mark.parametrize("acquired", [None, [3, 0]])
def test_stacked_is_the_matrix_of_its_points_in_3d(kind, acquired):
    points, shape = random_points(20), (4, 3, 5)
    operator = imaging.Stacked([kind(k) for k in points], shape, acquired, eps=1e-10)
    planes = range(4) if acquired is None else acquired
    kz = [np.full(20, 2 * np.pi * (q - 2) / 4) for q in planes]
    expected = np.concatenate([dense((z, *points), shape) for z in kz])
    check_operator(operator, expected, (len(planes), 20), kind)


@KINDS
def test_off_resonance_is_the_matrix_with_the_phase_of_every_sample_and_pixel(kind):
    points, times, field = random_points(), np.linspace(0, 0.02, 40), RNG.uniform(-300, 300, SHAPE)
    nufft = imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-10)
    operator = imaging.OffResonance(nufft, kind(field), kind(times), segments=14)
    assert operator.error < 1e-6
    expected = dense(points, SHAPE) * np.exp(-1j * np.outer(times, field.ravel()))
    # The field of a pixel is up to half a bin (600 / 256 / 2 rad/s) from the bin's centre; the segments follow exactly.
    np.testing.assert_allclose(matrix_of(operator.forward, SHAPE, kind), expected, atol=1e-5)
    forward, adjoint = (matrix_of(f, s, kind) for f, s in ((operator.forward, SHAPE), (operator.adjoint, (40,))))
    np.testing.assert_allclose(adjoint, forward.conj().T, atol=1e-7)


def test_more_segments_make_a_smaller_error():
    scan = imaging.NUFFT(random_points(), SHAPE)
    field, times = RNG.uniform(-300, 300, SHAPE), np.linspace(0, 0.02, 40)
    errors = [imaging.OffResonance(scan, field, times, segments=n).error for n in (2, 5, 8, 11)]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 1e-3 < errors[0]


def test_coils_take_off_resonance():
    points, maps, field = random_points(), random_complex(2, *SHAPE), RNG.uniform(-100, 100, SHAPE)
    times = np.linspace(0, 0.01, 40)
    inner = imaging.OffResonance(imaging.NUFFT(points, SHAPE, eps=1e-10), field, times, segments=12)
    phases = np.exp(-1j * np.outer(times, field.ravel()))
    expected = np.concatenate([dense(points, SHAPE) * phases * coil.ravel() for coil in maps])
    np.testing.assert_allclose(matrix_of(imaging.Sense(inner, maps).forward, SHAPE), expected, atol=1e-4)


@KINDS
@pytest.mark.parametrize("coils", [0, 3])
@pytest.mark.parametrize("shape", [(7,), (6, 9), (3, 4, 5)])
def test_toeplitz_is_the_normal_matrix(kind, shape, coils):
    points, weights = random_points(40, len(shape)), RNG.uniform(0.5, 2, 40)
    maps = random_complex(coils, *shape) if coils else None
    nufft = imaging.NUFFT([kind(k) for k in points], shape, eps=1e-10)
    toeplitz = imaging.Toeplitz(nufft, kind(weights), None if maps is None else kind(maps))
    a = dense(points, shape)
    normal = a.conj().T @ (weights[:, None] * a)
    if coils:
        normal = sum(coil.conj().ravel()[:, None] * normal * coil.ravel() for coil in maps)
    np.testing.assert_allclose(matrix_of(toeplitz.normal, shape, kind), normal, atol=1e-6)


def frobenius(points, weights, shape):
    a = dense(points, shape)
    return np.linalg.norm(a.conj().T @ (weights[:, None] * a) - np.eye(a.shape[1]))


@KINDS
def test_frobenius_weights_are_those_of_dense_least_squares(kind):
    points = random_points(15)
    found = back(imaging.density_frobenius(imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-12), 200, 1e-12))
    a = dense(points, SHAPE)
    columns = np.stack([np.outer(row.conj(), row).ravel() for row in a], axis=1)
    columns, wanted = np.concatenate([columns.real, columns.imag]), np.eye(a.shape[1]).ravel()
    expected = np.linalg.lstsq(columns, np.concatenate([wanted, 0 * wanted]), rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@KINDS
def test_pipe_menon_weights_are_positive_and_near_the_best(kind):
    points = imaging.radial(24, 32)
    nufft = imaging.NUFFT([kind(k) for k in points], (16, 16), eps=1e-9)
    weights = back(imaging.density_pipe_menon(nufft))
    assert (weights > 0).all()
    best = frobenius(points, back(imaging.density_frobenius(nufft)), (16, 16))
    even = frobenius(points, np.full(24 * 32, 1 / (24 * 32)), (16, 16))
    assert best <= frobenius(points, weights, (16, 16)) < 1.5 * best < even


@KINDS
def test_conjugate_gradients_solve_the_damped_normal_equations(kind):
    points, y = random_points(60), random_complex(60)
    nufft = imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-12)
    right = nufft.adjoint(kind(y))
    found = imaging.conjugate_gradients(nufft.normal, right, iterations=200, tolerance=1e-12, damping=2.0)
    a = dense(points, SHAPE)
    expected = np.linalg.solve(a.conj().T @ a + 2 * np.eye(48), a.conj().T @ y)
    np.testing.assert_allclose(back(found.x).ravel(), expected, atol=1e-8)
    assert found.history[-1] <= 1e-12


@KINDS
def test_fista_meets_the_conditions_of_the_l1_minimum(kind):
    points, lam = random_points(30), 20.0
    sparse = np.zeros(SHAPE, complex)
    sparse[2, 3], sparse[4, 1] = 3, -2j
    nufft = imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-12)
    y = nufft.forward(kind(sparse))
    found = imaging.fista(nufft, y, lambda x, step: imaging.soft_threshold(x, lam * step), iterations=2000)
    x, gradient = back(found.x), back(nufft.adjoint(y) - nufft.normal(found.x))
    # 0 is in the subdifferential: the gradient is lam x / |x| where x is not 0, and at most lam elsewhere.
    support = np.abs(x) > 1e-9
    assert support.any() and not support.all()
    np.testing.assert_allclose(gradient[support], lam * (x / np.where(support, abs(x), 1))[support], atol=1e-4)
    assert np.abs(gradient).max() <= lam * (1 + 1e-6)


SPECTRA = {
    "evenly spread": lambda n: np.linspace(0, 1, n),
    "one at the top, the rest close below": lambda n: np.r_[1, np.linspace(0.8, 0.86, n - 1)],
    "crowded at the top": lambda n: 1 - np.linspace(0, 1, n) ** 3,
    "one in a thousand": lambda n: np.r_[1, np.full(n - 1, 1e-3)],
    "nothing but one": lambda n: np.eye(1, n)[0],
    "all equal": np.ones,
    "nothing": np.zeros,
}


@pytest.mark.parametrize("excess", [0.02, 0.15, 1.0])
@pytest.mark.parametrize("dtype", [float, complex, np.complex64])
@pytest.mark.parametrize("name", SPECTRA)
def test_the_bound_of_the_largest_eigenvalue_holds_on_drawn_operators(name, dtype, excess):
    for seed in range(8):
        scale, n = 10.0 ** RNG.integers(-6, 7), int(RNG.integers(2, 300))
        eigenvalues = scale * SPECTRA[name](n)
        drawn = random_complex(n, n) if np.dtype(dtype).kind == "c" else RNG.standard_normal((n, n))
        basis = np.linalg.qr(drawn)[0]
        matrix = ((basis * eigenvalues) @ basis.conj().T).astype(dtype)
        bound = imaging.largest_eigenvalue(lambda x: matrix @ x, np.zeros(n, dtype), excess, seed)
        slack = scale * (1e-5 if dtype == np.complex64 else 1e-12)
        assert eigenvalues.max() <= bound + slack
        assert bound <= (1 + excess) * eigenvalues.max() + slack


@KINDS
def test_the_bound_holds_for_nonuniform_transforms(kind):
    for m in (5, 40, 200):
        points = random_points(m)
        nufft = imaging.NUFFT([kind(k) for k in points], SHAPE, eps=1e-10)
        exact = np.linalg.norm(dense(points, SHAPE), 2) ** 2
        bound = imaging.largest_eigenvalue(nufft.normal, kind(np.zeros(SHAPE, complex)))
        assert exact <= bound <= 1.15 * exact * (1 + 1e-6)


def test_a_bound_of_what_is_not_finite_or_of_no_width_is_refused():
    with pytest.raises(ValueError, match="normal gives NaN"):
        imaging.largest_eigenvalue(lambda x: x * np.nan, np.zeros(4))
    for wrong in (0, -1, np.nan, "small"):
        with pytest.raises((ValueError, TypeError), match="excess is .* would be right"):
            imaging.largest_eigenvalue(lambda x: x, np.zeros(4), wrong)


def test_fista_of_an_operator_that_is_zero_ends():
    class Zero(imaging.operators.Operator):
        forward = adjoint = staticmethod(lambda x: 0 * x)

    found = imaging.fista(Zero(), np.ones(4), lambda x, step: x, iterations=3)
    assert not np.any(found.x)


@pytest.mark.parametrize("shape", [(256, 256), (256, 128)])
def test_the_phantoms_samples_are_the_transform_of_its_image(shape):
    pytest.importorskip("scipy", reason="SciPy is not installed")
    points = tuple(RNG.uniform(-0.3, 0.3, 50) for _ in range(2))
    exact = imaging.shepp_logan_kspace(*points, shape)
    summed = imaging.NUFFT(points, shape, eps=1e-9).forward(imaging.shepp_logan(shape))
    assert np.linalg.norm(exact - summed) < 0.05 * np.linalg.norm(exact)


def test_trajectories_stay_in_the_band_and_begin_where_they_say():
    for points in (imaging.radial(5, 8), imaging.radial(5, 8, golden=False), imaging.spiral(3, 50, 6)):
        assert np.hypot(*points).max() <= np.pi * (1 + 1e-12)
    ky, kx = imaging.radial(2, 4, golden=False)
    np.testing.assert_allclose(kx, [-np.pi, -np.pi / 2, 0, np.pi / 2, 0, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(np.array(imaging.spiral(3, 50, 6))[:, ::50], 0)
    scan = imaging.brain_radial_2019()
    assert scan.points[0].shape == (96 * 512,) and scan.coils == 12


def test_reconstruction_of_the_scan_of_2019_finds_the_phantom():
    pytest.importorskip("scipy", reason="SciPy is not installed")
    scan = imaging.brain_radial_2019(samples=128, size=64)
    samples = imaging.shepp_logan_kspace(*scan.points, scan.shape)
    nufft = imaging.NUFFT(scan.points, scan.shape)
    weights = imaging.density_pipe_menon(nufft)
    found = imaging.conjugate_gradients(imaging.Toeplitz(nufft, weights).normal, nufft.adjoint(weights * samples)).x
    # Edges ring, as the samples end at the edge of the band. So both images are compared after the same blur.
    frequency = np.fft.fftfreq(64)
    blur = np.exp(-60 * (frequency[:, None] ** 2 + frequency**2))
    found, image = (np.fft.ifft2(blur * np.fft.fft2(one)) for one in (found, imaging.shepp_logan(scan.shape)))
    assert np.linalg.norm(found - image) < 0.08 * np.linalg.norm(image)


@pytest.mark.parametrize("call, says", [
    (lambda: imaging.NUFFT(random_points(), (4,)), "2 coordinates"),
    (lambda: imaging.NUFFT(random_points(), SHAPE).forward(np.zeros((3, 3))), r"image has shape \(3, 3\)"),
    (lambda: imaging.NUFFT(random_points(), SHAPE).adjoint(np.zeros(7)), r"samples has shape \(7,\)"),
    (lambda: imaging.Sense(imaging.NUFFT(random_points(), SHAPE), np.zeros(SHAPE)), "maps has shape"),
    (lambda: imaging.Stacked(random_points(), SHAPE), "three sizes"),
    (lambda: imaging.Stacked(random_points(), (4, 3, 5), [1, 1]), "at most once"),
    (lambda: imaging.Toeplitz(imaging.NUFFT(random_points(), SHAPE), np.zeros(40, complex)), "real weights"),
    (lambda: imaging.OffResonance(imaging.NUFFT(random_points(), SHAPE), np.full(SHAPE, np.nan), np.zeros(40)),
     "finite"),
    (lambda: imaging.conjugate_gradients(lambda x: x, np.array([np.nan])), "NaN"),
    (lambda: imaging.NUFFT([k + 0j for k in random_points()], SHAPE), "a real one"),
    (lambda: imaging.NUFFT(None, SHAPE), "sequence of arrays"),
    (lambda: imaging.conjugate_gradients(lambda x: x, None), "array of numbers"),
    (lambda: imaging.conjugate_gradients(None, np.ones(3)), "normal is a NoneType; a function"),
    (lambda: imaging.conjugate_gradients(lambda x: x, np.ones(3), {}), "x is a dict; an array of numbers"),
    (lambda: imaging.conjugate_gradients(lambda x: x, np.ones(3), tolerance="a"), "tolerance is 'a'; a number"),
    (lambda: imaging.conjugate_gradients(lambda x: x, np.ones(3), damping=-1), "damping is -1; a number from 0 on"),
    (lambda: imaging.conjugate_gradients(lambda x: x, [[1], [1, 2]]), "b is a list; an array of numbers"),
    (lambda: imaging.NUFFT(random_points(), [[1], [1, 2]]), r"shape is \[1\]; an integer"),
    (lambda: imaging.NUFFT(random_points(), SHAPE, upsampfac=2), "no option 'upsampfac'.*threads"),
    (lambda: imaging.Sense(np.ones(SHAPE), np.ones((2, *SHAPE))), "inner is a ndarray without forward, adjoint"),
    (lambda: imaging.Stacked(random_points(), (4, 3, 5), 3), r"acquired is 3; a sequence of planes, such as range\(4\)"),
    (lambda: imaging.OffResonance(None, np.zeros(SHAPE), np.zeros(40)), "nufft is a NoneType without points"),
    (lambda: imaging.Toeplitz(random_points()), "nufft is a tuple without points"),
    (lambda: imaging.density_pipe_menon(random_points()), r"an operator, such as NUFFT\(...\), would be right"),
    (lambda: imaging.density_frobenius(random_points()), r"an operator, such as NUFFT\(...\), would be right"),
    (lambda: imaging.fista(None, np.ones(3), lambda x, step: x), "operator is a NoneType without adjoint, normal"),
    (lambda: imaging.fista(imaging.NUFFT(random_points(), SHAPE), np.ones(40), None), "prox is a NoneType; a function"),
    (lambda: imaging.fista(imaging.NUFFT(random_points(), SHAPE), np.ones(40), lambda x, s: x, step=0),
     "step is 0; a number above 0"),
    (lambda: imaging.soft_threshold(None, 1), "x is a NoneType; an array of numbers"),
    (lambda: imaging.soft_threshold(np.ones(3), "a"), "threshold is 'a'; a number"),
    (lambda: imaging.largest_eigenvalue(None, np.ones(3)), "normal is a NoneType; a function"),
    (lambda: imaging.largest_eigenvalue(lambda x: x, np.ones(3), seed=1.5), "seed is 1.5; an integer"),
    (lambda: imaging.spiral(4, 16, "a"), "turns is 'a'; a number"),
])
def test_bad_input_is_named(call, says):
    with pytest.raises((ValueError, TypeError), match=says) as raised:
        call()
    assert isinstance(raised.value, fourtune.FourtuneError)


@KINDS
def test_points_may_change_after_an_operator_was_made(kind):
    points = tuple(kind(x) for x in random_points())
    scan, images = imaging.NUFFT(points, SHAPE, eps=1e-9), kind(random_complex(3, *SHAPE))
    right = np.stack([back(scan.forward(image)) for image in images])
    for x in points:
        x *= 0
    assert np.allclose(back(scan.forward(images)), right, atol=1e-6)
    assert np.allclose(back(imaging.Toeplitz(scan).normal(images[0])), back(scan.normal(images[0])), atol=1e-6)
