"""What every peer of heed's models shares, whatever its framework: heed's files, as numpy arrays, and the protocol."""
import json
import pathlib
import struct
import sys

import numpy

START, END = 1, 2  # heed's ids of these tokens; 0 is the unknown one


def read_safetensors(path):
    """{name: float32 array}"""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, about in header.items():
        if name == "__metadata__":
            continue
        begin, end = about["data_offsets"]
        values = numpy.frombuffer(data[8 + size + begin : 8 + size + end], dtype=numpy.float32)
        tensors[name] = values.reshape(about["shape"]).copy()
    return tensors


def read_search(folder):
    """-> options, [(numbers of a batch's sentences, their ids)], weights: what heed-bench-predict wrote."""
    folder = pathlib.Path(folder)
    options = json.loads((folder / "options.json").read_text())
    sources = json.loads((folder / "sources.json").read_text())
    batches = [(batch, [sources["ids"][s] for s in batch]) for batch in sources["batches"]]
    return options, batches, read_safetensors(folder / "weights.safetensors")


def read_words(path):
    """The tokens of a vocabulary of words, in the order of their ids (heed/text/vocabulary.h)."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")[:-1]
    return [line.replace("\\\\", "\\") for line in lines]  # a word holds nothing else that is escaped


def places(count, width):
    """sin and cos of the positions below `count`, in double as heed/model/embed/embed.cc computes them. [count, width]"""
    angle = numpy.arange(count)[:, None] * numpy.power(10000.0, -numpy.arange(0, width, 2) / width)
    table = numpy.empty((count, width), dtype=numpy.float32)
    table[:, 0::2], table[:, 1::2] = numpy.sin(angle), numpy.cos(angle[:, : width // 2])
    return table


def serve(peer) -> int:
    """Answers JSON lines by the methods of `peer`: "op" names one, the rest are its arguments."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(peer, request.pop("op"))(**request)
        except Exception as error:  # pylint: disable=broad-except
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
    return 0
