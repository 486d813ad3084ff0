"""Gradient steps on a GPU as CUDA graphs: one launch in place of a hundred, each of which costs Python some 10 µs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from crib_env.train.shared.gradients import Descent

_TRIALS = 3  # before a graph: libraries allocate what they need at their first calls


class CapturedStep:
    """A gradient step of some networks, on a processor without a graph.

    Args:
        losses: from copies of tensors, which must have the same shapes at every call, to the loss of each descent, in
            their order, and other scalars to measure.
        descents: of the networks.
    """

    def __init__(self, losses: Callable[..., Sequence[torch.Tensor]], descents: Sequence[Descent]) -> None:
        self._losses, self._descents = losses, descents
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, rate: float, *given: torch.Tensor) -> torch.Tensor:
        """Takes a step at a learning rate; the norms of the gradients, and what ``losses`` returned, (M,).

        Nothing waits for the GPU, so nothing checks whether these are finite.
        """
        for descent in self._descents:
            descent.set_rate(rate)
        if not given[0].is_cuda:
            self._given = list(given)
            return self.take()
        if self._graph is None:
            self._given = [tensor.clone() for tensor in given]
            self._graph = self._captured()
        for own, new in zip(self._given, given):
            own.copy_(new)
        self._graph.replay()
        return self._found.clone()

    def _captured(self) -> torch.cuda.CUDAGraph:
        kept = {id(tensor): tensor.detach().clone() for tensor in self._changed()}
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_TRIALS):
                self.take()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._found = self.take()
        with torch.no_grad():
            for tensor in self._changed():
                if id(tensor) in kept:
                    tensor.copy_(kept[id(tensor)])
                else:  # of an optimizer that had not taken a step
                    tensor.zero_()
        return graph

    def take(self) -> torch.Tensor:
        """The step itself."""
        found = self._losses(*self._given)
        norms = [descent.slope(loss) for descent, loss in zip(self._descents, found)]
        for descent in self._descents:
            descent.optimizer.step()
        return torch.stack([*norms, *(scalar.detach() for scalar in found)])

    def _changed(self) -> list[torch.Tensor]:
        """All weights, and what the optimizers keep of them."""
        found: list[torch.Tensor] = []
        for descent in self._descents:
            found += [weight for group in descent.optimizer.param_groups for weight in group["params"]]
            found += [kept for of_weight in descent.optimizer.state.values() for kept in of_weight.values()]
        return found
