"""The second part of training ``best``: responses to itself, starting from expert iteration.

Expert iteration learns the values of a search, and never sees the outcome of a card in real deals. A response learns
from these outcomes (:mod:`train.best.response`), by TD(λ), against the current network. A response exploits this one
opponent and is weaker against others. Averaging its weights with its initial ones keeps the gain and loses less against
others. So the next response plays against this average, and starts from it. Training never meets greedy players. So the
greedier the opponent's cards look, the more weight the network of expert iteration gets, and the last response gets the
rest (:class:`crib_env.agents.best.agent.ByKind`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from rich.progress import Progress

from crib_env.agents.best.agent import BestAgent
from crib_env.agents.networks.weights_file import SUFFIX
from train.best import response
from train.loop.checkpoint import named
from train.loop.run_folder import RunFolder


def respond_to_itself(
    agent: BestAgent, times: int, settings: response.Settings, folder: RunFolder, progress: Progress
) -> Iterator[tuple[BestAgent, dict[str, Any]]]:
    """Trains responses of an agent to itself; yields the agent and the response's summary after each of them.

    Each has a run folder of its own within ``folder``.

    Args:
        agent: with one play network, from expert iteration.
        times: the number of responses.
        settings: the settings of each response, except opponent and start.
        folder: the folder of the whole run; a stopped run continues in it.
        progress: shows the progress of each.
    """
    mean = agent
    for number in range(1, times + 1):
        path = folder.path / f"response-{number}"
        path.mkdir(exist_ok=True)
        before = path / f"before{SUFFIX}"
        mean.save(before)
        settings = replace(settings, opponent=f"best:{before}", start=f"best:{before}")
        within = RunFolder.begin(path, response.NAME, asdict(settings))
        learned, summary = response.train(settings, within, progress)
        learned.save(within.final)
        mean = mean_of(BestAgent.load(before), BestAgent.load(within.final))
        yield by_kind(agent, learned), summary


def mean_of(first: BestAgent, second: BestAgent) -> BestAgent:
    """Averages the weights of ``first``, in place, with those of ``second``, which has the same shape."""
    others = second.state_dict()
    first.load_state_dict({name: (tensor + others[name]) / 2 for name, tensor in first.state_dict().items()})
    return first


def by_kind(any_kind: BestAgent, careful: BestAgent) -> BestAgent:
    """An agent with the play networks of both, which have one each, and the discard network of the first."""
    agent = BestAgent(any_kind.hidden, any_kind.hidden_discard, by_kind=True)
    networks = {"play.any_kind": any_kind.play, "play.careful": careful.play, "discard": any_kind.discard}
    agent.load_state_dict(
        {k: v for name, network in networks.items() for k, v in named(name, network.state_dict()).items()}
    )
    return agent
