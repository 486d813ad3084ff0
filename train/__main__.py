"""``python -m train LEARNER [settings]``: trains an agent, resumably, and says how strong it has become."""

from __future__ import annotations
