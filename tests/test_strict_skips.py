"""Under ``tests/strict_skips.py``, nothing is skipped without a listed reason."""

import pytest

from tests.strict_skips import REASONS

pytest_plugins = "pytester"

TESTS = f"""
import pytest

@pytest.mark.skipif(True, reason={REASONS[0]!r})
def test_listed(): pass

@pytest.mark.skip(reason="somebody said so")
def test_by_a_mark(): pass

def test_inside():
    pytest.importorskip("no_such_module")

@pytest.fixture
def cluster():
    pytest.skip("no cluster")

def test_in_a_fixture(cluster): pass

@pytest.mark.xfail(strict=True)
def test_that_fails_as_expected():
    assert False

def test_passing(): pass
"""
WHOLE_FILE = """
import pytest
pytest.importorskip("no_such_module")
def test_never_seen(): pass
"""
LISTED_FILE = f"""
import pytest
pytest.skip({REASONS[0]!r}, allow_module_level=True)
"""


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_a_reason_that_is_not_listed_fails(pytester, workers):
    pytester.makepyfile(TESTS)
    strict = pytester.runpytest("-p", "tests.strict_skips", "-p", "no:cacheprovider", *workers)
    strict.assert_outcomes(passed=1, skipped=1, xfailed=1, failed=1, errors=2)
    reasons = ("somebody said so", "no cluster", "could not import 'no_such_module'*")
    strict.stdout.fnmatch_lines([f"skipped: {reason}" for reason in reasons])
    assert strict.ret == pytest.ExitCode.TESTS_FAILED


def test_a_whole_file_that_is_skipped_fails(pytester):
    pytester.makepyfile(test_whole=WHOLE_FILE, test_listed=LISTED_FILE)
    strict = pytester.runpytest("-p", "tests.strict_skips", "-p", "no:cacheprovider", "-n", "1")
    strict.assert_outcomes(skipped=1, errors=1)
    strict.stdout.fnmatch_lines(["skipped: could not import 'no_such_module'*"])
    assert strict.ret != pytest.ExitCode.OK
