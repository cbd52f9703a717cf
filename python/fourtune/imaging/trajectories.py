"""Where scanners sample: trajectories in radians per pixel, as NumPy arrays, one for each axis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._plan import integer
from . import _checks

GOLDEN_ANGLE = np.pi / ((1 + np.sqrt(5)) / 2)  # 111.25 degrees (Winkelmann et al. 2007)


def radial(spokes: int, samples: int, golden: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of shape (spokes * samples,): lines through the centre, from -pi to pi, one spoke after the other.

    golden: the next spoke is turned by the golden angle; else the angles divide half a turn evenly.
    """
    spokes, samples = integer(spokes, "spokes", 1), integer(samples, "samples", 1)
    angles = np.arange(spokes) * (GOLDEN_ANGLE if golden else np.pi / spokes)
    radius = 2 * np.pi * (np.arange(samples) - samples // 2) / samples
    return tuple(np.outer(f(angles), radius).ravel() for f in (np.sin, np.cos))


def spiral(interleaves: int, samples: int, turns: float) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of shape (interleaves * samples,): Archimedean spirals from the centre to pi, `turns` each."""
    interleaves, samples = integer(interleaves, "interleaves", 1), integer(samples, "samples", 1)
    turns = _checks.number(turns, "turns")
    part = np.arange(samples) / samples
    angles = 2 * np.pi * (np.arange(interleaves)[:, None] / interleaves + turns * part)
    return tuple((f(angles) * np.pi * part).ravel() for f in (np.sin, np.cos))


class Scan(NamedTuple):
    """Parameters of a scan: its trajectory, the image's shape, and the number of coils."""

    points: tuple[np.ndarray, ...]
    shape: tuple[int, ...]
    coils: int


def brain_radial_2019(samples: int = 512, size: int = 300) -> Scan:
    """Like the radial brain scan of the ISMRM reproducibility challenge of 2019: 96 spokes, 12 coils (Maier et al.,
    Magnetic Resonance in Medicine 85, 1821, 2021; ismrm.github.io/rrsg/challenge_one).

    samples: per spoke. size: pixels along each axis of the image. Our choice, unless you give others.
    """
    return Scan(radial(96, samples, golden=False), (size, size), 12)
