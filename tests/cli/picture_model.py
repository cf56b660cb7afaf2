"""Pictures without any library for them, and a model that reads some, trained in no time."""
import base64
import struct
import zlib

from heed_program import heed


def png(width, height, rgb, interlaced=False):
    """A PNG file of one colour; interlaced (Adam7), its rows come in seven passes."""
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    pack, packed = zlib.compressobj(), b""
    for left, top, right, down in passes if interlaced else [(0, 0, 1, 1)]:
        columns, rows = len(range(left, width, right)), len(range(top, height, down))
        for _ in range(rows if columns else 0):  # a row at a time: pictures may be larger than the memory
            packed += pack.compress(b"\0" + bytes(rgb) * columns)
    packed += pack.flush()
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, interlaced)) +
            chunk(b"IDAT", packed) + chunk(b"IEND", b""))


def inline(picture):
    """As browsers write it, and as a server takes it."""
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def train_on_pictures(data, folder, *settings):
    keys = ["model.task=image", "model.width=16", "model.picture_size=8", "model.picture_layers=1", *settings]
    return heed("train", str(data), "--output", str(folder), "--threads", "1",
                *[word for key in keys for word in ("--set", key)])


def train_colours(folder):
    """Its name is that of the folder. It knows next to nothing."""
    data = folder.parent / f"{folder.name}-data"
    data.mkdir(parents=True)
    lines = []
    for i, colour in enumerate([(200, 20, 20), (20, 20, 200)] * 8):
        (data / f"{i}.png").write_bytes(png(6, 6, colour))
        lines.append(f"{i}.png\twhich colour\t{'red' if i % 2 == 0 else 'blue'}\n")
    (data / "table.tsv").write_text("".join(lines))
    done = train_on_pictures(data / "table.tsv", folder, "stop.steps=2")
    assert done.returncode == 0, done.stderr
    return folder
