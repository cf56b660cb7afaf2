#!/usr/bin/env python3
"""Tables for heed from the Free Spoken Digit Dataset: files DIGIT_SPEAKER_NUMBER.wav, 8 kHz, 16 bits, one channel.

usage: make_tables.py FOLDER_OF_WAV_FILES OUTPUT

  OUTPUT/digits/{train,test}.tsv       single digits; the recordings 5 to 9 of every speaker are kept for the test
  OUTPUT/strings/{train,valid,test}.tsv, OUTPUT/strings/*/*.wav
                                       strings of 3 to 7 digits, joined from recordings of one speaker with short pauses;
                                       those of the test are made of the recordings 5 to 9 alone, those of the validation
                                       of 10 and 11
  OUTPUT/new_speaker/SPEAKER/{train,test}.tsv
                                       all recordings of a speaker kept apart, for each of them

The official test set (numbers 0 to 4) is left out wherever it is in the folder. Nothing but Python is needed.
"""
import argparse
import pathlib
import random
import re
import wave

NAME = re.compile(r"(\d)_([a-z]+)_(\d+)\.wav")
WORDS = "zero one two three four five six seven eight nine".split()
RATE = 8000


def recordings(folder):
    """(digit, speaker, number, path), in a fixed order."""
    found = []
    for path in sorted(folder.glob("*.wav")):
        match = NAME.fullmatch(path.name)
        if match and int(match[3]) >= 5:
            found.append((int(match[1]), match[2], int(match[3]), path.resolve()))
    return found


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{file}\t{text}\n" for file, text in rows), encoding="utf-8")
    print(f"{path}: {len(rows)}")


def samples_of(path):
    with wave.open(str(path)) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE, 1, 2):
            raise SystemExit(f"{path}: 8 kHz, one channel and 16 bits are expected")
        return file.readframes(file.getnframes())


def write_strings(folder, name, some, count, seed):
    """Each string is of one speaker; pauses are of 20 to 200 ms."""
    chance = random.Random(seed)
    speakers = sorted({speaker for _, speaker, _, _ in some})
    rows = []
    (folder / name).mkdir(parents=True, exist_ok=True)
    for i in range(count):
        speaker = chance.choice(speakers)
        spoken = [chance.choice([r for r in some if r[1] == speaker]) for _ in range(chance.randint(3, 7))]
        data = b""
        for recording in spoken:
            data += bytes(2 * chance.randint(RATE // 50, RATE // 5)) + samples_of(recording[3])
        path = folder / name / f"{i:05}.wav"
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(data + bytes(2 * RATE // 20))
        rows.append((path.relative_to(folder), " ".join(WORDS[digit] for digit, _, _, _ in spoken)))
    write_table(folder / f"{name}.tsv", rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--strings", type=int, default=6000, help="strings to train on (default 6000)")
    options = parser.parse_args()
    found = recordings(options.folder)
    if not found:
        raise SystemExit(f"{options.folder}: no files DIGIT_SPEAKER_NUMBER.wav with numbers from 5")
    train, test = ([r for r in found if (r[2] <= 9) == held] for held in (False, True))
    digits = options.output / "digits"
    write_table(digits / "train.tsv", [(path, WORDS[digit]) for digit, _, _, path in train])
    write_table(digits / "test.tsv", [(path, WORDS[digit]) for digit, _, _, path in test])
    for kept in sorted({speaker for _, speaker, _, _ in found}):
        folder = options.output / "new_speaker" / kept
        write_table(folder / "train.tsv", [(path, WORDS[digit]) for digit, who, _, path in found if who != kept])
        write_table(folder / "test.tsv", [(path, WORDS[digit]) for digit, who, _, path in found if who == kept])
    strings = options.output / "strings"
    write_strings(strings, "train", [r for r in train if r[2] > 11], options.strings, 1)
    write_strings(strings, "valid", [r for r in train if r[2] <= 11], 300, 2)
    write_strings(strings, "test", test, 500, 3)


if __name__ == "__main__":
    main()
