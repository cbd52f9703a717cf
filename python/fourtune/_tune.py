"""tune: measures plans by the command line and returns what it found."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ._cli import program
from ._errors import FourtuneRuntimeError, FourtuneTypeError, FourtuneValueError
from ._library import environment_with_cuda_libraries


def tune(problems: str | Sequence[str], seconds: float = 60.0, *, database: Any = None, backend: str = "cpu",
         threads: int | None = None, cpu_time: bool = False,
         progress: bool | Callable[[str], object] = True) -> list[dict[str, Any]]:
    """Measures plans for problems and keeps the winners in the tuning database, where transforms find them.

    Args:
        problems: one problem token or several (docs/cli.md), such as "nufft:type=1,n=64x64,m=50000,prec=f32,tol=1e-3".
            x is the fastest axis there: an array of shape (48, 64) is n=64x48.
        seconds: time for all problems together; 0: until each search ends.
        database: file to keep measurements in; by default the user's.
        backend: "cpu" or "cuda".
        threads: most threads that a plan may use; None: all.
        cpu_time: judge plans by the thread's CPU time, on a machine that has other work; threads must be 1.
        progress: True: show a line on stderr; a function: call it with each line; False: be silent.

    Returns one dictionary per problem, with "problem", "winner" (its plan), "seconds", "gain" and others. Transforms
    made before keep their plans. An interrupt (Ctrl-C) keeps every measurement. Raises ValueError for a wrong argument
    or token and RuntimeError when tuning fails.
    """
    tokens = [problems] if isinstance(problems, str) else problems
    if (
        not isinstance(tokens, (list, tuple))
        or not tokens
        or not all(isinstance(token, str) and token and not token.startswith("-") for token in tokens)
    ):
        raise FourtuneTypeError(f"problems is {problems!r}; one or more problem tokens would be right")
    command = [program(), "tune", *tokens, "--seconds", str(seconds), "--backend", str(backend), "--format", "json"]
    if database is not None:
        command += ["--db", str(database)]
    if threads is not None:
        command += ["--threads", str(threads)]
    if cpu_time:
        command.append("--cpu-time")
    show = progress if callable(progress) else _on_one_line if progress else lambda line: None
    lines: list[str] = []
    pipes = dict(stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with subprocess.Popen(command, env=environment_with_cuda_libraries(), **pipes) as process:

        def listen():
            for line in process.stderr:
                lines.append(line.rstrip())
                show(lines[-1])

        listener = threading.Thread(target=listen)
        listener.start()
        found = process.stdout.read()
        listener.join()
    if progress is True:
        sys.stderr.write("\n")
    if process.returncode:
        kind = FourtuneValueError if process.returncode == 2 else FourtuneRuntimeError
        raise kind("\n".join(lines[-5:]) or f"fourtune tune ended with code {process.returncode}")
    return json.loads(found)


def _on_one_line(line: str) -> None:
    sys.stderr.write("\r" + line[:118].ljust(118))
    sys.stderr.flush()
