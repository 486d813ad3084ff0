"""TRL's trainer of GRPO on the tools, with a transformer of random weights."""

import inspect
from pathlib import Path

import pytest

pytest.importorskip("trl")

import trl
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from crib_env.evaluate.language.episode import CribbageTools, Episode
from crib_env.players.text import RULES
from tests.helpers.other_loops import blocks_of, run_block


def tiny_tokenizer():
    """Pieces of the words of the rules and the tools, and the special tokens of a template that TRL knows."""
    template = (Path(trl.__file__).parent / "chat_templates" / "qwen2_5.jinja").read_text()
    texts = [RULES, template, inspect.getsource(CribbageTools), Episode("play", 1).words()]
    model = Tokenizer(models.BPE())
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = decoders.ByteLevel()
    model.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=1_000,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=model, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    tokenizer.chat_template = template
    return tokenizer


@pytest.mark.parametrize("block", blocks_of("TRL"))
def test_programs_of_the_page(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tokenizer = tiny_tokenizer()
    model = Qwen2ForCausalLM(
        Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=2,
            max_position_embeddings=8192,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )
    run_block(block.replace("max_steps=10", "max_steps=1, use_cpu=True"), model=model, tokenizer=tokenizer)
