"""infer, check and sync of every well-formed document of an index. Called by Scripts/trials/infer."""
import csv
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

program, index = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()


def run(*arguments):
    return subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def attempt(file, element, records, work):
    """What went wrong, or None; with the tables' rows."""
    proposal = run("infer", file)
    if proposal.returncode:
        return "infer: " + proposal.stderr.strip(), ""
    config = work / "sources.toml"
    config.write_text(proposal.stdout)
    for command in (["check"], ["sync", "--force"]):
        result = run("--config", config, *command)
        if result.returncode:
            return f"{command[0]}: {result.stderr.strip()[-300:]}", ""
    database = sqlite3.connect(work / "tributary.sqlite")
    tables = re.findall(r'^table *= *"(.*)"\n(?:.*\n)*?element *= *"(.*)"', proposal.stdout, re.MULTILINE)
    rows = {path: database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for table, path in tables}
    database.close()
    names = {re.sub(r"\[.*?\]", "", path).split("/")[-1].split(":")[-1]: count for path, count in rows.items()}
    text = ", ".join(f"{path} {count}" for path, count in rows.items())
    wanted = element.split(":")[-1].split("/")[-1]
    if names.get(wanted) == records or records in rows.values():
        return None, text
    return f"{records} {element} are in the document", text


right = wrong = 0
with open(index) as lines:
    for row in csv.DictReader(lines, delimiter="\t"):
        if row["well-formed"] != "yes" or not row["records"].isdigit() or int(row["records"]) < 2:
            continue
        file = index.parent.parent / row["path"]
        with tempfile.TemporaryDirectory() as work:
            problem, rows = attempt(file, row["record element"], int(row["records"]), pathlib.Path(work))
        if problem:
            wrong += 1
        else:
            right += 1
        print(f"{'WRONG' if problem else 'right'}  {row['path']:45} {rows[:110]} {problem or ''}")
print(f"{right} documents loaded whole, {wrong} to look at")
