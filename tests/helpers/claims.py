"""The papers' claims by paper and key."""

from __future__ import annotations

from crib_env.evaluate.papers.run import PAPERS

CLAIMS = [(name, claim) for name, paper in PAPERS.items() for claim in paper.claims]


BY_KEY = {(name, claim.key): claim for name, claim in CLAIMS}
