"""A program for the agent `pipe:` in Python; docs/agents/programs.md has the protocol, pipe_bot.pl is one in Perl.

crib-env match "pipe:python pipe_bot.py" greedy --games 100
python -c "import crib_env; print(crib_env.win_rate('pipe:python pipe_bot.py', 'greedy', 100))"    # the same in Python
"""

import json
import sys


def value(card):
    """What a card counts, 1 to 10."""
    return min("A23456789TJQK".index(card[0]) + 1, 10)


for line in sys.stdin:
    asked = json.loads(line)
    cards = sorted(asked["legal"], key=value, reverse=True)
    if asked["ask"] == "discard":
        cards = cards[:2]
    else:  # a card that makes 15 or 31, else the highest
        cards = ([card for card in cards if asked["count"] + value(card) in (15, 31)] + cards)[:1]
    print(json.dumps({"id": asked["id"], "cards": cards}), flush=True)
