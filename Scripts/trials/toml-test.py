"""Compares what our reader makes of toml-test's documents with what toml-test says of them.

All that are valid in TOML 1.0 and 1.1 must have the values of their JSON; all that are invalid in TOML 1.1 must be refused.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys


def values(node):
    """A value of our reader, as toml-test writes it in JSON."""
    if isinstance(node, list):
        return [values(element) for element in node]
    (kind, content), = node.items()
    match kind:
        case "s":
            return {"type": "string", "value": bytes.fromhex(content).decode()}
        case "i":
            return {"type": "integer", "value": str(content)}
        case "f":
            return {"type": "float", "value": struct.unpack(">d", bytes.fromhex(content.zfill(16)))[0]}
        case "b":
            return {"type": "bool", "value": str(content).lower()}
        case "d":
            return {"type": "date", "value": date(bytes.fromhex(content).decode())}
        case "t":
            return {bytes.fromhex(key).decode(): values(inner) for key, inner in content.items()}


def date(text):
    head, dot, tail = text.upper().replace(" ", "T").partition(".")
    digits = len(tail) - len(tail.lstrip("0123456789"))
    # Precision beyond milliseconds is the reader's own matter (TOML 1.1, "Local Time").
    return head + ("." + tail[:digits][:3].ljust(3, "0") + tail[digits:] if dot else "")


def expected(node):
    if isinstance(node, list):
        return [expected(element) for element in node]
    if set(node) == {"type", "value"} and isinstance(node["value"], str):
        match node["type"]:
            case "float":
                return {"type": "float", "value": float(node["value"])}
            case "datetime" | "datetime-local" | "date-local" | "time-local":
                return {"type": "date", "value": date(node["value"])}
        return node
    return {key: expected(inner) for key, inner in node.items()}


def same(left, right):
    if isinstance(left, float) and isinstance(right, float):
        return left == right or math.isnan(left) and math.isnan(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


def main():
    reader, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "tests"
    lists = {version: (folder / f"files-toml-{version}").read_text().split() for version in ["1.0.0", "1.1.0"]}
    wrong = 0
    for version, kind in [("1.0.0", "valid"), ("1.1.0", "valid"), ("1.1.0", "invalid")]:
        names = [name for name in lists[version] if name.startswith(kind + "/") and name.endswith(".toml")]
        documents = [(folder / name).read_bytes() for name in names]
        framed = b"".join(struct.pack("<I", len(document)) + document for document in documents)
        answers = subprocess.run([reader], input=framed, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
        failed = 0
        for name, answer in zip(names, answers, strict=True):
            if kind == "invalid":
                holds = answer.startswith("E ")
            else:
                truth = json.loads((folder / name).with_suffix(".json").read_text())
                holds = answer.startswith("V ") and same(values(json.loads(answer[2:])), expected(truth))
            if not holds:
                failed += 1
                print(f"{name}: {answer[:200]}")
        print(f"TOML {version}, {kind}: {len(names) - failed} of {len(names)} hold")
        wrong += failed
    sys.exit(1 if wrong else 0)


main()
