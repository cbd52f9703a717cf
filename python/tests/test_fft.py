"""Uniform transforms against numpy.fft, and the bounded cache."""

import itertools
import threading

import fourtune.fft as fft
import numpy as np
import pytest
from fourtune._uniform import cache


@pytest.fixture(autouse=True)
def _silent():
    fft.set_options(on_copy="allow")
    yield
    fft.set_options(on_copy="warn", cache_size=16)


def close(found, right, tolerance=1e-12):
    assert found.shape == right.shape and found.dtype == right.dtype
    assert np.linalg.norm(found - right) <= tolerance * max(np.linalg.norm(right), 1e-30)


def sample(shape, dtype=complex):
    rng = np.random.default_rng(sum(shape))
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("shape", [(7,), (8,), (4, 6), (5, 1, 3), (3, 4, 5, 2)])
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "sliced", "single"])
def test_any_axes_sizes_and_strides_are_those_of_numpy(name, shape, layout):
    a = sample(shape)
    a = a.real.copy() if name == "rfftn" else a
    a = {
        "C": a,
        "F": np.asfortranarray(a),
        "reversed": a[..., ::-1],
        "sliced": np.repeat(a, 2, axis=0)[::2],
        "single": a.astype("f4" if name == "rfftn" else "c8"),
    }[layout]
    kept = a.copy()
    for count in range(1, len(shape) + 1):
        for axes in itertools.permutations(range(len(shape)), count):
            for norm, s in itertools.product([None, "ortho", "forward"], [None, [3] * count]):
                if name == "irfftn" and s is None and shape[axes[-1]] < 2:
                    continue
                right = getattr(np.fft, name)(a, s, axes, norm)
                close(getattr(fft, name)(a, s, axes, norm), right, 1e-5 if layout == "single" else 1e-12)
    assert np.array_equal(a, kept)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2"])
def test_the_other_functions_are_those_of_numpy(name):
    a = sample((6, 8))
    a = a.real.copy() if name in ("rfft", "ihfft", "rfft2") else a
    for norm in (None, "ortho", "forward"):
        close(getattr(fft, name)(a, norm=norm), getattr(np.fft, name)(a, norm=norm))
    if not name.endswith("2"):
        for n, axis in ((5, 0), (11, 1)):
            close(getattr(fft, name)(a, n, axis), getattr(np.fft, name)(a, n, axis))


def test_dtypes_are_raised_or_refused():
    close(fft.fft(np.arange(8)), np.fft.fft(np.arange(8)))
    assert fft.fft(np.ones(4, np.float16)).dtype == np.complex64
    with pytest.raises(TypeError, match="complex128 would be right"):
        fft.fft(np.ones(4, np.longdouble))
    with pytest.raises(TypeError, match="a real one would be right"):
        fft.rfft(np.ones(4, complex))


def test_out_is_written_and_checked():
    a = sample((4, 6))
    out = np.empty_like(a)
    assert fft.fftn(a, out=out) is out
    close(out, np.fft.fftn(a))
    b = a.copy()
    fft.fftn(b, out=b)
    close(b, np.fft.fftn(a))
    for wrong in (np.empty((4, 5), complex), np.empty((4, 6)), np.empty((6, 4), complex).T, [1]):
        with pytest.raises((ValueError, TypeError), match="would be right"):
            fft.fftn(a, out=wrong)


def test_copies_are_said_or_refused():
    fft.set_options(on_copy="warn")
    with pytest.warns(UserWarning, match="was copied"):
        fft.fft(np.ones(8, complex)[::-1])
    fft.set_options(on_copy="refuse")
    with pytest.raises(ValueError, match="needs a copy"):
        fft.fft(np.ones(8))
    fft.fft(np.ones((8, 6), complex).T)  # strides that a layout follows


def test_the_cache_keeps_its_bound_in_threads():
    fft.set_options(cache_size=3)
    wrong = []

    def work(seed):
        for n in range(1, 20):
            a = sample((n + seed % 2,))
            if not np.allclose(fft.fft(a), np.fft.fft(a)):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and 0 < len(cache) <= 3
    fft.set_options(cache_size=0)
    assert len(cache) == 0
    fft.fft(np.ones(4))
    assert len(cache) == 0


def test_the_cache_keeps_its_bound_in_bytes():
    fft.clear_cache()
    big = sample((1 << 16,))
    fft.fft(big)
    fft.fft(sample((8,)))
    assert len(cache) == 2
    fft.set_options(cache_bytes=1 << 12)  # less than the first one's table of roots
    assert len(cache) == 1
    close(fft.fft(big), np.fft.fft(big))
    assert len(cache) == 0 or cache._held <= 1 << 12
    fft.set_options(cache_bytes=2**30)


def test_a_call_like_one_before_it_takes_an_array_from_anywhere():
    rows = sample((6, 5))
    memory = np.zeros(6 * 5 * 16 + 1, np.uint8)
    odd = np.ndarray((5, 6), complex, memory[1:].data).T  # the strides of rows.T, at an address that is no multiple
    odd[...] = rows
    even = np.asfortranarray(rows)
    assert odd.strides == even.strides and not odd.flags.aligned
    for _ in range(2):
        close(fft.fft(even), np.fft.fft(rows))
        close(fft.fft(odd), np.fft.fft(rows))


def test_a_plan_and_its_inverse():
    for real in (False, True):
        plan = fft.Plan((4, 7), real=real, norm="ortho")
        a = sample((4, 7)).real.copy() if real else sample((4, 7))
        close(plan.inverse(plan.execute(a)), a)


def test_a_call_like_one_before_it_checks_out_again():
    a = sample((5, 7))
    out = np.empty_like(a)
    for _ in range(3):
        close(fft.fftn(a, out=out), np.fft.fftn(a))
        for wrong in (np.empty((5, 6), complex), np.empty((5, 7)), np.empty((7, 5), complex).T):
            with pytest.raises((ValueError, TypeError), match="would be right"):
                fft.fftn(a, out=wrong)
        b = a.copy()
        assert fft.fftn(b, out=b) is b
        close(b, np.fft.fftn(a))


def test_more_axes_than_one_transform_has_are_several():
    a = sample((2, 3, 2, 4, 3))
    close(fft.fftn(a), np.fft.fftn(a))
    real = fft.rfftn(a.real)
    close(real, np.fft.rfftn(a.real))
    close(fft.irfftn(real, s=a.shape), a.real)


@pytest.mark.parametrize("name", ["rfftn", "irfftn", "rfft2", "irfft2"])
def test_a_real_transform_has_each_axis_once(name):
    for axes in ((0, 0), (-1, 1), (0, 1, 0)):
        with pytest.raises(ValueError, match="twice"):
            getattr(fft, name)(np.ones((4, 6), float if name.startswith("r") else complex), axes=axes)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_one_axis_is_never_cropped_to_less_than_a_point(name):
    for n in (-1, 0, np.int64(-1)):
        with pytest.raises(ValueError, match="invalid number of data points"):
            getattr(fft, name)(np.ones(6), n)


def test_an_axis_named_twice_is_transformed_twice():
    a = np.arange(12.0).reshape(3, 4) + 1j
    assert np.allclose(fft.fftn(a, axes=(0, 1, 0)), np.fft.fftn(a, axes=(0, 1, 0)))
    with pytest.raises(ValueError, match="twice"):
        fft.fftn(a, s=(3, 4, 5), axes=(0, 1, 0))


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("s, axes", [((4, -1), (0, 1)), ((-1, 3), (0, 1)), ((-1, -1), (1, 0)), ((-1,), (1,))])
def test_a_size_of_minus_one_is_the_whole_axis(name, s, axes):
    a = sample((6, 8))
    a = a.real if name == "rfftn" else a
    close(getattr(fft, name)(a, s, axes), getattr(np.fft, name)(a, s, axes))


@pytest.mark.parametrize("shape", [(8,), (12,), (7,), (4, 6), (134, 3), (2, 3, 4, 5, 6)])
@pytest.mark.parametrize("layout", ["C", "F", "sliced", "negative"])
def test_reversed_spectra_have_every_frequency_where_reversed_positions_says(shape, layout):
    a = sample(shape)
    a = {"C": a, "F": np.asfortranarray(a), "sliced": np.repeat(a, 2, axis=0)[::2], "negative": a[..., ::-1]}[layout]
    right = np.fft.fftn(a)
    for _ in range(2):  # the second call finds the first one's transform
        found = fft.fftn(a, order="reversed")
        for axis, n in enumerate(shape):
            found = np.take(found, fft.reversed_positions(n), axis=axis)
        close(found, right)
        close(fft.ifftn(fft.fftn(a, order="reversed"), order="reversed"), a)
    close(fft.fftn(a), right)


def test_the_reversed_order_of_powers_of_two_is_that_of_bits_and_primes_stay():
    assert fft.reversed_positions(16).tolist() == [int(f"{k:04b}"[::-1], 2) for k in range(16)]
    assert fft.reversed_positions(13).tolist() == list(range(13))
    assert sorted(fft.reversed_positions(720).tolist()) == list(range(720))


def test_a_convolution_needs_no_natural_order():
    a, b = sample((24, 10)), sample((24, 10))
    both = fft.fftn(a, order="reversed") * fft.fftn(b, order="reversed")
    close(fft.ifftn(both, order="reversed"), np.fft.ifftn(np.fft.fftn(a) * np.fft.fftn(b)))


def test_orders_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="'natural' or 'reversed'"):
        fft.fftn(sample((4,)), order="transposed")
