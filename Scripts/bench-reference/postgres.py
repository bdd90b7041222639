#!/usr/bin/env python3
"""The benchmark's contacts into PostgreSQL. Called by Scripts/bench (SCENARIOS=postgres).

    p  psql      loads a file that was prepared before: COPY into a temporary table, then DELETE, UPDATE and INSERT
    d  mapping   tributary sync: over loopback HTTP, through a mapping in TOML, with journal, validators and history

First into an empty table, then the same feed once more, every row compared. Wall seconds, and peak memory of d.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

from measure import Bench, HERE, ROOT, measure

COLUMNS = "email, firstname, lastname, lastnameinitial, company, age, balance, updated"
VALUES = COLUMNS.split(", ")[1:]
TABLES = """
CREATE TABLE IF NOT EXISTS company (id text PRIMARY KEY, name text NOT NULL);
CREATE TABLE IF NOT EXISTS contact (
    email text PRIMARY KEY, firstname text, lastname text, lastnameinitial text,
    company text REFERENCES company (id), age bigint, balance double precision, updated text);
"""
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
        for _, element in ElementTree.iterparse(feeds / "contacts.xml"):
            if element.tag != "contact":
                continue
            value = lambda name: (lambda text: text.strip() if text and text.strip() else None)(element.findtext(name))
            last = value("lastName")
            row = [value("email"), value("firstName"), last, last[0] if last else None, value("company")]
            row += [value("age"), value("balance"), value("updated")]
            out.write("\t".join(map(escaped, row)) + "\n")
            element.clear()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--contacts", type=int, required=True)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    bench = Bench(arguments)
    feeds = bench.work / f"feeds-{arguments.contacts}"
    if not (feeds / "contacts.xml").exists():
        subprocess.run([sys.executable, HERE / "generate.py", feeds, str(arguments.contacts)], check=True)
    prepared, script = bench.work / "contacts.copy", bench.work / "merge.sql"
    prepare(feeds, prepared)
    script.write_text(MERGE % prepared)
    folder = bench.fresh("pg-bench")
    server = subprocess.run(
        [ROOT / "Scripts/postgres", "start", bench.work / "pg"], check=True, capture_output=True, text=True)
    store = server.stdout.strip()
    psql = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", store]

    def sql(text):
        subprocess.run([*psql, "-c", text], check=True)

    config = folder / "sources.toml"
    (folder / "schema.sql").write_text(TABLES)
    text = (HERE / "mapping.toml").read_text()
    config.write_text(text.replace('path   = "contacts.sqlite"', f'url    = "{store}"'))
    seconds, memory = {}, []
    try:
        bench.publish(feeds)
        with bench.serving("--no-validators"):
            for _ in range(arguments.runs):
                sql("DROP TABLE IF EXISTS contact, company;" + TABLES)
                sql("INSERT INTO company SELECT 'c' || to_char(i, 'FM0000'), 'Company ' || i FROM generate_series(0, 999) i")
                for round in ("empty", "unchanged"):
                    sql("CHECKPOINT")
                    seconds.setdefault(("p", round), []).append(measure([*psql, "-f", script])[0])
                sql("SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
                for round in ("empty", "unchanged"):
                    sql("CHECKPOINT")
                    wall, _, peak, _ = bench.sync(config, "--full")
                    figures = bench.report
                    expected = arguments.contacts + 1000 if round == "empty" else 0
                    if figures["inserted"] != expected or figures["updated"] or figures["deleted"]:
                        sys.exit(f"d: {figures}")
                    seconds.setdefault(("d", round), []).append(wall)
                    memory.append(peak)
    finally:
        subprocess.run([ROOT / "Scripts/postgres", "stop", bench.work / "pg"], check=True)
    print(f"\nPostgreSQL, {arguments.contacts:,} contacts, medians of {arguments.runs}")
    for round in ("empty", "unchanged"):
        p, d = (statistics.median(seconds[name, round]) for name in "pd")
        print(f"  {round:10} p psql {p:6.2f} s   d mapping {d:6.2f} s   d/p {d / p:.2f}")
    print(f"  peak memory of d: {max(memory):.0f} MiB")


if __name__ == "__main__":
    main()
