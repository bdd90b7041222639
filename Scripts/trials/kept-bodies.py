"""See Scripts/trials/kept-bodies."""

import glob
import gzip
import http.server
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

program, kills = sys.argv[1], int(sys.argv[2])
random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
answers = 0


class Feed(http.server.BaseHTTPRequestHandler):
    """Three thousand rows, all of which hold the number of the answer."""

    def do_GET(self):
        global answers
        answers += 1
        rows = "".join(f"<i id='{i}'><n>{answers}</n></i>" for i in range(3000))
        body = f"<r>{rows}</r>".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # The run was killed.

    def log_message(self, *arguments):
        pass


def check():
    """What is wrong with the store and its bodies."""
    with sqlite3.connect("store.sqlite") as store:
        names = ((store.execute("SELECT bodies FROM tributary_request").fetchone() or [None])[0] or "").split()
        lowest, highest = store.execute("SELECT min(n), max(n) FROM t").fetchone()
    files = {os.path.basename(file)[:-3] for file in glob.glob("store.sqlite-bodies/s/*.gz")}
    if not names or not set(names) <= files:
        return f"the store names {names}, and there are {files}"
    body = gzip.open(f"store.sqlite-bodies/s/{names[0]}.gz").read().decode()
    if lowest != highest or f"<n>{lowest}</n>" not in body:
        return f"the rows are those of answers {lowest} to {highest}, the body is another one"


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Feed)
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("sources.toml", "w") as file:
        file.write(
            f"""[store]
path = "store.sqlite"
[sources.s]
keep_bodies = 2
[[sources.s.requests]]
url = "http://127.0.0.1:{server.server_port}/"
tables = [{{ table = "t", element = "i", key = ["id"], columns = {{ id = "@id", n = {{ path = "n", type = "integer" }} }} }}]
"""
        )
    sync = [program, "sync", "s", "--force"]
    start = time.monotonic()
    subprocess.run(sync, check=True, stdout=subprocess.DEVNULL)
    usual = time.monotonic() - start
    killed, wrong = 0, []
    for _ in range(kills):
        run = subprocess.Popen(sync, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.random() * usual * 1.2)
        killed += run.poll() is None
        run.kill()
        run.wait()
        problem = check()
        if problem:
            wrong.append(problem)
    subprocess.run(sync, check=True, stdout=subprocess.DEVNULL)
    replay = subprocess.run([program, "replay", "s", "--yes"], check=True, capture_output=True, text=True).stdout
    if "no changes" not in replay:
        wrong.append(replay)
    left = glob.glob("store.sqlite-work/*") + glob.glob("store.sqlite-bodies/s/*")[2:]
    if left:
        wrong.append(f"left over: {left}")
    print(f"{killed} of {kills} runs killed before their end; {len(wrong)} wrong")
    print("\n".join(wrong))
    os.chdir("/")
sys.exit(1 if wrong else 0)
