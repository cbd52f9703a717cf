"""A pytest plugin (-p scipy_backend) that lets Fourtune serve scipy.fft, for SciPy's own tests."""

import fourtune.scipy
import scipy.fft


def pytest_configure(config):
    scipy.fft.set_global_backend(fourtune.scipy)
    scipy.fft.register_backend("scipy")  # for what Fourtune leaves to it
