"""What a type checker sees of the package: every public function has types, and a user's program is checked by them."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import fourtune
from fourtune import imaging

# Lines with "type: ignore" are wrong. mypy --strict also complains of an "ignore" where it sees nothing wrong.
PROGRAM = """
import numpy as np
import fourtune
import fourtune.fft
from fourtune import imaging

x = np.linspace(-3, 3, 100)
plan = fourtune.Plan(1, (8, 8), 1, 1e-9, dtype=np.complex64, threads=2)
plan.set_points(x, x)
values = plan.execute(np.ones(100, complex)) + 1
said: str = plan.explain()
held: int = plan.memory().held
held = plan.explain()  # type: ignore[assignment]
plan.execute(x, speed=3)  # type: ignore[call-arg]
plan.set_points()  # type: ignore[call-arg]
fourtune.Plan(1, (8, 8), eps="small")  # type: ignore[arg-type]

modes = fourtune.nufft2d1(x, x, x, (8, 8), eps=1e-9, threads=1)
fourtune.nufft1d1(x, x, "many")  # type: ignore[arg-type]
fourtune.nufft1d2(x)  # type: ignore[call-arg]
fourtune.set_plan_cache(3, 2**20)
fourtune.set_plan_cache("3")  # type: ignore[arg-type]

spectrum = fourtune.fft.rfftn(x, (100,), axes=(0,), norm="ortho")
fourtune.fft.fft(x, n="many")  # type: ignore[arg-type]
fourtune.fft.Plan((4, 6), real=True).inverse(spectrum)

points = imaging.radial(8, 16)
scan = imaging.NUFFT(points, (8, 8), eps=1e-6, threads=1)
maps = imaging.Sense(scan, np.ones((2, 8, 8)))
found = imaging.conjugate_gradients(scan.normal, scan.adjoint(np.ones(scan.m)), iterations=3)
change: float = found.history[-1]
imaging.fista(scan, scan.forward(np.ones((8, 8))), lambda image, step: imaging.soft_threshold(image, step))
bound: float = imaging.largest_eigenvalue(scan.normal, np.ones((8, 8)))
imaging.conjugate_gradients(scan, np.ones(8))  # type: ignore[arg-type]
imaging.Toeplitz(points)  # type: ignore[arg-type]
"""


def public():
    for module in (fourtune, fourtune.fft, imaging):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isclass(found) and not issubclass(found, (Exception, tuple)):
                for method, function in inspect.getmembers(found, inspect.isfunction):
                    if method == "__init__" or not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", function
            elif inspect.isfunction(found) and found.__module__.startswith("fourtune"):
                yield f"{module.__name__}.{name}", found


@pytest.mark.parametrize("name, function", list(public()))
def test_every_argument_and_result_has_a_type(name, function):
    signature = inspect.signature(function)
    untyped = [p.name for p in signature.parameters.values() if p.name != "self" and p.annotation is p.empty]
    assert not untyped
    assert signature.return_annotation is not signature.empty


def test_mypy_sees_what_is_wrong_in_a_program_and_nothing_else(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)
    package = Path(fourtune.__file__).parents[1]
    environment = dict(os.environ)
    if package.name != "site-packages":  # those are found as they are
        environment["MYPYPATH"] = str(package)
    ran = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "program.py"],
                         cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
