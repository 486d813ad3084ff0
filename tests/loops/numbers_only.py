"""A wrapper for libraries that make arrays or tensors of all that stands in the infos."""

from pettingzoo.utils import BaseWrapper


class NumbersOnly(BaseWrapper):
    """Infos without the events, which are a tuple of another length each time."""

    @property
    def infos(self):
        return {
            agent: {key: value for key, value in info.items() if key != "events"}
            for agent, info in self.env.infos.items()
        }
