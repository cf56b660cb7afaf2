#!/usr/bin/env python3
"""scripts/tidy.py BUILD [JOBS]: clang-tidy on everything that BUILD compiles; fails if it complained.

What passed is remembered in BUILD/tidy with the hash of every file that it read, so that after a change only the sources
that read something of it are looked at again.
"""
import concurrent.futures
import functools
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

# Not looked at: sources that are wrong on purpose, those of other projects, precompiled headers, and the page, which is not
# built here. Headers are seen through the sources that include them.
LEFT_OUT = re.compile(r"/tests/(misuse|install|docs)/|/cmake_pch\.|/page/page_html\.")


@functools.lru_cache(maxsize=None)
def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def files_read(unit):
    """The source and all headers, as the compiler names them."""
    command, arguments = [], iter(shlex.split(unit["command"]))
    for argument in arguments:
        if argument == "-o":
            next(arguments)
        elif argument != "-c":
            command.append(argument)
    rule = subprocess.run([*command, "-M"], cwd=unit["directory"], check=True, capture_output=True, text=True).stdout
    names = shlex.split(rule.split(":", 1)[1].replace("\\\n", " "))
    return sorted({str(pathlib.Path(unit["directory"], name).resolve()) for name in names})


def passed_before(stamp, rules, unit):
    try:
        known = json.loads(stamp.read_text())
        return (known["rules"], known["command"]) == (rules, unit["command"]) and all(
            digest(path) == was for path, was in known["files"].items())
    except (OSError, ValueError, KeyError):  # never passed, or a file of it is gone
        return False


def look_at(build, rules, unit):
    """(whether it passed, what clang-tidy said, its seconds; 0 where that was known)"""
    stamp = build / "tidy" / (hashlib.sha256(unit["file"].encode()).hexdigest()[:16] + ".json")
    if passed_before(stamp, rules, unit):
        return True, "", 0
    start = time.monotonic()
    files = {path: digest(path) for path in files_read(unit)}  # before: what changes meanwhile is looked at again
    said = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", unit["file"]], check=False, capture_output=True,
                          text=True)
    if said.returncode == 0:
        stamp.write_text(json.dumps({"rules": rules, "command": unit["command"], "files": files}))
        return True, "", time.monotonic() - start
    # On standard error: how many warnings in other people's headers were not shown, or why it could not start.
    return False, said.stdout or said.stderr, time.monotonic() - start


def main():
    build, jobs = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    root = pathlib.Path(__file__).resolve().parent.parent
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    rules = hashlib.sha256(version + (root / ".clang-tidy").read_bytes()).hexdigest()
    units = {unit["file"]: unit for unit in json.loads((build / "compile_commands.json").read_text())
             if not LEFT_OUT.search(unit["file"])}
    (build / "tidy").mkdir(exist_ok=True)
    failed, known = [], 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as threads:
        # The tests of the kernels take longest: they come first, so that none runs alone at the end.
        order = sorted(units, key=lambda name: ("/tests/kernels/" not in name, name))
        running = {threads.submit(look_at, build, rules, units[name]): name for name in order}
        for count, future in enumerate(concurrent.futures.as_completed(running), 1):
            name = running[future].removeprefix(f"{root}/")
            passed, said, seconds = future.result()
            known += seconds == 0
            if not passed:
                failed.append(name)
                print(said, end="" if said.endswith("\n") else "\n")
            if not passed or seconds:
                print(f"[{count}/{len(order)}] {seconds:5.1f} s  {name}{'' if passed else '  FAILED'}", flush=True)
    print(f"clang-tidy: {len(order) - len(failed)} passed ({known} of them unchanged since they did), {len(failed)} failed")
    for name in sorted(failed):
        print(f"  {name}")
    return 1 if failed or not order else 0


if __name__ == "__main__":
    sys.exit(main())
