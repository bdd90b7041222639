"""Elements with a hundred attributes. Called by Scripts/trials/wide-elements."""
import os
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys

program, daemon, work, turns = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
NAMES = [f"attr{number:03d}" for number in range(124)]
LXML = """
import sqlite3, sys
from lxml import etree
work, names = sys.argv[1], sys.argv[2:]
db = sqlite3.connect(work + '/lxml.sqlite')
db.execute('PRAGMA journal_mode = WAL')
db.execute('CREATE TABLE wide (id INTEGER PRIMARY KEY, ' + ', '.join(name + ' TEXT' for name in names[1:]) + ')')

def rows():
    for _, element in etree.iterparse(work + '/wide.xml', tag='row'):
        yield [element.get(name) for name in names]
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]

db.executemany('INSERT INTO wide VALUES (' + ', '.join('?' * len(names)) + ')', rows())
db.commit()
"""


def generate():
    chance = random.Random(1)
    with open(work / "wide.xml", "w") as file:
        file.write("<rows>\n")
        for number in range(57_578):
            values = " ".join(f'{name}="{chance.randrange(100)}"' for name in NAMES if chance.random() < 0.806)
            file.write(f'<row id="{number}" {values}/>\n')
        file.write("</rows>\n")
    columns = "".join(f'{name} = "@{name}"\n' for name in NAMES)
    mapping = (
        "[[sources.w.requests.tables]]\ntable = 'wide'\nelement = 'row'\nkey = ['id']\n"
        "[sources.w.requests.tables.columns]\nid = { path = '@id', type = 'integer' }\n" + columns)
    for name, parsing in ("mapping", mapping), ("class", "parser = 'WideParser'\n"):
        (work / f"{name}.toml").write_text(
            f"[store]\npath = '{name}.sqlite'\n[[sources.w.requests]]\nurl = 'file://{work}/wide.xml'\nmax_body = '1GiB'\n"
            + parsing)


def seconds(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} ended with {status}")
    return usage.ru_utime + usage.ru_stime


def rows(path):
    return sqlite3.connect(path).execute("SELECT * FROM wide ORDER BY id")


generate()
commands = {
    "lxml": [sys.executable, "-c", LXML, work, "id", *NAMES],
    "mapping": [program, "--config", work / "mapping.toml", "sync", "--full"],
    "class": [daemon, "--config", work / "class.toml", "sync", "--full"],
}
times = {name: [] for name in commands}
for _ in range(turns):
    for path in work.glob("*.sqlite*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, command in commands.items():
        times[name].append(seconds(command))
middle = {name: statistics.median(values) for name, values in times.items()}
print(f"CPU seconds: lxml {middle['lxml']:.2f}")
differ = False
for name in "mapping", "class":
    same = all(one == other for one, other in zip(rows(work / f"{name}.sqlite"), rows(work / "lxml.sqlite"), strict=True))
    differ = differ or not same
    print(f"{name:7} {middle[name]:.2f}, ratio {middle[name] / middle['lxml']:.2f}; the rows are {'the same' if same else 'NOT the same'}")
sys.exit(differ)
