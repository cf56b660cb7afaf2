"""The rows of `run.py --mechanisms` as one Markdown table."""

HEAD = ["mechanism", "forward", "2 threads", "PyTorch", "forward and backward", "2 threads", "PyTorch", "tokens/s"]


def milliseconds(row):
    if row is None or row.get("ms") is None:
        return "-"
    return f"{row['ms']:.2f} ms"


def against_torch(one, two):
    """How many times as long PyTorch takes, with 1 and with 2 threads."""
    ratios = [f"{row['vs_torch']:.1f}x" for row in (one, two) if row and "vs_torch" in row]
    return ", ".join(ratios)


def table(rows):
    """One line per mechanism, in the order they came. Forward and training are rows of their own in `rows`."""
    at = {(row["case"], row["threads"]): row for row in rows}
    names = list(dict.fromkeys(row["case"].removeprefix("mechanism_").rpartition("_")[0] for row in rows))
    lines = ["| " + " | ".join(HEAD) + " |", "|---" + "|---:" * (len(HEAD) - 1) + "|"]
    for name in names:
        cells = [f"[{name}](mechanisms/{name}.md)"]
        for kind in ("fwd", "train"):
            one, two = (at.get((f"mechanism_{name}_{kind}", threads)) for threads in (1, 2))
            cells += [milliseconds(one), milliseconds(two), against_torch(one, two)]
        train = at.get((f"mechanism_{name}_train", 1))
        cells.append(f"{train['tokens_per_s']:,.0f}" if train and "tokens_per_s" in train else "-")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def disagreements(rows):
    """What a reader must know before the numbers."""
    said = [(row, [row["error"]] if row.get("error") else row.get("notes", [])) for row in rows]
    return [f"{row['case']}, {row['threads']} threads: {'; '.join(notes)}" for row, notes in said if notes]
