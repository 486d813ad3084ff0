"""A stand-in for NumPy in the browser: the part of it that the table needs, in plain Python.

NumPy's own build for WebAssembly would be half of all that the page loads. Here arrays are small, and kernels do the
work. Each function does what NumPy's of the same name does, or raises; ``tests/test_web_arrays.py`` compares them. The
site has this folder under the name ``numpy``.
"""

import sys
from types import SimpleNamespace

from . import functions as _functions
from . import random
from .dtypes import NUMBERS, bool_, dtype, floating, generic, integer
from .functions import REDUCTIONS, argsort, cumsum, lexsort, norm, sort
from .memory import asarray, broadcast_to, ndarray, nonzero, void

linalg = SimpleNamespace(norm=norm)
sys.modules[f"{__name__}.typing"] = SimpleNamespace(ArrayLike=object, NDArray=object)  # for annotations

globals().update(
    {name: value for name, value in vars(_functions).items() if name[0] != "_" and name not in globals()}
    | NUMBERS
    | REDUCTIONS
    | {"abs": _functions.absolute}
)
