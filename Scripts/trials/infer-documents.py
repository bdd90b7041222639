"""Writes documents in which a key nearly is one, for Scripts/trials/infer: FOLDER COUNT [SEED]."""
import pathlib
import random
import sys
from xml.sax.saxutils import escape, quoteattr

folder, total, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int((sys.argv[3:] or ["1"])[0])
folder.mkdir(parents=True, exist_ok=True)

# Values of which some are equal in one way or another: case, blanks, forms of Unicode, zeros, signs, times in other zones.
NEARLY = [
    ["a", "A", "á", "a\u0301", "Á", "ａ", "a ", " a", "a\u00a0", "a\u200b", "aa", "AA", "ß", "ss", "ẞ", "ﬁ", "fi", "i", "İ", "ı"],
    ["1", "1.0", "01", "1.00", "+1", "-0", "0", "0.0", "1e0", "10", "1 0", "9007199254740993", "9007199254740992"],
    ["1", "2", "3", "4", "5", "6", "7", "8", "-0", "0"],
    ["1.5", "1.50", "2.5", "-0.0", "0.0", "0.1"],
    ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.000Z", "2026-01-01", "2026-01-02T00:00:00.5Z"],
    ["true", "false", "TRUE", "1", "0"],
    ["x" * 254, "x" * 255, "x" * 256, "x" * 300, "x" * 255 + "y"],
]
KEYS = ["id", "code", "name", "key", "date", "n", "xml:id", "ref", "guid", "x:id", "position", "value"]
ELEMENTS = ["e", "item", "sense", "criteria", "div", "outline", "table", "tr", "subfield", "p", "note", "x:item", "y:e", "E"]


class Shape:
    def __init__(self, r, depth, above):
        self.name = r.choice(ELEMENTS)
        self.keys = [(key, r.choice(["unique", "unique", "sibling", "nearly", "missing"]), r.choice(NEARLY), r.random() < 0.5)
                     for key in r.sample(KEYS, r.choice([0, 1, 1, 2, 3]))]
        self.text = r.choice([None, None, "value", "prose", "equal"])
        self.containers = r.choice([1, 1, 2, 3])
        self.wrapper = r.choice([None, None, "list", "group", self.name])
        self.many = r.choice([1, 2, 3, 6, 60 if depth == 1 else 4])
        self.twins = r.random() < 0.3
        self.children = [Shape(r, depth + 1, above + [self]) for _ in range(r.choice([0, 1, 1, 2, 3]))] if depth < 4 else []
        # The same kind of element again further down, beneath others or directly.
        if above and r.random() < 0.35:
            self.children.append(r.choice(above + [self]))


class Writer:
    def __init__(self, r):
        self.r, self.out, self.next, self.size = r, [], 0, 0

    def value(self, kind, nearly, number):
        self.next += 1
        if kind == "unique":
            return f"k{self.next}"
        if kind == "sibling":
            return f"s{number}"
        if kind == "missing" and self.r.random() < 0.2:
            return None
        return self.r.choice(nearly) if kind == "nearly" else f"m{self.next}"

    def element(self, shape, number, depth):
        self.size += 1
        if self.size > 4000 or depth > 12:
            return
        attributes, inside = "", ""
        for key, kind, nearly, isAttribute in shape.keys:
            value = self.value(kind, nearly, number)
            if value is None:
                continue
            if isAttribute or ":" in key and key != "x:id":
                attributes += f" {key}={quoteattr(value)}"
            else:
                inside += f"<{key}>{escape(value)}</{key}>"
        self.out.append(f"<{shape.name}{attributes}>{inside}")
        if shape.text == "value":
            self.out.append(escape(self.r.choice(self.r.choice(NEARLY))))
        elif shape.text == "prose":
            self.out.append(f"some <b>{self.r.choice(['bold', 'b<i>o</i>ld'])}</b> running text here <i>of</i> words and more of it ")
        elif shape.text == "equal":
            self.out.append("same")
        for child in shape.children:
            if depth > 1 and self.r.random() < 0.3:
                continue
            for _ in range(child.containers):
                if child.wrapper:
                    self.out.append(f"<{child.wrapper}>")
                begin = len(self.out)
                for number in range(1 if child.wrapper == child.name else self.r.randint(0, child.many if depth < 5 else 1)):
                    self.element(child, number, depth + 1)
                    if child.twins and len(self.out) - begin < 200:
                        self.out.extend(self.out[begin:])
                if child.wrapper:
                    self.out.append(f"</{child.wrapper}>")
        self.out.append(f"</{shape.name}>")


for number in range(total):
    r = random.Random(f"{seed}-{number}")
    writer = Writer(r)
    shapes = [Shape(r, 1, []) for _ in range(r.choice([1, 1, 2]))]
    for shape in shapes:
        for index in range(r.choice([1, 2, 5, 70])):
            begin = len(writer.out)
            writer.element(shape, index, 1)
            if r.random() < 0.1:
                writer.out.extend(writer.out[begin:])
    default = r.choice(["", "", ' xmlns="urn:d"'])
    text = f'<root{default} xmlns:x="urn:x" xmlns:y="urn:y">{"".join(writer.out)}</root>\n'
    (folder / f"{number:05}.xml").write_text(text)
