"""See ``numpy.typing``: names for annotations."""

ArrayLike = NDArray = object
