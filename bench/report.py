"""From samples to rows: ratios, what each case must reach, and the table."""

import json
import statistics
import sys

import document

# What the rows are judged by: case -> (must, aim), each {field of the row: ">= x" or "<= x"}.
GOALS = {
    "inner_fwd_64": ({"vs_torch": ">= 1.15"}, {"vs_torch": ">= 1.25", "of_sgemm": ">= 0.95"}),
    "inner_fwd_128": ({"vs_torch": ">= 1.15"}, {"vs_torch": ">= 1.25", "of_sgemm": ">= 0.95"}),
    "inner_fwd_causal": ({"vs_torch": ">= 1.6"}, {"vs_torch": ">= 1.9"}),
    "inner_train": ({"vs_torch": ">= 1.2"}, {"vs_torch": ">= 1.35", "of_sgemm": ">= 0.85"}),
    "short_fwd": ({"of_sgemm": ">= 0.55"}, {"of_sgemm": ">= 0.75"}),
    "short_train": ({"of_sgemm": ">= 0.48"}, {"of_sgemm": ">= 0.75"}),
    "additive_fwd": ({"vs_torch": ">= 70"}, {"vs_torch": ">= 120"}),
    "additive_train": ({"vs_torch": ">= 40"}, {"vs_torch": ">= 60"}),
    "window_8k": ({}, {}),
    "window_16k": ({"times_window_8k": "<= 2.2", "global_16k_times": ">= 20"}, {}),
    "global_16k": ({"vs_torch": ">= 1.15"}, {"vs_torch": ">= 1.3"}),
    "decode": ({"of_bandwidth": ">= 0.85", "vs_plain": ">= 1", "vs_torch": ">= 1"}, {"of_bandwidth": ">= 0.95"}),
    "scaling": (
        {"inner_fwd_64": ">= 1.8", "inner_train": ">= 1.8"},
        {"inner_fwd_64": ">= 1.95", "inner_train": ">= 1.95"},
    ),
    "memory_16k": ({"peak_mb": "<= 64"}, {"peak_mb": "<= 16"}),
}


# A round is quiet while other processes use less than this share of one core.
QUIET = 0.15


def reaches(row, goals):
    """False where a goal is missed, None where one could not be measured (or there is none), else True."""
    verdicts = []
    for field, goal in goals.items():
        value = row.get(field)
        sign, bound = goal.split()
        verdicts.append(None if value is None else (value >= float(bound) if sign == ">=" else value <= float(bound)))
    if not verdicts or False in verdicts:
        return False if verdicts else None
    return None if None in verdicts else True


def verdict(row):
    if row["aim_met"]:
        return "aim reached"
    return {True: "reached", False: "MISSED", None: ""}[row["met"]]


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def publish(options, target, rows, said, tables):
    """Ends a benchmark: its rows as JSON lines, its table on the terminal and, with --write, in a document as that of
    the make target. `said`: the conditions; `tables`: for the terminal and for the document. With --check, a goal that
    was missed is an error."""
    write_rows(options.json, rows)
    print(f"{said}.\n\n{tables[0]}")
    if options.write:
        document.write(options.write, f"make {target}", f"{said}.\n\n{tables[1]}")
    if options.check and any(row["met"] is False for row in rows):
        sys.exit(1)


def judge_beside_peers(row, goals):
    """What is asked for beside a peer is asked for with two threads."""
    return judge(row, ({}, {}) if row["peers"] and row["threads"] != 2 else goals)


def judge(row, goals=None):
    """`goals`: (must, aim); those of GOALS where none are given."""
    must, aim = goals or GOALS.get(row["case"], ({}, {}))
    row["must"], row["aim"] = must, aim
    row["met"] = reaches(row, must)
    row["aim_met"] = reaches(row, aim)
    return row


READERS = ("read_one", "read_eight")  # from how many places at once memory is read; the faster one counts


def case_row(spec, threads, samples, yardstick_flops):
    """One row. `samples` is {"heed": [ms], "sgemm": [ms], "plain": [ms], "read_one": [ms], "torch": [ms], ...}.

    Times are the best of all rounds: on a shared machine noise only adds. The medians stand beside them.
    """
    best = {name: min(times) for name, times in samples.items() if times}
    ms = best["heed"]
    row = {
        "case": spec["case"],
        "threads": threads,
        "ms": ms,
        "ms_median": statistics.median(samples["heed"]),
        "rounds": len(samples["heed"]),
        "peers": {name: time for name, time in best.items() if name not in ("heed", "sgemm", *READERS)},
        "path": spec.get("path"),
        "difference": spec.get("difference"),
    }
    if "sgemm" in best:
        row["sgemm_gflops"] = yardstick_flops / best["sgemm"] * 1e-6
        row["sgemm_noise"] = statistics.median(samples["sgemm"]) / best["sgemm"]
    if "tokens" in spec:
        row["tokens_per_s"] = spec["tokens"] / ms * 1e3
    if spec["flops"] > 0 and "sgemm" in best:
        row["gflops"] = spec["flops"] / ms * 1e-6
        row["of_sgemm"] = row["gflops"] / row["sgemm_gflops"]
        pairs = zip(samples["heed"], samples["sgemm"])
        row["of_sgemm_median"] = statistics.median(
            (spec["flops"] / heed) / (yardstick_flops / sgemm) for heed, sgemm in pairs
        )
    if spec["score"] == "tanh_sum":
        row["pair_dims_per_s"] = spec["pair_dims"] / ms * 1e3 / threads  # per core
    if READERS[0] in best:
        row["gb_per_s"] = spec["kv_bytes"] / ms * 1e-6
        row["read_gb_per_s"] = spec["kv_bytes"] / min(best[name] for name in READERS) * 1e-6
        row["of_bandwidth"] = row["gb_per_s"] / row["read_gb_per_s"]
    for name, time in row["peers"].items():
        row["vs_" + name] = time / ms
    row["slower_than_plain"] = row["peers"].get("plain", ms) < 0.98 * ms  # nearer than that is noise
    return row


def add_window_ratios(rows):
    at = {(row["case"], row["threads"]): row for row in rows if row.get("ms")}
    for (case, threads), row in at.items():
        if case != "window_16k":
            continue
        if ("window_8k", threads) in at:
            row["times_window_8k"] = row["ms"] / at["window_8k", threads]["ms"]
        if ("global_16k", threads) in at:
            row["global_16k_times"] = at["global_16k", threads]["ms"] / row["ms"]


def scaling_row(rows):
    """How much faster 2 threads are than 1. sgemm's own ratio stands beside: what the machine could give."""
    at = {(row["case"], row["threads"]): row for row in rows if row.get("ms")}
    row = {"case": "scaling", "threads": 2, "ms": 0.0, "peers": {}}
    for case in ("inner_fwd_64", "inner_train"):
        if (case, 1) not in at or (case, 2) not in at:
            return None
        row[case] = at[case, 1]["ms"] / at[case, 2]["ms"]
        row["ms"] += at[case, 2]["ms"]
        row["sgemm"] = at[case, 2]["sgemm_gflops"] / at[case, 1]["sgemm_gflops"]
    return row


def one_line(text):
    return "; ".join(text.strip().splitlines())


def memory_row(threads, results):
    """`results` is {"inner": reply of heed-bench --memory, "tanh_sum": ...}. The worse of the two counts."""
    row = {"case": "memory_16k", "threads": threads, "peers": {}}
    failed = [f"{score}: {one_line(reply['error'])}" for score, reply in results.items() if "error" in reply]
    if failed:
        return {**row, "ms": None, "error": "; ".join(failed)}
    row["ms"] = sum(reply["ms"] for reply in results.values())
    row["peak_mb"] = max(reply["peak_mb"] for reply in results.values())
    for score, reply in results.items():
        row[score + "_peak_mb"] = reply["peak_mb"]
        row[score + "_ms"] = reply["ms"]
    return row


# ------------------------------------------------------------------------------------------------------------- table

LABELS = {
    "of_sgemm": "of sgemm",
    "vs_torch": "x torch",
    "vs_plain": "x plain",
    "times_window_8k": "x window_8k",
    "global_16k_times": "x faster than global",
    "of_bandwidth": "of bandwidth",
    "inner_fwd_64": "x fwd",
    "inner_train": "x train",
    "peak_mb": "MB",
}


def number(value):
    if value is None:
        return "?"
    if value >= 1e6:
        return f"{value / 1e9:.2f}e9"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def notes(row, peers):
    """What a reader should know beside the columns."""
    said = []
    if row.get("slower_than_plain"):
        said.append("PLAIN IS FASTER")
    if row["case"] == "scaling" and "sgemm" in row:
        said.append(f"sgemm {row['sgemm']:.2f}x")
    if row["case"] == "memory_16k" and "inner_peak_mb" in row:
        said.append(f"inner {row['inner_peak_mb']:.1f}, tanh_sum {row['tanh_sum_peak_mb']:.1f}")
    if "read_gb_per_s" in row:
        said.append(f"{row['gb_per_s']:.1f} of {row['read_gb_per_s']:.1f} GB/s")
    said += [f"{name} {row['vs_' + name]:.1f}x" for name in peers if name != "torch" and "vs_" + name in row]
    said += [f"{name}: {way}" for name, way in row.get("ways", {}).items() if way]
    if row.get("other_load", 0) > QUIET:
        said.append(f"others kept {row['other_load']:.1f} cores busy")
    said += row.get("notes", [])
    return ", ".join(said)


def table(rows, peers):
    head = ["case", "threads", "ms", "of sgemm", "vs torch", "vs plain", "must", "got", "met", ""]
    lines = [head]
    for row in rows:
        if row.get("error"):
            lines.append([row["case"], str(row["threads"]), "-", "", "", "", "", "", "NO", row["error"]])
            continue
        must = [f"{goal} {LABELS[field]}" for field, goal in row["must"].items()]
        got = [number(row.get(field)) for field in row["must"]]
        met = {True: "yes", False: "NO", None: "?" if row["must"] else ""}[row["met"]]
        lines.append(
            [
                row["case"],
                str(row["threads"]),
                f"{row['ms']:.2f}",
                f"{row['of_sgemm']:.2f}" if "of_sgemm" in row else "",
                f"{row['vs_torch']:.1f}x" if "vs_torch" in row else "",
                f"{row['vs_plain']:.2f}x" if "vs_plain" in row else "",
                ", ".join(must),
                ", ".join(got),
                met + (" (aim)" if row["aim_met"] else ""),
                notes(row, peers),
            ]
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    left = {0, 6, 8, 9}
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )


# ----------------------------------------------------------------------------------------------------------- summary

NAMES = {"torch": "PyTorch", "torch_compile": "torch.compile", "onnxruntime": "ONNX Runtime",
         "ctranslate2": "CTranslate2", "ctranslate2 int8": "CTranslate2 int8"}


def conditions(machine, isa, peers):
    """One line that says what the figures hold for."""
    said = [machine["cpu"], f"{machine['cores']} cores", isa + (" (HEED_ISA)" if machine["HEED_ISA"] else "")]
    return ", ".join(said + [f"{NAMES.get(name, name)} {version}" for name, version in peers.items()
                             if name != "torch_compile"])


def markdown(head, lines):
    """A table; all columns but the first are numbers."""
    return "\n".join(["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
                     + ["| " + " | ".join(line) + " |" for line in lines])


def milliseconds(ms):
    """Three digits."""
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}" if ms >= 1 else f"{ms:.3f}"


def each(rows, field, form="{:.2f}".format):
    """The field of each row, separated by commas; empty where no row has it."""
    values = [form(row[field]) if row and row.get(field) is not None else "-" for row in rows]
    return "" if set(values) == {"-"} else ", ".join(values)


def summary(rows, peers):
    """One line for a case: what README.md shows. Every cell with 1 thread, then with more."""
    threads = sorted({row["threads"] for row in rows})
    at = {(row["case"], row["threads"]): row for row in rows}
    cases = [case for case in dict.fromkeys(row["case"] for row in rows) if case not in ("scaling", "memory_16k")]
    head = ["case", f"ms ({', '.join(map(str, threads))} threads)"]
    head += [f"times {NAMES.get(name, name)}" for name in peers] + ["of sgemm", "of read bandwidth", "times plain"]
    lines = []
    for case in cases:
        mine = [at.get((case, n)) for n in threads]
        line = [case, each(mine, "ms", milliseconds)] + [each(mine, "vs_" + name, "{:.2f}x".format) for name in peers]
        line += [each(mine, "of_sgemm"), each(mine, "of_bandwidth"), each(mine, "vs_plain", "{:.2f}x".format)]
        lines.append(line)
    some = [n for n in range(len(head)) if n < 2 or any(line[n] for line in lines)]
    return markdown([head[n] for n in some], [[line[n] for n in some] for line in lines])
