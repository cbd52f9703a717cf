"""Arrays of other libraries: results are of their kind, and what cannot be used is refused."""

import fourtune
import fourtune.fft
import numpy as np
import pytest

X = np.linspace(-3, 3, 20)
C = np.exp(1j * X)
RIGHT = fourtune.nufft1d1(X, C, 8, eps=1e-9)


class Dlpack:
    """Only DLPack, as a library that NumPy does not know."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class CudaArray:
    """What an array on a GPU says about itself; its memory is never touched here."""

    def __init__(self, shape, typestr):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (4096, False), "version": 3}


def test_dlpack_arrays_are_used():
    assert np.allclose(fourtune.nufft1d1(Dlpack(X), Dlpack(C), 8, eps=1e-9), RIGHT)
    assert np.allclose(fourtune.fft.fft(Dlpack(C)), np.fft.fft(C))


def test_arrays_on_a_gpu_are_refused_by_a_plan_on_the_processor():
    plan = fourtune.Plan(1, 8, device="cpu")
    with pytest.raises(ValueError, match="the points are on cuda:0 and the plan is on cpu"):
        plan.set_points(CudaArray((20,), "<f8"))
    plan.set_points(X)
    with pytest.raises(ValueError, match="data is on cuda:0 and the plan on cpu"):
        plan.execute(CudaArray((20,), "<c16"))
    mixed = fourtune.Plan(1, (8, 8))
    with pytest.raises(ValueError, match="y is on cuda:0 and x on the processor"):
        mixed.set_points(X, CudaArray((20,), "<f8"))


def test_shapes_are_checked_before_anything_is_copied():
    """A copy of such an array would take more memory than there is, and some systems grant it all the same."""
    plan, endless = fourtune.Plan(1, (8, 8)), np.broadcast_to(1.0, (2**44,))
    with pytest.raises(ValueError, match=r"x has 20 points|y has 17592186044416 points"):
        plan.set_points(X, endless)
    plan.set_points(X, X)
    with pytest.raises(ValueError, match=r"\(20,\) would be right"):
        plan.execute(endless)


def test_jax_arrays_give_jax_arrays():
    jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        check_jax_arrays(jax)


def check_jax_arrays(jax):
    x, c = jax.numpy.asarray(X), jax.numpy.asarray(C)
    found = fourtune.nufft1d1(x, c, 8, eps=1e-9)
    assert isinstance(found, jax.Array) and np.allclose(found, RIGHT)
    assert isinstance(fourtune.fft.fft(c), jax.Array) and np.allclose(fourtune.fft.fft(c), np.fft.fft(C))
    assert isinstance(fourtune.fft.ifftn(c.reshape(4, 5), axes=(0,)), jax.Array)
    with pytest.raises(TypeError, match="fourtune.jax"):
        jax.jit(lambda c: fourtune.nufft1d1(X, c, 8))(c)
    plan = fourtune.Plan(1, 8)
    plan.set_points(x)
    with pytest.raises(ValueError, match="cannot be written"):
        plan.execute(c, out=jax.numpy.zeros(8, complex))
    gone = jax.numpy.asarray(C)
    gone.delete()
    with pytest.raises(ValueError, match="deleted"):
        plan.execute(gone)


def test_torch_tensors_give_torch_tensors():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed in this environment")
    x, c = torch.from_numpy(X), torch.from_numpy(C)
    found = fourtune.nufft1d1(x, c, 8, eps=1e-9)
    assert isinstance(found, torch.Tensor) and np.allclose(found.numpy(), RIGHT)
    assert np.allclose(fourtune.fft.fft(c).numpy(), np.fft.fft(C))
    plan = fourtune.Plan(1, 8, eps=1e-9, on_copy="allow")
    plan.set_points(x)
    assert np.allclose(plan.execute(c.conj()).numpy(), plan.execute(C.conj()))  # a conjugation that is only marked
    with pytest.raises(ValueError, match="requires gradients"):
        plan.execute(c.clone().requires_grad_())
    with pytest.raises(TypeError, match="layout"):
        plan.execute(c.to_sparse())
