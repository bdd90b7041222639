"""infer --xsd of schemas and samples, and the samples' values searched in the rows. Called by Scripts/trials/infer-xsd."""
import base64
import collections
import datetime
import decimal
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
import xml.etree.ElementTree as ElementTree

program = sys.argv[1]
INSTANCE = "{http://www.w3.org/2001/XMLSchema-instance}"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")


def run(*arguments):
    """The exit status, both outputs, seconds and MB of a run of the program."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), errors.seek(0)
        return (process.returncode, out.read(), errors.read().decode().strip()[-300:],
                time.monotonic() - started, usage.ru_maxrss / 1024)


# MARK: - Values

def canonical(text):
    """A value in the one form that the store's and the document's have in common."""
    text = " ".join(text.split())
    if text in ("true", "false"):
        return "1" if text == "true" else "0"
    if NUMBER.match(text):
        return format(decimal.Decimal(text).normalize(), "f") if len(text) < 60 else text
    if TIME.match(text):
        try:
            # The end of a day is the beginning of the next.
            at = datetime.datetime.fromisoformat(text.replace("T24:00:00", "T00:00:00"))
            at += datetime.timedelta(days=1 if "T24:00:00" in text else 0)
            at = at if at.tzinfo else at.replace(tzinfo=datetime.timezone.utc)
            return at.astimezone(datetime.timezone.utc).isoformat()
        except (ValueError, OverflowError):
            return text
    return text


def values(root):
    """The texts and attribute values of an element and those below it, with the number of each."""
    found = collections.Counter()
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            # xsi:type, xsi:nil and xsi:schemaLocation describe the document.
            if not name.startswith(INSTANCE) and value.strip():
                found[canonical(value)] += 1
        for text in (element.text, *(child.tail for child in element)):
            if text and text.strip():
                found[canonical(text)] += 1
    return found


def stored(database):
    """The values of all rows, and those within markup."""
    columns, markup = collections.Counter(), collections.Counter()
    with sqlite3.connect(database) as connection:
        tables = [row[0] for row in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'tributary_%' AND name NOT LIKE 'sqlite_%'")]
        for table in tables:
            for row in connection.execute('SELECT * FROM "' + table.replace('"', '""') + '"'):
                for value in row:
                    if isinstance(value, bytes):
                        columns[canonical(base64.b64encode(value).decode())] += 1
                        columns[canonical(value.hex())] += 1
                        columns[canonical(value.hex().upper())] += 1
                        continue
                    if value is None:
                        continue
                    text = str(value)
                    if text.startswith("<"):
                        try:
                            markup += values(ElementTree.fromstring(text))
                            continue
                        except ElementTree.ParseError:
                            pass
                    columns[canonical(text)] += 1
    return columns, markup


# MARK: - Proposals

def attempt(schema, sample, root, wanted, isAlone, work):
    options = ["--root", root] if isAlone else [sample]
    status, toml, errors, seconds, size = run("infer", "--xsd", schema, *options)
    result = {"seconds": seconds, "mb": size}
    if status:
        return {**result, "problem": f"infer: {errors}"}
    text = re.sub(r'(?m)^url = ".*"$', "url = " + json.dumps(sample.as_uri()), toml.decode(), count=1)
    request = next(iter(tomllib.loads(text)["sources"].values()))["requests"][0]
    result["tables"] = len(request["tables"])
    config = work / "sources.toml"
    config.write_text('[store]\npath = "tributary.sqlite"\n' + text)
    for step in (["check"], ["sync", "--json", "--force"]):
        status, output, errors, _, _ = run("--config", config, *step)
        if status:
            reason = json.loads(output.splitlines()[0])["error"] if output else errors
            return {**result, "problem": f"{step[0]}: {reason}"}
    report = json.loads(output.splitlines()[0])
    merged = {name: report[name] for name in ("replaced", "skipped") if report.get(name)}
    columns, markup = stored(work / "tributary.sqlite")
    lost = wanted - columns - markup
    result.update(values=wanted.total(), markup=(wanted - columns).total() - lost.total(), lost=lost.total())
    if lost or merged:
        result["problem"] = f"{merged or ''} lost: {json.dumps([value[:40] for value, _ in lost.most_common(6)], ensure_ascii=False)}"
    return result


def groups(arguments):
    for argument in map(pathlib.Path, arguments):
        if argument.suffix == ".xsd":
            schema = argument.resolve()
        elif argument.is_dir():
            yield from ((schema, file.resolve()) for file in sorted(argument.rglob("*")) if file.suffix in (".xml", ".gpx", ".kml"))
        else:
            yield schema, argument.resolve()


wrong = 0
print(f"{'schema':32} {'sample':34} {'':6} {'tables':>6} {'values':>7} {'markup':>6} {'lost':>5} {'s':>6} {'MB':>5}")
for schema, sample in groups(sys.argv[2:]):
    try:
        document = ElementTree.parse(sample).getroot()
    except ElementTree.ParseError as error:
        print(f"{schema.name:32} {sample.name:34} is not well-formed: {error}")
        continue
    wanted = values(document)
    for isAlone in [False] if os.environ.get("BESIDE") else [False, True]:
        with tempfile.TemporaryDirectory() as work:
            result = attempt(schema, sample, document.tag.rpartition("}")[2], wanted, isAlone, pathlib.Path(work))
        wrong += "problem" in result
        print(f"{schema.name:32.32} {sample.name:34.34} {'alone' if isAlone else 'beside':6} {result.get('tables', '-'):>6} "
              f"{result.get('values', '-'):>7} {result.get('markup', '-'):>6} {result.get('lost', '-'):>5} "
              f"{result['seconds']:6.1f} {result['mb']:5.0f} {result.get('problem', '')}", flush=True)
sys.exit(1 if wrong else 0)
