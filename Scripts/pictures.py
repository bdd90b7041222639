"""A daemon on sample feeds with a week of history, and pictures of its page. See Scripts/pictures."""
import datetime
import http.server
import os
import pathlib
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

import terminal

program, *arguments = sys.argv[1:]
program = os.path.abspath(program)
draw = random.Random(7)
runs = 36  # of each source
names = ["bookshop", "exchange-rates", "harbour-levels", "library-events", "music-charts", "news", "parts-catalogue", "stations"]
round_number = 0


def feed(name):
    """Returns the status and the document of a source in the present round."""
    noise = random.Random(f"{name} {round_number}")
    if name == "library-events" and round_number >= runs - 5:
        return 503, ""
    if name == "stations" and round_number in (9, 10, 22):
        return 500, ""
    quiet = round_number % 4 if name in ("news", "bookshop") else round_number % 9
    version = round_number - quiet
    count = 40 if name != "parts-catalogue" else 400
    if name == "music-charts" and round_number == runs - 1:
        count = 6
    if name == "parts-catalogue" and round_number == 20:
        count = 2_600
    values = random.Random(f"{name} {version}")
    items = "".join(
        f'<item id="{name[:2]}-{number}"><title>{name} {number}</title><price>{9 + values.random() * 90:.2f}</price></item>'
        if number % 7 == 0 else f'<item id="{name[:2]}-{number}"><title>{name} {number}</title><price>{number}.50</price></item>'
        for number in range(count))
    noise.random()
    return 200, f"<items>{items}</items>"


class Feeds(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        status, body = feed(self.path.strip("/"))
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def declaration(name, port):
    return f"""
[sources.{name}]
cache = "4h"
[[sources.{name}.requests]]
url = "http://127.0.0.1:{port}/{name}"
[[sources.{name}.requests.tables]]
table = "{name.replace('-', '_')}"
element = "item"
key = ["id"]
sync = "mirror"
max_deleted = "50%"
columns = {{ id = "@id", title = "title", price = {{ path = "price", type = "real" }} }}
"""


def age(store):
    """Moves the runs into the past, so that their rounds are four hours apart and the last ones a few minutes ago."""
    with sqlite3.connect(store) as database:
        now = datetime.datetime.now(datetime.timezone.utc)
        for name in names:
            numbers = [row[0] for row in database.execute(
                "SELECT id FROM tributary_run WHERE source = ? ORDER BY id", (name,))]
            for place, number in enumerate(reversed(numbers)):
                if place == 0:
                    begin = now - datetime.timedelta(minutes=3 + names.index(name) * 4)
                else:
                    begin = now - datetime.timedelta(hours=4 * place + (16 if place > 14 else 0), minutes=names.index(name) * 4)
                text = begin.strftime("%Y-%m-%dT%H:%M:%S.000Z")
                database.execute(
                    "UPDATE tributary_run SET started_at = ?, finished_at = ? WHERE id = ?", (text, text, number))
            last = (now - datetime.timedelta(minutes=3 + names.index(name) * 4)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            due = (now + datetime.timedelta(minutes=7 + names.index(name) * 23)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            database.execute(
                "UPDATE tributary_source SET last_run = :last, next_due = :due, "
                "last_commit = (SELECT max(finished_at) FROM tributary_run WHERE source = :name AND outcome = 'committed'), "
                "last_good = (SELECT max(finished_at) FROM tributary_run WHERE source = :name "
                "AND outcome IN ('committed', 'unchanged')) WHERE source = :name",
                {"last": last, "due": due, "name": name})
            database.execute(
                "UPDATE tributary_source SET failing_since = (SELECT min(finished_at) FROM tributary_run r "
                "WHERE r.source = :name AND r.finished_at > last_good) WHERE source = :name AND failing_since IS NOT NULL",
                {"name": name})


def look(address, file, width, height, dark=False):
    profile = tempfile.mkdtemp()
    try:
        subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
             "--disable-background-networking", f"--user-data-dir={profile}", f"--window-size={width},{height}",
             "--timeout=4000", f"--screenshot={file}"] + (["--blink-settings=preferredColorScheme=0"] if dark else [])
            + [address],
            check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def main():
    global round_number
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Feeds)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    folder = pathlib.Path(tempfile.mkdtemp())
    daemon = None
    try:
        config = folder / "sources.toml"
        text = ('[store]\npath = "store.sqlite"\n[daemon]\nlisten = "127.0.0.1:0"\n[defaults]\nkeep_history = true\n'
                "allow_private = true\n"
                + "".join(declaration(name, port) for name in names)
                + f'\n[hooks.pager]\npost = "http://127.0.0.1:{port}/none"\non = ["changed"]\n')
        config.write_text(text)
        for round_number in range(runs):
            subprocess.run([program, "--config", str(config), "sync", "--force"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        age(folder / "store.sqlite")
        daemon = subprocess.Popen([program, "--config", str(config), "run"], stderr=subprocess.PIPE, text=True)
        address = None
        for line in daemon.stderr:
            found = re.search(r"The page is at (http://[^/]+)", line)
            if found:
                address = found.group(1)
                break
        if address is None:
            sys.exit("the daemon has no page")
        threading.Thread(target=daemon.stderr.read, daemon=True).start()
        if not arguments:
            target = pathlib.Path("Documentation/Images/page.png")
            look(address + "/", target, 1200, 900)
            print(target)
            target = target.with_name("terminal.svg")
            commands = ["plan music-charts --limit 4", "status"]
            target.write_text(terminal.picture(
                [(f"tributary {command}", [program, *command.split()]) for command in commands], folder))
            print(target)
            return
        target = pathlib.Path(arguments[0])
        target.mkdir(parents=True, exist_ok=True)
        for path in arguments[1:] or ["/", "/sources/parts-catalogue", "/daemon", "/try", "/tables"]:
            for width in (360, 800, 1400):
                for dark in (False, True):
                    name = (path.strip("/").replace("/", "-") or "sources") + f"-{width}{'-dark' if dark else ''}.png"
                    look(address + path, target / name, width, 2400 if width == 360 else 1600, dark)
                    print(target / name)
    finally:
        if daemon:
            daemon.terminate()
            daemon.wait(timeout=30)
        server.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


main()
