"""Elements with a hundred attributes. Called by Scripts/trials/wide-elements."""
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys

program, work, turns = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
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
    (work / "sources.toml").write_text(
        f"[store]\npath = 'store.sqlite'\n[[sources.w.requests]]\nurl = 'file://{work}/wide.xml'\nmax_body = '1GiB'\n"
        "[[sources.w.requests.tables]]\ntable = 'wide'\nelement = 'row'\nkey = ['id']\n"
        "[sources.w.requests.tables.columns]\nid = { path = '@id', type = 'integer' }\n" + columns)


def seconds(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command[0]} ended with {status}")
    return usage.ru_utime + usage.ru_stime


def rows(path):
    return sqlite3.connect(path).execute("SELECT * FROM wide ORDER BY id")


generate()
times = {"lxml": [], "tributary": []}
for _ in range(turns):
    for path in work.glob("*.sqlite*"):
        if path.is_file():
            path.unlink()
    times["lxml"].append(seconds([sys.executable, "-c", LXML, work, "id", *NAMES]))
    times["tributary"].append(seconds([program, "--config", work / "sources.toml", "sync", "--full"]))
same = all(one == other for one, other in zip(rows(work / "store.sqlite"), rows(work / "lxml.sqlite"), strict=True))
middle = {name: statistics.median(values) for name, values in times.items()}
print(f"CPU seconds: lxml {middle['lxml']:.2f}, tributary {middle['tributary']:.2f}, ratio "
      f"{middle['tributary'] / middle['lxml']:.2f}; the rows are {'the same' if same else 'NOT the same'}")
sys.exit(not same)
