"""A stand-in for NumPy in the browser: the part of it that the table needs, in plain Python.

NumPy's own build for WebAssembly would be half of all that the page loads. Here arrays are small, and kernels do the
work. Each function does what NumPy's of the same name does, or raises; ``tests/test_web_arrays.py`` compares them. The
site has this folder under the name ``numpy``.
"""

from . import functions as _functions
from . import linalg, random
from .dtypes import NUMBERS, bool_, dtype, floating, generic, integer
from .files import load
from .memory import asarray, broadcast_to, ndarray, void
from .reducing import REDUCTIONS, argsort, cumsum, lexsort, sort, unique
from .selecting import nonzero

globals().update(
    {name: value for name, value in vars(_functions).items() if name[0] != "_" and name not in globals()}
    | NUMBERS
    | REDUCTIONS
    | {"abs": _functions.absolute}
)
