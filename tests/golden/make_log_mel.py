#!/usr/bin/env python3
"""Log-mel frames by librosa, for tests/sound/log_mel_test.cc.

usage: python3 -m venv v && v/bin/pip install librosa && v/bin/python make_log_mel.py   (writes log_mel.json beside itself)
"""
import json
import pathlib

import librosa
import numpy as np

# samples a second, samples of a window, of a hop, bands, samples
CASES = [(8000, 200, 80, 40, 1500), (16000, 400, 160, 80, 2100), (22050, 512, 128, 23, 1000), (11025, 275, 110, 30, 999),
         (8000, 256, 100, 10, 30)]


def signal(count):
    """Tones, noise and silence, from whole numbers: the test makes the same."""
    i = np.arange(count, dtype=np.int64)
    tone = np.abs((i * 29) % 400 - 200) - 100
    noise = (i * i * 7 + i * 13) % 2001 - 1000
    loud = (i // 300) % 3
    return ((tone * 3 * (loud > 0) + noise * (loud > 1)) / 2048.0).astype(np.float32)


def main():
    cases = []
    for rate, window, hop, bands, count in CASES:
        transform = 1 << (window - 1).bit_length()
        power = librosa.feature.melspectrogram(
            y=signal(count).astype(np.float64), sr=rate, n_fft=transform, win_length=window, hop_length=hop, n_mels=bands,
            window="hann", center=True, pad_mode="constant", power=2.0, dtype=np.float64)
        frames = librosa.power_to_db(power, ref=1.0, amin=1e-10, top_db=80.0).T
        cases.append({"rate": rate, "window": window, "hop": hop, "bands": bands, "samples": count,
                      "frames": [[round(float(value), 4) for value in row] for row in frames]})
    path = pathlib.Path(__file__).parent / "log_mel.json"
    text = json.dumps({"librosa": librosa.__version__, "cases": cases}, separators=(",", ":"))
    path.write_text(text.replace("]],", "]],\n").replace("],[", "],\n[") + "\n")


if __name__ == "__main__":
    main()
