"""A daemon under load for a long time. Called by Scripts/soak."""
import asyncio
import itertools
import json
import multiprocessing
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import time

program, work, seconds, sources = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
HOSTS, GROWTH = 50, 0.3
KINDS = ["unchanged", "changed", "same", "missing", "broken", "moved", "cut", "large", "file"]


def items(number, revision, count):
    return b"<items>" + b"".join(
        b"<item id='%d-%d'><name>%s %d</name></item>" % (number, n, b"n" * 40, revision) for n in range(count)) + b"</items>"


def serve(port):
    """Answers what the address asks for: /KIND/NUMBER."""
    asked = itertools.count()

    def answer(kind, number, request):
        turn = next(asked)
        if kind == b"unchanged":
            if b'"1"' in request:
                return b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", True
            return head(items(number, 1, 20), b"ETag: \"1\"\r\n"), True
        if kind == b"changed":
            return head(items(number, turn, 20), b"ETag: \"%d\"\r\n" % turn), True
        if kind == b"same":
            return head(items(number, 1, 20)), True
        if kind == b"large":
            return head(items(number, turn % 2, 2_000)), True
        if kind == b"missing":
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", True
        if kind == b"broken":
            return head(b"<items><item id='1'><name>n</items>"), True
        if kind == b"moved":
            return b"HTTP/1.1 302 Found\r\nLocation: /same/%d\r\nContent-Length: 0\r\n\r\n" % number, True
        return head(items(number, 1, 20))[:-100], False

    def head(body, headers=b""):
        return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (headers, len(body)) + body

    async def connection(reader, writer):
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                _, kind, number = request.split(b" ", 2)[1].split(b"/")
                data, keeps = answer(kind, int(number), request)
                writer.write(data)
                await writer.drain()
                if not keeps:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main():
        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=1024)
        # Every host of the loopback network, on one port.
        chosen = server.sockets[0].getsockname()[1]
        for host in range(2, HOSTS + 1):
            await asyncio.start_server(connection, f"127.0.0.{host}", chosen, backlog=1024)
        port.put(chosen)
        await asyncio.Event().wait()

    asyncio.run(main())


def configure(port, reload):
    """Each reload declares a few sources differently."""
    text = "[store]\npath = 'store.sqlite'\nhistory = '1d'\n[defaults]\ncache = '2s'\ntimeout = '5s'\n"
    table = ("tables = [{ table = 'item', element = 'item', key = ['source', 'id'], sync = 'mirror', "
             "columns = { id = '@id', name = 'name' } }]\n")
    for number in range(sources):
        kind = KINDS[number % len(KINDS)]
        url = f"file://{work}/feed.xml" if kind == "file" else f"http://127.0.0.{number % HOSTS + 1}:{port}/{kind}/{number}"
        text += (f"[[sources.{kind}{number}.requests]]\nurl = '{url}'\nscope = {{ source = '{number}' }}\n"
                 f"headers = {{ X-Reload = '{reload if number % 50 == reload % 50 else 0}' }}\n"
                 + table.replace("'item',", f"'{'large' if kind == 'large' else 'item'}{number % 10}',", 1))
    partial = work / "sources.partial"
    partial.write_text(text)
    partial.replace(work / "sources.toml")


def figures(pid):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
    folder = work / "store.sqlite-work"
    with sqlite3.connect(f"file:{work}/store.sqlite?mode=ro", uri=True) as store:
        runs = store.execute("SELECT coalesce(sum(polls), 0) FROM tributary_run").fetchone()[0]
    size = {name: (work / name).stat().st_size if (work / name).exists() else 0 for name in ("store.sqlite-wal", "store.sqlite")}
    return {
        "runs": runs, "kB": int(fields["VmRSS"].split()[0]), "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
        "threads": int(fields["Threads"]), "scratch": sum(1 for _ in folder.glob("*.scratch")) if folder.exists() else 0,
        "WAL": size["store.sqlite-wal"], "store": size["store.sqlite"]}


def main():
    port = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(port,), daemon=True)
    server.start()
    number = port.get()
    (work / "feed.xml").write_bytes(items(0, 0, 20))
    configure(number, 0)
    log = open(work / "log", "wb")
    daemon = subprocess.Popen([program, "--config", work / "sources.toml", "run", "--log-level", "error"], stdout=log, stderr=log)
    began, seen, reloads = time.monotonic(), [], 0
    pause = max(1, min(10, seconds / 60))
    warm = min(60, seconds / 5)
    try:
        while (passed := time.monotonic() - began) < seconds:
            time.sleep(pause)
            if daemon.poll() is not None:
                print(f"the daemon ended with {daemon.returncode}\n{(work / 'log').read_text()[-3000:]}")
                return 1
            reloads += 1
            configure(number, reloads)
            daemon.send_signal(signal.SIGHUP)
            now = figures(daemon.pid) | {"seconds": round(time.monotonic() - began)}
            seen.append(now)
            print(json.dumps(now), flush=True)
    finally:
        if daemon.poll() is None:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(10)
        server.terminate()
    steady = [now for now in seen if now["seconds"] >= warm]
    half = len(steady) // 2
    # The least of each half: what a run takes while it lasts is not growth.
    first, last = (min(part, key=lambda now: now["kB"]) for part in (steady[:half], steady[half:]))
    runs = last["runs"] - first["runs"]
    growth = (last["kB"] - first["kB"]) / max(1, runs)
    most = {name: (max(now[name] for now in steady[:half]), max(now[name] for now in steady[half:]))
            for name in ("descriptors", "threads", "WAL")}
    print(f"{seen[-1]['runs']} runs, {seen[-1]['runs'] / seconds:.0f}/s, {reloads} reloads; growth {growth:.3f} kB a run; "
          f"most in each half: {most}; {(work / 'log').stat().st_size} bytes logged as errors; ended with {daemon.returncode}")
    held = growth <= GROWTH and daemon.returncode == 0 and most["descriptors"][1] <= most["descriptors"][0] * 1.2 + 20
    held = held and most["threads"][1] <= most["threads"][0] * 1.2 + 10 and seen[-1]["scratch"] <= 16
    print("held" if held else "NOT held")
    return 0 if held else 1


sys.exit(main())
