"""What Scripts/trials/page runs."""
import datetime
import http.client
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

program, count, rows, address = os.path.abspath(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
RUNS = 60  # of each source, twelve hours apart
LIMIT = 0.2
slow, wrong = [], []


def ask(port, path, method="GET", most=None):
    """The status, the body, at most so many bytes of it, and the seconds until then."""
    start = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path, headers={"Origin": f"http://127.0.0.1:{port}"})
    response = connection.getresponse()
    body = response.read(most)
    seconds = time.perf_counter() - start
    connection.close()
    return response.status, body, seconds


def figures(pid):
    status = open(f"/proc/{pid}/status").read()
    memory = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
    return f"{memory:.0f} MB, {len(os.listdir(f'/proc/{pid}/fd'))} descriptors, {len(os.listdir(f'/proc/{pid}/task'))} threads"


def start(folder):
    daemon = subprocess.Popen([program, "--config", f"{folder}/sources.toml", "run"], stderr=subprocess.PIPE, text=True)
    for line in daemon.stderr:
        if found := re.search(r"The page is at http://127.0.0.1:(\d+)", line):
            threading.Thread(target=lambda: [None for _ in daemon.stderr], daemon=True).start()
            return daemon, int(found[1])
    sys.exit("the daemon has no page")


def fill(folder):
    """Gives each source a past, and its last source's table its rows, each with an entry of the changelog."""
    now = datetime.datetime.now(datetime.timezone.utc)
    first = now - datetime.timedelta(hours=12 * RUNS)
    sqlite = not address
    big = f"source-{count - 1:05}"
    series = (lambda n: f"(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n + 1 < {n}) SELECT n FROM s)"
              if sqlite else f"(SELECT n FROM generate_series(0, {n} - 1) AS s(n))")
    begin = now.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    at = (f"strftime('%Y-%m-%dT%H:%M:%S.000Z', '{first:%Y-%m-%d %H:%M:%S}', '+' || (n * 12) || ' hours')"
          if sqlite else f"timestamptz '{first:%Y-%m-%d %H:%M:%S}+00' + n * interval '12 hours'")
    cast = "" if sqlite else "::timestamptz"
    columns = ("source, polls, started_at, finished_at, outcome, inserted, updated, deleted, unchanged, replaced, skipped, bytes, "
               "seconds, requests, first_change, last_change, history")
    outcome = "CASE n % 5 WHEN 0 THEN 'committed' WHEN 1 THEN 'discarded' ELSE 'unchanged' END"
    request = "'[{\"bytes\":154,\"key\":\"1\",\"outcome\":\"parsed\",\"seconds\":0.01,\"status\":200}]'"
    no = "0" if sqlite else "false"
    yes = "1" if sqlite else "true"
    key = "n" if sqlite else "to_jsonb(n)::text"
    statements = [
        # The last runs are the ones that the daemon made.
        "UPDATE tributary_run SET id = id + 100000000",
        f"INSERT INTO tributary_run (id, {columns}) SELECT row_number() OVER (ORDER BY n, source), source, 1, {at}, {at}, {outcome}, "
        f"0, CASE n % 5 WHEN 0 THEN 1 ELSE 0 END, 0, 2, 0, 0, 154, 0.02, {request}, NULL, NULL, {no} "
        f"FROM {series(RUNS)} AS numbers, (SELECT source FROM tributary_source) AS sources",
        "DELETE FROM tributary_change",
        f"INSERT INTO tributary_change (id, run, \"table\", key, operation) SELECT n + 1, 100000000 + 1000000, 'big', {key}, 'insert' "
        f"FROM {series(rows)} AS numbers",
        f"INSERT INTO tributary_run (id, {columns}) VALUES (101000000, '{big}', 1, '{begin}'{cast}, '{begin}'{cast}, 'committed', {rows}, "
        f"0, 0, 0, 0, 0, 154, 80, {request}, 1, {rows}, {no})",
        f"INSERT INTO big (id, title, price, kind) SELECT n, 'Title ' || n, (n % 10007) / 8.0, 'kind ' || (n % 7) "
        f"FROM {series(rows)} AS numbers WHERE n > 2",
    ]
    begun = time.time()
    if sqlite:
        with sqlite3.connect(f"{folder}/s.sqlite") as database:
            for statement in statements:
                database.execute(statement)
        database.close()
    else:
        script = "\n".join(statement + ";" for statement in statements) + "\nANALYZE;\nSELECT setval(pg_get_serial_sequence('tributary_run', 'id'), 200000000);"
        result = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", address], input=script, text=True, capture_output=True)
        if result.returncode:
            sys.exit(result.stderr)
    print(f"filled in {time.time() - begun:.0f} s")
    return big


def measure(port, name, path, method="GET", times=10, pause=0.1, most=None, status=(200,)):
    seconds, size = [], 0
    for _ in range(times):
        found, body, took = ask(port, path, method, most)
        if found not in status:
            print(f"{name}: {found} {body[:300]}")
            wrong.append(name)
            return body
        seconds.append(took)
        size = len(body)
        # The list is read from the store once a second at most, so that some wait for that.
        time.sleep(pause)
    mark = ""
    if max(seconds) > LIMIT:
        slow.append(name)
        mark = "  <-- slow"
    print(f"{name}: first {seconds[0] * 1000:.0f} ms, median {statistics.median(seconds) * 1000:.0f} ms, slowest "
          f"{max(seconds) * 1000:.0f} ms, {size / 1000:.0f} kB{mark}", flush=True)
    return body


def views(port, big):
    measure(port, "the list", "/", times=30)
    measure(port, "a search", "/?q=source-09", times=30)
    measure(port, "a filter", "/?state=failing")
    measure(port, "an order", "/?sort=due&page=50")
    measure(port, "a source", "/sources/source-00001")
    measure(port, "a source with 1,000 runs", "/sources/source-00001?runs=1000&period=all")
    measure(port, f"the source of {rows} rows", f"/sources/{big}")
    run = re.search(rb"/runs/(\d+)", ask(port, "/sources/source-00001")[1])[1].decode()
    measure(port, "a run", f"/sources/source-00001/runs/{run}")
    measure(port, f"a run of {rows} changes", f"/sources/{big}/runs/101000000")
    measure(port, "its inserted rows, the last page", f"/sources/{big}/runs/101000000?operation=insert&from=9900")
    measure(port, "its deleted rows, of which there are none", f"/sources/{big}/runs/101000000?operation=delete")
    measure(port, "an undo", f"/sources/source-00001/undo", times=3, status=(200, 409))
    measure(port, "a purge", f"/sources/source-00001/purge", times=3, status=(200, 409))
    measure(port, "the tables", "/tables")
    body = measure(port, "rows", "/tables/big")
    after = re.search(rb'rel="next" href="([^"]+)"', body)[1].decode().replace("&amp;", "&")
    measure(port, "the next rows", after)
    measure(port, "rows in the middle", f"/tables/big?after=i{rows // 2}")
    measure(port, "a filter by the key", f"/tables/big?column=id&is=eq&value={rows - 7}")
    measure(port, "a row", f"/tables/big/row?key=i{rows // 2}", times=5)
    for name, path in [
        ("a filter with many hits", "/tables/big?column=kind&is=eq&value=kind+3"),
        ("a filter by a column without an index", f"/tables/big?column=title&is=eq&value=Title+{rows - 9}"),
        ("contains, with no hit", "/tables/big?column=title&is=contains&value=nowhere"),
        ("an order without an index", "/tables/big?sort=price&order=desc"),
        ("counts of values", "/tables/big?facet=kind"),
        ("counts of values, many", "/tables/big?facet=title"),
    ]:
        measure(port, name, path, times=2, status=(200, 503))
    measure(port, "the first rows of a CSV", "/tables/big.csv", most=10_000)
    measure(port, "the first rows of JSON Lines", "/tables/big.ndjson", most=10_000)
    measure(port, "the daemon", "/daemon")
    measure(port, "try", "/try")
    measure(port, "a scrape", "/metrics")
    measure(port, "health", "/healthz")
    measure(port, "all as JSON", "/api/status")
    for path in ("/api", "/api/openapi.json", "/api/status?source=source-00001", "/api/history", "/api/history?limit=1000",
                 "/api/history?source=source-00001&failed=true", "/api/review", "/api/changes?run=101000000&limit=1000", f"/api/changes?after={rows - 500}",
                 "/api/changes?after=0&limit=1000", "/api/changes?table=big&since=2020-01-01&limit=100", "/api/tables", "/api/tables/big/rows", f"/api/tables/big/rows?after=i{rows // 2}&limit=1000"):
        measure(port, path, path)
    measure(port, "POST /api/plan", "/api/plan?source=source-00001", "POST", times=3)


def live(daemon, port):
    """Open pages while everything runs once more."""
    received = [0]

    def follow():
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/live?page=%2F")
        response = connection.getresponse()
        try:
            while chunk := response.read1(65536):
                received[0] += len(chunk)
        except http.client.HTTPException:
            pass  # The daemon has ended.

    for _ in range(20):
        threading.Thread(target=follow, daemon=True).start()
    before = figures(daemon.pid)
    ticks = lambda: sum(map(int, open(f"/proc/{daemon.pid}/stat").read().split()[13:15]))
    cpu = ticks()
    ask(port, "/api/refresh", "POST")
    busy = []
    end = time.time() + 30
    while time.time() < end:
        busy.append(ask(port, "/")[2])
        time.sleep(0.2)
    cpu = (ticks() - cpu) / os.sysconf("SC_CLK_TCK")
    print(f"20 open pages for 30 s while all run: {received[0] / 1e6:.1f} MB sent, {cpu:.0f} s of CPU; {before} before, "
          f"{figures(daemon.pid)} after; the list took {statistics.median(busy) * 1000:.0f} ms (median), {max(busy) * 1000:.0f} ms (slowest of {len(busy)})")


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/feed.xml", "w") as feed:
            feed.write("<items><item id='1'/><item id='2'/></items>")
        with open(f"{folder}/sources.toml", "w") as file:
            store = f'url = "{address}"' if address else 'path = "s.sqlite"'
            file.write(f'[store]\n{store}\n[daemon]\nlisten = "127.0.0.1:0"\n[defaults]\ncache = "1d"\n')
            for number in range(count):
                # One in fifty fails.
                name = "missing" if number % 50 == 0 else "feed"
                tables = (f'scope = {{ source = "{number}" }}\ntables = [{{ table = "t", element = "item", key = ["source", "id"], '
                          f'columns = {{ source = {{ value = "{number}" }}, id = "@id" }} }}]\n')
                if number == count - 1:
                    tables = ('tables = [{ table = "big", element = "item", key = ["id"], columns = { id = { path = "@id", type = "integer" }, '
                              'title = "title", price = { path = "price", type = "real" }, kind = "kind" } }]\n')
                file.write(f'[sources.source-{number:05}]\n[[sources.source-{number:05}.requests]]\nurl = "file:{folder}/{name}.xml"\n{tables}')
        daemon, port = start(folder)
        try:
            begun = time.time()
            busy = []
            while True:
                status, body, seconds = ask(port, "/?state=new")
                busy.append(seconds)
                if re.search(rb"<b>0</b> new", body):
                    break
                time.sleep(0.2)
            print(f"{count} sources have run in {time.time() - begun:.0f} s; meanwhile the list took "
                  f"{statistics.median(busy) * 1000:.0f} ms (median), {max(busy) * 1000:.0f} ms (slowest of {len(busy)})", flush=True)
            daemon.terminate()
            daemon.wait()
            big = fill(folder)
            daemon, port = start(folder)
            status, body, seconds = ask(port, "/")
            print(f"the first view after the start: {seconds * 1000:.0f} ms")
            if seconds > LIMIT:
                slow.append("the first view")
            views(port, big)
            live(daemon, port)
            begun = time.time()
            daemon.terminate()
            if daemon.wait():
                wrong.append("the daemon's end")
            print(f"ended with {daemon.returncode} in {time.time() - begun:.1f} s")
            print(f"over {LIMIT * 1000:.0f} ms: {', '.join(slow) or 'none'}; wrong: {', '.join(wrong) or 'none'}")
            sys.exit(1 if wrong else 0)
        finally:
            daemon.kill()


main()
