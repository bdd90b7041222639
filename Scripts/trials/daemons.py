"""Several daemons on one PostgreSQL. Called by Scripts/trials/daemons."""
import asyncio
import collections
import glob
import json
import os
import pathlib
import pwd
import random
import signal
import subprocess
import sys
import time

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
sources, hosts, cache, seconds = map(int, sys.argv[3:7])
PER_HOST, ANSWER_TIME = 2, 0.02
now = time.monotonic

log = []  # (source, host, began, ended)
events = []  # (time, text)
problems = []


class Server:
    """PostgreSQL in the work folder, as a user of its own where this process is root."""

    def __init__(self):
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
        self.data = work / "data"
        work.chmod(0o755)
        self.data.mkdir()
        if self.user:
            os.chown(self.data, self.user.pw_uid, self.user.pw_gid)
        self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.port = random.randint(20000, 60000)
        options = (f"-k {self.data} -p {self.port} -c listen_addresses=127.0.0.1 -c max_connections=200 "
                   "-c shared_buffers=64MB -c synchronous_commit=off")
        self.run("pg_ctl", "-D", self.data, "-w", "-l", self.data / "log", "-o", options, "start")

    def run(self, name, *arguments):
        ids = {"user": self.user.pw_uid, "group": self.user.pw_gid} if self.user else {}
        subprocess.run(
            [f"{self.bin}/{name}", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL, cwd="/", **ids)

    def query(self, sql):
        result = subprocess.run(
            [f"{self.bin}/psql", "-h", self.data, "-p", str(self.port), "-U", "postgres", "-Atc", sql],
            check=True, capture_output=True, text=True)
        return result.stdout.strip()

    def stop(self):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


class Origin(asyncio.Protocol):
    """Answers each request after a while, and notes it. The address that was asked is the host."""

    def connection_made(self, transport):
        self.transport = transport
        self.host = transport.get_extra_info("sockname")[0]
        self.rest = b""

    def data_received(self, data):
        self.rest += data
        while b"\r\n\r\n" in self.rest:
            head, self.rest = self.rest.split(b"\r\n\r\n", 1)
            source = head.split(b" ", 2)[1][1:].decode()
            delay = ANSWER_TIME * random.uniform(0.5, 1.5)
            asyncio.get_running_loop().call_later(delay, self.answer, source, now())

    def answer(self, source, began):
        log.append((source, self.host, began, now()))
        body = f"<items><item id='1' n='{len(log) if random.random() < 0.3 else 0}'/></items>".encode()
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


class Proxy:
    """A way to the server that can be cut."""

    def __init__(self, port):
        self.port, self.isCut = port, False

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        if self.isCut:
            return writer.close()
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        await asyncio.gather(self.copy(reader, far_writer), self.copy(far_reader, writer))

    async def copy(self, reader, writer):
        while data := await reader.read(65536):
            while self.isCut:  # Nothing arrives, without an error.
                await asyncio.sleep(0.2)
            writer.write(data)
            await writer.drain()
        writer.close()


class Daemon:
    def __init__(self, name, port):
        self.name = name
        self.errors = open(work / f"{name}.log", "w")
        self.process = subprocess.Popen(
            [program, "--config", work / "sources.toml", "run", "--log-level", "warning"],
            env={**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port)}, stdout=subprocess.DEVNULL,
            stderr=self.errors)

    def signal(self, number, text):
        events.append((now(), f"{self.name} {text}"))
        print(f"{now() - began:6.0f} s  {self.name} {text}", flush=True)
        self.process.send_signal(number)


def configure(port):
    lines = ["[store]\nurl = 'user=postgres dbname=postgres'\n",
             f"[daemon]\nconcurrency = 16\nper_host = {PER_HOST}\n"]
    for n in range(sources):
        host = n % hosts
        lines.append(
            f"[sources.s{n}]\ncache = '{cache}s'\n[[sources.s{n}.requests]]\n"
            f"url = 'http://127.1.{host // 250}.{host % 250 + 1}:{port}/s{n}'\n"
            f"scope = {{ source = 's{n}' }}\n"
            f"tables = [{{ table = 'item', element = 'item', key = ['source', 'id'], sync = 'mirror', "
            f"columns = {{ source = {{ value = 's{n}' }}, id = '@id', n = '@n' }} }}]\n")
    (work / "sources.toml").write_text("".join(lines))


def shares(port):
    result = subprocess.run(
        [program, "--config", work / "sources.toml", "status", "--json"], capture_output=True, text=True,
        env={**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port)})
    return collections.Counter(entry["daemon"] for entry in json.loads(result.stdout)["sources"])


def missing(start, end):
    asked = {source for source, _, began, _ in log if start <= began < end}
    return sources - len(asked)


async def on_time(since, what):
    """Waits until each source has been asked since a moment."""
    while missing(since, now()) and now() - since < 120:
        await asyncio.sleep(0.5)
    late = missing(since, now())
    print(f"{now() - began:6.0f} s  every source asked {now() - since:.1f} s after {what}; {late} missing", flush=True)
    if late:
        problems.append(f"{late} sources were not asked within 120 s after {what}")


async def main():
    global began
    began = now()
    server = Server()
    daemons = []
    try:
        loop = asyncio.get_running_loop()
        origin = await loop.create_server(Origin, "0.0.0.0", 0, backlog=4096)
        configure(origin.sockets[0].getsockname()[1])
        proxy = Proxy(server.port)
        proxy_port = await proxy.start()
        daemons = [Daemon("a", server.port), Daemon("b", server.port), Daemon("c", proxy_port)]
        await asyncio.sleep(2)
        await on_time(began, "the start")
        print("shares", dict(await asyncio.to_thread(shares, server.port)), flush=True)
        phase = max(10, seconds // 6)

        await asyncio.sleep(phase)
        rate = sum(1 for entry in log if entry[2] > now() - phase) / phase
        print(f"{rate:.0f} requests/s of {sources / cache:.0f} due", flush=True)
        at = now()
        daemons[0].signal(signal.SIGKILL, "killed")
        await on_time(at + 1, "the death of a")
        daemons.append(Daemon("d", server.port))
        await asyncio.sleep(phase)
        print("shares", dict(await asyncio.to_thread(shares, server.port)), flush=True)

        at = now()
        daemons[1].signal(signal.SIGSTOP, "paused")
        await on_time(at + 1, "the pause of b")
        await asyncio.sleep(max(0, at + 60 - now()))
        at = now()
        daemons[1].signal(signal.SIGCONT, "let go on")
        await asyncio.sleep(phase)
        await on_time(at + 1, "b went on")

        at = now()
        events.append((at, "c cut off"))
        print(f"{now() - began:6.0f} s  c cut off", flush=True)
        proxy.isCut = True
        await on_time(at + 1, "c was cut off")
        await asyncio.sleep(phase)
        proxy.isCut = False
        at = now()
        events.append((at, "c back"))
        daemons[3].signal(signal.SIGHUP, "reloaded")
        await asyncio.sleep(phase)
        await on_time(at, "c came back")
        print("shares", dict(await asyncio.to_thread(shares, server.port)), flush=True)
        for daemon in daemons[1:]:
            daemon.signal(signal.SIGTERM, "stopped")
        for daemon in daemons[1:]:
            status = await asyncio.to_thread(daemon.process.wait)
            print(daemon.name, "ended with", status, flush=True)
            if status:
                problems.append(f"{daemon.name} ended with {status}")
        report(server)
    finally:
        for daemon in daemons:
            if daemon.process.poll() is None:
                daemon.process.send_signal(signal.SIGCONT)
                daemon.process.kill()
        server.stop()


def report(server):
    by_source, by_host = collections.defaultdict(list), collections.defaultdict(list)
    for source, host, start, end in log:
        by_source[source].append(start)
        by_host[host] += [(start, 1), (end, -1)]
    early = []
    for source, times in by_source.items():
        times.sort()
        early += [(source, a, b) for a, b in zip(times, times[1:]) if b - a < cache]
    # Under way when a daemon was killed, paused or cut off: its run was not recorded.
    cuts = [at for at, text in events if text.split(" ", 1)[1] in ("killed", "paused", "cut off", "stopped")]
    strange = [pair for pair in early if not any(-2 < at - pair[1] < 3 for at in cuts)]
    most = 0
    for changes in by_host.values():
        at_once = 0
        for _, change in sorted(changes):
            at_once += change
            most = max(most, at_once)
    overlaps = server.query("""
        SELECT count(*) FROM (SELECT started_at < lag(finished_at) OVER (PARTITION BY source ORDER BY started_at) AS early
        FROM tributary_run WHERE outcome IN ('committed', 'unchanged')) run WHERE early""")
    outcomes = server.query("SELECT json_object_agg(outcome, n) FROM (SELECT outcome, sum(polls) n FROM tributary_run GROUP BY 1) o")
    print(f"{len(log)} requests, {len(early)} within the interval of one under way at a stop, {len(strange)} others")
    if strange:
        problems.append(f"{len(strange)} requests within the interval of the one before")
    for source, a, b in strange[:10]:
        print(f"  {source}: asked {a - began:.2f} s and {b - began:.2f} s")
    print(f"most at one host at once: {most} of {PER_HOST}; runs that overlap: {overlaps}; outcomes {outcomes}")
    for path in sorted(work.glob("?.log")):
        lines = path.read_text().splitlines()
        print(path.name, len(lines), "lines", *lines[:3], sep="\n  ")


asyncio.run(main())
print("problems:", "; ".join(problems) or "none")
sys.exit(1 if problems else 0)
