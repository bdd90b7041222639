"""Writes documents, most of them not quite TOML, and compares what our reader and tomllib (Python 3.11) make of them.

They may differ only where README.md, "Limits", or TOML says so:
  integer    tomllib reads integers of any size; beyond 64 bits they are an error (TOML 1.0, "Integer")
  depth      tables and arrays nested more than 100 deep
  same key   keys that Unicode takes for the same text
  BOM        tomllib refuses a byte order mark
  second 60  tomllib refuses leap seconds, RFC 3339 has them
  year 0     tomllib refuses the year 0000, RFC 3339 has it
  TOML 1.1   tomllib reads TOML 1.0: no line ends, comments and last commas in braces, no \\e and \\x41, no 07:32
"""

import collections
import json
import pathlib
import random
import re
import struct
import subprocess
import sys
import tomllib
import unicodedata

EVERYTHING = r'''
# everything that TOML has
title = "a \"b\" \\ \t \u00e9 \U0001F600"
bare_key-1 = 'C:\x'
"quoted key" = """
two
lines \
   joined """
'lit.eral' = \'\'\'
it's ''quoted''\'\'\'
3.14 = +1.5e-7
ints = [0, -0, +99, 1_000, 0xDEAD_beef, 0o17, 0b1101, 9223372036854775807, -9223372036854775808,]
floats = [ 1.0, -0.0, 6.626e-34, 1e06, inf, -inf, +nan, 1e400,
  # a comment
  224_617.445_991 ]
dates = [1979-05-27T07:32:00Z, 1979-05-27 00:32:00.999999-07:00, 1979-05-27t07:32:00, 1979-05-27, 07:32:00, 00:32:00.5]
bools = [true, false]
mixed = [1, "a", [2, ['b']], {x = 1, y.z = 2}]
point = { x = 1, "y" = { z = [ 1,
 2 ] }, d.e.f = 'g' }
a.b.c = 1
a.b . "d" = 2
[table]
key = 1
[table.sub."quoted.part"]
key = true
[x.y.z.w]
[x]
k.l = 1
[[products]]
name = "Hammer"
[products.size]
w = 1
[[products]]
[[products.varieties]]
name = ""
[[products.varieties]]
name = """\r\n x"""
'''.replace("\\'\\'\\'", "'''")

TOKENS = [
    b"[", b"]", b"[[", b"]]", b"{", b"}", b",", b".", b"=", b"#", b'"', b"'", b'"""', b"'''", b"\\", b"\n", b"\r\n", b"\r", b" ",
    b"\t", b"\0", b"\x7f", b"\x1f", b"\xff", b"\xc3\xa9", b"e\xcc\x81", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xf4\x90\x80\x80",
    b"\xe2\x80\xa8", b"_", b"-", b"+", b"0", b"1", b"9", b"00", b"0x", b"0b2", b"1e5", b"1.", b".5", b"inf", b"nan", b"true",
    b"\\u00e9", b"\\uD800", b"\\U00110000", b"\\x41", b"\\e", b"\\ \n", b"1979-05-27", b"07:32:60", b"0000-01-01", b"2021-02-29",
    b"2020-02-29T24:00:00Z", b"99999999999999999999", b"-9223372036854775809", b"[a]\n", b"[[a]]\n", b"[a.b]\n", b"a.b = 1\n",
    b"b.c.d = 2\n", b"a = {}\n", b"a = []\n", b"[#x]", b"[.]", b"a=[}", b"x = {a.b = 1, a.c = {}}\n", b"[x]\n", b"[[x.y]]\n",
    b"[products]\n", b"[[table]]\n", b"[table.sub]\n", b"[a.b.c]\n", b"k.l = 1\n", b"a" * 30, b"{a=1,}", b"{\n}", b"[1\n,]",
]

# What TOML 1.1 has and TOML 1.0 has not.
NEW = re.compile(rb"\\e|\\x[0-9A-Fa-f]{2}|\d\d:\d\d(?!:)|\{[^{}]*[\n#]|\{[^{]*\n|,\s*\}")


def corpus():
    root = pathlib.Path(__file__).parents[2]
    documents = [EVERYTHING.encode(), (root / "sources.toml").read_bytes()]
    readme = (root / "README.md").read_text()
    documents += [block.encode() for block in re.findall(r"```toml\n(.*?)```", readme, re.S)]
    return documents + [line + b"\n" for line in EVERYTHING.encode().split(b"\n") if line]


def headers(random):
    """Documents of nothing but headers and keys over few names: what may be defined twice, and what may not."""
    lines = []
    for _ in range(random.randrange(1, 9)):
        key = ".".join(random.choices(["a", "b", "c", '"a"'], k=random.randrange(1, 4)))
        value = random.choice(["1", "{}", "[]", "[{}]", "{a=1}", "{a.b=1}", "{b={}}", "{a.b=1, a.c=2}", "{a={}, a.b=1}"])
        lines.append(random.choice([f"[{key}]", f"[[{key}]]", f"{key} = {value}", f"{key} = {value}"]))
    return "\n".join(lines).encode()


def mutated(document, corpus, random):
    document = bytearray(document)
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        place = random.randrange(len(document) + 1)
        end = min(len(document), place + random.choice([1, 1, 2, 5, 40]))
        match random.randrange(7):
            case 0:
                document[place:place] = random.choice(TOKENS)
            case 1:
                document[place:end] = random.choice(TOKENS)
            case 2:
                del document[place:end]
            case 3:
                document[place:place] = document[place:end] * random.choice([1, 1, 2, 150])
            case 4:
                document[place:place + 1] = bytes([random.randrange(256)])
            case 5:
                lines = document.split(b"\n")
                lines.insert(random.randrange(len(lines)), random.choice(lines))
                document = bytearray(b"\n".join(lines))
            case 6:
                other = random.choice(corpus)
                document[place:end] = other[random.randrange(len(other)):][:random.choice([3, 10, 50])]
    return bytes(document)


def expected(document):
    try:
        return tomllib.loads(document.decode()), None
    except (ValueError, RecursionError) as error:
        return None, str(error)


def value(node):
    if isinstance(node, list):
        return [value(element) for element in node]
    (kind, content), = node.items()
    match kind:
        case "s":
            return bytes.fromhex(content).decode()
        case "f":
            return struct.unpack(">d", bytes.fromhex(content.zfill(16)))[0]
        case "d":
            return tomllib.loads("x = " + bytes.fromhex(content).decode())["x"]
        case "t":
            return {bytes.fromhex(key).decode(): value(inner) for key, inner in content.items()}
    return content


def same(left, right):
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        # In the same order, too.
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right or left != left and right != right


def excuse(document, theirs, error):
    """Why they may differ; None where they may not."""
    text = document.decode(errors="replace")
    if error:
        if "too large; an integer is from" in error:
            return "integer"
        if "nested" in error and "deep" in error or "more than 100 names" in error:
            return "depth"
        if "is already defined" in error or "remove one of the two" in error or "and cannot also be a table" in error:
            if unicodedata.normalize("NFC", text) != text:
                return "same key"
        return None
    if text.startswith("\ufeff"):
        return "BOM"
    if re.search(r"\d\d:\d\d:60", text):
        return "second 60"
    if re.search(r"0000-\d\d-\d\d", text):
        return "year 0"
    if theirs is None and NEW.search(document):
        return "TOML 1.1"
    return None


def main():
    reader, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    seeds = corpus()
    documents = seeds + [
        headers(chance) if chance.random() < 0.3 else mutated(chance.choice(seeds), seeds, chance) for _ in range(count)
    ]
    framed = b"".join(struct.pack("<I", len(document)) + document for document in documents)
    done = subprocess.run([reader], input=framed, stdout=subprocess.PIPE)
    answers = done.stdout.decode().split("\n")
    if done.returncode or len(answers) != len(documents) + 1:
        sys.exit(f"the reader ended with {done.returncode} in {documents[len(answers) - 1]!r}")
    figures = collections.Counter()
    wrong = 0
    for document, answer in zip(documents, answers):
        theirs, reason = expected(document)
        if answer[0] == "E":
            agrees, error = theirs is None, answer
            figures["refused by both"] += agrees
        else:
            error = None
            agrees = theirs is not None and same(value(json.loads(answer[2:])), theirs)
            figures["the same values"] += agrees
        if agrees:
            continue
        why = excuse(document, theirs, error)
        figures[f"differs: {why}"] += 1
        if why is None:
            wrong += 1
            if wrong <= 10:
                print(f"--- {document!r}\n    ours: {answer[:300]}\n    tomllib: {reason or theirs}")
    print(f"{len(documents)} documents, seed {seed}")
    for name, number in sorted(figures.items()):
        print(f"  {number:7} {name}")
    sys.exit(1 if wrong else 0)


main()
