"""Two-player cribbage for reinforcement learning: exact, fast, and ready for PettingZoo and Gymnasium.

``env()`` and ``raw_env()`` make the PettingZoo environment, which :mod:`crib_env.aec` describes. Importing this package
registers the Gymnasium ids ``crib_env/Cribbage-v0``, ``crib_env/CribbagePlay-v0``, ``crib_env/CribbagePegging-v0`` and
``crib_env/CribbageDiscard-v0``. ``make_agent("best")`` makes a player (:mod:`crib_env.agents`), and ``win_rate``
measures one. Players that are networks need torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from crib_env.aec import Event, env, raw_env
from crib_env.batch import GameBatch
from crib_env.cards import format_card, parse_card, parse_cards
from crib_env.distribution import __version__
from crib_env.kernels import streams
from crib_env.players.agent import Agent, Powers
from crib_env.players.games import DealResult, WinRate, win_rate
from crib_env.players.one_at_a_time import Decision, OneAtATime, decisions
from crib_env.scoring import describe_show, explain_show, score_play, score_show, score_show_many
from crib_env.views import PlayerViews

__all__ = [
    "Agent",
    "DealResult",
    "Decision",
    "Event",
    "GameBatch",
    "OneAtATime",
    "PlayerViews",
    "Powers",
    "WinRate",
    "__version__",
    "analyse_discard",
    "crib_distribution",
    "decisions",
    "describe_show",
    "discard_statistics",
    "env",
    "explain_show",
    "format_card",
    "hand_distribution",
    "make_agent",
    "parse_card",
    "parse_cards",
    "raw_env",
    "score_play",
    "score_show",
    "score_show_many",
    "streams",
    "win_rate",
]

for _name, _options in (
    ("Cribbage", {}),
    ("CribbagePlay", {"episode": "play"}),
    ("CribbagePegging", {"episode": "pegging"}),
):
    gymnasium.register(
        f"crib_env/{_name}-v0",
        entry_point="crib_env.single_agent:SingleAgentCribbage",
        vector_entry_point="crib_env.vector.environments:make_vector_env",
        kwargs=_options,
    )
gymnasium.register(
    "crib_env/CribbageDiscard-v0",
    entry_point="crib_env.discard_game:DiscardGame",
    vector_entry_point="crib_env.discard_game:DiscardGames",
)
if hasattr(pettingzoo, "register"):  # from 1.27
    pettingzoo.register("aec", "crib_env/cribbage-v0", "crib_env:env")

if TYPE_CHECKING:
    from crib_env.agents import make_agent
    from crib_env.exact.discard_statistics import crib_distribution, discard_statistics, hand_distribution
    from crib_env.tables.analysis import analyse_discard
else:
    # Imported on first use: the exact values build tables, and the agents import this package.
    _LATER = {
        "analyse_discard": "tables.analysis",
        "crib_distribution": "exact.discard_statistics",
        "discard_statistics": "exact.discard_statistics",
        "hand_distribution": "exact.discard_statistics",
        "make_agent": "agents",
    }

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"crib_env.{_LATER[name]}"), name)
