"""Phone numbers as people write them, and as a machine wants them: "0049 (0)30 / 123-4567" and "+49301234567".

python3 examples/python/phone_numbers.py 3000 > phones.tsv       # made up; the second number is a seed
python3 examples/python/phone_numbers.py 500 7 > unseen.tsv
"""
import random
import sys

COUNTRIES = ["49", "44", "33", "1", "39", "41", "43", "31", "48", "86", "81", "91"]
HOME = "49"
PREFIXES = ["", "", "", "", "", "tel. ", "Tel: ", "phone ", "call ", "mobile: ", "fax "]
SEPARATORS = [" ", "-", ".", "/", " / ", " - ", ""]


def grouped(digits, rng, separator):
    groups = []
    while digits:
        size = rng.choice([2, 3, 3, 4])
        groups.append(digits[:size])
        digits = digits[size:]
    return separator.join(groups)


def pair(rng):
    country = rng.choice(COUNTRIES) if rng.random() < 0.6 else HOME
    area = str(rng.randint(2, 9)) + "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 3)))
    line = str(rng.randint(1, 9)) + "".join(rng.choice("0123456789") for _ in range(rng.randint(4, 7)))
    separator = rng.choice(SEPARATORS)
    between = rng.choice([" ", separator or " "])
    national = country == HOME and rng.random() < 0.5
    zero = rng.random() < 0.3
    if national:
        code = rng.choice([f"0{area}", f"(0{area})", f"0{area} "])
    else:
        plus = rng.choice(["+", "00"]) + country
        code = plus + rng.choice([" ", between]) + (f"(0){area}" if zero else rng.choice([area, f"({area})"]))
    written = rng.choice(PREFIXES) + code + between + grouped(line, rng, separator)
    return written.strip(), f"+{country}{area}{line}"


def pair_with_extension(rng):
    """As offices write them; the machine wants RFC 3966's way."""
    written, number = pair(rng)
    extension = str(rng.randint(1, 999))
    return written + rng.choice([" ext. ", " x", " #"]) + extension, f"{number};ext={extension}"


def pairs(count, seed=1, make=pair):
    rng, found = random.Random(seed), {}
    while len(found) < count:
        source, target = make(rng)
        found.setdefault(source, target)
    return list(found.items())


def write(path, some):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in some))
    return str(path)


if __name__ == "__main__":
    for source, target in pairs(*map(int, sys.argv[1:3] or ["10"])):
        print(source, target, sep="\t")
