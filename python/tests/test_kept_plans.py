"""Plans are kept between calls of nufft1d1 ... nufft3d3, within bounds, and never shared by threads."""

import threading

import numpy as np
import pytest

import fourtune
from fourtune._kept import KeptPlans, plans

X, C = np.linspace(-3, 3, 50), np.ones(50, complex)


@pytest.fixture(autouse=True)
def fresh():
    fourtune.clear_plan_cache()
    yield
    fourtune.set_plan_cache()
    fourtune.clear_plan_cache()


def test_a_call_like_one_before_finds_its_plan():
    first = fourtune.nufft1d1(X, C, 20, eps=1e-9)
    assert len(plans) == 1
    assert np.allclose(fourtune.nufft1d1(X + 1, C, 20, eps=1e-9)[10], first[10])  # other points, the same sum
    assert np.array_equal(fourtune.nufft1d1(X, C, (20,), eps=1e-9), first)
    assert len(plans) == 1
    fourtune.nufft1d1(X, C, 20, eps=1e-9, isign=-1)
    fourtune.nufft1d1(X, C, 20, eps=1e-9, modeord=1)
    fourtune.nufft1d1(X, C, 20, eps=1e-8)
    assert len(plans) == 4


def test_number_and_bytes_are_bounded():
    fourtune.set_plan_cache(plans_kept=2)
    for n in (10, 11, 12, 13):
        fourtune.nufft1d1(X, C, n)
    assert len(plans) == 2
    held = plans.held
    assert held > 0
    fourtune.set_plan_cache(bytes_kept=held - 1)
    assert len(plans) == 1 and plans.held < held
    fourtune.set_plan_cache(plans_kept=0)
    assert len(plans) == 0 and plans.held == 0
    fourtune.nufft1d1(X, C, 10)
    assert len(plans) == 0
    for wrong in (-1, 1.5, "many"):
        with pytest.raises((ValueError, TypeError)):
            fourtune.set_plan_cache(plans_kept=wrong)


def test_a_plan_whose_call_failed_is_not_kept():
    kept = KeptPlans(4, 2**30)
    with pytest.raises(RuntimeError), kept.taken(1, (8,), 1, 1e-6, 1):
        raise RuntimeError
    assert len(kept) == 0
    with kept.taken(1, (8,), 1, 1e-6, 1, databases=[]):  # no dictionary takes a list
        pass
    assert len(kept) == 0


def test_bytes_of_a_plan_that_another_one_of_its_kind_replaces_are_given_back():
    kept, kind = KeptPlans(4, 2**30), (1, (8,), 1, 1e-6, 1)
    with kept.taken(*kind) as plan:
        plan.set_points(X)
    held = kept.held
    for _ in range(3):
        with kept.taken(*kind) as one, kept.taken(*kind) as other:  # as in two threads
            one.set_points(X)
            other.set_points(X)
    assert len(kept) == 1 and kept.held == held > 0


def test_unknown_options_are_named():
    with pytest.raises(TypeError, match="no option 'upsampfac'.*threads"):
        fourtune.nufft1d1(X, C, 20, upsampfac=2)


def test_threads_never_share_a_plan():
    sizes = (10, 20, 30) * 4
    right = {n: fourtune.nufft1d1(X, C, n, eps=1e-9) for n in set(sizes)}
    wrong = []

    def work(n):
        for _ in range(20):
            if not np.allclose(fourtune.nufft1d1(X, C, n, eps=1e-9), right[n]):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
