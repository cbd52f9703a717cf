"""Plans of finished calls, kept for the next call of the same kind."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager

from ._plan import Plan, integer


class KeptPlans:
    """Plans that no call is using; the least recently used goes first. Bounded in number and in bytes that plans hold.

    A plan that runs is taken out, so threads never share one. Threads: any may call any method.
    """

    def __init__(self, most: int, most_bytes: int):
        self._kept: OrderedDict[tuple, tuple[Plan, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._most, self._most_bytes, self._bytes = most, most_bytes, 0

    def __len__(self):
        return len(self._kept)

    @property
    def held(self) -> int:
        """Bytes that the kept plans hold."""
        return self._bytes

    def limit(self, most: int, most_bytes: int) -> None:
        with self._lock:
            self._most, self._most_bytes = most, most_bytes
            self._trim()

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    @contextmanager
    def taken(self, *arguments, **options):
        """A plan of these arguments; it is kept unless the work with it fails."""
        try:
            key = (arguments, tuple(sorted(options.items())))
            with self._lock:
                plan, held = self._kept.pop(key, (None, 0))
                self._bytes -= held
        except TypeError:  # a list, for instance, which no dictionary takes
            key = plan = None
        if plan is None:
            plan = Plan(*arguments, **options)
        yield plan
        if key is None:
            return
        held = plan.memory().held
        with self._lock:
            _, before = self._kept.pop(key, (None, 0))  # another thread's plan of the same kind
            self._kept[key] = plan, held
            self._bytes += held - before
            self._trim()

    def _trim(self):
        while self._kept and (len(self._kept) > self._most or self._bytes > self._most_bytes):
            _, (_, held) = self._kept.popitem(last=False)
            self._bytes -= held


plans = KeptPlans(16, 2**30)
_bounds = 16, 2**30
_all = [plans]


def also_bounded(more) -> None:
    """More plans, with limit() and clear(), that the functions below bound and free."""
    more.limit(*_bounds)
    _all.append(more)


def set_plan_cache(plans_kept: int = 16, bytes_kept: int = 2**30) -> None:
    """Bounds the plans that nufft1d1 ... nufft3d3 and the functions with gradients keep for the next call: how many,
    and how many bytes they may hold together, on the processor and on GPUs. 0 keeps none. Compiled JAX programs keep
    other plans, within the same bounds."""
    global _bounds
    _bounds = integer(plans_kept, "plans_kept", 0), integer(bytes_kept, "bytes_kept", 0)
    for each in _all:
        each.limit(*_bounds)


def clear_plan_cache() -> None:
    """Frees the plans that are kept."""
    for each in _all:
        each.clear()
