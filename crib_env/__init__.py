"""Two-player cribbage for reinforcement learning: exact, fast, and ready for PettingZoo and Gymnasium.

``env()`` and ``raw_env()`` make the PettingZoo environment (:mod:`crib_env.aec` is its page); importing this package
registers the Gymnasium ids ``crib_env/Cribbage-v0``, ``crib_env/CribbagePlay-v0`` and ``crib_env/CribbageDiscard-v0``.
"""

from crib_env.aec import Event, env, raw_env
from crib_env.cards import format_card, parse_card, parse_cards
from crib_env.registration import register_all
from crib_env.scoring import describe_show, explain_show, score_play, score_show, score_show_many
from crib_env.version import __version__
from crib_env.views import PlayerViews

__all__ = [
    "Event",
    "PlayerViews",
    "__version__",
    "describe_show",
    "env",
    "explain_show",
    "format_card",
    "parse_card",
    "parse_cards",
    "raw_env",
    "score_play",
    "score_show",
    "score_show_many",
]

register_all()
