"""infer, check and sync of documents, and their records counted. Called by Scripts/trials/infer."""
import csv
import gzip
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
import xml.parsers.expat

program, postgres = sys.argv[1:3]


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def psql(sql):
    return subprocess.run(["psql", "-X", "-qAt", postgres, "-c", sql], check=True, capture_output=True, text=True).stdout


# MARK: - Counting

def test(step, namespaces):
    """A function that tells whether a path's step finds an element, by its namespace and local name."""
    if step.startswith("{}"):
        return lambda namespace, local: namespace == "" and local == step[2:]
    prefix, _, name = step.rpartition(":")
    if prefix:
        return lambda namespace, local: namespace == namespaces[prefix] and local == name
    return lambda namespace, local: local == name


def events(text):
    """Starts and ends of a document's elements: the namespace and local name, or None."""
    found = []
    parser = xml.parsers.expat.ParserCreate("utf-8", namespace_separator="\x01")
    def start(name, attributes):
        namespace, _, local = name.rpartition("\x01")
        found.append((namespace, local))
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: found.append(None)
    parser.Parse(text.encode(), True)
    return found


def count(document, tables, namespaces):
    """The elements that each table's path finds."""
    paths = [(table["element"].startswith("/"), [test(step, namespaces) for step in table["element"].strip("/").split("/")])
             for table in tables]
    counts, open, known = [0] * len(paths), [], {}
    for event in document:
        if event is None:
            open.pop()
            continue
        open.append(event)
        key = tuple(open)
        if key not in known:
            known[key] = [index for index, (absolute, tests) in enumerate(paths)
                          if (len(tests) == len(open) if absolute else len(tests) <= len(open))
                          and all(t(*e) for t, e in zip(tests, open[-len(tests):]))]
        for index in known[key]:
            counts[index] += 1
    return counts


def read(file):
    """A document's text, and None where it is not well-formed, or not XML."""
    data = file.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    declared = re.match(rb"<\?xml[^>]*encoding *= *[\"']([\w.-]+)", data)
    names = ["utf-8-sig", *([declared[1].decode()] if declared else []), "latin-1"]
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        names = ["utf-16"]
    if declared and declared[1].lower() not in (b"utf-8", b"us-ascii"):
        names.remove("utf-8-sig")
    for name in names:
        try:
            return events(data.decode(name))
        except (UnicodeDecodeError, LookupError, xml.parsers.expat.ExpatError):
            continue
    return None


# MARK: - Loading

def load(config, toml, store, rows):
    """What went wrong, or None."""
    config.write_bytes(b"[store]\n" + store.encode() + b"\n" + toml)
    checked = run("--config", config, "check")
    if checked.returncode:
        return f"check: {checked.stderr.decode().strip()[-300:]}", []
    found = []
    for options in (["--force"], ["--full"]):
        result = run("--config", config, "sync", "--json", *options)
        if result.returncode:
            return f"sync: {result.stderr.decode().strip()[-300:]}", []
        report = json.loads(result.stdout)
        lost = {name: report[name] for name in ("replaced", "skipped", "deleted") if report.get(name)}
        if options == ["--full"]:
            lost.update({name: report[name] for name in ("inserted", "updated") if report.get(name)})
        if lost:
            return f"{lost}, {options[0]}", found
    return None, [rows(table["table"]) for table in next(iter(tomllib.loads(toml.decode())["sources"].values()))["requests"][0]["tables"]]


def attempt(file, document, work):
    """What went wrong, or None; the tables, and their rows."""
    proposal = run("infer", "--mapping", file)
    if proposal.returncode:
        # A document may hold nothing, or an entity that only a DTD elsewhere declares.
        return None, [], []
    request = next(iter(tomllib.loads(proposal.stdout.decode())["sources"].values()))["requests"][0]
    if "tables" not in request:
        return None, [], []
    tables = request["tables"]
    wanted = count(document, tables, request.get("namespaces", {}))
    stores = ['path = "tributary.sqlite"', *([f'url = "{postgres}"'] if postgres else [])]
    if postgres:
        psql("SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    for store in stores:
        def rows(table):
            name = '"' + table.replace('"', '""') + '"'
            if store != stores[0]:
                return int(psql(f"SELECT count(*) FROM {name}"))
            with sqlite3.connect(work / "tributary.sqlite") as database:
                return database.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
        problem, loaded = load(work / "sources.toml", proposal.stdout, store, rows)
        if not problem and loaded != wanted:
            problem = "; ".join(f"{table['table']}: {there} rows, {here} records"
                                for table, there, here in zip(tables, loaded, wanted) if there != here)
        if problem:
            return f"{store.split(' =')[0]}: {problem}", tables, wanted
    return None, tables, wanted


def indexed(index):
    """The documents of an index, with their records, and those of a folder without."""
    if index.is_dir():
        yield from ((file, None, None) for file in sorted(index.rglob("*")) if file.is_file() and file.suffix != ".tsv")
        return
    with open(index) as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["well-formed"].startswith("yes"):
                records = int(row["records"]) if row["records"].isdigit() and int(row["records"]) > 1 else None
                yield index.parent.parent / row["path"], row["record element"], records


right = wrong = odd = 0
for argument in sys.argv[3:]:
    for file, element, records in indexed(pathlib.Path(argument).resolve()):
        document = read(file)
        if document is None:
            continue
        with tempfile.TemporaryDirectory() as work:
            problem, tables, rows = attempt(file, document, pathlib.Path(work))
        verdict = "WRONG" if problem else "right"
        if problem:
            wrong += 1
        elif not tables:
            verdict, problem = "look ", "nothing is proposed"
            odd += 1
        elif records and records not in rows:
            verdict, problem = "look ", f"the index knows {records} {element}"
            odd += 1
        else:
            right += 1
        text = ", ".join(f"{table['element']} {count}" for table, count in zip(tables, rows))
        print(f"{verdict}  {file.name:45} {text[:110]} {problem or ''}", flush=True)
print(f"{right} documents loaded whole, {odd} to look at, {wrong} lost something")
sys.exit(1 if wrong else 0)
