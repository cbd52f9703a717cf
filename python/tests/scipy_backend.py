"""A pytest plugin (-p scipy_backend) that lets Fourtune serve scipy.fft, for SciPy's own tests."""

import multiprocessing

import fourtune.scipy
import scipy.fft


def pytest_configure(config):
    scipy.fft.set_global_backend(fourtune.scipy)
    scipy.fft.register_backend("scipy")  # for what Fourtune leaves to it


def pytest_collection_finish(session):
    # SciPy's tests ask for a fork server, whose processes would have SciPy's backend and be compared with ours.
    multiprocessing.set_start_method("fork", force=True)
