"""The command `fourtune`: the program that is in the wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ._library import environment_with_cuda_libraries


def program() -> str:
    """Path of the command line: the one of FOURTUNE_PROGRAM, or of the wheel."""
    path = os.environ.get("FOURTUNE_PROGRAM") or str(Path(__file__).parent / "bin" / "fourtune")
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is no program; install the wheel, or name it by the variable FOURTUNE_PROGRAM")
    return path


def main() -> None:
    try:
        path = program()
    except FileNotFoundError as error:
        sys.exit(f"fourtune: error: {error}")
    os.execve(path, [path, *sys.argv[1:]], environment_with_cuda_libraries())
