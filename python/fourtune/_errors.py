"""Errors: every one is a FourtuneError and also the built-in exception that a Python user expects."""

from __future__ import annotations


class FourtuneError(Exception):
    """Base of all errors. `status` is the name of docs/errors.md, such as "invalid_point"."""

    status = "internal"


class FourtuneValueError(FourtuneError, ValueError):
    """A value, shape, device or tolerance that cannot be used; the message says what would be right."""

    status = "invalid_argument"


class FourtuneTypeError(FourtuneError, TypeError):
    """An argument of the wrong kind or dtype."""

    status = "invalid_argument"


class FourtuneMemoryError(FourtuneError, MemoryError):
    """Not enough memory on the processor or the GPU."""


class FourtuneRuntimeError(FourtuneError, RuntimeError):
    """A backend is missing, a combination is not supported, or there is a bug in Fourtune."""


class FourtuneOSError(FourtuneError, OSError):
    """A file or database cannot be read."""


class CopyWarning(UserWarning):
    """An array had to be copied before it could be used. Said once for each place of a program."""


class DatabaseWarning(UserWarning):
    """A tuning database or pack that was named cannot be used; transforms run without it."""


# The statuses of fourtune.h by number.
_STATUSES = {
    1: ("invalid_problem", FourtuneValueError),
    2: ("invalid_plan", FourtuneValueError),
    3: ("invalid_option", FourtuneValueError),
    4: ("invalid_argument", FourtuneValueError),
    5: ("invalid_point", FourtuneValueError),
    6: ("contradiction", FourtuneValueError),
    7: ("tolerance_unreachable", FourtuneValueError),
    8: ("size_overflow", FourtuneValueError),
    9: ("out_of_memory", FourtuneMemoryError),
    10: ("points_not_set", FourtuneValueError),
    11: ("backend_unavailable", FourtuneRuntimeError),
    12: ("unsupported", FourtuneRuntimeError),
    13: ("database", FourtuneOSError),
    14: ("io", FourtuneOSError),
    15: ("interrupted", FourtuneRuntimeError),
    16: ("internal", FourtuneRuntimeError),
    17: ("communication", FourtuneRuntimeError),
}


def from_status(status: int, message: str) -> FourtuneError:
    name, kind = _STATUSES.get(status, ("internal", FourtuneRuntimeError))
    error = kind(message)
    error.status = name
    return error
