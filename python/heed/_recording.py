"""Recordings as lines: heed.recording."""

from __future__ import annotations

import base64
import struct

import numpy as np

from ._heed import Error


def recording(samples: np.ndarray, rate: int) -> str:
    """A recording as a line for a model that reads recordings. Files need none of this: their names are lines.

    >>> heed.recording(np.zeros(800), rate=8000)[:22]
    'data:audio/wav;base64,'

    Args:
        samples: [samples] or [samples, channels], which are mixed down: floating-point numbers from -1 to 1, or integers
            of 16 bits.
        rate: samples of a second.

    Returns:
        A str for TrainedModel.predict(), evaluate() and the others: a WAV file inside the line.

    Raises:
        heed.Error, a ValueError: there are no samples, or one is no number.
        TypeError: the samples are something else.
    """
    array = np.asarray(samples)
    if array.dtype == np.int16:
        array = array.astype(np.float32) / 32768.0
    if not np.issubdtype(array.dtype, np.floating):
        raise TypeError(f"samples: expected floating-point numbers or int16, got {array.dtype}")
    if array.ndim == 2 and array.shape[1] > 0:
        array = array.mean(axis=1)
    if array.ndim != 1 or array.size == 0:
        raise Error(f"samples: expected [samples] or [samples, channels], got the shape {list(np.shape(samples))}")
    if not np.isfinite(array).all():
        raise Error("samples: expected numbers, got NaN or infinity")
    if isinstance(rate, bool) or not isinstance(rate, (int, np.integer)):
        raise TypeError(f"rate: expected an int, got {type(rate).__name__}")
    if not 1000 <= rate <= 768_000:
        raise Error(f"rate: expected 1000 to 768000 samples of a second, got {rate}")
    data = array.astype("<f4").tobytes()
    width = 4
    header = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVEfmt ", 16, 3, 1, rate, rate * width, width,
                         8 * width, b"data", len(data))
    return "data:audio/wav;base64," + base64.b64encode(header + data).decode("ascii")
