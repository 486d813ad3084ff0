"""TRL's trainer of GRPO on the tools: a tiny transformer of random weights, beside a player of known strength."""

import inspect
import json
from pathlib import Path

import pytest

pytest.importorskip("trl")

import torch
import trl
from datasets import Dataset

from crib_env.evaluate.language.episode import Episode
from crib_env.evaluate.language.tools import CribbageTools
from crib_env.text.rules import RULES
from tests.helpers.model_server import PlayerInWords
from tests.helpers.other_loops import blocks_of, run_block
from tests.helpers.tiny_model import tiny_model, tiny_tokenizer

ROWS = [
    {"prompt": [{"role": "user", "content": "Play. "}], "task": task, "number": number}
    for number in range(400, 410)
    for task in ("discards", "play")
]


class Watched(CribbageTools):
    """The tools, with a record of all rewards."""

    rewards: list[tuple[str, int, float]] = []

    def reset(self, task, number, **row):
        self._row = task, number
        return super().reset(task, number, **row)

    def get_reward(self):
        reward = super().get_reward()
        self.rewards.append((*self._row, reward))
        return reward


def scripted_in_even_rows(model, tokenizer, player):
    """``generate`` of a model, where every second row is written by a player that calls the tools."""
    own = model.generate

    def says(ids):
        told = tokenizer.decode(ids).split("<|im_start|>")[-2]
        if "You hold" not in told:
            return "Thank you.<|im_end|>"
        cards = player.cards(told).split()
        arguments = {"card": cards[0]} if len(cards) == 1 else dict(zip("ab", cards))
        call = {"name": "lay" if len(cards) == 1 else "discard", "arguments": arguments}
        return f"<tool_call>\n{json.dumps(call)}\n</tool_call><|im_end|>"

    def generate(input_ids, **settings):
        out = own(input_ids, **settings, max_new_tokens=16).tolist()
        for n in range(0, 4, 2) if len(out) == 4 else range(len(out)):  # after a call only the callers are asked again
            out[n] = input_ids[n].tolist() + tokenizer.encode(says(input_ids[n]))
        longest = max(map(len, out))
        return torch.tensor([ids + [tokenizer.pad_token_id] * (longest - len(ids)) for ids in out])

    return generate


def loss(task, number, player):
    episode = Episode(task, number)
    if player is None:
        episode.give_up()
    else:
        episode.answer(player.cards(episode.words()))
    return -episode.reward()


@pytest.fixture(scope="module")
def tokenizer():
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja").read_text()
    return tiny_tokenizer([RULES, template, inspect.getsource(CribbageTools), Episode("play", 1).words()])


def test_ten_steps_of_grpo(tokenizer, tmp_path):
    torch.manual_seed(0)
    model, player = tiny_model(tokenizer), PlayerInWords("greedy")
    model.generate = scripted_in_even_rows(model, tokenizer, player)
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=tokenizer,
        train_dataset=Dataset.from_list(ROWS),
        environment_factory=Watched,
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=10,
            per_device_train_batch_size=4,
            num_generations=2,
            max_completion_length=512,
            learning_rate=1e-2,
            logging_steps=1,
            report_to="none",
            use_cpu=True,
            save_strategy="no",
        ),
    )
    before = [weights.detach().clone() for weights in model.parameters()]
    trainer.train()
    assert all((old != new).any() for old, new in zip(before, model.parameters()))
    assert len(Watched.rewards) == 40
    for k, (task, number, reward) in enumerate(Watched.rewards):
        assert reward == -loss(task, number, None if k % 2 else player)
    logged = [entry["rewards/Watched/mean"] for entry in trainer.state.log_history if "rewards/Watched/mean" in entry]
    rewards = [reward for *_, reward in Watched.rewards]
    assert logged == pytest.approx([sum(rewards[k : k + 4]) / 4 for k in range(0, 40, 4)], rel=1e-5)


@pytest.mark.parametrize("block", blocks_of("TRL"))
def test_programs_of_the_page(block, tokenizer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_block(
        block.replace("max_steps=10", "max_steps=1, use_cpu=True"), model=tiny_model(tokenizer), tokenizer=tokenizer
    )
