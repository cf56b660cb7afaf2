"""Encoders like BERT in NumPy, in double precision: random weights under the names of transformers, and what they compute."""
import json
import math
import struct

import numpy

WIDTH, HIDDEN, LAYERS, HEADS, POSITIONS, TABLE = 24, 36, 2, 3, 72, 16
erf = numpy.vectorize(math.erf)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - numpy.log(numpy.exp(x).sum(-1, keepdims=True))


# Of each kind: the names of query, key, value, output, norm, up, down, norm inside a layer.
BLOCKS = {
    "bert": ("encoder.layer.{}.", "attention.self.query", "attention.self.key", "attention.self.value",
             "attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense",
             "output.LayerNorm"),
    "distilbert": ("transformer.layer.{}.", "attention.q_lin", "attention.k_lin", "attention.v_lin",
                   "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"),
    "albert": ("encoder.albert_layer_groups.0.albert_layers.0.", "attention.query", "attention.key",
               "attention.value", "attention.dense", "attention.LayerNorm", "ffn", "ffn_output",
               "full_layer_layer_norm"),
}
BLOCKS["roberta"] = BLOCKS["bert"]
MASKED = {"bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
          "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
          "roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
          "albert": ("predictions.dense", "predictions.LayerNorm", "predictions.bias")}
LABELS = {"bert": ("bert.pooler.dense", "classifier"), "distilbert": ("pre_classifier", "classifier"),
          "roberta": ("classifier.dense", "classifier.out_proj"), "albert": ("albert.pooler", "classifier")}
CLASSES = {"bert": "Bert", "distilbert": "DistilBert", "roberta": "Roberta", "albert": "Albert"}
ENDINGS = {"vectors": "Model", "masked": "ForMaskedLM", "labels": "ForSequenceClassification"}


class Encoder:
    def __init__(self, kind, head, tokens, pad=None, more=()):
        self.kind, self.head = kind, head
        self.random, self.tensors = numpy.random.default_rng(sum(map(ord, kind + head))), {}
        self.prefix = "" if head == "vectors" else kind + "."
        self.skipped = pad + 1 if kind == "roberta" else 0
        table = TABLE if kind == "albert" else WIDTH
        self.activation = gelu_tanh if kind == "albert" else gelu
        for name, shape in (("word_embeddings", (tokens, table)), ("position_embeddings", (POSITIONS, table)),
                            ("token_type_embeddings", (2, table))):
            if name != "token_type_embeddings" or kind != "distilbert":
                self.make(f"{self.prefix}embeddings.{name}.weight", shape, 0.3)
        self.norm_of(self.prefix + "embeddings.LayerNorm", table)
        if kind == "albert":
            self.linear_of(self.prefix + "encoder.embedding_hidden_mapping_in", table, WIDTH)
        for layer in range(1 if kind == "albert" else LAYERS):
            part = self.names(layer)
            for name in part[:4]:
                self.linear_of(name, WIDTH, WIDTH)
            self.norm_of(part[4], WIDTH)
            self.linear_of(part[5], WIDTH, HIDDEN)
            self.linear_of(part[6], HIDDEN, WIDTH)
            self.norm_of(part[7], WIDTH)
        self.labels = 3 if kind == "bert" else 4 if kind == "roberta" else 2
        if head == "masked":
            dense, norm, bias = MASKED[kind]
            self.linear_of(dense, WIDTH, table)
            self.norm_of(norm, table)
            self.make(bias, (tokens,), 0.3)
        if head == "labels":
            self.linear_of(LABELS[kind][0], WIDTH, WIDTH)
            self.linear_of(LABELS[kind][1], WIDTH, self.labels)
        keys = {"dim": WIDTH, "hidden_dim": HIDDEN, "n_layers": LAYERS, "n_heads": HEADS} if kind == "distilbert" else {
            "hidden_size": WIDTH, "intermediate_size": HIDDEN, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "layer_norm_eps": 1e-12}
        self.config = {"model_type": kind, "architectures": [CLASSES[kind] + ENDINGS[head]], "vocab_size": tokens,
                       "max_position_embeddings": POSITIONS, "pad_token_id": 0 if pad is None else pad, **keys,
                       **({"embedding_size": TABLE} if kind == "albert" else {}), **dict(more)}
        if head == "labels" and "id2label" not in self.config:
            self.config["id2label"] = {str(i): f"LABEL_{i}" for i in range(self.labels)}

    def make(self, name, shape, deviation, mean=0.0):
        self.tensors[name] = self.random.normal(mean, deviation, shape).astype(numpy.float32)

    def linear_of(self, name, rows, columns):
        self.make(name + ".weight", (columns, rows), rows ** -0.5)
        self.make(name + ".bias", (columns,), 0.3)

    def norm_of(self, name, width):
        self.make(name + ".weight", (width,), 0.2, 1.0)
        self.make(name + ".bias", (width,), 0.2)

    def names(self, layer):
        before, *names = BLOCKS[self.kind]
        return [self.prefix + before.format(layer) + name for name in names]

    def save(self, folder):
        (folder / "config.json").write_text(json.dumps(self.config))
        header, begin = {}, 0
        for name, numbers in self.tensors.items():
            header[name] = {"dtype": "F32", "shape": list(numbers.shape), "data_offsets": [begin, begin + numbers.nbytes]}
            begin += numbers.nbytes
        text = json.dumps(header).encode()
        (folder / "model.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text + b"".join(n.tobytes() for n in self.tensors.values()))

    def get(self, name):
        return self.tensors[name].astype(numpy.float64)

    def linear(self, name, x):
        return x @ self.get(name + ".weight").T + self.get(name + ".bias")

    def norm(self, name, x):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / numpy.sqrt(variance + 1e-12) * self.get(name + ".weight") + self.get(name + ".bias")

    def states(self, ids):
        """[tokens] -> [tokens, width], and of each layer the weights [heads, tokens, tokens]"""
        count, width = len(ids), WIDTH // HEADS
        at = self.prefix + "embeddings."
        x = self.get(at + "word_embeddings.weight")[ids]
        x = x + self.get(at + "position_embeddings.weight")[self.skipped:self.skipped + count]
        if self.kind != "distilbert":
            x = x + self.get(at + "token_type_embeddings.weight")[0]
        x = self.norm(at + "LayerNorm", x)
        if self.kind == "albert":
            x = self.linear(self.prefix + "encoder.embedding_hidden_mapping_in", x)
        attentions = []
        for layer in range(LAYERS):
            part = self.names(layer)
            q, k, v = (self.linear(n, x).reshape(count, HEADS, width).transpose(1, 0, 2) for n in part[:3])
            weights = numpy.exp(log_softmax(q @ k.transpose(0, 2, 1) / math.sqrt(width)))
            attentions.append(weights)
            context = (weights @ v).transpose(1, 0, 2).reshape(count, WIDTH)
            x = self.norm(part[4], x + self.linear(part[3], context))
            x = self.norm(part[7], x + self.linear(part[6], self.activation(self.linear(part[5], x))))
        return x, attentions

    def token_log_probabilities(self, states):
        dense, norm, bias = MASKED[self.kind]
        x = self.norm(norm, self.activation(self.linear(dense, states)))
        return log_softmax(x @ self.get(self.prefix + "embeddings.word_embeddings.weight").T + self.get(bias))

    def label_log_probabilities(self, states):
        pool, output = LABELS[self.kind]
        x = self.linear(pool, states[0])
        x = numpy.maximum(x, 0) if self.kind == "distilbert" else numpy.tanh(x)
        return log_softmax(self.linear(output, x))
