"""A pytest plugin: a test that is skipped fails, unless the reason is listed here. ``make test`` runs with it."""

import re

import pytest

# What a machine may lack, and make cannot install.
REASONS = (
    "there is no chromium: apt-get install chromium",
    "there is no site of the table: make web",
    "there is no perl with JSON::PP",
    "only root makes devices",
    "root may write everywhere",
    "reads /proc",
    "this system does not tell a process what it takes",
    "needs Python 3.11",
)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _strict((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _strict((yield))


def _strict(report):
    """The report of a test or of a file, failed if it was skipped without a listed reason."""
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = re.sub("^Skipped: ", "", report.longrepr[2])
        if reason not in REASONS:
            report.outcome = "failed"
            report.longrepr = f"skipped: {reason}\nThis is not a reason that tests/strict_skips.py lists."
    return report
