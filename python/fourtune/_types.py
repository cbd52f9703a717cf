"""Types of public arguments, for type checkers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional, Union

# An array of NumPy, PyTorch, CuPy or JAX, or None where that is the default. Results are of the kind that was given,
# which no type of Python can say.
Array = Any
Arrays = Sequence[Array]
# A linear function, such as NUFFT(...).normal.
Map = Callable[[Array], Array]
# One size, or one for each axis.
Shape = Union[int, Sequence[int]]
Modes = Optional[Shape]
Axes = Optional[Sequence[int]]
Norm = Optional[str]
