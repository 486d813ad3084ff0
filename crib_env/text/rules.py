"""The rules of two-player cribbage in less than 300 words, sentence by sentence.

``tests/test_text_rules.py`` holds each sentence against the engine.
"""

from __future__ import annotations

SENTENCES = {
    "game": "Two players play to 121 points; whoever reaches it wins at once.",
    "deal": "The deal alternates. Each player gets six cards and discards two to the crib, which the dealer scores.",
    "pone": "The other player, pone, discards first and leads.",
    "heels": "A starter is cut; for a jack (heels) the dealer scores 2.",
    "values": "An ace counts 1, court cards 10, others their number; in runs an ace is low.",
    "play": "In the play they lay cards in turn, and the count of their values may not pass 31.",
    "must": "A card that fits must be laid.",
    "go": (
        "Whoever has none says go, and the other goes on as long as cards fit. When none fits, whoever laid last "
        "scores 1 (go, or last card after the eighth), except at 31. The next count begins at 0; the other leads if "
        "holding cards."
    ),
    "fifteen": "Making the count fifteen or thirty-one scores 2.",
    "pairs": "A card of the rank just laid scores 2 for a pair, 6 for three of a kind, 12 for four of a kind.",
    "run": "If the last three or more cards of a count form a run, in any order, the last scores a point for each.",
    "show": "Then comes the show: pone's hand, dealer's hand, crib, each four cards and the starter.",
    "show fifteens": "Every set of cards adding up to 15 scores 2.",
    "show pairs": "Every pair scores 2.",
    "show runs": "Every longest run of three or more scores a point for each card.",
    "flush": (
        "Four cards of one suit score 4, with the starter of that suit 5; the crib scores a flush only "
        "with the starter."
    ),
    "nobs": "A jack of the starter's suit, in hand or crib, scores 1.",
}
"""By what each is about."""
CARDS = "Cards are written as rank (A 2 3 4 5 6 7 8 9 T J Q K) and suit (C D H S): 5H is the five of hearts."
RULES = " ".join([*SENTENCES.values(), CARDS])
"""All of them, and how cards are written."""
