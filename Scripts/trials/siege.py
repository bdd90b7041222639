"""What Scripts/trials/siege runs."""
import asyncio
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from healthy_server import healthy_server

program, work, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3])
HEALTHY, HOSTS, CACHE = 1_000, 100, 60
# The cache interval, and the twentieth of it by which due times are spread.
LATE = CACHE + CACHE / 20 + 1
TABLE = "tables = [{ table = '%s', element = 'item', key = ['id'], columns = { id = '@id', name = 'name' } }]\n"


async def hanging(reader, writer):
    try:
        await reader.read()
    finally:
        writer.close()


async def token(reader, writer):
    """Answers with a token. Requests of the feed hang."""
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            if not request.startswith(b"POST"):
                await reader.read()
                break
            length = re.search(rb"content-length: *(\d+)", request, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            body = json.dumps({"access_token": "t", "token_type": "Bearer", "expires_in": 5}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


def configure(healthy, silent, tokens):
    text = "[store]\npath = 'store.sqlite'\n[daemon]\nlisten = '127.0.0.1:0'\n"

    def source(name, url, table, cache, more=""):
        return f"[sources.{name}]\ncache = '{cache}s'\n[[sources.{name}.requests]]\nurl = '{url}'\n{more}" + TABLE % table

    for number in range(HEALTHY):
        text += source(f"healthy{number}", f"http://{number % HOSTS + 1}.healthy:{healthy}/{number}", "item", CACHE)
    for number in range(64):
        text += source(f"ftp{number}", f"ftp://127.0.2.{number + 1}:{silent}/{number}.xml", "other", 1)
        text += source(f"http{number}", f"http://127.0.3.{number + 1}:{silent}/{number}.xml", "other", 1)
    for number in range(16):
        text += source(f"name{number}", f"http://{number}.silent/feed.xml", "other", 1)
    for number in range(8):
        (work / "silent" / str(number)).mkdir(parents=True)
        text += source(f"share{number}", f"file://{work}/silent/{number}/feed.xml", "other", 1)
        address = f"http://127.0.4.{number + 1}:{tokens}"
        login = f"auth = {{ oauth2 = {{ token_url = '{address}/token', client_id = 'c', client_secret = 's' }} }}\n"
        text += source(f"token{number}", f"{address}/feed.xml", "other", 1, login)
    (work / "sources.toml").write_text(text)


def ask(port, path):
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    response.read()
    return time.perf_counter() - began, path, response.status


async def main():
    ready, times = multiprocessing.Queue(), multiprocessing.Queue()
    server = multiprocessing.Process(target=healthy_server, args=(ready, times, True))
    server.start()
    healthy = ready.get()

    async def start(handler):
        started = await asyncio.start_server(handler, "0.0.0.0", 0, backlog=1024)
        return started.sockets[0].getsockname()[1]

    configure(healthy, await start(hanging), await start(token))
    log = work / "log"
    with open(log, "wb") as output:
        daemon = subprocess.Popen(
            [program, "--config", work / "sources.toml", "run"], env=os.environ | {"LD_PRELOAD": work / "share.so"},
            stdout=output, stderr=output)
    try:
        began, pages, port = time.monotonic(), [], None
        while time.monotonic() - began < seconds and daemon.poll() is None:
            await asyncio.sleep(1)
            port = port or next(iter(re.findall(r"The page is at http://127.0.0.1:(\d+)", log.read_text())), None)
            if port:
                pages += [await asyncio.to_thread(ask, int(port), path) for path in ("/", "/sources/healthy7", "/healthz")]
        held = daemon.poll() is None
        ended = time.monotonic()
        if held:
            daemon.send_signal(signal.SIGTERM)
            await asyncio.to_thread(daemon.wait, 60)
        stopped = time.monotonic() - ended
    finally:
        daemon.kill()
        server.terminate()
    asked = times.get()

    gaps = sorted(later - earlier for moments in asked.values() for earlier, later in zip(moments, moments[1:] + [ended]))
    first = max(moments[0] for moments in asked.values()) - began
    late = sum(gap > LATE for gap in gaps)
    slowest, path, _ = max(pages, default=(0, "", 200))
    wrong = {status for _, _, status in pages} - {200}
    print(f"healthy: {len(asked)} sources asked {len(gaps)} times, all for the first time after {first:.1f} s; "
          f"longest between two {gaps[-1]:.2f} s; later than {LATE:.0f} s: {late}")
    print(f"page: {len(pages)} answers, slowest {slowest * 1000:.0f} ms ({path}), statuses other than 200: {sorted(wrong)}")
    print(f"the daemon ended with {daemon.returncode}, {stopped:.1f} s after the signal")
    good = (held and daemon.returncode == 0 and stopped < 5 and len(asked) == HEALTHY and not late and pages
            and slowest < 0.2 and not wrong)
    print("held" if good else "NOT held", flush=True)
    os._exit(0 if good else 1)


asyncio.run(main())
