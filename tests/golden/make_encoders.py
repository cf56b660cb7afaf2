#!/usr/bin/env python3
"""Writes encoders with random weights into tests/golden/imports/, in Hugging Face's layout, and what others say of them:
tokens, what is missing, labels, vectors, and the attention of every layer and head. bert_masked is made by transformers; of
the others the tokens are those of the library tokenizers, and the numbers those of NumPy in double precision, because they are
made in seconds. `make test-imports` compares real models with transformers, not these.

usage: make_encoders.py           with tokenizers and NumPy of PyPI
       make_encoders.py bert      bert_masked, with transformers and torch, too
"""
import json
import pathlib
import shutil
import sys

import encoder_reference
import numpy
import tokenizers

HERE = pathlib.Path(__file__).parent / "imports"
LINES = [
    "The quick brown fox jumps over the lazy dog.",
    "It's we're you'll I'd they've I'm don't 'S 'RE ’s",
    "Der Bär läuft über die Straße; ÄÖÜ äöü ß İstanbul ŒUVRE ǅ",
    "Привет, мир! Съешь же ещё этих мягких французских булок. Ёлка Й",
    "今日は世界。 东京都 한국어 테스트 ไทย हिन्दी カタカナ ㍿ 𠀀𪜀豈",
    "مرحبا بالعالم، كيف حالك؟ שָׁלוֹם",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪 e\u0301 n\u0303 \u200b\u200d\ufeff",
    "1234567 3.14159 ½ ٣٤ Ⅳ x1y2z3 10,000.50 ﬁ ²",
    "   three blanks,  two  inside, and two at the end  ",
    "tab\there \u00a0nbsp\u2003em \u3000wide \u0000\u0001\u007f\ufffd\u0085 control",
    "a_b-c/d\\e@f#g$h%i^j&k*l(m)n[o]{p}|q~r`s",
    "!!! ... ??? --- ___ :-) <html> &amp; «» „“ — – … ¿¡ ⸮ ⹃ ᙭ 𑇉 ₿ € ￥",
    "x",
    "ſ 'ſ K 'LL \u2028line\u2029paragraph\u0085next \u000b\u000c",
    "\ud7ff \uffff \U0010ffff \U0001d54f math \ue000 \u0378 \u1734\u08e2",
    "a" * 100 + " " + "a" * 101 + " aaaa",
    "unaffable unknownword ÅÄÖ naïve café Ÿ Σίσυφος ΟΔΟΣ",
    "Once upon a time there was a little girl named Lily.",
]
MASKED = ["The quick [MASK] fox jumps over the lazy dog.", "Once upon a [MASK] there was a [MASK] girl.", "[MASK]",
          "Привет, [MASK]!"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SPECIAL_OF_ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def wordpiece(lower):
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lower)
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.decoder = tokenizers.decoders.WordPiece()
    made.train_from_iterator(LINES * 3, tokenizers.trainers.WordPieceTrainer(
        vocab_size=330, special_tokens=SPECIAL, limit_alphabet=180, show_progress=False))
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(t, made.token_to_id(t)) for t in ("[CLS]", "[SEP]")])
    return made


def byte_bpe():
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.train_from_iterator(LINES * 3, tokenizers.trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=SPECIAL_OF_ROBERTA, show_progress=False))
    made.add_special_tokens([tokenizers.AddedToken("<mask>", lstrip=True, special=True)])
    made.post_processor = tokenizers.processors.RobertaProcessing(("</s>", made.token_to_id("</s>")),
                                                                  ("<s>", made.token_to_id("<s>")))
    return made


def near(values):
    return [float(f"{x:.7g}") for x in values]


def texts_of(made, masked):
    mask = "<mask>" if made.token_to_id("<mask>") is not None else "[MASK]"
    for line in MASKED + LINES if masked else LINES:
        ids = made.encode(line.replace("[MASK]", mask)).ids
        yield mask, {"text": line, "ids": ids, "tokens": [made.id_to_token(i) for i in ids]}


def filled(made, mask, ids, logs):
    """The likeliest tokens in each gap, of those that texts are cut into."""
    found = []
    for place, token in enumerate(ids):
        if made.id_to_token(token) != mask:
            continue
        best = [int(i) for i in numpy.argsort(-logs[place])
                if made.id_to_token(int(i)) and made.id_to_token(int(i)) not in SPECIAL + SPECIAL_OF_ROBERTA][:5]
        found.append({"place": place, "tokens": [made.id_to_token(i) for i in best],
                      "log_probs": [float(logs[place][i]) for i in best]})
    return found


def nested(attentions):
    return [[[near(row) for row in head] for head in layer] for layer in attentions]


def bert_of_transformers(name, made):
    import torch
    import transformers
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made.save(str(folder / "tokenizer.json"))
    torch.manual_seed(5)
    model = transformers.BertForMaskedLM(transformers.BertConfig(
        vocab_size=made.get_vocab_size() + 2, hidden_size=24, intermediate_size=36, num_hidden_layers=2,
        num_attention_heads=3, max_position_embeddings=72, layer_norm_eps=1e-12, attn_implementation="eager")).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.15)
    model.save_pretrained(folder, safe_serialization=True)
    (folder / "generation_config.json").unlink(missing_ok=True)
    texts = []
    for mask, entry in texts_of(made, True):
        texts.append(entry)
        if len(entry["ids"]) > 68:
            continue
        with torch.no_grad():
            out = model(torch.tensor([entry["ids"]]), output_attentions=True)
        if len(texts) <= 3:
            entry["attentions"] = nested([layer[0].tolist() for layer in out.attentions])
        entry["filled"] = filled(made, mask, entry["ids"], torch.log_softmax(out.logits[0].double(), -1).numpy())
    (folder / "expected.json").write_text(json.dumps({"texts": texts}, ensure_ascii=True))


def reference(name, made, kind, head, pool=None, more=None):
    """`pool`: of vectors, how they are made. `more`: keys of config.json."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made.save(str(folder / "tokenizer.json"))
    model = encoder_reference.Encoder(kind, head, made.get_vocab_size() + 2, pad=made.token_to_id("<pad>"),
                                      more=more or {})
    model.save(folder)
    texts = []
    for mask, entry in texts_of(made, head == "masked"):
        texts.append(entry)
        if len(entry["ids"]) > 68:
            continue
        states, attentions = model.states(entry["ids"])
        if len(texts) <= 3:
            entry["attentions"] = nested(attentions)
        if head == "masked":
            entry["filled"] = filled(made, mask, entry["ids"], model.token_log_probabilities(states))
        elif head == "labels":
            entry["log_probs"] = model.label_log_probabilities(states).tolist()
        else:
            vector = {"mean": states.mean(0), "cls": states[0], "max": states.max(0)}[pool[0]]
            entry["vector"] = near(vector / numpy.linalg.norm(vector) if pool[1] else vector)
    if pool:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(
            {f"pooling_mode_{way}": way.startswith(pool[0]) for way in ("mean_tokens", "cls_token", "max_tokens")}))
        modules = [("Transformer", ""), ("Pooling", "1_Pooling")] + [("Normalize", "2_Normalize")] * pool[1]
        (folder / "modules.json").write_text(json.dumps(
            [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{type}"}
             for i, (type, path) in enumerate(modules)]))
    (folder / "expected.json").write_text(json.dumps({"texts": texts}, ensure_ascii=True))


def main():
    lower, cased, pieces = wordpiece(True), wordpiece(False), byte_bpe()
    if sys.argv[1:] == ["bert"]:
        bert_of_transformers("bert_masked", cased)
    reference("bert_vectors", lower, "bert", "vectors", ("mean", True))
    reference("bert_labels", lower, "bert", "labels", more={"id2label": {"0": "bad", "1": "good", "2": "neither"}})
    reference("distilbert_masked", lower, "distilbert", "masked")
    reference("distilbert_labels", lower, "distilbert", "labels")
    reference("roberta_masked", pieces, "roberta", "masked")
    reference("roberta_vectors", pieces, "roberta", "vectors", ("cls", False))
    reference("roberta_labels", pieces, "roberta", "labels")
    reference("albert_masked", lower, "albert", "masked")
    reference("albert_labels", lower, "albert", "labels")
    reference("albert_vectors", lower, "albert", "vectors", ("max", False))


if __name__ == "__main__":
    main()
