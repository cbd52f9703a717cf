"""Tuning from Python: the winner is found by transforms made afterwards."""

import os

import fourtune
import numpy as np
import pytest
from fourtune._cli import program

try:
    program()
except FileNotFoundError as missing:
    pytest.skip(f"no command line: {missing}", allow_module_level=True)


def test_a_tuned_plan_is_the_one_that_runs(tmp_path):
    database, said = str(tmp_path / "tuning.db"), []
    (winner,) = fourtune.tune(
        "nufft:type=1,n=8x12,m=50,prec=f64,tol=1e-4,sign=1", 1, database=database, threads=1, cpu_time=True,
        progress=said.append
    )
    assert winner["seconds"] > 0 and said and os.path.exists(database)
    plan = fourtune.Plan(1, (12, 8), eps=1e-4, databases=database)
    plan.set_points(*np.random.default_rng(0).uniform(-3, 3, (2, 50)))
    assert f"plan: {winner['winner']}\nwhy: verdict" in plan.explain()


def test_what_cannot_be_tuned_is_said():
    with pytest.raises(ValueError, match="type"):
        fourtune.tune("nufft:type=7,n=4,m=4,prec=f64,tol=1e-4", 1, progress=False)
    with pytest.raises(ValueError, match="threads must be 1"):
        fourtune.tune("fft:type=c2c,n=8,prec=f64", 1, threads=2, cpu_time=True, progress=False)
    for wrong in ([], [3], None, "--help"):
        with pytest.raises(TypeError, match="problem tokens"):
            fourtune.tune(wrong)
