"""Documents into both stores. Called by Scripts/trials/both-stores."""
import decimal
import json
import pathlib
import re
import sqlite3
import subprocess
import sys

program, work, url, folder = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], pathlib.Path(sys.argv[4]).resolve()
FIGURES = ("outcome", "inserted", "updated", "deleted", "unchanged", "replaced", "skipped", "error")
TIME = re.compile(r"(\d+-\d+-\d+)[T ](\d+:\d+:\d+)(?:\.(\d+))?(?:Z|\+00(?::00)?)?$")


def run(*command):
    return subprocess.run(command, capture_output=True, timeout=300)


def psql(sql):
    """The rows of a query: lists of texts."""
    result = run("psql", "-X", "-qAt", "-F", "\x1f", "-R", "\x1e", url, "-c", sql)
    if result.returncode != 0:
        sys.exit(result.stderr.decode())
    text = result.stdout.decode().removesuffix("\n")
    return [row.split("\x1f") for row in text.split("\x1e")] if text else []


def sync(config, *options):
    result = run(program, "--config", config, "sync", "--json", *options)
    report = json.loads(result.stdout)
    return {figure: report.get(figure) for figure in FIGURES}


def same(value, type):
    """A value of either store, in a form in which equal values are the same."""
    if value is None:
        return None
    if type == "double precision":
        return float(value)
    if type == "numeric":
        return decimal.Decimal(str(value)).normalize()
    if type.startswith("timestamp") and (parts := TIME.match(value)):
        return f"{parts[1]} {parts[2]}.{(parts[3] or '').ljust(6, '0')[:6]}"
    return value.hex() if isinstance(value, bytes) else str(value)


def rows_of_both(database, table):
    name = '"' + table.replace('"', '""') + '"'
    types = dict(psql(f"SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
                      f"WHERE attrelid = '{name}'::regclass AND attnum > 0 AND NOT attisdropped"))
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({name})")]
    expressions = {"boolean": "%s::int", "bytea": "encode(%s, 'hex')"}
    quoted = ['"%s"' % column for column in columns]
    here = database.execute(f"SELECT {', '.join(quoted)} FROM {name}").fetchall()
    there = psql("SELECT " + ", ".join(
        f"coalesce(({expressions.get(types[column], '%s') % quote})::text, E'\\x01')"
        for column, quote in zip(columns, quoted)) + f" FROM {name}")
    def rows(all):
        return sorted(repr([same(None if value == "\x01" else value, types[column])
                            for value, column in zip(row, columns)]) for row in all)
    return rows(here), rows(there)


def compare(document):
    """What differs between the stores: a list of texts. None where nothing can be inferred."""
    proposal = run(program, "infer", "--mapping", f"file://{document}")
    if proposal.returncode != 0:
        return None
    for file in work.glob("store.sqlite*"):
        file.unlink()
    psql("SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    configs = []
    for name, place in (("sqlite", 'path = "store.sqlite"'), ("postgres", f'url = "{url}"')):
        configs.append(work / f"{name}.toml")
        configs[-1].write_bytes(f"[store]\n{place}\n".encode() + proposal.stdout)
    here, there = (sync(config) for config in configs)
    if here != there:
        return [f"{here} and {there}"]
    if here["outcome"] != "committed":
        return []
    differences = []
    with sqlite3.connect(work / "store.sqlite") as database:
        own = "name NOT LIKE 'tributary_%' AND name NOT LIKE 'sqlite_%' AND name <> 'grdb_migrations'"
        for (table,) in database.execute(f"SELECT name FROM sqlite_master WHERE type = 'table' AND {own}").fetchall():
            one, other = rows_of_both(database, table)
            differences += [f"{table}: {a[:300]} and {b[:300]}" for a, b in zip(one, other) if a != b][:1]
            if len(one) != len(other):
                differences.append(f"{table}: {len(one)} and {len(other)} rows")
    database.close()
    for config in configs:
        again = sync(config, "--full")
        if again["inserted"] or again["updated"] or again["deleted"]:
            differences.append(f"{config.stem} again: {again}")
    return differences


count = wrong = 0
for document in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".tsv", ".opml")):
    differences = compare(document)
    if differences is None:
        continue
    count += 1
    if differences:
        wrong += 1
        print(document, *differences, sep="\n    ", flush=True)
print(f"{count} documents into both stores, {wrong} with differences")
sys.exit(1 if wrong else 0)
