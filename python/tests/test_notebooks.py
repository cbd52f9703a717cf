"""The notebooks of examples/notebooks run from the first to the last cell. Their own assertions check the results."""

import importlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NEEDS = {
    "first_result": (),
    "reconstruction": ("matplotlib", "scipy"),
    "learning_a_trajectory": ("matplotlib", "torch"),
    "ewald_sum": ("scipy",),
    "tune_and_ship": (),
    "volume_on_a_gpu": ("matplotlib", "cupy"),
}


def test_each_notebook_is_run():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
def test_notebook_runs(name, monkeypatch):
    missing = [module for module in ("ipykernel", *NEEDS[name]) if importlib.util.find_spec(module) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    if "cupy" in NEEDS[name] and not importlib.import_module("cupy").is_available():
        pytest.skip("CuPy finds no GPU")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if name == "tune_and_ship" and shutil.which("fourtune") is None:
        pytest.skip("the command fourtune is not on the path")
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    written = os.environ.get("FOURTUNE_KEEP_NOTEBOOKS")  # a folder: keeps the outputs there
    if written:
        nbformat.write(notebook, Path(written) / f"{name}.ipynb")
