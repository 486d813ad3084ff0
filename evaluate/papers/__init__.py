"""The papers' figures, recomputed: what each paper says, what is measured here, whether they agree, and if not, why."""

from typing import Literal, get_args

Name = Literal["lang-2018", "oconnor-2000", "anderson-2022", "sharan-pawar-2022", "mueller-1987"]
NAMES: tuple[Name, ...] = get_args(Name)
