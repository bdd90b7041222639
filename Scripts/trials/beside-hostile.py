"""A thousand healthy sources beside hostile ones and a hostile clock. Called by Scripts/trials/beside-hostile."""
import asyncio
import gzip
import multiprocessing
import os
import pathlib
import random
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import time

from healthy_server import healthy_server
from hostile_answers import Hostile

program, work, seconds, seed = sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
slow = int(sys.argv[5])
HEALTHY, HOSTS, CACHE, TIMEOUT = 1_000, 100, 5, 5
# A cache interval, the jitter that is added to it, and a second for one whole round of everybody else.
LATE = CACHE + CACHE / 20 + 2
# By how many days the clock is wrong, in turn.
DAYS = [0, 10, 0, -10, 400, -7_000, 0]


# ---- Other hostile behaviour than mutated answers

def bodies():
    """What one body grows into: kept small here, and large where it is read."""
    many = b"<items>" + b"<item id='1'>" * 200_000
    entities = b"<!DOCTYPE d [<!ENTITY a '" + b"x" * 1000 + b"'>" + b"".join(
        b"<!ENTITY %s '%s'>" % (bytes([98 + n]), b"&%s;" % bytes([97 + n]) * 50) for n in range(6)
    ) + b"]><items><item id='1'><name>&g;</name></item></items>"
    return {
        "bomb": (b"Content-Encoding: gzip\r\n", gzip.compress(b"<items>" + b" " * 300_000_000)),
        "deep": (b"", many),
        "entities": (b"", entities),
        "join": (b"", b"<items><item id='1'>" + b"<name>v</name>" * 500_000 + b"</item></items>"),
        "json": (b"Content-Type: application/json\r\n", b'{"items":{"item":[' + b'{"id":1},' * 200_000 + b'{"id":2}]}}'),
        "wide": (b"", b"<items><item " + b" ".join(b"a%d='v'" % n for n in range(100_000)) + b"/></items>"),
        "text": (b"", b"<items><item id='1'><name>" + b"x" * 9_000_000 + b"</name></item></items>"),
        "cut": (b"", b"<items><item id='1'><name>"),
    }


async def growing(reader, writer):
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            headers, body = BODIES[request.split(b" ", 2)[1].decode()[1:]]
            writer.write(b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (headers, len(body)) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def hanging(reader, writer):
    await reader.read()
    writer.close()


async def dripping(reader, writer):
    try:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n<items>")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.2)
    except ConnectionError:
        writer.close()


def full_backlog():
    """An address that neither accepts nor refuses."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(0)
    clients = []
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(server.getsockname())
        clients.append(client)
    return server, clients


# ---- The daemon

def configure(healthy, hostile):
    text = (f"[store]\npath = 'store.sqlite'\n[defaults]\ntimeout = '{TIMEOUT}s'\nmax_body = '8MiB'\n"
            "connect_timeout = '2s'\ntls = { ca = 'ca.pem' }\n")
    table = "tables = [{ table = '%s', element = 'item', key = ['id'], columns = { id = '@id', name = %s } }]\n"
    for number in range(HEALTHY):
        text += (f"[sources.healthy{number}]\ncache = '{CACHE}s'\n[[sources.healthy{number}.requests]]\n"
                 f"url = 'http://127.0.1.{number % HOSTS + 1}:{healthy}/{number}'\n" + table % ("item", "'name'"))
    for number, url in enumerate(hostile):
        name = "{ path = 'name', repeat = 'join' }"
        text += (f"[sources.hostile{number}]\ncache = '1s'\n[[sources.hostile{number}.requests]]\n"
                 f"url = '{url}'\n" + table % ("other", name))
    (work / "sources.toml").write_text(text)


def status_of(pid):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status") if ":" in line)
    return {"MiB": int(fields["VmRSS"].split()[0]) // 1024, "peak": int(fields["VmHWM"].split()[0]) // 1024,
            "threads": int(fields["Threads"]), "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}


async def main():
    ready, times = multiprocessing.Queue(), multiprocessing.Queue()
    server = multiprocessing.Process(target=healthy_server, args=(ready, times))
    server.start()
    healthy = ready.get()

    mutating = Hostile(seed, hangs=TIMEOUT + 1)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(work / "ca.pem", work / "key.pem")

    async def start(handler, **options):
        started = await asyncio.start_server(handler, "0.0.0.0", 0, backlog=1024, **options)
        return started.sockets[0].getsockname()[1]

    plain, secure = await start(mutating.serve(mutating.http1)), await start(mutating.serve(mutating.http1), ssl=tls)
    grow, hang, drip = await start(growing), await start(hanging), await start(dripping)
    silent, clients = full_backlog()
    (work / "noise").write_bytes(random.Random(seed).randbytes(100_000))
    os.mkfifo(work / "fifo")
    hostile = [f"http://127.0.2.{n}:{plain}/{n}" for n in range(1, 21)]
    hostile += [f"https://127.0.0.1:{secure}/{n}" for n in range(20)]
    hostile += [f"http://127.0.3.{n}:{grow}/{name}" for n, name in enumerate(BODIES, 1)]
    hostile += [f"http://127.0.4.{n % 3 + 1}:{hang}/{n}" for n in range(20)]
    hostile += [f"http://127.0.5.{n % 3 + 1}:{drip}/{n}" for n in range(20)]
    hostile += [f"http://127.1.{n // 200}.{n % 200 + 1}:{hang if n % 2 else drip}/{n}" for n in range(slow)]
    hostile += [f"http://127.0.0.1:{silent.getsockname()[1]}/{n}" for n in range(4)]
    hostile += ["http://127.0.0.1:1/", "http://[::1]:1/", "http://nowhere.invalid/"]
    hostile += [f"file://{work}/noise", f"file://{work}/fifo", "file:///dev/zero", "file:///nowhere", f"file://{work}"]
    configure(healthy, hostile)

    clock = work / "clock"
    clock.write_bytes(struct.pack("=q", 0))
    environment = os.environ | {"LD_PRELOAD": work / "clock.so", "WRONG_CLOCK": clock}
    log = open(work / "log", "wb")
    daemon = subprocess.Popen(
        [program, "--config", work / "sources.toml", "run"], env=environment, stdout=log, stderr=log)
    began, figures = time.monotonic(), []
    for turn in range(10_000):
        days = DAYS[turn % len(DAYS)]
        with open(clock, "r+b") as file:
            file.write(struct.pack("=q", days * 86_400))
        await asyncio.sleep(min(10, seconds / 12))
        if daemon.poll() is not None or time.monotonic() - began > seconds:
            break
        figures.append(status_of(daemon.pid))
        print(f"{time.monotonic() - began:5.0f} s, clock {days:+5} d, {figures[-1]}", flush=True)
    ended = time.monotonic()
    held = daemon.poll() is None
    if held:
        daemon.send_signal(signal.SIGTERM)
        try:
            await asyncio.to_thread(daemon.wait, 30)
        except subprocess.TimeoutExpired:
            held = False
            daemon.kill()
    print(f"the daemon ended with {daemon.returncode}, {time.monotonic() - ended:.1f} s after the signal", flush=True)
    server.terminate()
    asked = times.get()

    if not held:
        print((work / "log").read_bytes()[-4000:].decode(errors="replace"))
    gaps = sorted(later - earlier for moments in asked.values() for earlier, later in zip(moments, moments[1:] + [ended]))
    late = sum(gap > LATE for gap in gaps)
    print(f"healthy: {len(asked)} sources asked {len(gaps)} times; between two questions: median {gaps[len(gaps) // 2]:.2f} s, "
          f"99.9 % below {gaps[len(gaps) * 999 // 1000]:.2f} s, longest {gaps[-1]:.2f} s; later than {LATE:.2f} s: {late}")
    with sqlite3.connect(work / "store.sqlite") as store:
        print("integrity:", store.execute("PRAGMA integrity_check").fetchone()[0])
        outcomes = "SELECT substr(source, 1, 7), outcome, sum(polls) FROM tributary_run GROUP BY 1, 2"
        print("runs:", store.execute(outcomes).fetchall())
        print("rows:", store.execute("SELECT count(*) FROM item").fetchone()[0])
        for error, in store.execute("SELECT DISTINCT error FROM tributary_run WHERE source LIKE 'healthy%' AND error <> '' LIMIT 5"):
            print("healthy:", error)
    good = held and daemon.returncode == 0 and len(asked) == HEALTHY and not late
    print("held" if good else "NOT held", flush=True)
    os._exit(0 if good else 1)


BODIES = bodies()
asyncio.run(main())
