"""Arrays of CuPy and PyTorch on a GPU: values, streams, graphs, gradients, and what is refused.

Skipped where there is no GPU, or neither library.
"""

import threading

import fourtune
import fourtune.fft
import numpy as np
import pytest
from test_nufft import EPS, MODES, REAL, error, frequencies, matrix, numbers


class Cupy:
    def __init__(self):
        self.module = pytest.importorskip("cupy", reason="CuPy is not installed")
        try:
            self.module.cuda.runtime.getDeviceCount()
        except self.module.cuda.runtime.CUDARuntimeError as missing:
            pytest.skip(f"no GPU: {missing}")
        self.array_type = self.module.ndarray

    def array(self, values):
        return self.module.asarray(values)

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype)

    def numpy(self, array):
        return array.get()

    def stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def synchronize(self):
        self.module.cuda.Device().synchronize()

    def capture(self, work):
        """work() recorded in a graph; the function returned launches and awaits it."""
        stream = self.stream()
        with stream:
            stream.begin_capture()
            work()
            graph = stream.end_capture()
        return lambda: (graph.launch(stream), stream.synchronize())


class Torch:
    def __init__(self):
        self.module = torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        if not torch.cuda.is_available():
            pytest.skip("no GPU that PyTorch can use")
        self.array_type = torch.Tensor

    def array(self, values):
        return self.module.from_numpy(np.array(values)).cuda()  # a copy: torch has no negative strides

    def empty(self, shape, dtype):
        return self.module.empty(shape, dtype=getattr(self.module, np.dtype(dtype).name), device="cuda")

    def numpy(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.module.cuda.Stream()

    def synchronize(self):
        self.module.cuda.synchronize()

    def capture(self, work):
        graph, stream = self.module.cuda.CUDAGraph(), self.stream()
        with self.module.cuda.graph(graph, stream=stream):
            work()
        return lambda: (graph.replay(), self.synchronize())


def entered(library, stream):
    return stream if isinstance(library, Cupy) else library.module.cuda.stream(stream)


def delay(library):
    """Some milliseconds of work on the current stream, so that whoever does not wait for it reads old numbers."""
    square = library.array(np.ones((6000, 6000), np.float32))
    for _ in range(4):
        square = square @ square
    return square


@pytest.fixture(params=[Cupy, Torch], ids=["cupy", "torch"])
def library(request):
    return request.param()


def case(nufft_type, dim, dtype, n_trans=1, m=41, seed=1):
    """points, targets or (), data and the right result, for NumPy."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-np.pi, np.pi, (dim, m)).astype(REAL[dtype])
    targets = rng.uniform(-9, 9, (dim, 17)).astype(REAL[dtype])
    other = targets if nufft_type == 3 else frequencies(MODES[dim], 0)
    transform = matrix(nufft_type, points.astype(float), other.astype(float), -1 if nufft_type == 2 else 1)
    lead = () if n_trans == 1 else (n_trans,)
    data = numbers(rng, lead + (MODES[dim] if nufft_type == 2 else (m,)), dtype)
    shape = lead + {1: MODES[dim], 2: (m,), 3: (17,)}[nufft_type]
    right = (data.reshape(n_trans, -1) @ transform.T).reshape(shape)
    return points, targets if nufft_type == 3 else (), data, right


def plan_of(nufft_type, dim, dtype, n_trans=1, **options):
    return fourtune.Plan(nufft_type, dim if nufft_type == 3 else MODES[dim], n_trans, EPS[dtype], dtype=dtype, **options)


def set_points(plan, library, points, targets):
    coordinates = [library.array(x) for x in points] + [None] * (3 - len(points))
    plan.set_points(*coordinates, *[library.array(s) for s in targets])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("nufft_type", [1, 2, 3])
@pytest.mark.parametrize("n_trans", [1, 3])
def test_agrees_with_direct_sums_and_stays_on_the_gpu(library, nufft_type, dim, dtype, n_trans):
    points, targets, data, right = case(nufft_type, dim, dtype, n_trans)
    plan = plan_of(nufft_type, dim, dtype, n_trans)
    set_points(plan, library, points, targets)
    assert plan.device == "cuda:0"
    found = plan.execute(library.array(data))
    assert isinstance(found, library.array_type)
    out = library.empty(right.shape, dtype)
    assert plan.execute(library.array(data), out) is out
    for one in (found, out):
        assert one.shape == right.shape and error(library.numpy(one), right) < 3 * EPS[dtype]
    sent = numbers(np.random.default_rng(5), right.shape, dtype)
    adjoint = library.numpy(plan.execute_adjoint(library.array(sent)))
    scale = np.linalg.norm(sent) * np.linalg.norm(right)
    assert abs(np.vdot(sent, library.numpy(found)) - np.vdot(adjoint, data)) < scale * 10 * EPS[dtype]


@pytest.mark.parametrize("nufft_type", [1, 2, 3])
def test_functions_take_gpu_arrays(library, nufft_type):
    points, targets, data, right = case(nufft_type, 2, "complex128")
    x, y, c = (library.array(a) for a in (*points, data))
    rest = [MODES[2]] if nufft_type == 1 else []
    given = [c, *[library.array(s) for s in targets]]
    found = getattr(fourtune, f"nufft2d{nufft_type}")(x, y, *given, *rest, eps=1e-10)
    assert isinstance(found, library.array_type) and error(library.numpy(found), right) < 1e-9


FFTS = [
    ("fft", (40,), {}), ("ifft", (5, 36), {"axis": 0}), ("fftn", (6, 10, 14), {}), ("fftn", (4, 9, 8), {"axes": (0, 2)}),
    ("rfft", (3, 45), {}), ("irfft", (3, 24), {}), ("rfftn", (8, 6, 10), {"norm": "ortho"}), ("irfftn", (8, 6, 9), {}),
    ("fft2", (3, 64, 64), {"norm": "forward"}), ("fft", (1009,), {}), ("hfft", (17,), {}), ("ihfft", (30,), {}),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name, shape, options", FFTS)
def test_ffts_agree_with_numpy(library, name, shape, options, dtype):
    values = numbers(np.random.default_rng(3), shape, dtype)
    if name.startswith(("rfft", "ihfft")):
        values = np.ascontiguousarray(values.real)
    found = getattr(fourtune.fft, name)(library.array(values), **options)
    assert isinstance(found, library.array_type)
    right = getattr(np.fft, name)(values, **options)
    tolerance = 1e-5 if dtype == "complex64" else 1e-13
    assert found.shape == right.shape and error(library.numpy(found), right) < tolerance


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_views_with_strides_and_offsets(library, dtype):
    values = numbers(np.random.default_rng(4), (12, 34, 21), dtype)
    tolerance = 1e-5 if dtype == "complex64" else 1e-13
    whole = library.array(values)
    for at in [np.s_[1:], np.s_[:, 1:33:2], np.s_[:, :, 3], np.s_[5, 1:]]:
        found = fourtune.fft.fft(whole[at])
        assert error(library.numpy(found), np.fft.fft(values[at])) < tolerance
    odd = library.array(values.reshape(-1)[:37])[1:]  # starts at an address that few kernels like
    assert error(library.numpy(fourtune.fft.fft(odd)), np.fft.fft(values.reshape(-1)[1:37])) < tolerance


def test_work_follows_the_current_stream(library):
    points, targets, data, right = case(2, 3, "complex64")
    plan = plan_of(2, 3, "complex64")
    set_points(plan, library, points, targets)
    good, there = library.array(data), library.array(np.zeros_like(data))
    plan.execute(there)  # kernels are there
    library.synchronize()
    stream = library.stream()
    with entered(library, stream):
        kept = delay(library)
        there[...] = good
        found = plan.execute(there)
        spectrum = fourtune.fft.fftn(there)
        doubled = found * 2
        spectrum = spectrum * 2
    stream.synchronize()
    del kept
    assert error(library.numpy(doubled), 2 * right) < 3e-5
    assert error(library.numpy(spectrum), 2 * np.fft.fftn(data)) < 1e-5


def test_one_plan_on_two_streams_in_turn(library):
    """The plan's work memory is used by one call after the other, whatever the streams are."""
    points, targets, _, _ = case(1, 3, "complex64", m=200000)
    plan = plan_of(1, 3, "complex64")
    set_points(plan, library, points, targets)
    rng = np.random.default_rng(9)
    datas = [library.array(numbers(rng, (200000,), "complex64")) for _ in range(6)]
    right = [library.numpy(plan.execute(data)) for data in datas]
    streams = [library.stream(), library.stream()]
    found = []
    library.synchronize()
    for i, data in enumerate(datas):
        with entered(library, streams[i % 2]):
            found.append(plan.execute(data))
    library.synchronize()
    for a, b in zip(found, right):
        assert error(library.numpy(a), b) < 1e-5


def test_threads_with_streams(library):
    points, _, data, right = case(1, 2, "complex128")
    x, y, c = (library.array(a) for a in (*points, data))
    library.synchronize()
    wrong = []

    def work():
        try:
            stream = library.stream()
            with entered(library, stream):
                for _ in range(10):
                    found = fourtune.nufft2d1(x, y, c, MODES[2], eps=1e-10)
                    spectrum = fourtune.fft.fft(found)
                    stream.synchronize()
                    if error(library.numpy(found), right) > 1e-9:
                        wrong.append("nufft2d1")
                    if error(library.numpy(spectrum), np.fft.fft(right)) > 1e-9:
                        wrong.append("fft")
        except Exception as raised:  # in a thread nobody would see it
            wrong.append(repr(raised))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("nufft_type", [1, 2, 3])
def test_execute_is_captured_by_a_graph(library, nufft_type):
    points, targets, data, right = case(nufft_type, 2, "complex64")
    plan = plan_of(nufft_type, 2, "complex64")
    set_points(plan, library, points, targets)
    given, out = library.array(np.zeros_like(data)), library.empty(right.shape, "complex64")
    plan.execute(given, out)
    library.synchronize()
    replay = library.capture(lambda: plan.execute(given, out))
    for factor in (1, 3):
        given[...] = library.array(factor * data)
        library.synchronize()
        replay()
        assert error(library.numpy(out), factor * right) < 3e-5
    library.synchronize()
    assert error(library.numpy(plan.execute(given)), 3 * right) < 3e-5, "after the graph"


def test_fft_is_captured_by_a_graph(library):
    data = numbers(np.random.default_rng(6), (96, 80), "complex64")
    given, out = library.array(np.zeros_like(data)), library.empty(data.shape, "complex64")
    stream = library.stream()
    with entered(library, stream):  # a transform is kept for each stream
        fourtune.fft.fftn(given, out=out)
    library.synchronize()
    replay = library.capture(lambda: fourtune.fft.fftn(given, out=out))
    given[...] = library.array(data)
    library.synchronize()
    replay()
    assert error(library.numpy(out), np.fft.fftn(data)) < 1e-5


def test_arrays_by_the_cuda_array_interface(library):
    class Foreign:
        def __init__(self, array):
            self.array, self.__cuda_array_interface__ = array, array.__cuda_array_interface__

    points, _, data, right = case(1, 2, "complex128")
    plan = plan_of(1, 2, "complex128")
    plan.set_points(*[Foreign(library.array(x)) for x in points])
    out = library.empty(right.shape, "complex128")
    given = library.array(data)
    plan.execute(Foreign(given), Foreign(out))
    assert error(library.numpy(out), right) < 1e-9
    with pytest.raises(TypeError, match="give out="):
        plan.execute(Foreign(given))


def test_wrong_places_are_named(library):
    points, _, data, right = case(1, 2, "complex128")
    on_gpu, c = [library.array(x) for x in points], library.array(data)
    plan = plan_of(1, 2, "complex128")
    plan.set_points(*on_gpu)
    with pytest.raises(ValueError, match="data is on the processor and the plan on cuda:0"):
        plan.execute(data)
    with pytest.raises(ValueError, match="out is on"):
        plan.execute(c, np.empty(right.shape, complex))
    with pytest.raises(ValueError, match="y is on the processor and x on cuda:0"):
        plan.set_points(on_gpu[0], points[1])
    with pytest.raises(ValueError, match="the points are on cuda:0 and the plan is on cpu"):
        plan_of(1, 2, "complex128", device="cpu").set_points(*on_gpu)
    with pytest.raises(ValueError, match="(?i)nan|finite"):
        plan.set_points(on_gpu[0] * float("nan"), on_gpu[1])
    plan.set_points(*on_gpu)
    assert error(library.numpy(plan.execute(c)), right) < 1e-9
    plan.set_points(*points)  # moves to the processor with its points
    assert plan.device == "cpu" and error(plan.execute(data), right) < 1e-9


def test_plans_that_go_leave_no_memory_behind(library):
    points, _, data, _ = case(1, 3, "complex64", m=100000)

    def free():
        cuda = library.module.cuda
        return cuda.mem_get_info()[0] if isinstance(library, Torch) else cuda.runtime.memGetInfo()[0]

    seen = []
    for _ in range(6):
        plan = fourtune.Plan(1, (64, 64, 64), eps=1e-4, dtype="complex64", device="cuda")
        set_points(plan, library, points, ())
        plan.execute(library.array(data))
        library.synchronize()
        del plan
        seen.append(free())
    assert seen[-1] >= seen[1] - 2**20, seen


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_gradients_of_tensors_on_a_gpu(kind, dim):
    torch = Torch().module
    from test_torch import arguments, function_of

    points, data, n_modes, targets = arguments(kind, dim, (2,))
    inputs = [a.detach().cuda().requires_grad_() for a in (data, *points, *(targets or ()))]
    call = function_of(kind, dim, n_modes)
    assert torch.autograd.gradcheck(call, inputs, nondet_tol=1e-12)
    expected = call(data, *points, *(targets or ()))
    torch.testing.assert_close(call(*inputs).cpu(), expected)


def test_a_compiled_function_of_tensors_on_a_gpu():
    torch = Torch().module
    from test_torch import arguments, function_of

    points, data, n_modes, _ = arguments(1, 2)
    inputs = [a.detach().cuda().requires_grad_() for a in (data, *points)]
    call = function_of(1, 2, n_modes)
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    expected = torch.autograd.grad(call(*inputs).abs().square().sum(), inputs)
    for a, b in zip(torch.autograd.grad(compiled(*inputs).abs().square().sum(), inputs), expected):
        torch.testing.assert_close(a, b)
