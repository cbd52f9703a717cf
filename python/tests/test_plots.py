"""fourtune.plots draws what was measured."""

import sqlite3

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")

import fourtune
from fourtune import plots
from fourtune._cli import program

try:
    program()
except FileNotFoundError as missing:
    pytest.skip(f"no command line: {missing}", allow_module_level=True)

TOKEN = "nufft:type=1,n=8x12,m=500,prec=f64,tol=1e-4,sign=1"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def test_the_history_shows_every_run_and_its_best_is_the_least(tmp_path):
    database = tmp_path / "tuning.db"
    fourtune.tune(TOKEN, 1, database=database, threads=1, progress=False)
    with sqlite3.connect(database) as connection:
        count = connection.execute("SELECT count(*) FROM run").fetchone()[0]
    ax = plots.tuning_history(TOKEN, database)
    measured, best = (line.get_ydata() for line in ax.lines[:2])
    assert len(measured) == count > 1
    assert best[-1] == np.nanmin(measured) and (np.diff(best[np.isfinite(best)]) <= 0).all()
    with pytest.raises(ValueError, match="nothing was measured for"):
        plots.tuning_history("nufft:type=2,n=4,m=4,prec=f64,tol=1e-3", database)
    with pytest.raises(OSError, match="is not a file"):
        plots.tuning_history(TOKEN, tmp_path / "other.db")
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(OSError, match="cannot be read"):
        plots.tuning_history(TOKEN, tmp_path / "text.db")


@pytest.mark.parametrize("token, stages", [(TOKEN, 2), (TOKEN.replace("type=1", "type=2"), 2),
                                           ("fft:type=c2c,n=64x32,prec=f32", 1)])
def test_stages_lie_at_their_operations_per_byte(token, stages):
    ax = plots.stage_roofline(token, (1e10, 1e11))
    assert len(ax.lines) == stages + 1
    for line in ax.lines[:-1]:
        assert (line.get_xdata() > 0).all() and (line.get_ydata() > 0).all()
    roof = ax.lines[-1]
    assert max(roof.get_ydata()) == pytest.approx(100) and min(roof.get_ydata()) < 100
    assert ax.get_xscale() == ax.get_yscale() == "log"


def test_work_is_counted_from_problem_and_plan():
    work = plots._work("nufft:type=1,n=8x8,m=100,prec=f32,tol=1e-3,batch=2", "cpu;window=pswf(sigma=2,width=4,fine=16x16)")
    assert work["spread"] == (100 * (2 * 4 * 2 * 6 + 2 * 4 * 16), 100 * 4 * (2 + 4) + 8 * 256 * 2)
    assert work["fft"] == (5 * 256 * 8 * 2, 2 * 8 * 256 * 2)


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match="type"):
        plots.stage_roofline("nufft:type=7,n=4,m=4,prec=f64,tol=1e-4", (1, 1))
    with pytest.raises(ValueError, match="would be right"):
        plots.stage_roofline("nufft:type=3,dim=1,m=40,k=40,prec=f64,tol=1e-4", (1, 1))
    with pytest.raises(ValueError, match="1 or 2 would be right"):
        plots.error_of_tolerance((4,), 3)
    with pytest.raises(ValueError, match="2\\^28"):
        plots.error_of_tolerance((4000, 4000))


@pytest.mark.parametrize("kind", [1, 2])
@pytest.mark.parametrize("shape", [(24,), (9, 8), (5, 4, 6)])
def test_errors_are_below_what_was_asked(kind, shape):
    ax = plots.error_of_tolerance(shape, kind, m=100, eps=[1e-2, 1e-4, 1e-9])
    for line in ax.lines[:-1]:
        assert (line.get_ydata() <= 3 * np.asarray(line.get_xdata())).all()
    assert [len(line.get_xdata()) for line in ax.lines[:-1]] == [2, 3]


def test_ceilings_are_measured():
    bandwidth, peak = plots.measure_ceilings("float32", threads=1)
    assert bandwidth > 1e8 and peak > 1e8
