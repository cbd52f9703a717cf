"""Pictures by matplotlib: what a search found, how near stages are to the machine's limits, and errors of tolerances.

Each function draws into `ax`, or into new axes, and returns them.

>>> import fourtune.plots
>>> axes = fourtune.plots.error_of_tolerance((16, 12), m=200, eps=[1e-3, 1e-6, 1e-9])
>>> axes.get_xlabel()
'tolerance asked for'
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from math import log2, prod
from pathlib import Path
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from ._cli import program
from ._errors import FourtuneOSError, FourtuneRuntimeError, FourtuneValueError
from ._library import environment_with_cuda_libraries
from ._plan import Plan, precision, sizes

__all__ = ["tuning_history", "stage_roofline", "error_of_tolerance", "Ceilings", "measure_ceilings"]


def _axes(ax):
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def _default_database() -> Path:
    if os.environ.get("FOURTUNE_DB"):
        return Path(os.environ["FOURTUNE_DB"])
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "fourtune" / "tuning.db"


def tuning_history(problem: str, database=None, ax=None):
    """The median time of each plan that was measured for a problem, in the order of measurement, and the best so far.

    problem: a token as `fourtune show` prints it. database: the tuning database; by default the user's. Plans that
    failed, or were wrong, are marks at the top. Raises ValueError when nothing was measured for the problem.
    """
    path = Path(database) if database is not None else _default_database()
    if not path.is_file():
        raise FourtuneOSError(f"{path} is not a file; a tuning database would be right")
    try:
        with sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True) as connection:
            rows = connection.execute(
                "SELECT status, samples_ns FROM run JOIN problem ON problem.id = run.problem"
                " WHERE token = ? ORDER BY run.id", (problem,)
            ).fetchall()
    except sqlite3.Error as error:
        raise FourtuneOSError(f"{path} cannot be read as a tuning database: {error}") from None
    if not rows:
        raise FourtuneValueError(f"nothing was measured for {problem!r}; `fourtune show` lists what was")
    medians = [np.median(json.loads(samples)) / 1e6 if status == "ok" else np.nan for status, samples in rows]
    number = np.arange(1, len(rows) + 1)
    ax = _axes(ax)
    ax.plot(number, medians, ".", label="measured plans")
    best = np.fmin.accumulate(medians)
    ax.step(number, best, where="post", label="best so far")
    failed = np.isnan(medians)
    if failed.any():
        ax.plot(number[failed], np.ones(failed.sum()), "x", transform=ax.get_xaxis_transform(), clip_on=False,
                label="failed, wrong or refused")
    if np.isfinite(best).any():
        ax.set_yscale("log")
    ax.set(xlabel="measurement", ylabel="time of one execute, ms", title=problem)
    ax.title.set_fontsize("small")
    ax.legend()
    return ax


class Ceilings(NamedTuple):
    """Bytes and floating-point operations per second that a machine reaches."""

    bandwidth: float
    peak: float


def measure_ceilings(dtype="float64", threads: int | None = None) -> Ceilings:
    """What NumPy reaches on this processor: copies of large arrays on all threads, and a product of matrices."""
    _, real, _ = precision(dtype)
    threads = threads or len(os.sched_getaffinity(0))
    arrays = [np.ones(1 << 24, real) for _ in range(2 * threads)]
    pairs = list(zip(arrays[::2], arrays[1::2]))
    square = np.ones((1500, 1500), real)

    def best_of(work):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        return min(times)

    with ThreadPoolExecutor(threads) as pool:
        copying = best_of(lambda: list(pool.map(lambda pair: np.copyto(*pair), pairs)))
    return Ceilings(2 * sum(a.nbytes for a, _ in pairs) / copying, 2 * 1500**3 / best_of(lambda: square @ square))


def stage_roofline(problem: str, ceilings=None, *, backend="cpu", plan: str | None = None, ax=None):
    """Speed of the stages of a type 1, type 2 or c2c transform against their operations per byte, below the ceilings.

    problem: a token; `fourtune run` measures it. ceilings: (bytes/s, operations/s) of the device; by default what NumPy
    reaches on this processor; a GPU's must be given. The bytes are the least that a stage can move: its inputs read
    once, its outputs written once, in memory. So a stage whose arrays stay in a cache may lie above the ceiling.
    Operations: spreading and interpolation w^d cells of two fused multiply-adds and the window's polynomials, an FFT
    5 N log2 N.
    """
    command = [program(), "run", problem, "--json", "--no-check", "--backend", backend]
    done = subprocess.run(command + (["--plan", plan] if plan else []), capture_output=True, text=True,
                          env=environment_with_cuda_libraries())
    if done.returncode:
        kind = FourtuneValueError if done.returncode == 2 else FourtuneRuntimeError
        raise kind(done.stderr.strip()[-600:] or f"fourtune run ended with code {done.returncode}")
    measured = json.loads(done.stdout)
    work = _work(measured["problem"], measured["plan"])
    if ceilings is None:
        if backend == "cuda":
            raise FourtuneValueError("ceilings is None; (bytes/s, operations/s) of the GPU would be right")
        ceilings = measure_ceilings("float32" if "prec=f32" in problem else "float64")
    bandwidth, peak = ceilings
    ax = _axes(ax)
    drawn = []
    for stage in measured["stages"]:
        name, seconds = stage["stage"], stage["seconds"]
        if name in work and seconds > 0:
            flops, moved = work[name]
            ax.plot(flops / moved, flops / seconds / 1e9, "o", label=f"{name}, {seconds * 1e3:.3g} ms")
            drawn.append(flops / moved)
    if not drawn:
        raise FourtuneRuntimeError(f"no stage of {problem!r} was timed that has known operations")
    intensity = np.geomspace(min(*drawn, peak / bandwidth) / 4, max(*drawn, peak / bandwidth) * 4, 200)
    ax.plot(intensity, np.minimum(intensity * bandwidth, peak) / 1e9, "k-", lw=1, label="ceilings")
    ax.set(xscale="log", yscale="log", xlabel="operations per byte", ylabel="GFLOP/s", title=measured["problem"])
    ax.title.set_fontsize("small")
    ax.legend()
    return ax


def _work(problem: str, plan: str) -> dict:
    """{stage: (operations, least bytes)} of one execute."""
    kind, _, keys = problem.partition(":")
    given = dict(item.split("=", 1) for item in keys.split(","))
    real = 4 if given["prec"] == "f32" else 8
    batch = int(given.get("batch", 1))

    def fft(cells):
        return 5 * cells * max(log2(cells), 1) * batch, 2 * 2 * real * cells * batch

    if kind == "fft" and given["type"] == "c2c":
        return {"fft": fft(prod(map(int, given["n"].split("x"))))}
    found = re.search(r"width=(\d+),fine=([0-9x]+)", plan)
    if kind != "nufft" or given["type"] == "3" or not found or "m" not in given:
        raise FourtuneValueError(f"{problem!r} has no stages with known operations; type 1 or 2 with m, or c2c would be"
                                 " right")
    width, fine = int(found[1]), [int(n) for n in found[2].split("x")]
    m, dim, cells = int(given["m"]), len(fine), prod(fine)
    flops = m * (dim * width * 2 * (width + 2) + batch * 4 * width**dim)
    # Points and values are read or written once, and so is the grid.
    moved = m * real * (dim + 2 * batch) + 2 * real * cells * batch
    return {"spread": (flops, moved), "interpolate": (flops, moved), "fft": fft(cells)}


def error_of_tolerance(n_modes, nufft_type: int = 1, *, m: int = 2000, eps=None, dtypes=("complex64", "complex128"),
                       seed: int = 0, ax=None):
    """Relative l2 error of a type 1 or 2 against direct sums, for each tolerance, on m random points.

    n_modes: shape of the modes, small enough for direct sums (m times the number of modes is at most 2^28). eps:
    tolerances, by default what each dtype allows in steps of a digit.
    """
    shape = sizes(n_modes, "n_modes")
    if nufft_type not in (1, 2):
        raise FourtuneValueError(f"nufft_type is {nufft_type!r}; 1 or 2 would be right")
    if m * prod(shape) > 2**28:
        raise FourtuneValueError(f"{m} points and {prod(shape)} modes make {m * prod(shape)} terms; at most 2^28 would"
                                 " be right")
    rng = np.random.default_rng(seed)
    ax = _axes(ax)
    limits = []
    for dtype in dtypes:
        _, real, complex_ = precision(dtype)
        points = rng.uniform(-np.pi, np.pi, (len(shape), m)).astype(real)
        given = (m,) if nufft_type == 1 else shape
        data = (rng.standard_normal(given) + 1j * rng.standard_normal(given)).astype(complex_)
        right = _direct(nufft_type, points.astype(float), data.astype(complex), shape)
        least = 1e-6 if complex_ == np.complex64 else 1e-14
        asked = [float(one) for one in eps if one >= least] if eps is not None else np.geomspace(1e-1, least, 27)
        errors = []
        for one in asked:
            plan = Plan(nufft_type, shape, eps=one, dtype=complex_)
            plan.set_points(*points)
            errors.append(np.linalg.norm(plan.execute(data) - right) / np.linalg.norm(right))
        ax.loglog(asked, errors, ".-", label=np.dtype(complex_).name)
        limits += list(asked)
    ax.loglog(sorted(limits), sorted(limits), "k:", lw=1, label="as asked")
    ax.set(xlabel="tolerance asked for", ylabel="relative l2 error", title=f"type {nufft_type}, {shape}, m = {m}")
    ax.legend()
    return ax


def _direct(nufft_type, points, data, shape):
    """The sum itself, one axis after the other: exp(i s k.x) is a product over the axes."""
    sign = 1 if nufft_type == 1 else -1
    phases = [np.exp(sign * 1j * np.outer(np.arange(n) - n // 2, x)) for n, x in zip(shape, points)]
    letters = "abc"[: len(shape)]
    terms = ",".join(f"{letter}m" for letter in letters)
    if nufft_type == 1:
        return np.einsum(f"{terms},m->{letters}", *phases, data, optimize=True)
    return np.einsum(f"{terms},{letters}->m", *phases, data, optimize=True)
