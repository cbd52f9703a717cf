"""fourtune.torch: values, gradients of first and second order, torch.compile and vmap."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import fourtune
import fourtune.torch as ft

SHAPES = {1: (7,), 2: (4, 5), 3: (3, 4, 3)}
ALL = [(kind, dim) for dim in (1, 2, 3) for kind in (1, 2, 3)]
EPS = 1e-12


def arguments(kind, dim, lead=(), dtype=torch.complex128, seed=0, m=6, k=5):
    """points, data, n_modes, targets; all of them require gradients."""
    make = torch.Generator().manual_seed(seed)
    real = torch.float32 if dtype in (torch.complex64, torch.float32) else torch.float64

    def coordinates(count):
        return [(torch.rand(count, generator=make, dtype=real) * 4 - 2).requires_grad_() for _ in range(dim)]

    points, targets = coordinates(m), coordinates(k) if kind == 3 else None
    core = SHAPES[dim] if kind == 2 else (m,)
    data = torch.randn(*lead, *core, generator=make, dtype=dtype).requires_grad_()
    return points, data, SHAPES[dim] if kind == 1 else None, targets


def function_of(kind, dim, n_modes, modeord=0):
    def call(data, *coordinates):
        return ft.nufft(kind, coordinates[:dim], data, n_modes, coordinates[dim:] or None, EPS, modeord=modeord)

    return call


@pytest.mark.parametrize("kind, dim", ALL)
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_values_are_those_of_plan(kind, dim, lead):
    points, data, n_modes, targets = arguments(kind, dim, lead)
    found = ft.nufft(kind, points, data, n_modes, targets, EPS).detach().numpy()
    plan = fourtune.Plan(kind, dim if kind == 3 else SHAPES[dim], eps=EPS)
    places = [p.detach().numpy() for p in points] + [None] * (3 - dim) + [t.detach().numpy() for t in targets or ()]
    plan.set_points(*places)
    core = data.ndim - len(lead)
    for index in np.ndindex(*lead):
        expected = plan.execute(data.detach().numpy()[index])
        np.testing.assert_allclose(found[index], expected, atol=1e-9)
    assert found.shape[: len(lead)] == lead and core == (dim if kind == 2 else 1)


@pytest.mark.parametrize("kind, dim", ALL)
@pytest.mark.parametrize("dtype", [torch.complex128, torch.float64])
@pytest.mark.parametrize("lead", [(), (2,)])
def test_gradcheck(kind, dim, dtype, lead):
    points, data, n_modes, targets = arguments(kind, dim, lead, dtype)
    assert torch.autograd.gradcheck(function_of(kind, dim, n_modes), (data, *points, *(targets or ())))


@pytest.mark.parametrize("kind", [1, 2])
def test_gradcheck_in_fft_order(kind):
    points, data, n_modes, _ = arguments(kind, 2)
    assert torch.autograd.gradcheck(function_of(kind, 2, n_modes, modeord=1), (data, *points))


@pytest.mark.parametrize("kind, dim", ALL)
def test_gradgradcheck(kind, dim):
    points, data, n_modes, targets = arguments(kind, dim, m=3, k=2)
    assert torch.autograd.gradgradcheck(function_of(kind, dim, n_modes), (data, *points, *(targets or ())))


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_opcheck_finds_no_fault_in_the_operator(kind):
    points, data, n_modes, targets = arguments(kind, 2, (2,))
    n_modes = list(SHAPES[2] if kind != 3 else ())
    stack = [None if a is None else torch.stack(a).detach().requires_grad_() for a in (points, targets)]
    torch.library.opcheck(torch.ops.fourtune.nufft.default, (data, *stack, kind, n_modes, 1e-9, 1, 0))


def test_functions_have_finuffts_arguments():
    points, data, n_modes, _ = arguments(1, 2)
    found = ft.nufft2d1(*points, data, n_modes, eps=EPS)
    expected = fourtune.nufft2d1(*(p.detach() for p in points), data.detach(), n_modes, eps=EPS)
    torch.testing.assert_close(found, expected)
    points, data, _, targets = arguments(3, 2)
    found = ft.nufft2d3(*points, data, *targets, EPS, -1)
    expected = fourtune.nufft2d3(*(p.detach() for p in points), data.detach(), *(t.detach() for t in targets), eps=EPS,
                                 isign=-1)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_vmap_over_data_and_over_points(kind):
    sets = [arguments(kind, 2, seed=seed) for seed in range(3)]
    n_modes = sets[0][2]
    call = function_of(kind, 2, n_modes)
    data = torch.stack([s[1] for s in sets])
    places = [torch.stack(p) for p in zip(*(s[0] + (s[3] or []) for s in sets))]
    first = [p[0] for p in places]
    torch.testing.assert_close(torch.func.vmap(lambda d: call(d, *first))(data), call(data, *first))
    found = torch.func.vmap(call)(data, *places)
    expected = torch.stack([call(d, *(p[i] for p in places)) for i, d in enumerate(data)])
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_compiled_without_a_graph_break(kind):
    points, data, n_modes, targets = arguments(kind, 2)
    call = function_of(kind, 2, n_modes)
    # "aot_eager" traces forward and backward as torch.compile does, and needs no compiler on the machine.
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    inputs = (data, *points, *(targets or ()))
    expected = torch.autograd.grad(call(*inputs).abs().square().sum(), inputs)
    found = torch.autograd.grad(compiled(*inputs).abs().square().sum(), inputs)
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b)


def test_no_points_make_modes_of_zero():
    nothing = torch.zeros(0, dtype=torch.float64)
    assert (ft.nufft1d1(nothing, nothing, 4) == torch.zeros(4)).all()


def test_points_changed_in_place_are_seen():
    points, data, n_modes, _ = arguments(1, 1)
    x = points[0].detach()
    before = ft.nufft1d1(x, data.detach(), n_modes)
    x += 1
    torch.testing.assert_close(ft.nufft1d1(x, data.detach(), n_modes), fourtune.nufft1d1(x, data.detach(), n_modes))
    assert not torch.allclose(before, ft.nufft1d1(x, data.detach(), n_modes))


@pytest.mark.parametrize("call, says", [
    (lambda x, c: ft.nufft1d1(x, c), "missing a required argument: 'n_modes'"),
    (lambda x, c: ft.nufft1d1(x, c[:2], 4), r"data has shape \(2,\); \(6,\)"),
    (lambda x, c: ft.nufft1d1(x.numpy(), c, 4), "torch.Tensor would be right"),
    (lambda x, c: ft.nufft1d1(x.to(torch.int64), c, 4), "float32 or float64"),
    (lambda x, c: ft.nufft1d1(x, c, 4, eps=3.0), "eps is 3.0"),
    (lambda x, c: ft.nufft1d1(x, c, 4, isign=0), "isign is 0"),
    (lambda x, c: ft.nufft1d1(x * float("nan"), c, 4), "(?i)nan|finite"),
    (lambda x, c: ft.nufft1d1(x.float(), c, 4), "one precision"),
    (lambda x, c: ft.nufft1d3(x.float(), c.to(torch.complex64), x), "targets: .*one precision"),
    (lambda x, c: ft.nufft1d1(x.to_sparse(), c, 4), "a dense tensor"),
    (lambda x, c: ft.nufft(1, [], c, 4), "one to three tensors"),
    (lambda x, c: ft.nufft(3, [x], c), "targets were not given"),
    (lambda x, c: ft.nufft(1, [x, x], c, 4), "2 would be right"),
    (lambda x, c: ft.nufft2d1(x, x[:3], c, (4, 4)), "one shape"),
])
def test_bad_input_is_named(call, says):
    points, data, _, _ = arguments(1, 1)
    with pytest.raises((ValueError, TypeError), match=says) as raised:
        call(points[0].detach(), data.detach())
    assert isinstance(raised.value, fourtune.FourtuneError)
