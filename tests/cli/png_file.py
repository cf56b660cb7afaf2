"""Reads the PNG files that heed writes: RGB of 8 bits, not interlaced."""
import struct
import zlib


def pixels_of(data):
    """Width, height, and a function of x and y that gives (red, green, blue)."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    packed, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + length])
            assert form == [8, 2, 0, 0, 0]
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, stride = zlib.decompress(packed), 3 * width
    rows = [bytearray(stride)]
    for y in range(height):
        begin = y * (stride + 1)
        rows.append(_unfiltered(raw[begin], bytearray(raw[begin + 1:begin + 1 + stride]), rows[-1]))
    return width, height, lambda x, y: tuple(rows[y + 1][3 * x:3 * x + 3])


def _unfiltered(kind, row, above):
    for i, value in enumerate(row):
        left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
        up = above[i]
        nearest = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
        row[i] = (value + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
    return row
