"""A CuPy whose calls take times on a clock of its own, as drawn for a host with other work: a processor is fast or slow,
and a call takes half as long again on a slow one. That lasts for three pairs of series of both processes, but a tenth of
the series of each has the other state, and times differ by 3 % besides. With FAKE_SLOWER, r2c in double precision takes
so many times as long in a process that has LD_PRELOAD.
"""
import math, os, random, time

MICROSECONDS = {"fftn": 15, "ifftn": 28, "rfftn": 15, "irfftn": 60}
ours = "LD_PRELOAD" in os.environ
now, series = 0.0, 0  # a series ends when the device is waited for
time.perf_counter = lambda: now


class Array:
    def __init__(self, shape, kind):
        self.bytes, self.double = 8 * math.prod(shape), kind == "float64"


ones = Array


def call(kind, a):
    global now
    slow = random.Random(f"both {series // 6}").random() < 0.5
    alone = random.Random(f"{ours} {series}")
    slow ^= alone.random() < 0.1
    each = (MICROSECONDS[kind] + 1e-6 * a.bytes) * (1.5 if slow else 1) * (1 + 0.03 * alone.gauss(0, 1))
    if ours and kind == "rfftn" and a.double:
        each *= float(os.environ.get("FAKE_SLOWER", "1"))
    now += 1e-6 * each


class fft:
    class config:
        class get_plan_cache:
            set_size = set_memsize = lambda self, limit: None


for kind in MICROSECONDS:
    setattr(fft, kind, staticmethod(lambda a, kind=kind, **_: call(kind, a)))


class cuda:
    class Device:
        def synchronize(self):
            global series
            series += 1
