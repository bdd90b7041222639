"""feedparser's assertions on its well-formed documents, against the rows that one sync of all of them makes. Called by
Scripts/trials/feedparser.

Considered is an assertion that compares one of the fields below, of the feed or of an entry, with a value. Not considered are
CDF, which is not read, what is sanitised, and documents that only say what they mean in headers that a file has not.

A date is compared as the moment that it is; feedparser's assertions on its text say how the document wrote it. Markup is
compared as markup: <br/> is <br />, and a quote may be written as a reference.
"""
import ast
import datetime
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

FIELDS = {
    "title": "title", "link": "link", "id": "id", "guid": "id", "author": "author", "language": "language",
    "summary": "summary", "description": "summary", "subtitle": "summary", "tagline": "summary",
    "published_parsed": "published", "updated_parsed": "updated", "content": "content",
}
FEED_FIELDS = dict(FIELDS, summary="description", description="description", subtitle="description", tagline="description")
DATES = {"published", "updated"}


def field(node):
    """The record and the field that an expression names: ("feed", 0, "title"); None where it names none."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == "value":
        # entries[0]['content'][0]['value']
        inner = node.value
        if isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Constant) and inner.slice.value == 0:
            found = field(inner.value)
            return found if found and found[2] == "content" else None
        return None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        record, name = node.value, node.slice.value
    elif isinstance(node, ast.Attribute):
        record, name = node.value, node.attr
    else:
        return None
    if isinstance(record, ast.Name) and record.id in ("feed", "channel"):
        return ("feed", 0, FEED_FIELDS[name]) if FEED_FIELDS.get(name, "content") != "content" else None
    if isinstance(record, ast.Subscript) and isinstance(record.value, ast.Name) and record.value.id == "entries":
        if isinstance(record.slice, ast.Constant) and name in FIELDS:
            return "entry", record.slice.value, FIELDS[name]
    return None


def comparisons(text):
    """The fields that an assertion compares, with the values that they should have; none where it says anything else."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return []
    found = []
    for part in tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]:
        if isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Name) and part.operand.id == "bozo":
            continue
        if not isinstance(part, ast.Compare) or not all(isinstance(op, ast.Eq) for op in part.ops):
            return []
        try:
            value = ast.literal_eval(part.comparators[-1])
        except ValueError:
            return []
        for side in [part.left, *part.comparators[:-1]]:
            name = field(side)
            is_content = name and name[2] == "content"
            if not name or isinstance(value, tuple) != (name[2] in DATES):
                return []
            if is_content and not isinstance(value, str):
                return []
            found.append((name, value))
    return found


def moment(value):
    return datetime.datetime(*value[:6]).strftime("%Y-%m-%dT%H:%M:%SZ")


def same(value, row):
    if isinstance(value, tuple):
        return (row or "")[:19] + "Z" == moment(value)
    if row is None:
        return value in (None, "")
    # html.unescape turns markup that is text into markup: it is applied to the quotes only.
    plain = lambda text: text.strip().replace(" />", "/>").replace("&quot;", '"').replace("&#39;", "'").replace("&gt;", ">")
    return plain(str(value)) == plain(row)


def documents(folder, parts):
    for path in sorted(folder.rglob("*.xml")):
        part = path.relative_to(folder).parts[0]
        if part not in parts if parts else part in ("cdf", "sanitize"):
            continue
        document = path.read_bytes()
        encoding = "utf-16" if document[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
        text = document.decode(encoding, errors="replace")
        # Of another server, or of the transport.
        if path.name.startswith("http_") or re.search(r"^Header:", text, re.M):
            continue
        expected = re.search(r"Expect:\s*(.*?)\s*(?:-->|\n)", text)
        if expected and (found := comparisons(expected[1])):
            yield path, expected[1], found


def main():
    program, folder, least, parts = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), int(sys.argv[3]), sys.argv[4:]
    considered = list(documents(folder, parts))
    with tempfile.TemporaryDirectory() as work:
        lines = ["[store]\npath = 'store.sqlite'\n[defaults]\nparser = 'SyndicationParser'\n"]
        for number, (path, _, _) in enumerate(considered):
            lines.append(f"[[sources.d{number}.requests]]\nurl = '{path.as_uri()}'\n")
        config = pathlib.Path(work, "sources.toml")
        config.write_text("".join(lines))
        done = subprocess.run([program, "--config", config, "sync", "--json"], capture_output=True)
        if done.returncode not in (0, 1):
            sys.exit(done.stderr.decode())
        store = sqlite3.connect(pathlib.Path(work, "store.sqlite"))
        store.row_factory = sqlite3.Row
        passed = 0
        for number, (path, expected, found) in enumerate(considered):
            feed = store.execute("SELECT * FROM feed WHERE source = ?", [f"d{number}"]).fetchall()
            key = [feed[0]["feed"]] if feed else [None]
            rows = {"feed": feed, "entry": store.execute("SELECT * FROM entry WHERE feed = ? ORDER BY rowid", key).fetchall()}
            wrong = []
            for (record, index, name), value in found:
                # Entries that say the same are one row.
                row = rows[record][min(index, len(rows[record]) - 1)][name] if rows[record] else None
                if not same(value, row):
                    wrong.append(repr(row))
            passed += not wrong
            if wrong:
                print(f"{path.relative_to(folder)}: {expected}, and it is {wrong[0]}")
    print(f"{passed} / {len(considered)}")
    sys.exit(1 if passed < least else 0)


main()
