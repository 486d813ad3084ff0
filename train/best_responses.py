"""The second part of training ``best``: it learns against itself, from where expert iteration ends.

Expert iteration learns what a search says, and never sees what comes of a card in real deals. That is what a response
learns (:mod:`train.response`), by TD(λ), against the network as it stands. A response makes the most of that one
opponent and is worse against others; the mean of its weights and of those that it began with gains as much and loses
less. So the next response is to the mean, and begins there. Players who grasp are not met that way: against them the
network of expert iteration keeps the word, against the others the last response has it (:class:`agents.best.ByKind`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from rich.progress import Progress

from agents.best import BestAgent
from agents.weights_file import SUFFIX
from train import response
from train.checkpoint import named
from train.run_folder import RunFolder


def respond_to_itself(
    agent: BestAgent, times: int, settings: response.Settings, folder: RunFolder, progress: Progress
) -> Iterator[tuple[BestAgent, dict[str, Any]]]:
    """What responses to itself make of an agent, after each of them, and the summary of that one.

    Each has a run folder of its own within ``folder``.

    Args:
        agent: with one network for the play, from expert iteration.
        times: how many responses.
        settings: of each, but for who responds and to whom.
        folder: of the whole; stopped, it goes on in it.
        progress: is shown how far each has come.
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
    """The first one with weights in the middle between its own and those of the second, which has the same shape."""
    others = second.tensors()
    first.load_tensors({name: (tensor + others[name]) / 2 for name, tensor in first.tensors().items()})
    return first


def by_kind(any_kind: BestAgent, careful: BestAgent) -> BestAgent:
    """An agent with the networks for the play of two, which have one each, and the first one's for discards."""
    agent = BestAgent(any_kind.hidden, any_kind.hidden_discard, by_kind=True)
    networks = {"play.any_kind": any_kind.play, "play.careful": careful.play, "discard": any_kind.discard}
    agent.load_tensors(
        {k: v for name, network in networks.items() for k, v in named(name, network.state_dict()).items()}
    )
    return agent
