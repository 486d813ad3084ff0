"""Prints a recorded game deal by deal, with its counts as players call them, or draws it."""

from __future__ import annotations

from gymnasium.error import DependencyNotInstalled

from crib_env.evaluate.commands.arguments import File, SomeAmount, SomeFile
from crib_env.evaluate.console import console
from crib_env.evaluate.files import check_outputs, whole_text
from crib_env.evaluate.matches.game_records import read_record
from crib_env.evaluate.play.replay import frames, replay_page, write_gif
from crib_env.evaluate.play.told_game import tell_game
from crib_env.evaluate.ranges import WholeNumber
from crib_env.evaluate.skill.analysis.decisions import analyse as analyse_records
from crib_env.evaluate.skill.analysis.judges import play_judge


def replay(
    path: File,
    game: WholeNumber = 0,
    deal: SomeAmount = None,
    html: SomeFile = None,
    gif: SomeFile = None,
    losses: bool = False,
) -> None:
    """Prints a game recorded by `match --record`, or draws it: a page to step through, a GIF.

    Args:
        path: The file.
        game: Index of the game, from 0.
        deal: This deal alone, from 1; by default the whole game.
        html: Write a page to step through, with all cards face up, instead of printing the game.
        gif: Write a moving picture, with all cards face up; needs the extra `render`.
        losses: Also print the luck of each deal, and the better choice where a decision lost something.
    """
    if losses and (html is not None or gif is not None):
        raise ValueError("--losses belongs to the printed game: give no --html and no --gif with it")
    check_outputs(html, gif)
    record = read_record(path, game)
    if deal is not None and not 1 <= deal <= len(record.deals):
        raise ValueError(f"deal={deal} is not allowed: the game has {len(record.deals)} deals, counted from 1")
    if html is None and gif is None:
        found = analyse_records([record], play_judge())[0] if losses else None
        console.print(tell_game(record, deal, found), highlight=False, soft_wrap=True)
        return
    moments = list(frames(record, deal))
    if html is not None:
        with whole_text(html) as file:
            file.write(replay_page(f"{record.names[0]} against {record.names[1]}", moments))
    if gif is not None:
        try:
            write_gif(gif, [frame.table for frame in moments])
        except DependencyNotInstalled as error:
            raise ValueError(f"--gif: {error}") from None
