"""A search of one's own: a card is worth what it brings in the rest of the deal, if the hidden cards are dealt again.

    python search.py     # ten games against random cards, a quarter of a minute

An environment's `redeal` deals only what the player cannot know, and `restore` goes back to a state.
"""

import copy
import random

import crib_env


def search(env: crib_env.raw_env, deals: int, rng: random.Random) -> int:
    """The legal card with the most net points to the end of the deal, over some deals played out by random cards."""
    me, legal, dealer = env.agent_selection, env.legal_actions(), env.dealer
    seat, world, known = int(me == "player_1"), copy.copy(env), env.games.copy()
    net = dict.fromkeys(legal, 0)
    for _ in range(deals):
        world.restore(known)
        world.redeal(me, rng.getrandbits(63))
        dealt = world.games.copy()
        for card in legal:  # each card in the same deals: their luck is the same for all
            world.restore(dealt)
            world.step(card)
            while world.dealer == dealer and (cards := world.legal_actions()):
                world.step(rng.choice(cards))
            net[card] += world.scores[seat] - world.scores[1 - seat]
    return max(net, key=net.__getitem__)


if __name__ == "__main__":
    env, rng, won = crib_env.raw_env(), random.Random(0), 0
    for game in range(10):
        env.reset(seed=game)
        while cards := env.legal_actions():
            env.step(search(env, 20, rng) if env.agent_selection == "player_0" else rng.choice(cards))
        won += env.scores[0] > env.scores[1]
    print(f"{won} of 10 games won against random cards")
