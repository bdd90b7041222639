"""Writes documents with what makes round trips hard, for Scripts/trials/round-trip: FOLDER COUNT [SEED]."""
import pathlib
import random
import sys
from xml.sax.saxutils import escape, quoteattr

folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int((sys.argv[3:] or ["1"])[0])
folder.mkdir(parents=True, exist_ok=True)
NAMES = ["item", "name", "link", "Link", "tag", "id", "value", "list", "group", "title", "date", "n", "tributary_run", "a-b", "a_b"]
PREFIXES = ["", "", "", "x:", "y:"]
TEXTS = ["a", "b, c", "  x ", "1", "007", "-3.50", "2026-11-20", "Tue, 03 Jun 2003 09:39:21 GMT", "2026-11-20T10:00:00+02:00",
         "true", "", " ", "]]>", "<b>&", "é\u2028", "a\nb", "1e5", "9223372036854775808", "x;y", "0", "\u00a0z\u00a0"]


class Shape:
    """What elements of one kind have; each document has a few."""

    def __init__(self, r, depth, inherited=None):
        self.name = r.choice(PREFIXES) + r.choice(NAMES)
        names = r.sample(["id", "lang", "xml:lang", "x:id", "type", "date"], r.randint(0, 3))
        self.attributes = [(name, r.random(), r.choice(["unique", "any"])) for name in names]
        self.text = r.choice([None, None, "any", "unique", "prose"]) if depth else None
        self.repeats = r.random() < 0.5
        self.presence = r.choice([1, 0.7, 0.3])
        self.children = [Shape(r, depth + 1) for _ in range(r.randint(0, 4 if depth < 2 else 2))] if depth < 4 else []
        if depth < 3 and r.random() < 0.12:
            self.children.append(self)
        if r.random() < 0.1:
            self.html = True
            self.children, self.text = [], None
        else:
            self.html = False


def text(r, kind, counter):
    counter[0] += 1
    return f"u{counter[0]}" if kind == "unique" else r.choice(TEXTS)


def write(r, shape, counter, depth, out, top=False):
    if depth > 9:
        return
    attributes = ""
    for name, presence, kind in shape.attributes:
        if r.random() <= presence + 0.2:
            attributes += f" {name}={quoteattr(text(r, kind, counter))}"
    if top:
        attributes += ' xmlns:x="urn:x" xmlns:y="urn:y"' + r.choice(["", ' xmlns="urn:d"'])
    out.append(f"<{shape.name}{attributes}>")
    if shape.html:
        out.append(f'<div xmlns="http://www.w3.org/1999/xhtml">p {escape(text(r, "any", counter))}<b>q</b></div>')
    if shape.text and shape.text != "prose":
        out.append(escape(text(r, shape.text, counter)))
    children = [child for child in shape.children for _ in range((r.randint(1, 4) if child.repeats or top else 1) if r.random() <= child.presence else 0)]
    if shape is not None and shape in shape.children:
        children = [c for c in children if c is not shape or r.random() < 0.4]
    if r.random() < 0.5:
        r.shuffle(children)
    for child in children:
        write(r, child, counter, depth + 1, out)
        if shape.text == "prose":
            out.append(escape(" and then some more text " + text(r, "any", counter)))
        elif r.random() < 0.3:
            out.append("\n  ")
    out.append(f"</{shape.name}>")


for number in range(count):
    r = random.Random(seed * 100_000 + number)
    out = ['<?xml version="1.0" encoding="UTF-8"?>\n']
    root = Shape(r, 0)
    write(r, root, [0], 0, out, top=True)
    (folder / f"{seed}-{number:04}.xml").write_text("".join(out))
