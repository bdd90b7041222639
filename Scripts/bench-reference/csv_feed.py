#!/usr/bin/env python3
"""Loads the same contacts from CSV with Tributary, pandas, sqlite-utils and Python's csv: the scenario csv of Scripts/bench.

    csv_feed.py --work FOLDER --program PATH --contacts N [--runs N] [--programs d e s b]

d is `tributary sync` of a file: URL into an empty store, d_full the same again with --full (every row parsed and compared), d_read
the same document without a record of it (what reading alone takes); e is pandas.read_csv in chunks and to_sql; s is `sqlite-utils
insert --csv --pk`; b is csv.DictReader and executemany. Each runs RUNS times, in a process of its own; wall seconds and peak memory
are medians. MB/s is 10^6 bytes of the document a wall second, and a second of processor time of all threads ("a core"). The rows of
all programs are compared.
"""
import argparse
import csv
import os
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

COLUMNS = ["email", "firstName", "lastName", "company", "age", "balance", "updated"]
FIRST = "Annika Björn Carla Dmitri Edith Farid Greta Haruto Inès Jorge Katarzyna Liam Mei Niamh Oskar Priya".split()
LAST = "Andersson Bianchi Castellanos Dąbrowski Eriksen Fernández Grünwald Hashimoto Iversen Jankowski".split()
TABLE = """
[[sources.s.requests.tables]]
table = "contact"
element = "{element}"
key = ["email"]
[sources.s.requests.tables.columns]
email = "email"
firstName = "firstName"
lastName = "lastName"
company = "company"
age = {{ path = "age", type = "integer" }}
balance = {{ path = "balance", type = "real" }}
updated = "updated"
"""
PANDAS = """
import sqlite3, sys, pandas
store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA journal_mode = WAL")
store.execute("CREATE TABLE contact (email TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, company TEXT, age INTEGER, "
              "balance REAL, updated TEXT)")
with store:
    for chunk in pandas.read_csv(sys.argv[2], chunksize=100_000):
        chunk.to_sql("contact", store, if_exists="append", index=False)
store.close()
"""
SCRIPT = """
import csv, sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute("PRAGMA journal_mode = WAL")
store.execute("CREATE TABLE contact (email TEXT PRIMARY KEY, firstName TEXT, lastName TEXT, company TEXT, age INTEGER, "
              "balance REAL, updated TEXT)")
with store, open(sys.argv[2], newline="", encoding="utf-8") as feed:
    store.executemany("INSERT INTO contact VALUES (:email, :firstName, :lastName, :company, :age, :balance, :updated)",
                      csv.DictReader(feed))
store.close()
"""
LABELS = {"d": "d tributary", "d_full": "d, --full again", "d_read": "d, reading alone", "e": "e pandas", "s": "s sqlite-utils",
          "b": "b csv script"}


def generate(path, contacts):
    numbers = random.Random(20261124)
    with open(path, "w", newline="", encoding="utf-8") as out:
        feed = csv.writer(out, lineterminator="\n")
        feed.writerow(COLUMNS)
        for i in range(contacts):
            r = numbers.getrandbits(48)
            company = f"Company {(r >> 24) % 1000}" + (', "Sons" & Co.' if r % 5 == 0 else " and Partners")
            feed.writerow([
                f"{(r >> 8) & 0xFFFF:04x}.{i}@example.org", FIRST[r % 16], LAST[(r >> 4) % 10], company, 18 + (r >> 32) % 70,
                f"{((r >> 16) % 10_000_000) / 100:.2f}",
                f"2026-{1 + r % 12:02}-{1 + (r >> 4) % 28:02}T{(r >> 9) % 24:02}:15:00Z"])


def measure(command):
    """Returns wall seconds, processor seconds and the peak memory in bytes."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if status != 0:
        sys.exit(f"{command[0]} failed: {output.decode(errors='replace')}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def rows(store):
    database = sqlite3.connect(store)
    found = database.execute(
        "SELECT count(*), sum(age), round(sum(balance), 2), min(email || firstName || company), max(email || lastName || updated) "
        "FROM contact").fetchone()
    database.close()
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--programs", nargs="+", default=list(LABELS), choices=list(LABELS))
    options = parser.parse_args()
    folder = options.work / "csv"
    folder.mkdir(parents=True, exist_ok=True)
    feed = folder / "contacts.csv"
    generate(feed, options.contacts)
    size = feed.stat().st_size
    store = folder / "store.sqlite"
    for name, element, more in [("sync", "row", ""), ("read", "none", "allow_empty = true\n")]:
        (folder / f"{name}.toml").write_text(
            f'[store]\npath = "store.sqlite"\n[sources.s]\n[[sources.s.requests]]\nurl = "{feed.resolve().as_uri()}"\n'
            f'format = "csv"\nmax_body = "64GiB"\n{more}' + TABLE.format(element=element))
    python, bin_folder = sys.executable, pathlib.Path(sys.executable).parent
    program = str(options.program.resolve())

    def sync(name, *arguments):
        return [program, "-c", str(folder / f"{name}.toml"), "sync", "--quiet", *arguments]

    commands = {
        "d": sync("sync"), "d_full": sync("sync", "--full"), "d_read": sync("read"),
        "e": [python, "-c", PANDAS, str(store), str(feed)], "b": [python, "-c", SCRIPT, str(store), str(feed)],
        "s": [str(bin_folder / "sqlite-utils"), "insert", str(store), "contact", str(feed), "--csv", "--pk", "email"],
    }
    print(f"{options.contacts:,} contacts in CSV, {size / 1e6:.1f} MB")
    print(f"{'':18}{'wall s':>9}{'cpu s':>9}{'MB/s':>9}{'MB/s a core':>13}{'peak MiB':>10}")
    expected = None
    for name in options.programs:
        measured = []
        for _ in range(options.runs):
            if name != "d_full" or not measured:
                for path in folder.glob("store.sqlite*"):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            if name == "d_full" and not measured:
                measure(commands["d"])
            measured.append(measure(commands[name]))
        wall, cpu, memory = (statistics.median(column) for column in zip(*measured))
        print(f"{LABELS[name]:18}{wall:9.2f}{cpu:9.2f}{size / 1e6 / wall:9.1f}{size / 1e6 / cpu:13.1f}{memory / 2**20:10.0f}", flush=True)
        if name != "d_read":
            found = rows(store)
            expected = expected or found
            if found != expected:
                sys.exit(f"{LABELS[name]} has other rows: {found} and not {expected}")


main()
