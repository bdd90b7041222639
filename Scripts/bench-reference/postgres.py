#!/usr/bin/env python3
"""The benchmark's contacts into PostgreSQL. Called by Scripts/bench (SCENARIOS=postgres).

    p  psql      loads a file that was prepared before: COPY into a temporary table, then DELETE, UPDATE and INSERT
    d  mapping   tributary sync: over loopback HTTP, through a mapping in TOML, with journal, validators and history

First into an empty table, then the same feed once more, every row compared. Wall seconds, and peak memory of d. Once:

    f  dlt       the same as in Scripts/bench, into PostgreSQL, with an empty table and once more

Then a reader's longest delay while every row is updated. And, alone with --only-feeds, small feeds, each with a changed row: how
many a second are committed to PostgreSQL and to SQLite, and what pgbench does of it on one connection and on as many as commits
run at once: a transaction of three prepared statements, which write the row, its row of the changelog, and the feed's state.
"""
import argparse
import contextlib
import pathlib
import signal
import statistics
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

from measure import Bench, CHOICES, HERE, ROOT, measure

COLUMNS = "email, firstname, lastname, lastnameinitial, company, age, balance, updated"
VALUES = COLUMNS.split(", ")[1:]
TABLES = """
CREATE TABLE IF NOT EXISTS company (id text PRIMARY KEY, name text NOT NULL);
CREATE TABLE IF NOT EXISTS contact (
    email text PRIMARY KEY, firstname text, lastname text, lastnameinitial text,
    company text REFERENCES company (id), age bigint, balance double precision, updated text);
"""
QUIET = "SET client_min_messages = warning;"
FRESH = QUIET + "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
MERGE = f"""
BEGIN;
CREATE TEMP TABLE stage (LIKE contact) ON COMMIT DROP;
\\copy stage ({COLUMNS}) FROM '%s'
ANALYZE stage;
DELETE FROM contact m WHERE NOT EXISTS (SELECT 1 FROM stage s WHERE s.email = m.email);
UPDATE contact m SET ({", ".join(VALUES)}) = ({", ".join("s." + name for name in VALUES)})
    FROM stage s WHERE s.email = m.email
    AND ({", ".join("s." + name for name in VALUES)}) IS DISTINCT FROM ({", ".join("m." + name for name in VALUES)});
INSERT INTO contact ({COLUMNS}) SELECT {COLUMNS} FROM stage s
    WHERE NOT EXISTS (SELECT 1 FROM contact m WHERE m.email = s.email);
COMMIT;
"""


def escaped(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") if text is not None else "\\N"


def prepare(feeds, path):
    """The rows of contacts.xml in COPY's text format, in the columns' order."""
    with open(path, "w", encoding="utf-8") as out:
        events = ElementTree.iterparse(feeds / "contacts.xml", events=("start", "end"))
        root = next(events)[1]
        for event, element in events:
            if event == "start" or element.tag != "contact":
                continue
            value = lambda name: (lambda text: text.strip() if text and text.strip() else None)(element.findtext(name))
            last = value("lastName")
            row = [value("email"), value("firstName"), last, last[0] if last else None, value("company")]
            row += [value("age"), value("balance"), value("updated")]
            out.write("\t".join(map(escaped, row)) + "\n")
            # Not only the element: what this process ever held counts as the peak of those that it starts.
            root.clear()


class Reader(threading.Thread):
    """Queries the server again and again, and keeps the longest delay."""

    def __init__(self, store):
        super().__init__()
        self.store, self.longest, self.stopped = store, 0.0, threading.Event()

    def run(self):
        import psycopg

        with psycopg.connect(self.store, autocommit=True) as connection:
            while not self.stopped.wait(0.005):
                start = time.monotonic()
                connection.execute("SELECT * FROM contact WHERE email = '0000.0@example.org'").fetchall()
                connection.execute("SELECT * FROM company LIMIT 10").fetchall()
                self.longest = max(self.longest, time.monotonic() - start)


def reader_delay(bench, store, config, sql):
    """The longest delay of a reader during a commit that updates every row, and at rest."""
    delays = []
    for is_changed in (False, True):
        sql("UPDATE contact SET updated = 'before'; CHECKPOINT" if is_changed else "CHECKPOINT")
        reader = Reader(store)
        reader.start()
        if is_changed:
            bench.sync(config, "--full")
        else:
            time.sleep(5)
        reader.stopped.set()
        reader.join()
        delays.append(reader.longest)
    print(f"\nA reader's longest delay during a commit that updates every row: {delays[1] * 1000:.1f} ms "
          f"(with nothing else to do: {delays[0] * 1000:.1f} ms)")


FLOOR_TABLES = """
CREATE SCHEMA floor;
CREATE TABLE floor.item (feed text, id text, n text, title text, PRIMARY KEY (feed, id));
INSERT INTO floor.item SELECT 's' || f, i, 0, 'item ' || i || ' of ' || f FROM generate_series(0, 499) f, generate_series(0, 19) i;
CREATE TABLE floor.change (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, run bigint NOT NULL, "table" text NOT NULL, key text,
    operation text NOT NULL, transaction xid8 NOT NULL DEFAULT pg_current_xact_id());
CREATE TABLE floor.state (feed text PRIMARY KEY, digest text, fetched timestamptz);
INSERT INTO floor.state SELECT 's' || f FROM generate_series(0, 499) f;
"""
FLOOR = """
\\set feed random(0, 499)
\\set n random(1, 1000000000)
BEGIN;
INSERT INTO floor.item VALUES ('s' || :feed, '7', :n, 'item 7 of ' || :feed)
    ON CONFLICT (feed, id) DO UPDATE SET n = excluded.n, title = excluded.title;
INSERT INTO floor.change (run, "table", key, operation) VALUES (1, 'item', '[s' || :feed || ',7]', 'update');
INSERT INTO floor.state VALUES ('s' || :feed, :n, now())
    ON CONFLICT (feed) DO UPDATE SET digest = excluded.digest, fetched = excluded.fetched;
COMMIT;
"""
# As many as commits run at once.
CONNECTIONS = 8


def floor(bench, store, sql, connections):
    """Transactions a second of the three prepared statements, without anything around them."""
    script = bench.work / "floor.sql"
    script.write_text(FLOOR)
    sql(QUIET + "DROP SCHEMA IF EXISTS floor CASCADE;" + FLOOR_TABLES)
    output = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", "-c", str(connections), "-j", "2", "-T", "10", "-f", script, store],
        check=True, capture_output=True, text=True).stdout
    sql(QUIET + "DROP SCHEMA floor CASCADE")
    return float(next(line for line in output.splitlines() if line.startswith("tps = ")).split()[2])


def small_feeds(bench, store, sql, count, runs):
    """Feeds of twenty rows, one of which changes each time: how many a second are committed to each store."""
    folder = bench.fresh("small")
    lines = []
    for n in range(count):
        lines.append(f'[sources.s{n}]\n[[sources.s{n}.requests]]\nurl = "${{CONTACTS_URL}}/small-{n}.xml"\n'
                     f"scope = {{ feed = 's{n}' }}\n"
                     "tables = [{ table = 'item', element = 'item', key = ['feed', 'id'], sync = 'mirror', columns = "
                     f"{{ feed = {{ value = 's{n}' }}, id = '@id', n = '@n', title = 'title' }} }}]\n")
    rates = {}
    for name, place in (("PostgreSQL", f'url = "{store}"'), ("SQLite", 'path = "small.sqlite"')):
        config = folder / f"{name}.toml"
        config.write_text(f"[store]\n{place}\n[daemon]\nconcurrency = 16\nper_host = 16\n" + "".join(lines))
    for run in range(runs + 1):
        for n in range(count):
            rows = "".join(f"<item id='{i}' n='{run if i == 7 else 0}'><title>item {i} of {n}</title></item>" for i in range(20))
            (bench.served / f"small-{n}.xml").write_text(f"<items>{rows}</items>")
        for name in ("PostgreSQL", "SQLite"):
            wall, _, _, output = measure(
                [bench.bin / "tributary", "--config", folder / f"{name}.toml", "sync", "--force"], bench.environment)
            # The first run fills the stores.
            if run > 0:
                rates.setdefault(name, []).append(count / wall)
    medians = {name: statistics.median(each) for name, each in rates.items()}
    rate = medians["PostgreSQL"]
    one, several = floor(bench, store, sql, 1), floor(bench, store, sql, CONNECTIONS)
    print(f"\n{count} small feeds with a changed row each, feeds a second, medians of {runs}:\n"
          f"  SQLite {medians['SQLite']:.0f}   PostgreSQL {rate:.0f}   pgbench, the same three statements on one connection {one:.0f}\n"
          f"  PostgreSQL/SQLite {rate / medians['SQLite']:.2f}   PostgreSQL/pgbench {rate / one:.2f}\n"
          f"  pgbench on {CONNECTIONS} connections {several:.0f}", flush=True)


def command(store):
    return ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", store]


@contextlib.contextmanager
def server(bench):
    """A PostgreSQL of its own: its connection string, and what runs SQL there."""
    folder = bench.work / "pg"
    started = subprocess.run([ROOT / "Scripts/postgres", "start", folder], check=True, capture_output=True, text=True)
    store = started.stdout.strip()
    try:
        yield store, lambda text: subprocess.run([*command(store), "-c", text], check=True)
    finally:
        subprocess.run([ROOT / "Scripts/postgres", "stop", folder], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--contacts", type=int, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only-feeds", action="store_true")
    parser.add_argument("--programs", nargs="*", choices=CHOICES)
    arguments = parser.parse_args()
    # A signal stops the servers, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench = Bench(arguments)
    if arguments.only_feeds:
        with server(bench) as (store, sql), bench.serving("--no-validators"):
            small_feeds(bench, store, sql, 500, arguments.runs)
        return
    feeds = bench.feeds(arguments.contacts)
    prepared, script = bench.work / "contacts.copy", bench.work / "merge.sql"
    prepare(feeds, prepared)
    script.write_text(MERGE % prepared)
    folder = bench.fresh("pg-bench")
    config = folder / "sources.toml"
    (folder / "schema.sql").write_text(TABLES)
    seconds, memory = {}, []
    with server(bench) as (store, sql):
        psql = command(store)
        text = (HERE / "mapping.toml").read_text()
        config.write_text(text.replace('path   = "contacts.sqlite"', f'url    = "{store}"'))
        bench.publish(feeds)
        with bench.serving("--no-validators"):
            for _ in range(arguments.runs):
                sql(QUIET + "DROP TABLE IF EXISTS contact, company;" + TABLES)
                sql("INSERT INTO company SELECT 'c' || to_char(i, 'FM0000'), 'Company ' || i FROM generate_series(0, 999) i")
                for round in ("empty", "unchanged"):
                    sql("CHECKPOINT")
                    seconds.setdefault(("p", round), []).append(measure([*psql, "-f", script])[0])
                sql(FRESH)
                for round in ("empty", "unchanged"):
                    sql("CHECKPOINT")
                    wall, _, peak, _ = bench.sync(config, "--full")
                    figures = bench.report
                    expected = arguments.contacts + 1000 if round == "empty" else 0
                    if figures["inserted"] != expected or figures["updated"] or figures["deleted"]:
                        sys.exit(f"d: {figures}")
                    seconds.setdefault(("d", round), []).append(wall)
                    memory.append(peak)
            walls = {key: statistics.median(each) for key, each in seconds.items()}
            print(f"\nPostgreSQL, {arguments.contacts:,} contacts, medians of {arguments.runs}")
            for round in ("empty", "unchanged"):
                p, d = walls["p", round], walls["d", round]
                print(f"  {round:10} p psql {p:6.2f} s   d mapping {d:6.2f} s   d/p {d / p:.2f}")
            print(f"  peak memory of d: {max(memory):.0f} MiB", flush=True)
            reader_delay(bench, store, config, sql)
            sql(FRESH)
            small_feeds(bench, store, sql, 500, arguments.runs)
        if "f" not in (arguments.programs or "f"):
            return
        dlt = bench.fresh("dlt")
        for round in ("empty", "unchanged"):
            sql("CHECKPOINT")
            # dlt wants an address, and libpq takes the folder of the socket for it.
            url = f"postgresql://tributary:none@localhost:5432/feeds?host={bench.work / 'pg'}"
            loader = [sys.executable, "-W", "ignore", HERE / "dlt_loader.py", dlt / "store", feeds / "contacts.xml", url]
            wall = measure(loader)[0]
            print(f"  {round:10} f dlt {wall:7.2f} s   f/d {wall / walls['d', round]:.1f}", flush=True)


if __name__ == "__main__":
    main()
