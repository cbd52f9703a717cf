#!/usr/bin/env python3
"""A volume from several coils' samples on cones, by least squares of mri-nufft.

  python examples/mri_reconstruction.py [--backend finufft|cufinufft] [--n N] [--coils N] [--iterations N]

Nothing in it knows of Fourtune: with our libfinufft or libcufinufft in the place of the package's (docs/dropin.md) the same
program runs on our transforms. Prints seconds to make the operator and to reconstruct, and the error against the phantom
that the samples were computed from, which both ways share to the tolerance.
"""
import argparse, time

import mrinufft
import numpy as np


def phantom(n):
    """Ellipsoids of different brightness."""
    x, y, z = np.meshgrid(*3 * [np.linspace(-1, 1, n, endpoint=False)], indexing="ij")
    image = np.zeros((n, n, n), np.complex64)
    for value, axes, centre in ((1, (0.8, 0.6, 0.7), (0, 0, 0)), (-0.5, (0.7, 0.5, 0.6), (0, 0, 0)),
                                (0.4, (0.2, 0.15, 0.3), (0.3, 0.1, 0)), (0.3, (0.1, 0.2, 0.1), (-0.3, -0.1, 0.2))):
        inside = sum(((a - c) / r) ** 2 for a, r, c in zip((x, y, z), axes, centre)) < 1
        image += value * inside
    return image


def sensitivities(n, coils):
    """Coils on a circle around the volume, each with the phase of its place."""
    x, y, z = np.meshgrid(*3 * [np.linspace(-1, 1, n, endpoint=False)], indexing="ij")
    angles = 2 * np.pi * np.arange(coils) / coils
    maps = [np.exp(-((x - np.cos(a)) ** 2 + (y - np.sin(a)) ** 2 + 0.3 * z**2) + 1j * a) for a in angles]
    return (maps / np.sqrt(sum(abs(m) ** 2 for m in maps))).astype(np.complex64)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="finufft", choices=["finufft", "cufinufft"])
    parser.add_argument("--n", type=int, default=96)
    parser.add_argument("--coils", type=int, default=4)
    parser.add_argument("--iterations", type=int, default=10)
    words = parser.parse_args()
    n = words.n
    image, maps = phantom(n), sensitivities(n, words.coils)
    wait = lambda: None
    if words.backend == "cufinufft":
        import cupy

        image, wait = cupy.asarray(image), cupy.cuda.Device().synchronize
    samples = (2 * np.pi * mrinufft.initialize_3D_cones(n * n // 2, Ns=2 * n, nb_zigzags=4)).astype(np.float32)

    for turn in ("first", "again"):  # a first reconstruction on a GPU compiles kernels
        begin = time.perf_counter()
        operator = mrinufft.get_operator(words.backend)(samples, shape=image.shape, n_coils=words.coils, smaps=maps,
                                                        squeeze_dims=True)
        kspace = operator.op(image)
        wait()
        made = time.perf_counter()
        steps = []
        result = operator.pinv_solver(kspace, optim="lsqr", max_iter=words.iterations, progressbar=False,
                                      callback=lambda *_, **__: steps.append(1))
        result = result[0] if isinstance(result, tuple) else result
        wait()
        done = time.perf_counter()
        error = float(abs(result.reshape(image.shape) - image).sum() / abs(image).sum())
        print(f"{words.backend}, {n}^3, {samples.size // 3} samples, {words.coils} coils, {turn}: operator and data "
              f"{made - begin:.3f} s, {len(steps)} iterations {done - made:.3f} s, error {error:.5f}", flush=True)


main()
