"""What SciPy refuses is refused with fourtune.scipy as its backend, too. SciPy's own tests are run with it elsewhere."""

import numpy as np
import pytest

scipy_fft = pytest.importorskip("scipy.fft")
import fourtune.scipy  # noqa: E402

X = np.random.default_rng(0).standard_normal((6, 8))


def both(function, *arguments, **options):
    """What SciPy gives, and what it gives by Fourtune."""
    answers = []
    for backend in ("scipy", fourtune.scipy):
        with scipy_fft.set_backend(backend, only=False):
            try:
                answers.append(function(*arguments, **options))
            except Exception as error:
                answers.append(error)
    return answers


def is_alike(scipys, ours):
    if isinstance(scipys, Exception):
        return isinstance(ours, type(scipys))
    return scipys.shape == ours.shape and scipys.dtype == ours.dtype and np.allclose(scipys, ours)


@pytest.mark.parametrize("n", [-1, 1, 5, 12, None])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_lengths_of_one_axis(name, n):
    assert is_alike(*both(getattr(scipy_fft, name), X, n)), (name, n)


@pytest.mark.parametrize(
    "options",
    [
        dict(axes=(0, 0)),
        dict(axes=(1, -1)),
        dict(axes=(np.int64(-2), 0)),
        dict(axes=np.array([0, 1])),
        dict(s=(4, 4), axes=(0, 0)),
        dict(s=(None, 4)),
        dict(s=(-1, 4)),
        dict(s=(3, -1), axes=(1, 0)),
        dict(axes=(-1,)),
    ],
)
@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "irfft2"])
def test_sizes_and_axes(name, options):
    assert is_alike(*both(getattr(scipy_fft, name), X, **options)), (name, options)
