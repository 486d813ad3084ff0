"""The workflows for a code host call what the Makefile and the documentation have, on the versions promised."""

import re
from importlib.metadata import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
yaml = pytest.importorskip("yaml")
FILES = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
JOBS = {name: job for file in FILES.values() for name, job in file["jobs"].items()}


def lines(job):
    """The commands of a job."""
    return [step["run"] for step in job["steps"] if "run" in step]


def test_there_is_a_check_and_the_site():
    assert set(FILES) == {"check.yml", "newest.yml", "pages.yml"}
    assert set(JOBS) == {"test", "quick", "oldest", "newest", "windows", "loops", "wheel", "publish"}


def test_every_target_is_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    asked = [line for name, job in JOBS.items() if name != "windows" for line in lines(job) if line.startswith("make ")]
    assert sorted(asked) == [
        f"make {target} PYTHON=python" for target in ("dist", "docs", "loops", "newest", "oldest", "quick", "test")
    ]
    for line in asked:
        assert re.search(rf"^{line.split()[1]}:", makefile, re.MULTILINE)


def test_the_commands_without_make_are_those_of_the_page_about_installing():
    page = (ROOT / "docs" / "installing.md").read_text()
    for line in lines(JOBS["windows"]):
        _, _, command = line.replace("\\", "/").rpartition("Scripts/")
        command, extras, _ = command.partition('".[')
        assert command.partition(" match ")[0] in page
        assert not extras or re.search(r'"\.\[([\w,]+)\]"', line)[1] in page


def test_pythons_are_those_that_the_package_promises():
    least = metadata("crib-env")["Requires-Python"].removeprefix(">=")
    for name in ("quick", "windows"):
        matrix = JOBS[name]["strategy"]["matrix"]
        assert (min(matrix["python"], key=version), max(matrix["python"], key=version)) == (least, "3.14")
    tested = {*JOBS["quick"]["strategy"]["matrix"]["python"], JOBS["test"]["steps"][1]["with"]["python-version"]}
    assert sorted(tested, key=version) == [f"3.{minor}" for minor in range(version(least)[1], 15)]


def version(text):
    """As numbers, which sort."""
    return [int(number) for number in text.split(".")]
