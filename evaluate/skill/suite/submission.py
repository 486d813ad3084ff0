"""A row of the leaderboard: one agent on the whole suite, and what it takes to measure it again."""

from __future__ import annotations

import json
import platform
import shlex
import subprocess
from collections.abc import Sequence
from importlib.metadata import distributions
from urllib.parse import urlsplit
from urllib.request import url2pathname

from llvmlite import binding as llvm

from crib_env.agents.registry import NAMES
from crib_env.evaluate.skill.suite.suite import Outcome, Suite, results_as_json
from crib_env.evaluate.skill.suite.task import SEED


def check_tier(suite: Suite) -> None:
    """Makes sure that a suite is one agent's, and whole.

    Raises:
        ValueError: it is not.
    """
    if len(suite.agents) != 1:
        raise ValueError(f"--submit writes the row of one agent, and not of {len(suite.agents)}: give one")
    if suite.share != 1 or suite.shares or suite.skip:
        raise ValueError("--submit takes the whole suite: give neither --share nor --skip nor --only")


def row_of(suite: Suite, outcomes: Sequence[Outcome]) -> dict[str, object]:
    """The row: the figures of ``--json``, with commit, processor, seed and command.

    ``source`` says where code and weights of the agent are. It is ``"crib_env"`` for agents that ship; for others it is
    empty, and whoever submits the row fills it in.
    """
    (agent,) = suite.agents
    return {
        "agent": agent,
        "source": "crib_env" if agent.partition(":")[0] in NAMES else "",
        "command": f"crib-env suite {shlex.quote(agent)} --submit FILE",
        "commit": _commit(),
        "processor": f"{llvm.get_host_cpu_name()}, {platform.system()}, Python {platform.python_version()}",
        "seed": SEED,
        **results_as_json(suite, outcomes),
    }


def _commit() -> str | None:
    """The commit that this package was installed from; of a checkout, with ``+`` if files have changed since.

    ``None`` for a wheel, whose release says all.
    """
    # In the folder of a checkout, what its build left behind is found before what was installed.
    stated = filter(None, (found.read_text("direct_url.json") for found in distributions(name="crib-env")))
    origin = json.loads(next(stated, "{}"))
    if "vcs_info" in origin:
        return str(origin["vcs_info"]["commit_id"])
    if not origin.get("dir_info", {}).get("editable"):
        return None
    command = ["git", "-C", url2pathname(urlsplit(origin["url"]).path)]
    try:
        head, changed = (
            subprocess.run([*command, *words], capture_output=True, text=True, encoding="utf-8", check=True).stdout
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--untracked-files=no"])
        )
    except (OSError, subprocess.CalledProcessError):  # no git, or no repository
        return None
    return head.strip() + "+" * bool(changed)
