#!/usr/bin/env python3
"""Taylor and Green's vortex by CuPy: a pseudo-spectral solver of the Navier-Stokes equations in a periodic cube.

  python examples/spectral_solver.py [--n N] [--steps N] [--double]
  LD_PRELOAD=libfourtune_cufft.so python examples/spectral_solver.py

Nothing in it knows of Fourtune: with the library before cuFFT (docs/dropin.md) the same program runs on our transforms.
Prints seconds per step and the kinetic energy, which both ways share to rounding.
"""
import argparse, time

import cupy as cp


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=192)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--double", action="store_true")
    words = parser.parse_args()
    n, real = words.n, cp.float64 if words.double else cp.float32
    viscosity, dt = 1 / 1600, 0.01 * 64 / n
    x = cp.arange(n, dtype=real) * real(2 * cp.pi / n)
    x, y, z = cp.meshgrid(x, x, x, indexing="ij")
    k1 = cp.fft.fftfreq(n, 1 / n).astype(real)
    k = cp.stack(cp.meshgrid(k1, k1, k1[: n // 2 + 1], indexing="ij"))
    k[2, :, :, -1] = n // 2
    square = (k * k).sum(0)
    inverse = cp.where(square == 0, real(0), 1 / cp.where(square == 0, real(1), square))
    keep = (abs(k) < n / 3).all(0)  # without aliasing
    forward = lambda a: cp.fft.rfftn(a, axes=(1, 2, 3))
    back = lambda a: cp.fft.irfftn(a, s=(n, n, n), axes=(1, 2, 3))
    u = forward(cp.stack([cp.sin(x) * cp.cos(y) * cp.cos(z), -cp.cos(x) * cp.sin(y) * cp.cos(z), cp.zeros_like(x)]))

    def slope(u):
        w = 1j * cp.stack([k[1] * u[2] - k[2] * u[1], k[2] * u[0] - k[0] * u[2], k[0] * u[1] - k[1] * u[0]])
        a, b = back(u), back(w.astype(u.dtype))
        c = forward(cp.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])) * keep
        return c - k * ((k * c).sum(0) * inverse) - real(viscosity) * square * u

    def step(u):
        half = u + real(dt / 2) * slope(u)
        return u + real(dt) * slope(half)

    def wait():
        cp.cuda.Device().synchronize()

    for _ in range(5):  # kernels, plans, memory; a program that runs for long does not see them
        u = step(u)
    time.sleep(2)
    u = step(u)
    wait()
    begin = time.perf_counter()
    for _ in range(words.steps):
        u = step(u)
    wait()
    seconds = (time.perf_counter() - begin) / words.steps
    energy = float(0.5 * (back(u) ** 2).sum() / n**3)
    print(f"{n}^3 {'f64' if words.double else 'f32'}: {1e3 * seconds:.3f} ms a step, energy {energy:.6f}")


main()
