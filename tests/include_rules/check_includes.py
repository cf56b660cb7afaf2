#!/usr/bin/env python3
"""Checks that the arrows between the folders of heed/ point one way, and that no raw intrinsics are used.

usage: check_includes.py SOURCE_DIRECTORY
"""
import pathlib
import re
import sys

# layer: the other layers it may include. A folder that is not here is an error: say first where it stands.
MAY_INCLUDE = {
    "kernels": set(),
    "tensor": {"kernels"},
    "layer": {"tensor", "kernels"},
    "attend": {"layer", "tensor", "kernels"},
    "text": {"tensor", "kernels"},
    "metric": {"text", "tensor"},
    "data": {"text", "tensor"},
    "file": {"layer", "tensor"},
    "embed": {"layer", "tensor", "kernels"},
    "encode": {"attend", "file", "layer", "tensor"},
    "decode": {"encode", "attend", "data", "file", "layer", "tensor"},
    "optimise": {"layer", "tensor", "kernels"},
    "model": {"embed", "encode", "decode", "attend", "data", "text", "layer", "tensor", "kernels"},
    "search": {"model", "data", "text", "tensor", "kernels"},
    "task": {"search", "model", "embed", "attend", "decode", "encode", "metric", "data", "text", "file", "layer", "tensor", "kernels"},
    "objective": {"task", "search", "model", "metric", "data", "text", "attend", "tensor", "kernels"},
    "trained": {"task", "search", "model", "data", "file", "layer", "tensor"},
    "predict": {"trained", "task", "search", "text", "file", "tensor"},
    "recipe": {"trained", "objective", "task", "model", "optimise", "data", "text", "file", "tensor"},
    "distill": {"predict", "trained", "recipe", "task", "data", "text", "file", "layer", "tensor"},
    "view": {"predict", "trained", "task", "search", "model", "attend", "data", "text", "file", "tensor"},
    "serve": {"view", "predict", "trained", "task", "data", "text", "file", "tensor", "kernels"},
    "train": {"predict", "trained", "recipe", "objective", "task", "search", "model", "optimise", "attend", "metric", "data", "text", "file",
              "layer", "tensor", "kernels"},
    "compare": {"view", "train", "trained", "recipe", "task", "search", "model", "attend", "metric", "data", "text", "file", "tensor",
                "kernels"},
}

# What trains a model, and what must do without it, also by way of others.
TRAINING = {"optimise", "objective", "recipe", "train"}
RUNS_A_MODEL = ("trained", "predict", "view", "serve")

# Highway is the only way to SIMD, so that every CPU it knows is served by the same source.
RAW_INTRINSICS = re.compile(r"^(\w*intrin|arm_(neon|sve|acle)|cpuid|altivec|wasm_simd128|riscv_vector)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def complaints(root: pathlib.Path):
    for path in sorted((root / "heed").rglob("*")):
        if path.suffix not in {".h", ".cc", ".cpp", ".hpp", ".inc"}:
            continue
        where = path.relative_to(root)
        layer = where.parts[1] if len(where.parts) > 2 else None
        if layer is not None and layer not in MAY_INCLUDE:
            yield f"{where}: the layer '{layer}' is not in tests/include_rules/check_includes.py"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            name = match[1]
            if RAW_INTRINSICS.match(pathlib.PurePosixPath(name).name):
                yield f"{where}:{number}: includes {name}; SIMD goes through Highway"
            if name.startswith("."):
                yield f"{where}:{number}: includes {name}; write the path from the root, heed/..."
            if name.startswith("heed/"):
                other = name.split("/")[1]
                if layer is not None and other != layer and other not in MAY_INCLUDE[layer]:
                    yield f"{where}:{number}: heed/{layer} may not include {name}"
                if not (root / name).exists():
                    yield f"{where}:{number}: {name} does not exist"


def below(layer: str) -> set:
    """What a layer may include, also by way of others."""
    reached, left = set(), [layer]
    while left:
        for other in MAY_INCLUDE[left.pop()] - reached:
            reached.add(other)
            left.append(other)
    return reached


def main() -> int:
    found = list(complaints(pathlib.Path(sys.argv[1])))
    found += [f"{layer} stands on {', '.join(sorted(below(layer) & TRAINING))}: a model must run without what trained it"
              for layer in RUNS_A_MODEL if below(layer) & TRAINING]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
