"""Language models: parameters as published, cache and arithmetic by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from advisor.errors import UsageError
from advisor.modelling.names import ModelRequest
from advisor.modelling.read import Known
from advisor.modelling.results import LanguageModel, Modelled
from advisor.modelling.transformer import MOST_BYTES, Pass, model_transformer, read_config
from advisor.modelling.workloads import load_workloads
from advisor.resources import data_dir


def config(model_type: str, sizes: tuple[int, ...], **more: Any) -> dict[str, Any]:
    keys = (
        "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
        "num_key_value_heads", "vocab_size",
    )  # fmt: skip
    return {"model_type": model_type, **dict(zip(keys, sizes, strict=True)), **more}


MODELS = {
    "Llama-2-7B": (config("llama", (4096, 11008, 32, 32, 32, 32000)), 6_738_415_616),
    "Llama-3-8B": (config("llama", (4096, 14336, 32, 32, 8, 128256)), 8_030_261_248),
    "Llama-3.1-70B": (config("llama", (8192, 28672, 80, 64, 8, 128256)), 70_553_706_496),
    "Llama-3.2-1B": (
        config("llama", (2048, 8192, 16, 32, 8, 128256), head_dim=64, tie_word_embeddings=True),
        1_235_814_400,
    ),
    "Mistral-7B": (
        config("mistral", (4096, 14336, 32, 32, 8, 32000), sliding_window=4096), 7_241_732_096
    ),
    "Mixtral-8x7B": (
        config(
            "mixtral", (4096, 14336, 32, 32, 8, 32000),
            num_local_experts=8, num_experts_per_tok=2, sliding_window=None,
        ),
        46_702_792_704,
    ),
    "Qwen2-7B": (
        config(
            "qwen2", (3584, 18944, 28, 28, 4, 152064),
            sliding_window=131072, use_sliding_window=False, max_window_layers=28,
        ),
        7_615_616_512,
    ),
    "Qwen3-8B": (
        config("qwen3", (4096, 12288, 36, 32, 8, 151936), head_dim=128, attention_bias=False),
        8_190_735_360,
    ),
    "Qwen3-30B-A3B": (
        config(
            "qwen3_moe", (2048, 6144, 48, 32, 4, 151936), head_dim=128, num_experts=128,
            num_experts_per_tok=8, moe_intermediate_size=768, decoder_sparse_step=1,
            mlp_only_layers=[],
        ),
        30_532_122_624,
    ),
}  # fmt: skip

Run = Callable[..., Modelled]


@pytest.fixture
def run(known: Known, tmp_path: Path) -> Run:
    """Model a pass of a configuration."""

    def model(
        configuration: dict[str, Any], phase: str = "decode", device: str = "H100 SXM", **said: Any
    ) -> Modelled:
        path = tmp_path / "config.json"
        path.write_text(json.dumps(configuration))
        asked: dict[str, Any] = {
            "batch": 1,
            "context": 1024,
            "weights": "bf16",
            "kv": "bf16",
            **said,
        }
        return model_transformer(
            path,
            Pass(phase=phase, **asked),
            ModelRequest(devices=(device,)),
            known,
            load_workloads([data_dir("rules")]),
        )

    return model


def language(found: Modelled) -> LanguageModel:
    assert found.model is not None
    return found.model


@pytest.mark.parametrize("name", MODELS)
def test_counts_the_published_parameters(run: Run, name: str) -> None:
    configuration, published = MODELS[name]
    assert language(run(configuration)).parameters == pytest.approx(published, rel=0.0002)


@pytest.mark.parametrize(
    ("name", "published"), [("Mixtral-8x7B", 12.9e9), ("Qwen3-30B-A3B", 3.3e9)]
)
def test_counts_the_published_active_parameters(run: Run, name: str, published: float) -> None:
    found = language(run(MODELS[name][0]))
    assert found.active_parameters == pytest.approx(published, rel=0.02)
    assert language(run(MODELS["Llama-2-7B"][0])).active_parameters == pytest.approx(
        6.738e9, rel=1e-3
    )


def test_weights_and_cache_by_hand(run: Run) -> None:
    # 2 × 32 layers × 8 heads × 128 elements: 65,536 elements a token.
    found = language(run(MODELS["Llama-3-8B"][0], batch=4, context=1000, kv="int8", weights="int4"))
    assert found.kv_bytes_per_token == 65_536
    assert found.kv_cache_bytes == 65_536 * 4 * 1000
    assert found.weight_bytes == found.parameters / 2


def test_flops_of_a_token_by_hand(run: Run) -> None:
    llama = MODELS["Llama-2-7B"][0]
    found = run(llama, batch=2, context=1024)
    products = {each.name: each.flops for each in found.results[0].operations}
    # Twice the weights that a token passes, for each of two tokens.
    assert products["qkv"] == 2 * 2 * 32 * 4096 * 12288
    assert products["gate and up"] == 2 * 2 * 32 * 4096 * 22016
    assert products["logits"] == 2 * 2 * 4096 * 32000
    assert products["attention"] == 4 * 2 * 32 * 32 * 1024 * 128
    # 2 × 6,607,077,376 weights of products, 4 × 32 × 1024 × 4096 for the scores; little else.
    by_hand = 2 * (32 * (4 * 4096**2 + 3 * 4096 * 11008) + 4096 * 32000) + 4 * 32 * 1024 * 4096
    assert language(found).flops_per_token == pytest.approx(by_hand, rel=2e-3)


def test_formats_change_bytes_and_not_arithmetic(run: Run) -> None:
    plain, small = (run(MODELS["Llama-2-7B"][0], weights=w, kv=w) for w in ("bf16", "int8"))
    before, after = plain.results[0].total, small.results[0].total
    assert before.flops == after.flops
    assert before.bytes / after.bytes == pytest.approx(2, rel=0.01)


def test_a_window_bounds_keys_and_cache(run: Run) -> None:
    found = run(MODELS["Mistral-7B"][0], context=10_000)
    assert language(found).kv_cache_bytes == 4096 * language(found).kv_bytes_per_token
    attention = next(e for e in found.results[0].operations if e.name == "attention")
    assert attention.flops == 4 * 32 * 32 * 4096 * 128
    switched_off = run({**MODELS["Qwen2-7B"][0], "sliding_window": 16}, context=10_000)
    per_token = language(switched_off).kv_bytes_per_token
    assert language(switched_off).kv_cache_bytes == 10_000 * per_token


def test_prefill_needs_half_of_the_scores_and_the_last_logits(run: Run) -> None:
    found = run(MODELS["Llama-2-7B"][0], "prefill", batch=2, context=512)
    operations = {each.name: each for each in found.results[0].operations}
    assert operations["attention"].flops == 4 * 2 * 32 * 32 * 512 * 512 * 128 / 2
    assert operations["logits"].flops == 2 * 2 * 4096 * 32000
    assert operations["qkv"].flops == 2 * (2 * 512) * 32 * 4096 * 12288
    assert language(found).tokens == 1024
    assert found.results[0].model is not None
    total = found.results[0].total
    assert found.results[0].model.tokens_per_second == pytest.approx(1024 / total.time)


def test_prefill_under_a_window(run: Run) -> None:
    # 10 positions, a window of 4: half of the first 4 × 4, then 4 for each of the other 6.
    found = run({**MODELS["Mistral-7B"][0], "sliding_window": 4}, "prefill", context=10)
    attention = next(e for e in found.results[0].operations if e.name == "attention")
    assert attention.flops == pytest.approx(4 * 32 * 32 * 128 * (8 + 24))


@pytest.mark.parametrize(("batch", "read"), [(1, 2.0), (2, 3.5), (4, 8 * (1 - 0.75**4))])
def test_experts_that_are_read(run: Run, batch: int, read: float) -> None:
    found = run(MODELS["Mixtral-8x7B"][0], batch=batch)
    down = next(e for e in found.results[0].operations if e.name == "down of experts")
    rows = batch * 2
    per_layer = (rows * 14336 + read * 14336 * 4096 + rows * 4096) * 2
    assert down.bytes == pytest.approx(32 * per_layer)
    assert down.flops == 2 * 32 * rows * 14336 * 4096


def test_memory_that_is_needed(run: Run) -> None:
    found = run(MODELS["Llama-3.1-70B"][0], context=1000)
    numbers = found.results[0].model
    assert numbers is not None
    # 141.1 GB of weights and 0.33 GB of cache, on devices of 85.9 GB.
    assert numbers.memory_needed == pytest.approx(141.1e9 + 0.33e9, rel=1e-3)
    assert (numbers.fits, numbers.devices_needed) == (False, 2)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"model_type": "deepseek_v3"}, "deepseek_v3 models have latent attention"),
        ({"model_type": "mine", "kv_lora_rank": 512}, "mine models have latent attention"),
        ({"model_type": "mamba"}, "mamba models have state space"),
        ({"model_type": "lama"}, "no workload describes models of type 'lama'"),
        ({"model_type": None}, "has no 'model_type'"),
        ({"hidden_size": None}, "the configuration has no 'hidden_size'"),
        ({"hidden_size": "4096"}, "'hidden_size' must be a number"),
        ({"hidden_size": -1}, "'hidden_size' must be a number"),
        ({"hidden_size": 0}, "'hidden_size' must be a number, 1 or more, not '0'"),
        ({"hidden_size": [4096]}, "'hidden_size' must be a number"),
        ({"hidden_size": 10**400}, "'hidden_size' must be a number"),
        ({"num_attention_heads": 0}, "'num_attention_heads' must be a number, 1 or more"),
        ({"num_key_value_heads": 0}, "without heads of keys and values"),
        ({"model_type": "mixtral"}, "has no 'num_local_experts' or 'num_experts'"),
        ({"model_type": "mixtral", "num_local_experts": 8}, "has no 'num_experts_per_tok'"),
        (
            {"model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2},
            "has no 'moe_intermediate_size'",
        ),
        (
            {"model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 9},
            "no or too many experts",
        ),
        ({"kv_lora_rank": 512}, "llama models have latent attention"),
        ({"model_type": None, "ssm_cfg": {}}, "such models have state space"),
        ({"model_type": "nemotron_h", "ssm_state_size": 128}, "nemotron_h models have state space"),
    ],
)
def test_refuses_what_it_cannot_describe(run: Run, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        run({**MODELS["Llama-2-7B"][0], **change})


def test_refuses_an_unknown_format(run: Run) -> None:
    with pytest.raises(UsageError, match="there is no format 'int3'") as caught:
        run(MODELS["Llama-2-7B"][0], weights="int3")
    assert "int" in str(caught.value.hint)


def test_refuses_a_configuration_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "llama", "note": "x" * MOST_BYTES}))
    with pytest.raises(UsageError, match=r"config\.json: larger than 2,000,000 bytes"):
        read_config(path)
