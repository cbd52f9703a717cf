"""Runs programs that may hang, and ends them with everything that they started."""
import os, signal, subprocess, threading


class Stopped(Exception):
    """By Ctrl-C."""


class Broken(Exception):
    """Without any change something does not build, or nothing can be shown."""


running, stopped = set(), threading.Event()


def stop(*_):
    stopped.set()
    for child in list(running):
        end(child)


def end(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_command(words, limit, folder, environment=None, log=None):
    """Exit code; None: it hangs, and was ended with everything that it started."""
    if stopped.is_set():
        raise Stopped()
    out = open(log, "wb") if log else subprocess.DEVNULL
    child = subprocess.Popen(words, cwd=folder, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                             env=environment, start_new_session=True)
    running.add(child)
    try:
        return child.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        running.discard(child)
        end(child)
        child.wait()
        if log:
            out.close()
        if stopped.is_set():
            raise Stopped()


def run_tests(build, program, limit, home, log=None, words=(), **variables):
    """The tests of a program, as run_command does; `words` stand before it."""
    home.mkdir(parents=True, exist_ok=True)
    ours = {name: value for name, value in os.environ.items() if name != "FOURTUNE_PROGRAM"}  # of another build, perhaps
    environment = dict(ours, GTEST_BRIEF="1", HOME=str(home), TMPDIR=str(home), **variables)
    folder = build / "tests"
    return run_command([*words, str(program)], limit, folder if folder.is_dir() else build, environment, log)
