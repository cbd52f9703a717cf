"""Ten thousand wrong calls: each is answered with a ValueError or TypeError that says something, and none crashes."""

import copy
import pickle
import random
import warnings

import fourtune
import fourtune.fft
import numpy as np
import pytest

M, MODES = 12, (6, 4)
POINTS = np.linspace(-3, 3, M)
DATA = np.ones(M, complex)


class NoArray:
    pass


def released():
    view = memoryview(bytearray(16 * M))
    view.release()
    return view


def huge(shape, dtype=complex):
    """An array of much address space and no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def wrong_array(draw, size):
    """An array that is not `size` complex or real numbers."""
    return draw.choice(
        [
            lambda: None,
            lambda: "text",
            lambda: b"bytes",
            lambda: NoArray(),
            lambda: {},
            lambda: released(),
            lambda: np.array(["a"] * size),
            lambda: np.array([None] * size),
            lambda: [[1], [1, 2]],
            lambda: 3.0,
            lambda: np.ones(size + draw.choice([-1, 1, 7, 1000]), complex),
            lambda: np.ones((2, 3, 5, size)),
            lambda: np.ones(size, np.clongdouble),
            lambda: np.ones(0, complex),
            lambda: np.ma.masked_array(np.ones(size)),
            lambda: np.zeros(size, "M8[s]"),
            lambda: np.zeros(size, "V16"),
            lambda: object,
            lambda: lambda: 1,
        ]
    )()


def wrong_plan(draw):
    arguments = dict(nufft_type=1, n_modes_or_dim=MODES, n_trans=1, eps=1e-6, isign=1)
    name, values = draw.choice(
        [
            ("nufft_type", [0, 4, -1, 1.5, "1", None, True, 10**30]),
            (
                "n_modes_or_dim",
                [(), (0,), (-3, 4), (1, 2, 3, 4), 1.5, "8x8", None, (2**62, 2**62), (4, None), {}, [[1, 2]]],
            ),
            ("n_trans", [0, -1, 2.5, "2", None, 2**70, True]),
            ("eps", [0, -1e-3, 1, 2.0, float("nan"), float("inf"), "small", None, [1e-3], 1j, 1e-300]),
            ("isign", [0, 2, -7, 0.5, "plus"]),
            ("dtype", ["int32", "complex32", int, "text", 7, np.longdouble]),
            ("device", ["gpu", "cuda:x", "cuda:99999", -1, 1.5, "tpu", object()]),
            ("devices", ["both", "0,0,", [0, -1], [], 1.5, 3, ["x"], [0, 0]]),
            ("modeord", [-1, 2, "fft", None, 0.0]),
            ("threads", [-1, 1.5, "all", 2**40, None]),
            ("deterministic", ["yes", None, 1.5]),
            ("exact_points", ["yes", None, 1.5]),
            ("plan", ["nonsense", "cpu;threads=0", "a\0b", 7, "cuda;"]),
            ("databases", [["a\0b"], "a\0b", 7, [7]]),
            ("on_copy", ["maybe", None, 1]),
            ("upsampfac", [2]),
        ]
    )
    arguments[name] = draw.choice(values)
    fourtune.Plan(**arguments)
    return name, arguments[name]


def wrong_points(draw):
    kind, dim = draw.choice([1, 2, 3]), draw.choice([1, 2, 3])
    plan = fourtune.Plan(kind, dim if kind == 3 else (4,) * dim, eps=1e-3)
    names = list("xyz"[:dim]) + (list("stu"[:dim]) if kind == 3 else [])
    arrays = {name: POINTS.copy() for name in names}
    spoiled = draw.choice(names)
    how = draw.randrange(5)
    if how == 0:
        arrays[spoiled][draw.randrange(M)] = draw.choice([np.nan, np.inf, -np.inf])
    elif how == 1:
        arrays[draw.choice([name for name in "xyzstu" if name not in names] or ["x"])] = (
            POINTS if len(names) < 6 else np.full(M, np.nan)
        )
    elif how == 2:
        del arrays[spoiled]
    else:
        arrays[spoiled] = wrong_array(draw, M) if dim > 1 else np.ones(M, complex)
    plan.set_points(**arrays)


READY = fourtune.Plan(1, MODES, eps=1e-3)
READY.set_points(POINTS, POINTS)


def wrong_data(draw):
    how = draw.randrange(6)
    if how == 0:
        READY.execute(wrong_array(draw, M))
    elif how == 1:
        READY.execute_adjoint(wrong_array(draw, 24))
    elif how == 2:
        READY.execute(
            DATA,
            out=draw.choice(
                [
                    np.empty(MODES[::-1], complex),
                    np.empty(MODES),
                    np.empty(MODES[::-1], complex).T,
                    [1],
                    "out",
                    huge(MODES),
                    np.empty((2, *MODES), complex),
                    np.empty(MODES, "c8"),
                ]
            ),
        )
    elif how == 3:
        fourtune.Plan(draw.choice([1, 2]), MODES).execute(DATA)
    elif how == 4:
        memory = np.zeros(24, complex)
        READY.execute(memory[:M], out=memory.reshape(MODES))
    else:
        READY.execute(huge((2**40,)))


def wrong_function(draw):
    dim, kind = draw.choice([1, 2, 3]), draw.choice([1, 2, 3])
    function = getattr(fourtune, f"nufft{dim}d{kind}")
    points = [POINTS] * dim
    rest = {1: [DATA, (5,) * dim], 2: [np.ones((4,) * dim, complex)], 3: [DATA] + [POINTS] * dim}[kind]
    how = draw.randrange(4)
    if how == 0:
        points[draw.randrange(dim)] = np.full(M, np.nan)
    elif how == 1:
        rest[0] = draw.choice([None, "f", NoArray(), np.ones((2, 2, 2, 2, 2)), np.array(["a"] * M), 1.0])
    elif how == 2:
        return function(*points, *rest, eps=draw.choice([0, -1, 2, None, "x"]))
    else:
        return function(*points, *rest, **{draw.choice(["upsampfac", "nthreads", "debug"]): 1})
    return function(*points, *rest)


def wrong_fft(draw):
    name = draw.choice(["fftn", "ifftn", "rfftn", "irfftn", "fft2"])
    function, a = getattr(fourtune.fft, name), np.ones((4, 6))
    how = draw.randrange(5)
    if how == 0:
        function(
            draw.choice(
                [
                    None,
                    "a",
                    NoArray(),
                    np.array("x"),
                    3.0,
                    released(),
                    np.array([None]),
                    np.ones((3, 0)),
                    np.ones(4, np.clongdouble),
                    np.zeros(4, "M8[s]"),
                    np.ma.masked_array(np.ones(4)),
                ]
            )
        )
    elif how == 1:
        function(a, s=draw.choice([(0, 2), (-3, 4), (1.5, 2), "ab", 5, (1, 2, 3), (2**61, 2**61)]), axes=(0, 1))
    elif how == 2:
        function(a, axes=draw.choice([(2,), (-3,), (0.5,), "x", 7, (), (None,)]))
    elif how == 3:
        function(a, norm=draw.choice(["orth", 1, "BACKWARD", ()]))
    else:
        function(a, out=draw.choice([[1], "out", np.empty((2, 2)), np.empty((4, 6), "c8"), huge((4, 6)), np.empty(0)]))


# Of several million elements: the answer may also be that there is not so much memory.
ANSWERS = (ValueError, TypeError, MemoryError)


@pytest.mark.parametrize("seed", range(4))
def test_every_wrong_call_is_answered(seed):
    draw, unanswered = random.Random(seed), []
    kinds = [wrong_plan, wrong_points, wrong_data, wrong_function, wrong_fft]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(2600):
            kind = draw.choice(kinds)
            try:
                unanswered.append((number, kind.__name__, kind(draw)))
            except ANSWERS as error:
                assert len(str(error)) > 10, (kind.__name__, error)
            except (fourtune.FourtuneRuntimeError, fourtune.FourtuneOSError) as error:
                assert error.status in ("backend_unavailable", "database", "io", "unsupported"), error
    assert not unanswered, unanswered[:20]


def test_a_database_that_cannot_be_used_is_said():
    with pytest.warns(fourtune.DatabaseWarning, match="does not exist"):
        fourtune.Plan(1, (8,), databases="/nowhere/at/all.db")


@pytest.mark.parametrize("kind, name", [(1, "x"), (1, "y"), (1, "z"), (3, "x"), (3, "z"), (3, "s"), (3, "u")])
def test_a_point_that_is_not_finite_is_named(kind, name):
    plan = fourtune.Plan(kind, 3 if kind == 3 else (4, 4, 4))
    arrays = {letter: POINTS.copy() for letter in ("xyzstu" if kind == 3 else "xyz")}
    arrays[name][5] = np.nan
    with pytest.raises(ValueError, match=rf"coordinate {name} |^{name}\[5\]") as caught:
        plan.set_points(**arrays)
    assert caught.value.status == "invalid_point"


@pytest.mark.parametrize("made", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_plan_is_not_copied(made):
    plan = fourtune.Plan(1, (8,))
    with pytest.raises(fourtune.FourtuneTypeError, match="cannot be copied or pickled"):
        made(plan)


@pytest.mark.parametrize("databases", [3, 1.5, object(), [3], [None]])
def test_databases_are_paths(databases):
    with pytest.raises(fourtune.FourtuneError, match="path"):
        fourtune.Plan(1, (8,), databases=databases)
