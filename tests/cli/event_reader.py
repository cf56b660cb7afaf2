"""Reads the event files of TensorBoard strictly: checksums, kinds of fields, UTF-8. Needs nothing but Python."""
import struct


def crc32c(data):
    """Castagnoli's, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """TFRecord: length, its checksum, bytes, their checksum."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(crc32c(data[at:at + 8])), "checksum of a length"
        record = data[at + 12:at + 12 + length]
        assert len(record) == length, "cut off"
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(crc32c(record)), "checksum of a record"
        yield record
        at += 16 + length


def fields(message):
    """(number, kind, value) of a message of protobuf."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            assert shift <= 70
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, kind, varint()
            continue
        assert kind in (1, 2, 5), kind
        length = {1: 8, 5: 4}.get(kind) or varint()
        value = message[at:at + length]
        assert len(value) == length, "a field is cut off"
        at += length
        yield key >> 3, kind, value


def scalars(data):
    """(step, tag, value) of all that was written, having checked every byte."""
    found = []
    for n, record in enumerate(records(data)):
        step, time, version, summaries, others = 0, None, None, [], []
        for number, kind, value in fields(record):
            if (number, kind) == (1, 1):
                (time,) = struct.unpack("<d", value)
            elif (number, kind) == (2, 0):
                step = value
            elif (number, kind) == (3, 2):
                version = value.decode()
            elif (number, kind) == (5, 2):
                summaries.append(value)
            else:
                others.append((number, kind))
        assert time and time > 1.6e9
        assert (version == "brain.Event:2") == (n == 0)
        assert all(other == (7, 2) for other in others), others  # session_log
        for summary in summaries:
            for number, kind, value in fields(summary):
                assert (number, kind) == (1, 2)
                parts = {number: (kind, value) for number, kind, value in fields(value)}
                assert set(parts) == {1, 2} and parts[1][0] == 2 and parts[2][0] == 5, parts
                found.append((step, parts[1][1].decode("utf-8"), struct.unpack("<f", parts[2][1])[0]))
    return found
