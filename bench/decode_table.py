"""The rows of `run.py --decode` as one Markdown table: a line for each number of sequences, key heads and keys."""

import report

HEADS = 8  # query heads


def table(rows, peers):
    threads = sorted({row["threads"] for row in rows})
    at = {(row["case"], row["threads"]): row for row in rows}
    head = ["sequences", "query heads / key heads", "keys", f"ms ({', '.join(map(str, threads))} threads)", "GB/s"]
    head += ["of read bandwidth", "times plain"]
    peers = [name for name in peers if any("vs_" + name in row for row in rows)]
    head += [f"times {report.NAMES.get(name, name)}" for name in peers]
    lines = []
    for case in dict.fromkeys(row["case"] for row in rows):
        mine = [at.get((case, n)) for n in threads]
        batch, groups, keys = case.removeprefix("decode_").split("_")
        lines.append(
            [batch[1:], f"{HEADS} / {groups[1:]}", keys, report.each(mine, "ms", report.milliseconds),
             report.each(mine, "gb_per_s", "{:.1f}".format), report.each(mine, "of_bandwidth")]
            + [report.each(mine, "vs_" + name, "{:.2f}x".format) for name in ["plain", *peers]])
    return report.markdown(head, lines)
