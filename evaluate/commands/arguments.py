"""Arguments that several commands take, as tyro reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from crib_env.engine import WIN
from crib_env.evaluate.ranges import Amount, Games, Range, Seed, WholeNumber

Score = Annotated[int, Range(0, WIN - 1)]
AgentName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="AGENT")]
AgentNames = Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="AGENT ...", help_behavior_hint="")]
AgentOption = Annotated[str, tyro.conf.arg(metavar="AGENT")]
File = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FILE")]
Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
Runs = Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN ...", help_behavior_hint="")]
# Options without a default value: the help of each says what happens if it is not given.
SomeFile = Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")]
SomeJson = Annotated[Path | None, tyro.conf.arg(name="json", metavar="FILE", help_behavior_hint="")]
SomeFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
SomeNumber = Annotated[WholeNumber | None, tyro.conf.arg(help_behavior_hint="")]
SomeGames = Annotated[Games | None, tyro.conf.arg(help_behavior_hint="")]
SomeAmount = Annotated[Amount | None, tyro.conf.arg(help_behavior_hint="")]
SomeSeed = Annotated[Seed | None, tyro.conf.arg(help_behavior_hint="")]
SomeExecutor = Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")]
