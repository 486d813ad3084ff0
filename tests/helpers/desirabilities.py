"""How desirable each discard is by each of Lang's strategies, for many hands at once."""

import numpy as np

from crib_env import parse_cards
from crib_env.agents.strategy_weights import N_STRATEGIES, pegging_values, weigh_discards


def desirabilities(hands, *, dealer, records):
    """(N, 8, 15) for hands (N, 6), or for one as text; ``dealer`` is of all or of each."""
    hands = np.array([parse_cards(hands)]) if isinstance(hands, str) else np.asarray(hands)
    pegging, roles = pegging_values(records), np.broadcast_to(np.asarray(dealer, bool), len(hands)).astype(int)
    masks = [int(sum(1 << int(card) for card in hand)) for hand in hands]
    return np.stack(
        [weigh_discards(mask, np.zeros(N_STRATEGIES), pegging[role])[1] for mask, role in zip(masks, roles)]
    )
