#!/usr/bin/env python3
"""Greedy and beam search with heed's Transformer in CTranslate2: the same weights in float32, and the same batches.

Requests are JSON lines on standard input, replies on standard output, as heed-bench-predict's (bench/predict/main.cc):

    {"op": "open", "folder": FOLDER, "precision": P}      options.json, sources.json and weights.safetensors in it;
                                                          weights in memory: float32 if it is not said, or int8
    {"op": "run", "threads": N, "beam": K, "outputs": B}  seconds for all sources; their tokens where asked for

Threads share a batch, each with sentences of its own, as heed's do (inter_threads; several threads on the same step, which
is intra_threads, were slower). The model is converted into FOLDER/ctranslate2. Hypotheses are ranked as heed's are by
default, by log-probability, without a length penalty; CTranslate2 then ends a sentence as soon as the best of its beam
has ended.
"""
import pathlib
import sys
import time

import ctranslate2
import numpy
from ctranslate2.specs import Activation, TransformerSpec

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import heed_model  # noqa: E402

PLACES = 1024  # positions that the model gets


class Conversion:
    """heed's weights under CTranslate2's names."""

    def __init__(self, options, weights):
        self.o, self.w = options, weights

    def linear(self, spec, *names):
        """Several products of one input become one."""
        spec.weight = numpy.concatenate([self.w[f"{name}.weight"] for name in names])
        spec.bias = numpy.concatenate([self.w[f"{name}.bias"] for name in names])

    def norm(self, spec, name):
        spec.gamma, spec.beta = self.w[f"{name}.norm.gain"], self.w[f"{name}.norm.bias"]

    def self_attention(self, spec, name):
        self.linear(spec.linear[0], f"{name}.query", f"{name}.key", f"{name}.value")
        self.linear(spec.linear[1], f"{name}.output")
        self.norm(spec.layer_norm, name)

    def source_attention(self, spec, name):
        self.linear(spec.linear[0], f"{name}.query")
        self.linear(spec.linear[1], f"{name}.key", f"{name}.value")
        self.linear(spec.linear[2], f"{name}.output")
        self.norm(spec.layer_norm, name)

    def feed_forward(self, spec, name):
        self.linear(spec.linear_0, f"{name}.up")
        self.linear(spec.linear_1, f"{name}.down")
        self.norm(spec.layer_norm, name)

    def spec(self, source_words, target_words):
        spec = TransformerSpec.from_config((self.o["encoder_layers"], self.o["decoder_layers"]), self.o["heads"],
                                           pre_norm=self.o["pre_norm"], activation=Activation.RELU)
        source = self.w["source.weight"]
        target = self.w.get("target.weight", source)
        spec.encoder.embeddings[0].weight, spec.decoder.embeddings.weight = source, target  # each times sqrt(width)
        for side in (spec.encoder, spec.decoder):
            side.position_encodings.encodings = heed_model.places(PLACES, source.shape[1])
        for i, layer in enumerate(spec.encoder.layer):
            self.self_attention(layer.self_attention, f"encoder.{i}.self")
            self.feed_forward(layer.ffn, f"encoder.{i}.feed_forward")
        for i, layer in enumerate(spec.decoder.layer):
            self.self_attention(layer.self_attention, f"decoder.{i}.self")
            self.source_attention(layer.attention, f"decoder.{i}.source")
            self.feed_forward(layer.ffn, f"decoder.{i}.feed_forward")
        if self.o["pre_norm"]:
            self.norm(spec.encoder.layer_norm, "encoder")
            self.norm(spec.decoder.layer_norm, "decoder")
        spec.decoder.projection.weight = self.w.get("output.weight", target)
        spec.decoder.projection.bias = self.w["output.bias"]
        spec.config.layer_norm_epsilon = 1e-5
        spec.register_source_vocabulary(source_words or [word(i) for i in range(len(source))])
        spec.register_target_vocabulary(target_words or [word(i) for i in range(len(target))])
        return spec


def convert(options, weights, folder, source_words=None, target_words=None):
    """Writes the model in CTranslate2's format. Without words its tokens are the numbers of heed's."""
    folder.mkdir(exist_ok=True)
    spec = Conversion(options, weights).spec(source_words, target_words)
    spec.validate()
    spec.optimize()  # tables that are one are written once
    spec.save(str(folder))


def word(token):
    """CTranslate2 works on strings: those of heed's ids."""
    return {0: "<unk>", heed_model.START: "<s>", heed_model.END: "</s>"}.get(token, str(token))


class Peer:
    def __init__(self):
        self.options, self.batches, self.ids, self.model, self.translators = {}, [], {}, None, {}
        self.precision = "float32"

    def hello(self):
        return {"version": ctranslate2.__version__}

    def open(self, folder, precision="float32"):
        self.precision = precision
        self.options, batches, weights = heed_model.read_search(folder)
        self.ids = {word(i): i for i in range(len(weights["output.bias"]))}
        self.batches = [(batch, [[word(i) for i in ids] for ids in sentences]) for batch, sentences in batches]
        self.model = pathlib.Path(folder) / f"ctranslate2-{precision}"
        convert(self.options, weights, self.model)
        self.translators.clear()
        return {}

    def translator(self, threads):
        if threads not in self.translators:
            self.translators[threads] = ctranslate2.Translator(
                str(self.model), device="cpu", compute_type=self.precision, inter_threads=threads, intra_threads=1)
        return self.translators[threads]

    def run(self, threads, beam, outputs=False):
        translator = self.translator(threads)
        said = {}
        begin = time.perf_counter()
        for batch, sentences in self.batches:
            found = translator.translate_batch(
                sentences, max_batch_size=-(-len(sentences) // threads), beam_size=beam, length_penalty=0,
                min_decoding_length=0, max_decoding_length=self.options["longest"])
            for s, result in zip(batch, found):
                said[s] = result.hypotheses[0]
        reply = {"seconds": time.perf_counter() - begin, "sentences": len(said)}
        if outputs:
            reply["outputs"] = [[self.ids[w] for w in said[s]] for s in sorted(said)]
        return reply


if __name__ == "__main__":
    sys.exit(heed_model.serve(Peer()))
