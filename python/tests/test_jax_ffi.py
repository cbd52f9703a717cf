"""fourtune.jax by XLA's foreign function interface: no Python in compiled programs, kept plans, exported programs,
wrong calls, a GPU; and what happens where the interface cannot be used."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp

import fourtune
import fourtune.jax as fj

if os.environ.get("FOURTUNE_JAX_VIA") == "callback":
    pytest.skip("FOURTUNE_JAX_VIA asks for the callback", allow_module_level=True)

FAILURES = ValueError, RuntimeError  # JAX has either, as it waits for the call or not
TARGET = "fourtune_nufft"
X, C = jnp.linspace(-3, 3, 50), jnp.ones(50, complex)


def call(x, c):
    return fj.nufft1d1(x, c, 8, eps=1e-9)


def in_python(program, **variables):
    """Runs a program in a new interpreter, on the processor; returns its output, both streams."""
    ran = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, JAX_PLATFORMS="cpu", **variables),
                         capture_output=True, text=True, timeout=300)
    return ran.stdout + ran.stderr


def test_compiled_programs_call_the_library_and_not_python():
    assert fj.via == "ffi"
    lowered = jax.jit(jax.value_and_grad(lambda x: jnp.sum(jnp.abs(call(x, C)) ** 2))).lower(X).as_text()
    assert TARGET in lowered and "callback" not in lowered


def test_the_tests_of_jax_pass_with_callbacks_too():
    """All but those of second derivatives, whose rules are the same; in tools/check a quarter for each commit."""
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "turns", "-k",
                          "not second_order", str(here / "test_jax.py")],
                         env=dict(os.environ, FOURTUNE_JAX_VIA="callback", JAX_PLATFORMS="cpu", PYTHONPATH=path),
                         capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stdout + ran.stderr


# ---- kept plans ----


@pytest.fixture
def plans():
    fourtune.clear_plan_cache()
    yield fj._handlers.plans
    fourtune.set_plan_cache()


def test_a_plan_is_kept_for_the_next_call_and_freed_on_demand(plans):
    assert len(plans) == 0 and plans.held == 0
    for _ in range(3):
        jax.block_until_ready(call(X, C))
        assert len(plans) == 1 and plans.held > 0
    fourtune.clear_plan_cache()
    assert len(plans) == 0 and plans.held == 0


def test_the_bounds_of_kept_plans_are_those_of_set_plan_cache(plans):
    def transforms_of(sizes):
        for n in sizes:
            jax.block_until_ready(fj.nufft1d1(X, C, n))

    transforms_of(range(8, 28))
    assert len(plans) == 16
    fourtune.set_plan_cache(2)
    assert len(plans) == 2
    fourtune.set_plan_cache(16, plans.held)
    transforms_of([64])
    assert 0 < len(plans) <= 2
    fourtune.set_plan_cache(0)
    transforms_of([8])
    assert len(plans) == 0 and plans.held == 0


def test_a_failed_plan_is_not_kept(plans):
    with pytest.raises(FAILURES):
        jax.block_until_ready(call(X.at[0].set(np.inf), C))
    assert len(plans) == 0


def test_plans_may_be_freed_and_bounded_while_threads_transform(plans):
    run, wanted = jax.jit(call), np.asarray(call(X, C))

    def transform(_):
        return all(np.allclose(run(X, C), wanted, atol=1e-9) for _ in range(100))

    with ThreadPoolExecutor(5) as pool:
        answers = [pool.submit(transform, i) for i in range(4)]
        while not all(one.done() for one in answers):
            fourtune.set_plan_cache(1)
            fourtune.clear_plan_cache()
            fourtune.set_plan_cache(16)
    assert all(one.result() for one in answers)


def test_several_devices_of_one_program_transform_at_once():
    said = in_python("""
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp, fourtune.jax as fj
from jax.sharding import Mesh, NamedSharding, PartitionSpec
call = lambda x, c: fj.nufft1d1(x, c, 8, eps=1e-9)
x, c = jnp.asarray(np.random.default_rng(0).uniform(-3, 3, (4, 500))), jnp.ones((4, 500), complex)
wanted = np.stack([call(*one) for one in zip(x, c)])
one_each = NamedSharding(Mesh(np.array(jax.devices()), "b"), PartitionSpec("b"))
mapped = jax.pmap(call)(x, c)
sharded = jax.jit(jax.vmap(call))(*jax.device_put((x, c), one_each))
print(len(jax.devices()), "devices", [bool(np.allclose(found, wanted, atol=1e-9)) for found in (mapped, sharded)])
""", XLA_FLAGS="--xla_force_host_platform_device_count=4")
    assert "4 devices [True, True]" in said, said


# ---- exported programs ----


@pytest.fixture
def export():
    pytest.importorskip("flatbuffers", reason="JAX exports programs by flatbuffers, which is not installed")
    return pytest.importorskip("jax.export")


def allowed(export):
    return dict(disabled_checks=[export.DisabledSafetyCheck.custom_call(TARGET)])


def test_jax_asks_before_it_exports_our_call(export):
    with pytest.raises(ValueError, match=TARGET):
        export.export(jax.jit(call))(X, C)


def test_an_exported_program_runs_in_another_process_that_registers_the_handlers(export, tmp_path):
    exported = export.export(jax.jit(call), **allowed(export))(X, C)
    np.testing.assert_allclose(exported.call(X, C), call(X, C), atol=1e-12)
    (tmp_path / "program").write_bytes(exported.serialize())
    np.save(tmp_path / "expected.npy", call(X, C))
    program = f"""
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp
from jax import export
{{imports}}
program = export.deserialize(bytearray(open({str(tmp_path / 'program')!r}, "rb").read()))
found = program.call(jnp.linspace(-3, 3, 50), jnp.ones(50, complex))
print("off by", np.max(np.abs(found - np.load({str(tmp_path / 'expected.npy')!r}))) < 1e-12)
"""
    assert "off by True" in in_python(program.format(imports="import fourtune.jax; fourtune.jax.register_handlers()"))
    assert TARGET in in_python(program.format(imports=""))  # JAX's error names the call that is missing


def test_the_number_of_points_may_be_a_symbol(export):
    m, = export.symbolic_shape("m")
    shapes = jax.ShapeDtypeStruct((m,), X.dtype), jax.ShapeDtypeStruct((m,), C.dtype)
    exported = export.export(jax.jit(call), **allowed(export))(*shapes)
    for count in (3, 50):
        np.testing.assert_allclose(exported.call(X[:count], C[:count]), call(X[:count], C[:count]), atol=1e-12)


def test_a_program_for_gpus_is_lowered_without_one():
    lowered = jax.jit(call).trace(X, C).lower(lowering_platforms=("cuda",)).as_text()
    assert TARGET in lowered and "callback" not in lowered


# ---- wrong calls of the handler itself ----

RIGHT = dict(nufft_type=np.int64(1), eps=np.float64(1e-6), isign=np.int64(1), modeord=np.int64(0))


@pytest.mark.skipif(not hasattr(jax, "ffi"), reason="jax.ffi came with JAX 0.5")
@pytest.mark.parametrize("shapes, result, attributes, says", [
    ([(1, 5), (1, 5)], (1, 8), {}, None),
    ([(1, 5), (1, 5)], (1, 8), dict(nufft_type=np.int64(4)), "nufft_type is 4; 1, 2 or 3 would be right"),
    ([(1, 5), (1, 5)], (1, 8), dict(nufft_type=np.int64(3)), "2 operands; 3 would be right"),
    ([(1, 5)], (1, 8), {}, "1 operands; 2 would be right"),
    ([(1, 5), (5,)], (1, 8), {}, r"points have shape \[5\]"),
    ([(1, 5), (4, 5)], (1, 8), {}, r"points have shape \[4, 5\]"),
    ([(1, 5), (0, 5)], (1, 8), {}, r"points have shape \[0, 5\]"),
    ([(1, 5), (2, 5)], (1, 8), {}, r"modes have shape \[1, 8\]; a batch and 2 axes"),
    ([(1, 6), (1, 5)], (1, 8), {}, r"data have shape \[1, 6\].*\[1, 5\] and \[1, 8\] would be right"),
    ([(2, 5), (1, 5)], (1, 8), {}, r"data have shape \[2, 5\]"),
    ([(), (1, 5)], (1, 8), {}, r"data have shape \[\]"),
    ([(1, 8), (1, 5)], (1, 6), dict(nufft_type=np.int64(2)), r"the result \[1, 6\]"),
    ([(1, 5), (1, 5), (2, 4)], (1, 4), dict(nufft_type=np.int64(3)), r"targets have shape \[2, 4\]"),
    ([(1, 5), (1, 5)], (1, 8), dict(eps=np.float64(np.nan)), "tol"),
    ([(1, 5), (1, 5)], (1, 8), dict(isign=np.int64(7)), "sign"),
])
def test_the_handler_refuses_what_does_not_fit(shapes, result, attributes, says):
    operands = [jnp.zeros(shape, float if i else complex) for i, shape in enumerate(shapes)]
    raw = jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct(result, complex))
    run = lambda: jax.block_until_ready(jax.jit(lambda *a: raw(*a, **{**RIGHT, **attributes}))(*operands))
    call(X, C)  # the handler is known to XLA from now on
    if says is None:
        assert run().shape == result
    else:
        with pytest.raises(FAILURES, match=says):
            run()


@pytest.mark.skipif(not hasattr(jax, "ffi"), reason="jax.ffi came with JAX 0.5")
@pytest.mark.parametrize("types", [(complex, jnp.float32), (jnp.complex64, float), (complex, int), (float, float)])
def test_the_handler_refuses_mixed_types(types):
    call(X, C)
    raw = jax.ffi.ffi_call(TARGET, jax.ShapeDtypeStruct((1, 8), complex))
    with pytest.raises(FAILURES, match="of the same precision"):
        jax.block_until_ready(raw(jnp.zeros((1, 5), types[0]), jnp.zeros((1, 5), types[1]), **RIGHT))


@pytest.mark.skipif(not hasattr(jax, "ffi"), reason="jax.ffi came with JAX 0.5")
def test_the_handler_for_gpus_gives_an_error_where_there_is_no_stream():
    from fourtune import _xla

    handler = _xla.ffi.pycapsule(fj._handlers._library.fourtune_jax_cuda)
    _xla.ffi.register_ffi_target("fourtune_nufft_misplaced", handler, platform="cpu")
    raw = _xla.ffi.ffi_call("fourtune_nufft_misplaced", jax.ShapeDtypeStruct((1, 8), complex))
    says = "stream" if jax.__version_info__ >= (0, 7, 2) else "on which GPU a call runs; 0.7.2 or later would be right"
    with pytest.raises(FAILURES, match=says), jax.default_device(jax.devices("cpu")[0]):
        jax.block_until_ready(raw(jnp.zeros((1, 5), complex), jnp.zeros((1, 5)), **RIGHT))


# ---- where the interface cannot be used ----

SMALL = """
import warnings, jax, jax.numpy as jnp, numpy as np
{before}
import fourtune.jax as fj
for _ in range(2):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = jax.jit(lambda x: fj.nufft1d1(x, x + 1, 8, eps=1e-4))(jnp.linspace(-3, 3, 50))
        print(values.shape, fj.via, [str(one.message) for one in caught])
    jax.clear_caches()
"""


def test_without_the_library_callbacks_work_and_one_warning_says_so(tmp_path):
    before = f"import fourtune._library; fourtune._library.path = lambda: {str(tmp_path / 'libfourtune.so')!r}"
    said = in_python(SMALL.format(before=before))
    assert said.count("(8,) callback []") == 2
    assert said.count("RuntimeWarning: fourtune.jax calls back into Python") == 1 and str(tmp_path) in said


def test_if_xla_refuses_the_handlers_callbacks_work_and_one_warning_says_so():
    before = """
from fourtune import _xla
def refuse(*_, **__): raise RuntimeError("handler's API version (0.99) is incompatible")
_xla.ffi.register_ffi_target = refuse"""
    said = in_python(SMALL.format(before=before))
    assert said.count("(8,) callback [") == 2 and said.count("API version (0.99) is incompatible") == 1
    said = in_python(SMALL.format(before=before), FOURTUNE_JAX_VIA="ffi")
    assert "NotImplementedError: the variable FOURTUNE_JAX_VIA is 'ffi', but XLA refuses" in said


def test_handlers_of_other_platforms_and_without_the_library_are_refused():
    with pytest.raises(ValueError, match="platform is 'tpu'; 'cpu' or 'cuda' would be right"):
        fj.register_handlers("tpu")
    said = in_python("import fourtune.jax; fourtune.jax.register_handlers()", FOURTUNE_JAX_VIA="callback")
    assert "NotImplementedError: fourtune.jax on 'cpu': libfourtune_jax.so is not loaded" in said


def test_the_variable_chooses_and_its_nonsense_is_refused():
    assert in_python(SMALL.format(before=""), FOURTUNE_JAX_VIA="callback").count("(8,) callback []") == 2
    assert in_python(SMALL.format(before=""), FOURTUNE_JAX_VIA="ffi").count("(8,) ffi []") == 2
    assert "FOURTUNE_JAX_VIA is 'fii'; 'ffi' or 'callback'" in in_python("import fourtune.jax", FOURTUNE_JAX_VIA="fii")


# ---- on a GPU ----


@pytest.fixture
def gpu():
    try:
        return jax.devices("cuda")[0]
    except RuntimeError as error:
        pytest.skip(f"JAX sees no NVIDIA GPU: {str(error)[:80]}")


@pytest.mark.parametrize("real", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("kind", [1, 2, 3])
def test_a_gpu_gives_what_the_processor_gives(gpu, kind, real):
    rng = np.random.default_rng(0)
    points = [jnp.asarray(rng.uniform(-3, 3, 1000), real) for _ in range(2)]
    targets = [jnp.asarray(rng.uniform(-9, 9, 700), real) for _ in range(2)] if kind == 3 else None
    shape = (2, 20, 30) if kind == 2 else (2, 1000)
    data = jnp.asarray(rng.standard_normal(shape), jnp.complex64 if real == jnp.float32 else jnp.complex128)

    def energy(points, data, targets):
        values = fj.nufft(kind, points, data, (20, 30) if kind == 1 else None, targets, eps=1e-5)
        return jnp.sum(jnp.abs(values) ** 2), values

    step = jax.jit(jax.value_and_grad(energy, argnums=(0, 1), has_aux=True))
    here = step(*jax.device_put((points, data, targets), jax.devices("cpu")[0]))
    there = step(*jax.device_put((points, data, targets), gpu))
    for a, b in zip(jax.tree.leaves(here), jax.tree.leaves(there)):
        assert b.devices() == {gpu}
        np.testing.assert_allclose(a, b, atol=2e-4 * np.max(np.abs(a)))


def test_nan_in_points_on_a_gpu_is_an_error(gpu):
    x, c = jax.device_put((X.at[3].set(np.nan), C), gpu)
    with pytest.raises(FAILURES, match="point 3: coordinate x is NaN"):
        jax.block_until_ready(call(x, c))
