"""The data card of a dataset: what it holds, in words, with counts and checksums."""

from __future__ import annotations

from pathlib import Path

from crib_env.evaluate.files import markdown_table, whole_text
from crib_env.evaluate.matches.dataset.dataset import Manifest

COLUMNS = {
    "game": "number of the game, from 0",
    "deal": "number of the deal in its game, from 0",
    "place": "number of the card in its deal, from 0: four are discarded, eight are laid",
    "player": "0 or 1, which agent decides; it has this seat in even games, and the other one in odd games",
    "is_dealer": "whether this player deals",
    "own_score, other_score": "scores before the decision, this player's and the opponent's",
    "observation": "83 bytes: the 659 bits of the board observation, eight in a byte, the highest first; "
    "the first 209 bits are the standard observation",
    "mask": "legal cards as a set of bits: bit = card id",
    "action": "the card discarded or laid, 13 * suit + rank",
    "reward": "points made less points the opponent made until this player's next decision, or the end",
    "won": "whether this player won the game",
    "chance": "to win the game, by the scores and the dealer before the deal, between two `expert` players",
    "loss": "chance to win that the choice loses, by the exact analysis of discards and by `expert` in the play; "
    "null for forced cards, for the second card of a discard, and where losses were not asked for",
}


def write_card(folder: Path, manifest: Manifest) -> None:
    """Writes ``README.md`` into the folder of a finished dataset."""
    first, second = manifest.agents
    flags = f"--agents {first} {second} --games {manifest.games} --seed {manifest.seed}"
    command = f"python -m evaluate dataset FOLDER {flags}{' --losses' if manifest.losses else ''}"
    files = [[s.file, f"{s.games:,}", f"{s.decisions:,}", f"`{s.sha256}`"] for s in manifest.shards]
    with whole_text(folder / "README.md") as card:
        card.write(
            f"# Cribbage: {manifest.games:,} games of {first} and {second}\n\n"
            f"{manifest.decisions:,} decisions of two-player cribbage, played by crib_env {manifest.release}: games to "
            f"121, each on its own deals. {first} won {manifest.wins[0]:,} games, {second} {manifest.wins[1]:,}. "
            "The data follows from this command alone:\n\n"
            f"```bash\n{command}\n```\n\n"
            "`crib_env.evaluate.matches.dataset.dataset.read_dataset(folder)` reads it and checks every file; any "
            "reader of Parquet reads it, too.\n\n"
            "## A row is a decision\n\n"
            f"{markdown_table(['column', 'meaning'], [[name, text] for name, text in COLUMNS.items()])}\n"
            "The rows stand in the order of play, forced cards among them. Neither player's observation holds a card "
            "that it may not know.\n\n"
            "## Files\n\n"
            f"{markdown_table(['file', 'games', 'decisions', 'SHA-256'], files)}"
        )
