#!/usr/bin/env python3
"""Writes the benchmark's two feeds: generate.py FOLDER CONTACTS [COMPANIES]

companies.xml and contacts.xml have the shape that contacts-daemon reads. The same numbers give the
same bytes. Emails are in no order, as in a real directory, so nobody's index is filled by appending.
"""
import pathlib
import random
import sys

FIRST = "Annika Björn Carla Dmitri Edith Farid Greta Haruto Inès Jorge Katarzyna Liam Mei Niamh Oskar Priya".split()
LAST = "Andersson Bianchi Castellanos Dąbrowski Eriksen Fernández Grünwald Hashimoto Iversen Jankowski".split()


def main() -> None:
    folder, contacts = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    companies = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "companies.xml", "w", encoding="utf-8") as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<companies>\n')
        for i in range(companies):
            out.write(f'  <company id="c{i:04}"><name>Company &amp; Sons {i}</name></company>\n')
        out.write("</companies>\n")
    numbers = random.Random(20261121)
    with open(folder / "contacts.xml", "w", encoding="utf-8", buffering=1 << 20) as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n<contacts>\n')
        for i in range(contacts):
            r = numbers.getrandbits(48)
            first, last = FIRST[r % 16], LAST[(r >> 4) % 10]
            out.write(
                f"  <contact>\n    <firstName>{first}</firstName>\n    <lastName>{last}</lastName>\n"
                f"    <email>{(r >> 8) & 0xFFFF:04x}.{i}@example.org</email>\n"
                f"    <company>c{(r >> 24) % companies:04}</company>\n    <age>{18 + (r >> 32) % 70}</age>\n"
                f"    <balance>{((r >> 16) % 10_000_000) / 100:.2f}</balance>\n"
                f"    <updated>2026-{1 + r % 12:02}-{1 + (r >> 4) % 28:02}T{(r >> 9) % 24:02}:15:00Z</updated>\n"
                "  </contact>\n"
            )
        out.write("</contacts>\n")


main()
