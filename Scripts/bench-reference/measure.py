#!/usr/bin/env python3
"""Runs the three programs in turn and prints wall, CPU, peak memory and ratios. Called by Scripts/bench."""
import argparse
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def measure(command, environment=None):
    """Wall seconds, CPU seconds and peak memory in MiB of one process, with what it printed."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **(environment or {})})
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"{command[0]} failed: {output.decode()}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


class Reader(threading.Thread):
    """Queries a store again and again, and keeps the longest delay."""

    def __init__(self, store):
        super().__init__()
        self.store, self.longest, self.stopped = store, 0.0, threading.Event()

    def run(self):
        database = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True)
        while not self.stopped.wait(0.005):
            start = time.monotonic()
            database.execute("SELECT * FROM contact WHERE email = '0000.0@example.org'").fetchall()
            database.execute("SELECT * FROM company LIMIT 10").fetchall()
            self.longest = max(self.longest, time.monotonic() - start)


class Bench:
    def __init__(self, arguments):
        self.work, self.bin, self.runs = pathlib.Path(arguments.work), pathlib.Path(arguments.bin), arguments.runs
        self.environment = {}

    def serve(self, feeds, *options):
        port = self.work / "port"
        port.unlink(missing_ok=True)
        server = subprocess.Popen([self.bin / "FeedServer", feeds, port, *options])
        while not port.exists():
            if server.poll() is not None:
                sys.exit("FeedServer failed")
            time.sleep(0.01)
        self.environment = {"CONTACTS_URL": f"http://127.0.0.1:{port.read_text().strip()}"}
        return server

    def fresh(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def a(self, folder, feeds):
        return measure([self.work / "reference", folder / "store.sqlite", feeds / "contacts.xml"])

    def b(self, folder, feeds):
        return measure([sys.executable, HERE / "loader.py", folder / "store.sqlite", feeds / "contacts.xml"])

    def c(self, folder, feeds):
        config = folder / "sources.toml"
        shutil.copy(ROOT / "Sources/ContactsDaemon/sources.toml", config)
        command = [self.bin / "contacts-daemon", "--config", config, "sync", "--full", "--json"]
        result = measure(command, self.environment)
        report = json.loads(result[3])
        if report["outcome"] != "committed":
            sys.exit(f"contacts-daemon: {report['error']}")
        return result

    def d(self, folder, feeds):
        for name in ("mapping.toml", "schema.sql"):
            shutil.copy(HERE / name, folder / name)
        return self.sync(folder / "mapping.toml", self.environment)

    def sync(self, config, environment=None):
        result = measure([self.bin / "tributary", "--config", config, "sync", "--full", "--json"], environment)
        report = json.loads(result[3])
        if report["outcome"] != "committed":
            sys.exit(f"tributary: {report['error']}")
        return result

    def nested(self, orders, runs):
        """What a second table costs that is nested in the first: wall for a row of each."""
        folder = self.fresh("nested")
        with open(folder / "orders.xml", "w") as out:
            out.write("<orders>\n")
            for i in range(orders):
                lines = "".join(f'<line sku="s{(i * 7 + n) % 9973}"><qty>{n + 1}</qty></line>' for n in range(3))
                out.write(f'<order id="{i * 7919 % orders}"><placed>2026-11-21</placed><buyer>b{i % 500}</buyer>{lines}</order>\n')
            out.write("</orders>\n")
        head = f'[store]\npath = "s.sqlite"\n[sources.s]\n[[sources.s.requests]]\nurl = "file://{folder}/orders.xml"\ntimeout = "10m"\n'
        outer = '{ table = "orders", element = "order", key = ["id"], columns = { id = { path = "@id", type = "integer" }, placed = "placed", buyer = "buyer" } }'
        inner = '{ table = "line", element = "line", key = ["order_id", "n"], columns = { order_id = { parent = "orders" }, n = { ordinal = true }, sku = "@sku", qty = { path = "qty", type = "integer" } } }'
        walls = []
        for tables in ([outer], [outer, inner]):
            (folder / "sources.toml").write_text(head + f"tables = [{', '.join(tables)}]\n")
            times = []
            for _ in range(runs):
                for store in folder.glob("s.sqlite*"):
                    shutil.rmtree(store) if store.is_dir() else store.unlink()
                times.append(self.sync(folder / "sources.toml")[0])
            walls.append(statistics.median(times))
        one, both = walls
        print(f"\n{orders:,} orders alone {one:.2f} s; with the {3 * orders:,} lines within them {both:.2f} s: "
              f"a row of the first table {one / orders * 1e6:.2f} µs, of the second {(both - one) / (3 * orders) * 1e6:.2f} µs")

    def compare(self, title, feeds, programs, runs, again=False):
        """Measures the programs in turn, run by run, and prints medians."""
        results = {name: [] for name in programs}
        for run in range(runs):
            for name in programs:
                program = getattr(self, name)
                folder = self.fresh(name)
                first = program(folder, feeds)
                results[name].append(program(folder, feeds) if again else first)
        print(f"\n{title}")
        print(f"{'':14}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}")
        walls = {}
        for name, label in (("a", "a reference"), ("b", "b script"), ("c", "c class"), ("d", "d mapping")):
            if name not in results:
                continue
            walls[name], cpu, memory = (statistics.median(r[i] for r in results[name]) for i in range(3))
            print(f"{label:14}{walls[name]:9.2f}{cpu:9.2f}{memory:10.1f}")
        ratios = [("c/a", "c", "a"), ("d/a", "d", "a"), ("b/c", "b", "c"), ("b/d", "b", "d")]
        print("  ".join(f"{r} {walls[x] / walls[y]:.2f}" for r, x, y in ratios if x in walls and y in walls), flush=True)

    def reader_delay(self, feeds):
        folder = self.fresh("reader")
        self.c(folder, feeds)
        reader = Reader(folder / "contacts.sqlite")
        reader.start()
        # An update of every row: the largest commit there is.
        database = sqlite3.connect(folder / "contacts.sqlite")
        with database:
            database.execute("UPDATE contact SET updated = 'before'")
        database.close()
        reader.longest = 0
        self.c(folder, feeds)
        reader.stopped.set()
        reader.join()
        print(f"\nA reader's longest delay during a commit that updates every row: {reader.longest * 1000:.1f} ms")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    bench = Bench(arguments)

    feeds, large = bench.work / "feeds", bench.work / "feeds4"
    for folder, contacts in ((feeds, arguments.contacts), (large, 4 * arguments.contacts)):
        if not (folder / "contacts.xml").exists():
            subprocess.run([sys.executable, HERE / "generate.py", folder, str(contacts)], check=True)
    size = (feeds / "contacts.xml").stat().st_size / 1e6

    server = bench.serve(feeds)
    try:
        title = f"{arguments.contacts:,} contacts, {size:.0f} MB"
        bench.compare(title + ", into an empty store", feeds, "abcd", bench.runs)
    finally:
        server.terminate()
        server.wait()
    server = bench.serve(feeds, "--no-validators")
    try:
        bench.compare(title + ", unchanged, served without validators", feeds, "abcd", bench.runs, again=True)
        bench.reader_delay(feeds)
        bench.nested(arguments.contacts // 4, min(bench.runs, 3))
    finally:
        server.terminate()
        server.wait()
    server = bench.serve(large)
    try:
        bench.compare(f"{4 * arguments.contacts:,} contacts, into an empty store", large, "acd", 1 if bench.runs < 3 else 3)
    finally:
        server.terminate()
        server.wait()


main()
