"""Arrays of NumPy, CuPy, PyTorch, JAX and others as pointers, without copies where they can be used as they are.

A Kind knows one library: how to look at its arrays, make new ones, copy them, and which stream is current. Calls that
are like one before need less, and microseconds count there: signature, pointer, make and can_hold are for them.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from ._errors import CopyWarning, FourtuneTypeError, FourtuneValueError

ON_COPY = ("warn", "allow", "refuse")


class View(NamedTuple):
    """What C needs of an array, and the array, which must live while the pointer is used."""

    pointer: int
    shape: tuple
    dtype: Any  # numpy.dtype, or None for one that NumPy does not have
    strides: tuple  # in bytes
    device: int | None  # None: the processor's memory
    writable: bool
    array: Any
    kind: Any


def contiguous_strides(shape, itemsize) -> tuple:
    strides, step = [], itemsize
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(view: View) -> bool:
    if 0 in view.shape:
        return True
    expected = contiguous_strides(view.shape, view.dtype.itemsize)
    return all(size == 1 or a == b for size, a, b in zip(view.shape, view.strides, expected))


class NumpyKind:
    name = "NumPy"

    def view(self, array) -> View:
        if isinstance(array, np.ma.MaskedArray):
            raise FourtuneTypeError("masked arrays have no transform; fill them (array.filled(0)) first")
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        flags = array.flags
        pointer = array.__array_interface__["data"][0]
        return View(pointer, array.shape, array.dtype, array.strides, None, flags.writeable, array, self)

    def empty(self, shape, dtype, device):
        return np.empty(shape, dtype)

    def permute(self, array, order):
        return np.transpose(np.asarray(array), order)

    def convert(self, array, dtype):
        return np.array(array, dtype=dtype, order="C", copy=True)

    def stream(self, array):
        return None

    def result(self, array):
        return array

    def signature(self, array):
        """What decides how an array is used, as a key; None for arrays that have to be looked at."""
        return array.shape, array.strides, array.dtype

    def pointer(self, array) -> int:
        return array.__array_interface__["data"][0]

    def make(self, like, shape, dtype):
        """A new array on the device of `like`."""
        return np.empty(shape, dtype)

    def can_hold(self, out, source, shape, dtype) -> bool:
        """Whether `out`, of this kind, is such an array and surely shares no memory with source."""
        return out.shape == shape and out.dtype == dtype and out.flags.carray and not np.may_share_memory(out, source)


class JaxKind(NumpyKind):
    """Arrays in host memory are seen through NumPy. They cannot be written, so results are new JAX arrays."""

    name = "JAX"

    def view(self, array) -> View:
        if array.is_deleted():
            raise FourtuneValueError("this JAX array was deleted or donated")
        if any(device.platform != "cpu" for device in array.devices()):
            raise FourtuneTypeError("JAX arrays on a GPU belong to XLA; call fourtune.jax, which runs inside of it")
        return super().view(np.asarray(array))._replace(array=array, kind=self, writable=False)

    def convert(self, array, dtype):
        return np.array(np.asarray(array), dtype=dtype, order="C", copy=True)

    def result(self, array):
        return sys.modules["jax"].numpy.asarray(array)


class TorchKind:
    name = "PyTorch"

    def __init__(self, torch):
        self.torch = torch
        self.to_numpy = {
            getattr(torch, np.dtype(name).name): np.dtype(name)
            for name in ("f2", "f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "?")
        }
        self.from_numpy = {dtype: mine for mine, dtype in self.to_numpy.items()}
        # What generated code of PyTorch asks; current_stream makes an object first, which takes microseconds.
        self.raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def view(self, array) -> View:
        torch = self.torch
        if array.requires_grad and torch.is_grad_enabled():
            raise FourtuneValueError(
                "this tensor requires gradients, which a Plan does not record; call fourtune.torch,"
                " or pass tensor.detach()"
            )
        if array.layout is not torch.strided:
            raise FourtuneTypeError(
                f"a tensor of layout {array.layout} was given; a dense (strided) one would be right"
            )
        if array.is_conj() or array.is_neg():  # the memory holds other numbers than the tensor
            array = array.resolve_conj().resolve_neg()
        place = array.device.type
        if place not in ("cpu", "cuda"):
            raise FourtuneValueError(f"a tensor on device {array.device} was given; cpu or cuda would be right")
        pointer = array.data_ptr()
        if pointer == 0 and array.numel() > 0:
            raise FourtuneValueError("the memory of this tensor was freed")
        size = array.element_size()
        return View(
            pointer,
            tuple(array.shape),
            self.to_numpy.get(array.dtype),
            tuple(step * size for step in array.stride()),
            array.device.index if place == "cuda" else None,
            True,
            array,
            self,
        )

    def empty(self, shape, dtype, device):
        place = "cpu" if device is None else f"cuda:{device}"
        return self.torch.empty(shape, dtype=self.from_numpy[np.dtype(dtype)], device=place)

    def permute(self, array, order):
        return array.permute(order)

    def convert(self, array, dtype):
        return (
            array.detach().to(self.from_numpy[np.dtype(dtype)], memory_format=self.torch.contiguous_format).contiguous()
        )

    def stream(self, array):
        if not array.is_cuda:
            return None
        if self.raw_stream is not None:
            return self.raw_stream(array.device.index) or None
        return self.torch.cuda.current_stream(array.device).cuda_stream or None

    def result(self, array):
        return array

    def signature(self, array):
        if array.requires_grad or array.is_conj() or array.is_neg():
            return None
        return array.shape, array.stride(), array.dtype, array.device

    def pointer(self, array) -> int:
        return array.data_ptr()

    def make(self, like, shape, dtype):
        return like.new_empty(shape, dtype=self.from_numpy[dtype])

    def can_hold(self, out, source, shape, dtype) -> bool:
        memory = source.untyped_storage()
        return (
            out.shape == shape
            and out.dtype == self.from_numpy[dtype]
            and out.device == source.device
            and out.is_contiguous()
            and self.signature(out) is not None
            and out.untyped_storage().data_ptr() != memory.data_ptr()
        )


class CupyKind:
    name = "CuPy"

    def __init__(self, cupy):
        self.cupy = cupy

    def view(self, array) -> View:
        return View(array.data.ptr, array.shape, array.dtype, array.strides, array.data.device_id, True, array, self)

    def empty(self, shape, dtype, device):
        if self.cupy.cuda.runtime.getDevice() == device:
            return self.cupy.empty(shape, dtype)
        with self.cupy.cuda.Device(device):
            return self.cupy.empty(shape, dtype)

    def permute(self, array, order):
        return array.transpose(order)

    def convert(self, array, dtype):
        with array.device:
            return self.cupy.array(array, dtype=dtype, order="C")

    def stream(self, array):
        return self.cupy.cuda.get_current_stream(array.data.device_id).ptr or None

    def result(self, array):
        return array

    def signature(self, array):
        return array.shape, array.strides, array.dtype, array.data.device_id

    def pointer(self, array) -> int:
        return array.data.ptr

    def make(self, like, shape, dtype):
        return self.empty(shape, dtype, like.data.device_id)

    def can_hold(self, out, source, shape, dtype) -> bool:
        memory, start = source.data.mem, out.data.ptr
        return (
            out.shape == shape
            and out.dtype == dtype
            and out.data.device_id == source.data.device_id
            and out.flags.c_contiguous
            and (start >= memory.ptr + memory.size or start + out.nbytes <= memory.ptr)
        )


class CudaInterfaceKind:
    """Any other object with __cuda_array_interface__. The caller gives `out`, as nobody knows how to make one."""

    name = "__cuda_array_interface__"

    def view(self, array) -> View:
        said = array.__cuda_array_interface__
        dtype, shape = np.dtype(said["typestr"]), tuple(said["shape"])
        pointer, read_only = said["data"]
        strides = said.get("strides") or contiguous_strides(shape, dtype.itemsize)
        device = getattr(getattr(array, "device", None), "id", 0)
        return View(
            pointer, shape, dtype, tuple(strides), device if isinstance(device, int) else 0, not read_only, array, self
        )

    def empty(self, shape, dtype, device):
        raise FourtuneTypeError(
            "give out=, an array of your library: its arrays come by __cuda_array_interface__, which"
            " cannot make new ones"
        )

    def make(self, like, shape, dtype):
        return self.empty(shape, dtype, None)

    def convert(self, array, dtype):
        raise FourtuneTypeError(
            f"convert the array to {np.dtype(dtype)} and C order: arrays of"
            " __cuda_array_interface__ are used as they are"
        )

    def stream(self, array):
        return array.__cuda_array_interface__.get("stream") or None

    def result(self, array):
        return array


NUMPY, JAX, CUDA_INTERFACE = NumpyKind(), JaxKind(), CudaInterfaceKind()
_kinds: dict[str, Any] = {}
kind_of_type: dict[type, Any] = {np.ndarray: NUMPY}  # kinds that have signatures, as far as they were seen


def _library_kind(name, make, array_type):
    if name not in _kinds:
        _kinds[name] = kind_of_type[array_type] = make(sys.modules[name])
    return _kinds[name]


def look(array, name: str) -> View:
    """The view of any array. Libraries are never imported here: an array of one shows that it is loaded."""
    try:
        if isinstance(array, np.ndarray):
            return NUMPY.view(array)
        modules = sys.modules
        if "torch" in modules and isinstance(array, modules["torch"].Tensor):
            return _library_kind("torch", TorchKind, modules["torch"].Tensor).view(array)
        if "cupy" in modules and isinstance(array, modules["cupy"].ndarray):
            return _library_kind("cupy", CupyKind, modules["cupy"].ndarray).view(array)
        if "jax" in modules and isinstance(array, modules["jax"].Array):
            if isinstance(array, modules["jax"].core.Tracer):
                raise FourtuneTypeError(
                    "a value that JAX traces (inside jit, grad or vmap) was given; call fourtune.jax"
                )
            return JAX.view(array)
        if hasattr(array, "__cuda_array_interface__"):
            return CUDA_INTERFACE.view(array)
        if array is None or isinstance(array, (str, bytes, dict, set)):
            raise FourtuneTypeError("an array would be right")
        if hasattr(array, "__dlpack__") and not hasattr(array, "__array__"):
            return NUMPY.view(np.from_dlpack(array))
        return NUMPY.view(np.asarray(array))
    except (FourtuneTypeError, FourtuneValueError) as error:
        raise type(error)(f"{name}: {error} (given: {type(array).__name__})") from None
    except (TypeError, ValueError, AttributeError, RuntimeError, BufferError, KeyError, OverflowError) as error:
        raise FourtuneTypeError(f"{name} is a {type(array).__name__} that is no array: {error}") from None


def _allowed_cast(given, wanted) -> bool:
    """Casts that keep the digits: integers and booleans to any, a real or complex to one at least as precise."""
    if given.kind in "biu":
        return True
    return given.kind in "fc" and np.can_cast(given, wanted, "safe")


def say_copy(name: str, why: str, on_copy: str, level: int) -> None:
    text = f"{name} was copied, as {why}"
    if on_copy == "refuse":
        raise FourtuneValueError(text.replace("was copied", "needs a copy") + ", and on_copy is 'refuse'")
    if on_copy == "warn":
        warnings.warn(text, CopyWarning, stacklevel=level)


def ready(view: View, name: str, dtype, on_copy: str, level: int = 5) -> View:
    """The view, C contiguous and of this dtype: of a copy where it must be. Check the shape first: arrays that repeat
    one number may have any number of elements, and a copy has memory for all of them."""
    dtype = np.dtype(dtype)
    if (
        view.dtype == dtype
        and is_contiguous(view)
        and view.pointer % (dtype.itemsize // (2 if dtype.kind == "c" else 1)) == 0
    ):
        return view
    if view.dtype is None or (view.dtype != dtype and not _allowed_cast(view.dtype, dtype)):
        raise FourtuneTypeError(f"{name} has dtype {getattr(view.array, 'dtype', view.dtype)}; {dtype} would be right")
    why = f"its dtype is {view.dtype} and not {dtype}" if view.dtype != dtype else "it is not C contiguous and aligned"
    say_copy(name, why, on_copy, level)
    kind = view.kind
    copy = kind.convert(view.array, dtype)
    viewed = NUMPY.view(copy) if kind is JAX else kind.view(copy)
    return viewed._replace(kind=kind)


def overlap(a: View, b: View) -> bool:
    """Whether the memory of two arrays meets; where strides leave gaps, whether their ranges do."""

    def end(view):
        if 0 in view.shape:
            return view.pointer
        return view.pointer + view.dtype.itemsize + sum((n - 1) * step for n, step in zip(view.shape, view.strides))

    return a.device == b.device and a.pointer < end(b) and b.pointer < end(a)


def output(out, shape, dtype, device, source: View) -> View:
    """The view of an array that the caller wants to be written."""
    view = look(out, "out")
    if view.dtype != dtype:
        raise FourtuneTypeError(f"out has dtype {view.dtype}; {np.dtype(dtype)} would be right")
    if view.shape != shape:
        raise FourtuneValueError(f"out has shape {view.shape}; {shape} would be right")
    if view.array is not out or not view.writable:
        raise FourtuneValueError("out cannot be written; a writable array would be right")
    if not is_contiguous(view):
        raise FourtuneValueError("out is not C contiguous; a contiguous array would be right")
    if view.device != device:
        raise FourtuneValueError(f"out is on {view.device}; the device of the data would be right")
    if overlap(view, source):
        raise FourtuneValueError("out shares memory with data; separate arrays would be right")
    return view
