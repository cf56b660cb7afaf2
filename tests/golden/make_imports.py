#!/usr/bin/env python3
"""Writes tests/golden/imports/: small models with random weights in the formats of other programs, and what those
programs say of them: token ids, the log-probability of every token, and greedy outputs.

usage: make_imports.py        with transformers, torch, tokenizers, sentencepiece and ctranslate2 of PyPI
"""
import json
import pathlib
import shutil

import ctranslate2
import make_encoders
import numpy
import sentencepiece
import tokenizers
import torch
import transformers

HERE = pathlib.Path(__file__).parent / "imports"
LINES = [
    "The quick brown fox jumps over the lazy dog.",
    "It's we're you'll I'd they've I'm don't 'S 'RE ’s",
    "Der Bär läuft über die Straße; ÄÖÜ äöü ß.",
    "Привет, мир! Съешь же ещё этих мягких французских булок.",
    "今日は世界。 东京都 한국어 테스트 ไทย हिन्दी",
    "مرحبا بالعالم، كيف حالك؟",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪 e\u0301 n\u0303 \u200b\u200d\ufeff",
    "1234567 3.14159 ½ ٣٤ Ⅳ x1y2z3 10,000.50",
    "   three blanks,  two  inside, and two at the end  ",
    "tab\there \u00a0nbsp\u2003em \u3000wide",
    "a_b-c/d\\e@f#g$h%i^j&k*l(m)n[o]{p}|q~r`s",
    "!!! ... ??? --- ___ :-) <html> &amp;",
    "x",
    " ",
    " y",
    "ſ 'ſ K 'LL \u2028line\u2029paragraph\u0085next",
    "\ud7ff \uffff \U0010ffff \U0001d54f math",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbb",
    "Once upon a time there was a little girl named Lily.",
    "the the the The THE tHe",
]
# Each is one text: with the ends of lines, as only tokenisers see them here.
WITH_LINE_ENDS = ["one\ntwo", "a\n\nb", "end\n", " \n x", "x  \r\n  y", "\n\n\n", "!\n\n?", "1\n22 333\t\n4444"]
WORDS = {
    "gpt2": None,
    "llama3": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    "qwen2": r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
}


def tokeniser(words, special):
    byte_level = tokenizers.pre_tokenizers.ByteLevel
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    if WORDS[words] is None:
        made.pre_tokenizer = byte_level(add_prefix_space=False)
    else:
        made.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([
            tokenizers.pre_tokenizers.Split(tokenizers.Regex(WORDS[words]), "isolated"),
            byte_level(add_prefix_space=False, use_regex=False)])
    if words == "qwen2":
        made.normalizer = tokenizers.normalizers.NFC()
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=360, initial_alphabet=byte_level.alphabet(),
                                             special_tokens=special, show_progress=False)
    made.train_from_iterator(LINES * 3, trainer)
    return made


def text_model(name, config, words, special, make):
    folder = HERE / name
    folder.mkdir(parents=True)
    made = tokeniser(words, special)
    made.save(str(folder / "tokenizer.json"))
    torch.manual_seed(7)
    model = make(config(made)).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # norms and biases too, and far from flat
            parameter.add_(torch.randn_like(parameter) * 0.15)
    model.save_pretrained(folder, safe_serialization=True)
    (folder / "generation_config.json").unlink(missing_ok=True)
    start, end = model.config.bos_token_id, model.config.eos_token_id
    texts = []
    for line in LINES:
        ids = made.encode(line, add_special_tokens=False).ids
        with torch.no_grad():
            logits = model(torch.tensor([[start] + ids])).logits[0].double()
        wanted = ids + [end]
        logs = torch.log_softmax(logits, -1)[range(len(wanted)), wanted].tolist()
        never = [i for i in (start,) if i != end]
        written = [start] + ids[:4]
        for _ in range(8):
            with torch.no_grad():
                last = model(torch.tensor([written])).logits[0, -1]
            last[never] = -float("inf")
            last[made.get_vocab_size():] = -float("inf")  # rows that no token has
            for token in special:
                if made.token_to_id(token) != end:
                    last[made.token_to_id(token)] = -float("inf")
            written.append(int(last.argmax()))
            if written[-1] == end:
                break
        texts.append({"text": line, "ids": ids, "log_probs": logs, "start": made.decode(ids[:4]), "start_ids": ids[:4],
                      "greedy_ids": written[1 + len(ids[:4]):]})
    more = [{"text": line, "ids": made.encode(line, add_special_tokens=False).ids} for line in WITH_LINE_ENDS]
    (folder / "expected.json").write_text(json.dumps({"texts": texts, "with_line_ends": more,
                                                      "start": start, "end": end}))


def gpt2(made):
    end = made.token_to_id("<|endoftext|>")
    return transformers.GPT2Config(vocab_size=made.get_vocab_size(), n_positions=128, n_embd=24, n_layer=2, n_head=3,
                                   bos_token_id=end, eos_token_id=end)


def llama(made):
    return transformers.LlamaConfig(
        vocab_size=made.get_vocab_size() + 2, hidden_size=24, intermediate_size=36, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, max_position_embeddings=256, rms_norm_eps=3e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0}, tie_word_embeddings=False,
        bos_token_id=made.token_to_id("<|begin|>"), eos_token_id=made.token_to_id("<|end|>"))


def qwen2(made):
    return transformers.Qwen2Config(
        vocab_size=made.get_vocab_size(), hidden_size=24, intermediate_size=36, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=256, use_sliding_window=False,
        tie_word_embeddings=True, bos_token_id=made.token_to_id("<|end|>"), eos_token_id=made.token_to_id("<|end|>"))


def ctranslate2_model(name, pre_norm, activation, gated, quantisation):
    """An encoder and a decoder on characters."""
    random = numpy.random.default_rng(11)
    spec = ctranslate2.specs.TransformerSpec.from_config((2, 3), 4, pre_norm=pre_norm, activation=activation,
                                                         ffn_glu=gated, layernorm_embedding=not pre_norm)
    width, hidden = 24, 40
    source = ["<blank>", "<unk>", "<s>", "</s>"] + list("abcdefghijklm ")
    target = ["<unk>", "<s>", "</s>", "<pad>"] + list("nopqrstuvwxyz")

    def linear(layer, rows, cols):
        layer.weight = random.normal(0, cols ** -0.5, (rows, cols)).astype(numpy.float32)
        layer.bias = random.normal(0, 0.3, rows).astype(numpy.float32)

    def norm(layer):
        layer.gamma = random.normal(1, 0.2, width).astype(numpy.float32)
        layer.beta = random.normal(0, 0.2, width).astype(numpy.float32)

    def side(part, layers, cross):
        if pre_norm:
            norm(part.layer_norm)
        if not pre_norm:
            norm(part.layernorm_embedding)
        part.position_encodings.encodings = random.normal(0, 0.5, (64, width)).astype(numpy.float32)
        for layer in part.layer[:layers]:
            linear(layer.self_attention.linear[0], 3 * width, width)
            linear(layer.self_attention.linear[1], width, width)
            norm(layer.self_attention.layer_norm)
            if cross:
                linear(layer.attention.linear[0], width, width)
                linear(layer.attention.linear[1], 2 * width, width)
                linear(layer.attention.linear[2], width, width)
                norm(layer.attention.layer_norm)
            linear(layer.ffn.linear_0, hidden, width)
            if gated:
                linear(layer.ffn.linear_0_noact, hidden, width)
            linear(layer.ffn.linear_1, width, hidden)
            norm(layer.ffn.layer_norm)

    side(spec.encoder, 2, False)
    side(spec.decoder, 3, True)
    embeddings = spec.encoder.embeddings
    embeddings = embeddings[0] if isinstance(embeddings, list) else embeddings
    embeddings.weight = random.normal(0, width ** -0.5, (len(source), width)).astype(numpy.float32)
    spec.decoder.embeddings.weight = random.normal(0, width ** -0.5, (len(target), width)).astype(numpy.float32)
    linear(spec.decoder.projection, len(target), width)
    spec.decoder.projection.bias[[0, 1, 3]] = -9  # heed never writes <unk> and <s>
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.config.layer_norm_epsilon = 3e-5
    spec.validate()
    if quantisation:
        spec.optimize(quantization=quantisation)
    folder = HERE / name
    folder.mkdir(parents=True)
    spec.save(str(folder))
    translator = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    pairs = [("abc", "nop"), ("a", "z"), ("hello mad", "trust"), ("xyz", "q"), ("mlkjihg fedcba", "nopqrstuvwxyz")]
    texts = []
    for one, other in pairs:
        scored = translator.score_batch([list(one)], [list(other)])[0]
        best = translator.translate_batch([list(one)], beam_size=1, max_decoding_length=20, return_scores=True)[0]
        texts.append({"source": one, "target": other, "log_probs": list(scored.log_probs),
                      "greedy": "".join(best.hypotheses[0])})
    (folder / "expected.json").write_text(json.dumps({"pairs": texts}))


def scored_bpe():
    """SentencePiece's BPE with its pieces and scores as llama2.c stores them: a blank for U+2581."""
    model = HERE / "pieces"
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(LINES * 3), model_prefix=str(model), model_type="bpe", vocab_size=500, byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, character_coverage=0.98,
        hard_vocab_limit=False, minloglevel=4)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model) + ".model")
    pieces = [[processor.id_to_piece(i).replace("\u2581", " "), processor.get_score(i)]
              for i in range(processor.get_piece_size())]
    texts = [{"text": line, "ids": processor.encode(line)} for line in LINES if "\u2581" not in line]
    for file in HERE.glob("pieces.*"):
        file.unlink()
    (HERE / "scored_bpe.json").write_text(json.dumps({"pieces": pieces, "texts": texts}))


def main():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    text_model("gpt2", gpt2, "gpt2", ["<|endoftext|>"], transformers.GPT2LMHeadModel)
    text_model("llama", llama, "llama3", ["<|begin|>", "<|end|>", "<|more|>"], transformers.LlamaForCausalLM)
    text_model("qwen2", qwen2, "qwen2", ["<|end|>"], transformers.Qwen2ForCausalLM)
    activations = ctranslate2.specs.common_spec.Activation
    ctranslate2_model("ctranslate2_pre", True, activations.RELU, False, None)
    ctranslate2_model("ctranslate2_post", False, activations.GELUTanh, False, None)
    ctranslate2_model("ctranslate2_int8", True, activations.SWISH, True, "int8")
    ctranslate2_model("ctranslate2_float16", True, activations.GELUSigmoid, False, "float16")
    scored_bpe()
    make_encoders.main()


if __name__ == "__main__":
    main()
