"""A model of nomic-embed-text-v1.5's class, small enough to be made by a test."""

from __future__ import annotations

import json
from pathlib import Path


def make_nomic(parent: Path) -> Path:
    """A folder under `parent` as the hub holds nomic-embed-text-v1.5, but with two small layers of random weights."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import NomicBertConfig, NomicBertModel, PreTrainedTokenizerFast

    folder = parent / "nomic-embed-text-v1.5"
    inner = parent / "inner"
    inner.mkdir()
    words = "[PAD] [UNK] [CLS] [SEP] [MASK] search _ document query : the whale sea tea boat .".split()
    raw = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    raw.normalizer = normalizers.BertNormalizer(lowercase=True)
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    raw.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    PreTrainedTokenizerFast(
        tokenizer_object=raw,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    ).save_pretrained(inner)
    torch.manual_seed(3)
    config = NomicBertConfig(
        vocab_size=len(words),
        hidden_size=320,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    NomicBertModel(config).save_pretrained(inner)
    transformer = Transformer(str(inner))
    SentenceTransformer(
        modules=[transformer, Pooling(transformer.get_embedding_dimension(), "mean")], device="cpu"
    ).save(str(folder))
    # The real repository names code of its own, which must not run.
    path = folder / "config.json"
    document = json.loads(path.read_text())
    document["auto_map"] = {
        "AutoConfig": "configuration_hf_nomic_bert.NomicBertConfig",
        "AutoModel": "modeling_hf_nomic_bert.NomicBertModel",
    }
    path.write_text(json.dumps(document))
    for name in ("configuration_hf_nomic_bert.py", "modeling_hf_nomic_bert.py"):
        (folder / name).write_text("raise SystemExit('remote code ran')\n")
    return folder
