"""A player of your own, in a match against `greedy` and in the suite.

python own_agent.py
crib-env match own_agent:Wary greedy --games 2000      # the same on the command line, in the folder of this file
crib-env match own_agent:Wary:fives=no careful         # with a setting
crib-env suite own_agent:Wary --share 0.02             # by tasks with known answers
"""

import crib_env


class Wary:
    """Keeps the hand with the best mean, and avoids a count of 5 or 21, which a ten turns into 15 or 31.

    Args:
        fives: whether it looks out for that.
    """

    name = "wary"

    def __init__(self, fives: bool = True) -> None:
        self.fives = fives

    def throw(self, view):
        """The two cards for the crib."""
        rows = crib_env.discard_statistics([view.hand])[0]
        return rows["discard"][(rows["hand_mean"] + (1 if view.is_dealer else -1) * rows["crib_mean"]).argmax()]

    def lay(self, view):
        """The next card of the play."""

        def worth(card):
            pile = [*view.pile, card]
            count = view.count + min(card % 13 + 1, 10)
            risk = 1.0 if self.fives and count in (5, 21) else 0.0
            return crib_env.score_play(pile) - risk, card % 13

        return max(view.legal, key=worth)


if __name__ == "__main__":
    print("against greedy:", crib_env.win_rate(Wary(), "greedy", 2_000))
