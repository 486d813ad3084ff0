"""Is a GPU equal to the processor, and how fast is it? ``python -m crib_env.gpu.check --help``

It needs no network and installs nothing. Digests are of everything that a learner gets, and of the records of the games
in the end. They are compared with those of a processor that were kept in a file, because a processor takes minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np
import torch
import torch.utils.benchmark

import crib_env
from crib_env.engine import EPISODES, GAME, OVER, TO_DRAW, begin_deal, begin_game, shuffle, step
from crib_env.files.whole_file import whole_file
from crib_env.gpu.device import DEVICES, Device
from crib_env.gpu.games import TensorGames
from crib_env.gpu.vector import TensorVectorEnv
from crib_env.kernels import GOLDEN, kernel, mix, streams, variant
from crib_env.players.policies import CHOICES, NATIVE, random_card, random_choice
from crib_env.vector.kernels import learners_mask

STEPS = 40  # of a digest: more than a deal in all episodes
DECISIONS = 120  # about a game
CASES: list[dict[str, Any]] = [
    {"episode": episode, "opponent": opponent} for episode in EPISODES for opponent in NATIVE
]
CASES += [{"episode": "pegging", "cards": 2}, {"episode": "pegging", "cards": 3}, {"observation": "board"}]
CASES += [{"observation": "ranks"}, {"reward": "match", "seat": 0, "start_spread": 3}]
SELF_PLAY: list[dict[str, Any]] = [{"episode": episode} for episode in EPISODES]
SELF_PLAY += [{"episode": "pegging", "cards": 2}, {"episode": "pegging", "cards": 3}, {"board": True}]
PRIME = np.uint64(0x100000001B3)


@kernel
def choose_all(table, rows, salt, cards):
    """The learner's cards: any legal one, by a hash of the row."""
    for i in rows:
        legal = learners_mask(table.games[i], np.int64(table.seats[i]))
        cards[i] = random_card(legal, mix(np.uint64(i) * GOLDEN + salt[0]))


@kernel
def add_all(table, rows, out, sums):
    """Adds what the learner got to a checksum of each game (FNV-1a)."""
    for i in rows:
        found = sums[i]
        for k in range(out.observation.shape[1]):
            found = (found ^ np.uint64(out.observation[i, k])) * PRIME
        for k in range(out.action_mask.shape[1]):
            found = (found ^ np.uint64(out.action_mask[i, k])) * PRIME
        found = (found ^ np.uint64(np.int64(out.rewards[i]) + 1000)) * PRIME
        sums[i] = (found ^ np.uint64(2 * np.int64(out.over[i]) + np.int64(out.illegal[i]))) * PRIME


@kernel
def play_all(games, rows, n, episode):
    """``n`` decisions in each game, in both seats; a game that is over begins anew in place of one."""
    for i in rows:
        g = games[i]
        for _ in range(n):
            if g["phase"] == OVER:
                begin_game(g, episode, TO_DRAW, TO_DRAW, TO_DRAW, np.int64(-1))
                shuffle(g)
                begin_deal(g)
            else:
                step(g, random_choice(g))


class Learner:
    """An environment, and a learner on its device that takes any legal card."""

    def __init__(self, device: str, n: int, **options: Any) -> None:
        self.envs = TensorVectorEnv(n, device, **options)
        self.n, self.on = n, self.envs.on
        self.cards, self._salt = (self.on.zeros((size,), np.int64) for size in (n, 1))
        self._seen = self.on.seen(self._salt).view(np.uint64), self.on.seen(self.cards)
        self.envs.reset(seed=0)

    def choose(self) -> torch.Tensor:
        """Cards for the next step."""
        self._salt += 1_000_003
        self.on.run(choose_all, self.n, self.envs.table, *self._seen)
        return self.cards

    def digest(self) -> str:
        """Of what the learner gets in :data:`STEPS` steps, and of all records after them."""
        sums = self.on.zeros((self.n,), np.int64)
        seen = self.on.seen(sums).view(np.uint64)
        for _ in range(STEPS):
            self.on.run(add_all, self.n, self.envs.table, self.envs.out, seen)
            self.envs.step(self.choose())
        return digest_of(self.envs.games(), sums.cpu().numpy())


class Players:
    """N games of a native player against itself, on a device."""

    def __init__(self, device: str, n: int, native: str = "random") -> None:
        self.on, self.n = Device(device), n
        games = np.zeros(n, GAME)
        games["episode_stream"], games["phase"] = streams(0, n), OVER
        self._words = self.on.put(games.view(np.int64).reshape(n, -1))
        self._seen = self.on.seen(self._words)
        self._play = variant(play_all, "random_choice", CHOICES[NATIVE.index(native)])

    def play(self, decisions: int, episode: int = 0) -> None:
        """So many decisions in each game."""
        if gpu := self.on.threads:
            gpu.launch(gpu.in_own_memory(self._play), self.n, gpu.THREADS, self._seen, (decisions, episode))
        else:
            self.on.run(self._play, self.n, self._seen.view(GAME).reshape(self.n), decisions, episode)

    def digest(self, episode: int) -> str:
        """Of the records after :data:`DECISIONS` decisions."""
        self.play(DECISIONS, episode)
        return digest_of(self._words.cpu().numpy().view(GAME).reshape(self.n))


def digest_of(games: np.ndarray, *others: np.ndarray) -> str:
    """Of all fields of records, and of other arrays; what lies between fields has no meaning."""
    found = hashlib.sha256()
    for array in (*(games[name] for name in GAME.names or ()), *others):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def games_digest(device: str, n: int, **options: Any) -> str:
    """Of what self-play shows of n games in which any legal card is played, of their ends and of their records."""
    games, found, salt = TensorGames(streams(0, n), device, skip_forced=True, **options), hashlib.sha256(), 0
    while (asked := games.asked()) is not None and salt < STEPS:
        for tensor in asked:
            found.update(tensor.cpu().numpy().tobytes())
        salt += 1
        noise = (asked.chain[:, None] * 7919 + torch.arange(52, device=asked.chain.device) * (104729 + salt)) % 10007
        games.step(noise.masked_fill(asked.gains == -torch.inf, -1).argmax(1))
    return digest_of(games.games(), *(tensor.cpu().numpy() for tensor in games.standings())) + found.hexdigest()


def digests(device: str, games: int, rows: int, natives: list[str]) -> Iterator[tuple[str, str]]:
    """Digests of all cases, by name."""
    for native in natives:
        for number, episode in enumerate(EPISODES):
            name = f"{games} x {DECISIONS} decisions of {native}, {episode}"
            yield name, Players(device, games, native).digest(number)
    for case in CASES:
        if case.get("opponent", "random") in natives:
            name = " ".join(f"{name}={value}" for name, value in case.items())
            yield f"{rows} x {STEPS} steps, {name}", Learner(device, rows, **case).digest()
    for options in SELF_PLAY if "random" in natives else ():
        name = " ".join(f"{name}={value}" for name, value in options.items())
        n = max(min(rows, 40), rows // 10)  # all that is shown is copied to the processor
        yield f"{n} x {STEPS} turns of self-play, {name}", games_digest(device, n, **options)


def millions_a_second(n: int, work: Callable[[], Any], least: float, on_gpu: bool = False) -> float:
    """How often ``work`` does ``n`` things, in millions a second: the median of calls that take ``least`` seconds.

    On a GPU it is one call of the driver, a CUDA graph.
    """
    if on_gpu:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        work = graph.replay
    timer = torch.utils.benchmark.Timer("work()", globals={"work": work})
    return n / float(timer.blocked_autorange(min_run_time=least).median) / 1e6


def learners_steps(device: str, n: int, least: float, **options: Any) -> dict[str, float]:
    """Steps a second, in millions: with any legal card, less the choice of it, and in a loop with a network."""
    learner = Learner(device, n, **options)
    shown, here = learner.envs.shown, learner.on.torch_device
    on_gpu = here.type == "cuda"
    kind = torch.bfloat16 if on_gpu else torch.float32
    sizes = shown.observation.shape[1], 256, 256
    layers = [layer for pair in pairwise(sizes) for layer in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(256, 52)).to(here, kind)

    @torch.inference_mode()
    def policy_step() -> None:
        logits = net(shown.observation.to(kind)).float()
        noise = torch.rand_like(logits).clamp_(1e-9).log_().neg_().log_().neg_()
        learner.envs.step((logits + noise).masked_fill_(shown.action_mask == 0, -1e9).argmax(1))

    for _ in range(60):  # games out of step
        learner.envs.step(learner.choose())
    both = millions_a_second(n, lambda: learner.envs.step(learner.choose()), least, on_gpu)
    choosing = millions_a_second(n, learner.choose, least / 2, on_gpu)
    return {
        "with its cards": both,
        "less choosing": 1 / max(1 / both - 1 / choosing, 1e-9),
        "with a network of 2 x 256": millions_a_second(n, policy_step, least, on_gpu),
    }


def write_json(path: Path, content: Any) -> None:
    """Writes a file, whole or not at all."""
    with whole_file(path) as part, open(part, "w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1) + "\n")


def main() -> int:
    """Prints digests and speeds as JSON; exit status 1 if a digest differs."""
    parser = argparse.ArgumentParser(prog="python -m crib_env.gpu.check", description=__doc__)
    parser.add_argument("--device", choices=DEVICES, default="cuda")
    parser.add_argument("--games", type=int, default=1_000_000, help="of native players, for the digests")
    parser.add_argument("--rows", type=int, default=100_000, help="of an environment, a tenth of them in self-play")
    parser.add_argument("--natives", nargs="+", choices=NATIVE, default=list(NATIVE), help="for the digests")
    parser.add_argument("--sizes", type=int, nargs="*", default=[2**k for k in range(10, 23, 2)], help="for the speeds")
    parser.add_argument("--least", type=float, default=0.3, help="seconds for a speed")
    parser.add_argument("--until", type=float, default=240, help="seconds after which no speed is measured any more")
    parser.add_argument("--digests", type=Path, help="file to compare with; --device cpu writes it if there is none")
    parser.add_argument("--json", type=Path, help="also write everything to this file")
    given = parser.parse_args()
    begun, device = time.monotonic(), Device(given.device)
    found: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if device.torch_device.type == "cuda" else platform.processor(),
        "versions": {module.__name__: module.__version__ for module in (crib_env, numba, np, torch)},
        "digests": {},
        "million_a_second": {},
        "different": None,
    }

    def say(*words: Any) -> None:
        print(f"[{time.monotonic() - begun:6.1f} s]", *words, file=sys.stderr, flush=True)
        if given.json:
            write_json(given.json, found)

    kept = json.loads(given.digests.read_bytes()) if given.digests and given.digests.exists() else None
    if given.digests and kept is None and device.threads:
        parser.error(f"there is no file {given.digests}: make it with --device cpu")
    for case, digest in digests(given.device, given.games, given.rows, given.natives) if given.games else ():
        found["digests"][case] = digest
        if kept is not None and case not in kept:
            parser.error(f"{given.digests} has no digest of {case!r}: it is of other --games or --rows")
        say(f"{case}:", "written" if kept is None else "equal" if kept[case] == digest else "DIFFERENT")
    if kept is not None:
        found["different"] = [case for case, digest in found["digests"].items() if kept[case] != digest]
    elif given.digests:
        write_json(given.digests, found["digests"])
    for n in given.sizes:
        line: dict[str, Any] = {}
        found["million_a_second"][n] = line
        if time.monotonic() - begun < given.until:
            players = Players(given.device, n)
            players.play(256)  # games out of step
            line["random decisions"] = millions_a_second(64 * n, partial(players.play, 64), given.least)
        for opponent in NATIVE:
            if time.monotonic() - begun < given.until:
                line[f"steps against {opponent}"] = learners_steps(given.device, n, given.least, opponent=opponent)
        say(n, json.dumps(line))
    say("different:", "not compared" if found["different"] is None else found["different"] or "none")
    print(json.dumps(found, indent=1))
    return 1 if found["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
