"""infer → check → sync → export → sync, and whether the rows are the same. Called by Scripts/trials/round-trip."""
import collections
import concurrent.futures
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import tomllib

program, folder, names = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]


class Discarded(Exception):
    pass


class Refused(Exception):
    pass


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)


def error(result):
    return result.stderr.decode(errors="replace").strip().replace("\n", " ")[-400:]


def sync(config):
    result = run("--config", config, "sync", "--full")
    if result.returncode:
        raise Discarded("sync: " + error(result) + result.stdout.decode(errors="replace")[-300:])
    return result.stdout.decode()


class Rows:
    """The rows of every mapped table, each identified by its values; where the store made a key, by the row that has it."""

    def __init__(self, config):
        toml = tomllib.loads(config.read_text())
        self.database = sqlite3.connect(config.parent / "tributary.sqlite")
        self.database.text_factory = bytes
        self.tables, self.rows, self.known = {}, {}, {}
        for source in toml["sources"].values():
            for request in source["requests"]:
                for table in request["tables"]:
                    self.tables.setdefault(table["table"], {}).update(table["columns"])
        for table, columns in self.tables.items():
            names = list(columns)
            key = [row[1].decode() for row in self.database.execute(f'PRAGMA table_info("{table}")') if row[5]]
            key = key[0] if len(key) == 1 else "rowid"
            selected = ", ".join(f'"{name}"' for name in [key] + names)
            self.rows[table] = {row[0]: dict(zip(names, row[1:])) for row in self.database.execute(f'SELECT {selected} FROM "{table}"')}
            self.known[table] = key in names

    def identified(self, table, key):
        steps = []
        while True:
            row = self.rows[table].get(key)
            if row is None:
                steps.append(("missing", key))
                return tuple(steps)
            up = None
            values = []
            for name, column in self.tables[table].items():
                parent = column.get("parent") if isinstance(column, dict) else None
                if parent and not self.known[parent] and row[name] is not None:
                    up = (parent, row[name])
                    continue
                values.append((name, row[name]))
            steps.append((table, tuple(values)))
            if up is None:
                return tuple(steps)
            table, key = up

    def all(self):
        return {table: collections.Counter(self.identified(table, key) for key in rows) for table, rows in self.rows.items()}


def difference(before, after):
    for table in before:
        lost, new = before[table] - after[table], after[table] - before[table]
        if lost or new:
            text = f"{table}: {sum(lost.values())} lost, {sum(new.values())} new of {sum(before[table].values())}"
            for mark, rows in (("-", lost), ("+", new)):
                for row in sorted(rows, key=str)[:1]:
                    text += f"\n      {mark} {row}"[:700]
            if len(lost) and len(new):
                one = sorted(lost, key=str)[0]
                near = max(sorted(new, key=str)[:2000], key=lambda row: len(set(row[0][1]) & set(one[0][1])))
                text += f"\n      differs in {sorted(set(one[0][1]) ^ set(near[0][1]), key=str)}"[:700]
            return text
    return None


def attempt(file):
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        proposal = run("infer", "--mapping", file)
        if proposal.returncode:
            return "none", "infer: " + error(proposal)
        first, second = work / "first", work / "second"
        first.mkdir(), second.mkdir()
        config = first / "sources.toml"
        config.write_bytes(proposal.stdout)
        toml = tomllib.loads(config.read_text())
        source = next(iter(toml["sources"]))
        if os.environ.get("KEEP"):
            subprocess.run(["cp", config, os.environ["KEEP"] + ".toml"])
        try:
            result = run("--config", config, "check")
            if result.returncode:
                raise Discarded("check: " + error(result))
            sync(config)
            before = Rows(config).all()
            exported = run("--config", config, "export", source)
            if os.environ.get("KEEP"):
                pathlib.Path(os.environ["KEEP"] + ".xml").write_bytes(exported.stdout)
            if exported.returncode == 1:
                return "refused", error(exported)
            if exported.returncode:
                return "discarded", f"export ended with {exported.returncode}: " + error(exported)
            document = work / "exported.xml"
            document.write_bytes(exported.stdout)
            text = re.sub(r"^url = .*$", lambda _: f'url = "file://{document}"', proposal.stdout.decode(), count=1, flags=re.M)
            (second / "sources.toml").write_text(text)
            try:
                sync(second / "sources.toml")
            except Discarded as problem:
                return "differs", f"the export does not load: {problem}"
            if problem := difference(before, Rows(second / "sources.toml").all()):
                return "differs", problem
            config.write_text(text)
            try:
                report = sync(config)
            except Discarded as problem:
                return "differs", f"the export does not load again: {problem}"
            changed = re.findall(r"([1-9]\d*) (inserted|updated|deleted)", report)
            if changed:
                return "differs", f"in the same store: {report.strip()}"
            if difference(before, Rows(config).all()):
                return "differs", "in the same store, silently"
            return "same", ", ".join(f"{table} {sum(rows.values())}" for table, rows in before.items())[:100]
        except Discarded as problem:
            return "discarded", str(problem)


def named(file):
    return file.suffix != ".tsv" and (not names or any(name in str(file) for name in names))


files = sorted(file for file in folder.rglob("*") if file.is_file() and named(file))
totals = collections.Counter()
with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
    for file, (verdict, why) in zip(files, pool.map(attempt, files)):
        totals[verdict] += 1
        print(f"{verdict:9} {str(file.relative_to(folder)):50} {why}", flush=True)
print(", ".join(f"{count} {verdict}" for verdict, count in sorted(totals.items())))
sys.exit(1 if totals["differs"] or totals["discarded"] else 0)
