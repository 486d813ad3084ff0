"""Settings that all tests share."""

import os
import signal
from collections import Counter

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side, on one core each
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # windows open, and nobody sees them
os.environ["CRIB_ENV_QUIET"] = "1"  # what a command prints does not depend on whether kernels had to be compiled

# A shell that starts the tests in the background has them ignore Ctrl-C. Tests that send one need it back.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    from tests.helpers.tab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server of the page."""
    from tests.helpers.page import served_page

    with served_page(tmp_path_factory.mktemp("play")) as page:
        yield page


def pytest_collection_modifyitems(items):
    """Files of few tests come first: these take longest, and the others fill both cores to the end."""
    n_tests = Counter(item.path for item in items)
    items.sort(key=lambda item: n_tests[item.path])
