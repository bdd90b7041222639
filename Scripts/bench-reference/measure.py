#!/usr/bin/env python3
"""Runs the programs in turn and prints wall, CPU, peak memory and ratios. Called by Scripts/bench."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LABELS = {
    "a": "a reference, 64 MiB",
    "a_default": "a reference, 2 MB",
    "b": "b script",
    "c": "c class",
    "c_full": "c class, --full",
    "d": "d mapping",
    "d_full": "d mapping, --full",
    "d_sql": "d, 10 expressions",
    "d_wide": "d, 10 more paths",
    "d_history": "d, keep_history",
    "e": "e pandas",
    "f": "f dlt",
}
SCENARIOS = [
    "empty", "large", "unchanged", "large_unchanged", "changed", "large_changed", "history", "delay", "nested", "derived"]
# The page cache that the C program gets in KiB, so that its memory is like ours; without it, it has SQLite's 2,000 KiB.
CACHE = "65536"
# Ten columns that are computed, and ten that are read, in addition to those of the mapping.
DERIVED = """
gross = { sql = "round(balance * 1.19, 2)", type = "real" }
fullName = { sql = "firstName || ' ' || lastName" }
initial = { sql = "substr(lastName, 1, 1)" }
address = { sql = "lower(email)" }
ages = { sql = "CASE WHEN age < 18 THEN 'minor' WHEN age < 65 THEN 'adult' ELSE 'senior' END" }
nextAge = { sql = "age + 1", type = "integer" }
isRich = { sql = "balance > 1000", type = "boolean" }
host = { sql = "split_part(email, '@', 2)" }
plain = { sql = "regexp_replace(lastName, '[^A-Za-z]+', '')" }
sortName = { sql = "casefold(coalesce(lastName, firstName, ''))" }
"""
WIDE = "".join(f'wide{i} = "{path}"\n' for i, path in enumerate(
    ["balance", "firstName", "lastName", "email", "company", "age", "age", "email", "lastName", "firstName"]))
# The C program with either cache, beside both of ours.
ABOVE = ["a", "a_default", "c", "d"]
# What PROGRAMS chooses from.
CHOICES = ["a", "a_default", "b", "c", "c_full", "d", "d_full", "e", "f"]
# They take a minute or two a run, so they run once, whatever RUNS says.
ONCE = {"e", "f"}
RATIOS = [
    ("10 expressions/without", "d_sql", "d"), ("10 expressions/10 paths", "d_sql", "d_wide"),
    ("c/a", "c", "a"), ("d/a", "d", "a"), ("c --full/a", "c_full", "a"), ("d --full/a", "d_full", "a"),
    ("c/a 2 MB", "c", "a_default"), ("d/a 2 MB", "d", "a_default"), ("c --full/a 2 MB", "c_full", "a_default"),
    ("d --full/a 2 MB", "d_full", "a_default"),
    ("history/d", "d_history", "d"), ("b/c", "b", "c"), ("b/d", "b", "d"), ("e/d", "e", "d"), ("f/d", "f", "d"),
]  # fmt: skip


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


# Not as root: for root, SQLite sets the owner of the shared memory's file with each connection, which waits for the file
# system's journal whoever writes to that (os_unix.c, "robustFchown").
READER = """
import os, select, sqlite3, sys, time
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
address, longest = f"file:{sys.argv[1]}?mode=ro", 0.0
kept = sqlite3.connect(address, uri=True, timeout=60)
print("reads", flush=True)
while not select.select([sys.stdin], [], [], 0.003)[0]:
    start = time.monotonic()
    opened = sqlite3.connect(address, uri=True, timeout=60)
    for database in (kept, opened):
        database.execute("SELECT * FROM contact WHERE email = '0000.0@example.org'").fetchall()
        database.execute("SELECT * FROM company LIMIT 10").fetchall()
    opened.close()
    longest = max(longest, time.monotonic() - start)
print(longest * 1000)
"""


class Reader:
    """A process that queries a store again and again, by a connection that it keeps and by new ones."""

    def __init__(self, store):
        store.parent.chmod(0o777)
        store.chmod(0o666)
        self.process = subprocess.Popen(
            [sys.executable, "-c", READER, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def longest(self):
        """Ends the reading, and returns the longest wait in milliseconds."""
        return float(self.process.communicate(b"end\n")[0])


class Bench:
    def __init__(self, arguments):
        self.work, self.bin, self.runs = pathlib.Path(arguments.work), pathlib.Path(arguments.bin), arguments.runs
        self.programs = getattr(arguments, "programs", None)
        self.served = self.fresh("served")
        self.environment = {}

    @contextlib.contextmanager
    def serving(self, *options):
        """Runs a server of the feeds that are published last."""
        port = self.work / "port"
        port.unlink(missing_ok=True)
        server = subprocess.Popen([pathlib.Path(__file__).parent.parent / "feed-server", self.served, port, *options])
        while not port.exists():
            if server.poll() is not None:
                sys.exit("Scripts/feed-server failed")
            time.sleep(0.01)
        self.environment = {"CONTACTS_URL": f"http://127.0.0.1:{port.read_text().strip()}"}
        try:
            yield
        finally:
            server.terminate()
            server.wait()

    def publish(self, feeds):
        """Serves these feeds from now on, at the same addresses as those before."""
        for feed in ("companies.xml", "contacts.xml"):
            (self.served / feed).unlink(missing_ok=True)
            (self.served / feed).symlink_to((feeds / feed).resolve())

    def feeds(self, contacts):
        """The folder of the feeds with so many contacts, which are written once."""
        folder = self.work / f"feeds-{contacts}"
        if not (folder / "contacts.xml").exists():
            subprocess.run([sys.executable, HERE / "generate.py", folder, str(contacts)], check=True)
        return folder

    def fresh(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def a(self, folder, feeds, options=("--cache", CACHE)):
        return measure([self.work / "reference", *options, folder / "store.sqlite", feeds / "contacts.xml"])

    def a_default(self, folder, feeds):
        return self.a(folder, feeds, ())

    def apart(self, feeds, runs):
        """The seconds of the C program's parsing alone, and of its insertion alone."""
        results = [self.a(self.fresh("apart"), feeds, ("--cache", CACHE, "--apart"))[3] for _ in range(runs)]
        figures = [json.loads(result) for result in results]
        return [statistics.median(figure[name] for figure in figures) for name in ("parse", "insert")]

    def python(self, script, folder, feeds):
        return measure([sys.executable, "-W", "ignore", HERE / script, folder / "store.sqlite", feeds / "contacts.xml"])

    def b(self, folder, feeds):
        return self.python("loader.py", folder, feeds)

    def e(self, folder, feeds):
        return self.python("pandas_loader.py", folder, feeds)

    def f(self, folder, feeds):
        return self.python("dlt_loader.py", folder, feeds)

    # `--force` is what happens whenever a source is due: a body whose digest is the last one's is not parsed. `--full`
    # parses every body, and compares every row with the store's.
    def c(self, folder, feeds, option="--force"):
        config = folder / "sources.toml"
        shutil.copy(ROOT / "Sources/ContactsDaemon/sources.toml", config)
        return self.sync(config, option, program="contacts-daemon")

    def c_full(self, folder, feeds):
        return self.c(folder, feeds, "--full")

    def d(self, folder, feeds, option="--force"):
        for name in ("mapping.toml", "schema.sql"):
            shutil.copy(HERE / name, folder / name)
        return self.sync(folder / "mapping.toml", option)

    def d_full(self, folder, feeds):
        return self.d(folder, feeds, "--full")

    def d_history(self, folder, feeds):
        for name in ("mapping.toml", "schema.sql"):
            shutil.copy(HERE / name, folder / name)
        config = folder / "mapping.toml"
        config.write_text(config.read_text().replace("[sources.directory]", "[sources.directory]\nkeep_history = true"))
        return self.sync(config, "--force")

    def d_sql(self, folder, feeds, columns=DERIVED):
        shutil.copy(HERE / "schema.sql", folder / "schema.sql")
        (folder / "mapping.toml").write_text((HERE / "mapping.toml").read_text().rstrip() + "\n" + columns)
        return self.sync(folder / "mapping.toml", "--force")

    def d_wide(self, folder, feeds):
        return self.d_sql(folder, feeds, WIDE)

    def sync(self, config, option="--full", program="tributary"):
        result = measure([self.bin / program, "--config", config, "sync", option, "--json"], self.environment)
        self.report = json.loads(result[3])
        if self.report["outcome"] not in ("committed", "unchanged"):
            sys.exit(f"{program}: {self.report['error']}")
        return result

    def expect(self, name, **figures):
        """Makes sure that Tributary did what is being measured."""
        if name[0] not in "cd":
            return
        for figure, value in figures.items():
            if self.report[figure] != value:
                sys.exit(f"{LABELS[name]}: {figure} is {self.report[figure]}, not {value}")

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

    def compare(self, title, feeds, programs, runs, before=None, expected=lambda name: {"outcome": "committed"}):
        """Measures the programs in turn, run by run, and prints medians. Beside them stands what the C program needs for
        parsing alone and for its insertion alone: two cores could do both at once.

        `before` is what each store is filled with, unmeasured. The rows of all programs must be the same in the end.
        """
        programs = [name for name in programs if name in (self.programs or programs) or name not in CHOICES]
        results, ends = {name: [] for name in programs}, {}
        for run in range(runs):
            for name in programs:
                if run > 0 and name in ONCE:
                    continue
                program, folder = getattr(self, name), self.fresh(name)
                if before:
                    self.publish(before)
                    program(folder, before)
                self.publish(feeds)
                results[name].append(program(folder, feeds))
                self.expect(name, **expected(name))
                ends[name] = self.rows(folder)
        if len(set(ends.values())) > 1:
            sys.exit(f"The rows differ: {ends}")
        print(f"\n{title}")
        print(f"{'':20}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}")
        walls, cpus = {}, {}
        for name, measured in results.items():
            walls[name], cpus[name], memory = (statistics.median(result[i] for result in measured) for i in range(3))
            note = "   one run" if name in ONCE and runs > 1 else ""
            print(f"{LABELS[name]:20}{walls[name]:9.2f}{cpus[name]:9.2f}{memory:10.1f}{note}")
        for what, seconds in (("wall", walls), ("CPU", cpus)):
            ratios = [f"{r} {seconds[x] / seconds[y]:.2f}" for r, x, y in RATIOS if x in seconds and y in seconds]
            print(f"{what}: {'  '.join(ratios)}", flush=True)
        if "a" in walls and before is None:
            parse, insert = self.apart(feeds, runs)
            longer = max(parse, insert)
            ratios = "  ".join(f"{name}/max {walls[name] / longer:.2f}" for name in "cd" if name in walls)
            print(f"parse alone {parse:.2f} s, insert alone {insert:.2f} s  {ratios}", flush=True)

    def rows(self, folder):
        """How many contacts a store holds, and a sum over them."""
        store = next(store for store in (folder / "contacts.sqlite", folder / "store.sqlite") if store.exists())
        database = sqlite3.connect(store)
        try:
            return database.execute("SELECT count(*), sum(age), min(email), max(updated) FROM contact").fetchone()
        finally:
            database.close()

    def reader_delay(self, feeds, older):
        """How long a reader waits at the longest, in another process, while commits of each kind run."""
        few = self.work / "feeds-few"
        few.mkdir(exist_ok=True)
        shutil.copyfile(feeds / "companies.xml", few / "companies.xml")
        with open(feeds / "contacts.xml", "rb") as all_contacts, open(few / "contacts.xml", "wb") as first:
            for line in all_contacts:
                first.write(line)
                if b"</contact>" in line:
                    break
            first.write(b"</contacts>\n")
        folder = self.fresh("reader")
        for name in ("mapping.toml", "schema.sql"):
            shutil.copy(HERE / name, folder / name)
        config = folder / "mapping.toml"
        config.write_text(config.read_text().replace("[sources.directory]", '[sources.directory]\nmax_deleted = "100%"'))
        self.publish(few)
        self.sync(config)
        print()
        kinds = [("inserts all rows", feeds), ("changes none", feeds), ("updates all rows", older), ("deletes all but one", few)]
        for what, published in kinds:
            self.publish(published)
            reader = Reader(folder / "contacts.sqlite")
            wall = self.sync(config)[0]
            print(f"A reader's longest wait while a sync {what}: {reader.longest():.1f} ms, in {wall:.1f} s", flush=True)
        reader = Reader(folder / "contacts.sqlite")
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
        time.sleep(10)
        for process in busy:
            process.kill()
            process.wait()
        print(f"The same beside {len(busy)} processes that only compute: {reader.longest():.1f} ms, in 10 s", flush=True)


def change_one(feeds, changed):
    """Writes the same feeds once more, in which one contact in the middle has an age that nobody else has."""
    changed.mkdir(exist_ok=True)
    for feed in ("companies.xml", "contacts.xml"):
        shutil.copyfile(feeds / feed, changed / feed)
    with open(changed / "contacts.xml", "r+b") as file:
        middle = (feeds / "contacts.xml").stat().st_size // 2
        file.seek(middle)
        file.seek(middle + file.read(4096).index(b"<age>") + len(b"<age>"))
        file.write(b"99")


def change_all(feeds, changed):
    """Writes the same feeds once more, in which every contact is a hundred years older."""
    changed.mkdir(exist_ok=True)
    shutil.copyfile(feeds / "companies.xml", changed / "companies.xml")
    with open(feeds / "contacts.xml", "rb") as old, open(changed / "contacts.xml", "wb") as new:
        for line in old:
            new.write(line.replace(b"<age>", b"<age>1"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scenarios", nargs="*", choices=SCENARIOS)
    parser.add_argument("--programs", nargs="*", choices=CHOICES)
    arguments = parser.parse_args()
    # A signal stops the server, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench, chosen = Bench(arguments), arguments.scenarios or [name for name in SCENARIOS if not name.startswith("large_")]

    feeds = bench.feeds(arguments.contacts)
    large = bench.feeds(4 * arguments.contacts) if any(name.startswith("large") for name in chosen) else None
    size = (feeds / "contacts.xml").stat().st_size / 1e6
    title, large_title = f"{arguments.contacts:,} contacts, {size:.0f} MB", f"{4 * arguments.contacts:,} contacts"
    few = 1 if bench.runs < 3 else 3
    nothing = {"inserted": 0, "updated": 0, "deleted": 0}

    with bench.serving():
        if "empty" in chosen:
            bench.compare(title + ", into an empty store", feeds, ["a", "a_default", *"bcdef"], bench.runs)
        if "large" in chosen:
            bench.compare(large_title + ", into an empty store", large, ABOVE, few)
        if "derived" in chosen:
            bench.compare(title + ", with ten expressions", feeds, ["d", "d_sql", "d_wide"], bench.runs)
    with bench.serving("--no-validators"):
        for scenario, title_, base, programs, runs in (
            ("unchanged", title, feeds, ["a", "a_default", "b", "c", "c_full", "d", "d_full", "e", "f"], bench.runs),
            ("large_unchanged", large_title, large, ["a", "a_default", "c", "c_full", "d", "d_full"], few),
        ):
            if scenario in chosen:
                bench.compare(
                    title_ + ", unchanged, served without validators: c and d by its digest, and with --full by its rows",
                    base, programs, runs, before=base,
                    expected=lambda name: {**nothing, "outcome": "committed" if name.endswith("_full") else "unchanged"},
                )  # fmt: skip
        for scenario, title_, base, runs in (
            ("changed", title, feeds, bench.runs), ("large_changed", large_title, large, few),
        ):
            if scenario in chosen:
                changed = bench.work / f"{base.name}-changed"
                change_one(base, changed)
                bench.compare(
                    title_ + ", one of them changed, served without validators", changed, ABOVE, runs, before=base,
                    expected=lambda name: {**nothing, "outcome": "committed", "updated": 1},
                )  # fmt: skip
        older = bench.work / "feeds-older"
        if "history" in chosen or "delay" in chosen:
            change_all(feeds, older)
        if "history" in chosen:
            bench.compare(
                title + ", every contact changed, without and with keep_history", older, ["d", "d_history"],
                min(bench.runs, 3), before=feeds,
                expected=lambda name: {**nothing, "outcome": "committed", "updated": arguments.contacts},
            )  # fmt: skip
        if "delay" in chosen:
            bench.reader_delay(feeds, older)
    if "nested" in chosen:
        bench.nested(arguments.contacts // 4, min(bench.runs, 3))


if __name__ == "__main__":
    main()
