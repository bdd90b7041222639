"""Raw answers over HTTP/1.1 and HTTP/2. Called by Scripts/trials/raw-answers."""
import asyncio
import collections
import hashlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import ssl
import sys
import time

from hostile_answers import Hostile

program, work, seconds, seed, seeds = (
    sys.argv[1], pathlib.Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4], pathlib.Path(sys.argv[5]))
SOURCES, STACK, TIMEOUT = 80, 2, 3


def configure(name, urls):
    text = f"[store]\npath = '{name}.sqlite'\n[daemon]\nconcurrency = 16\nper_host = 16\n[defaults]\ntimeout = '{TIMEOUT}s'\n"
    text += "connect_timeout = '1s'\nmax_body = '1MiB'\ntls = { ca = 'ca.pem' }\n"
    table = "tables = [{ table = 'item', element = 'item', key = ['id'], columns = { id = '@id', name = 'name' } }]\n"
    (work / "ask.xml").write_text("<ask>" + "x" * 300_000 + "</ask>")
    for number, stack in enumerate(urls):
        for url in stack:
            # Some send so much that the answer comes before they have.
            body = "body = { file = 'ask.xml' }\n" if number % 4 > 1 and len(urls) > 1 else ""
            text += f"[[sources.s{number}.requests]]\nurl = '{url}'\n{body}{table}"
    (work / f"{name}.toml").write_text(text)
    return str(work / f"{name}.toml")


async def sync(config, limit):
    """The process's status, its reports, and what it wrote last; the status is None where it hung."""
    process = await asyncio.create_subprocess_exec(
        program, "--config", config, "sync", "--force", "--json", limit=1 << 24,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    try:
        output, errors = await asyncio.wait_for(process.communicate(), limit)
    except TimeoutError:
        process.kill()
        output, errors = await process.communicate()
        return None, [], errors
    reports = [json.loads(line) for line in output.decode().splitlines() if line.startswith("{")]
    return process.returncode, reports, errors


def describe(status):
    if status is None:
        return "hung"
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


async def main():
    hostile = Hostile(seed, hangs=TIMEOUT + 1)
    plain = await asyncio.start_server(hostile.serve(hostile.http1), "127.0.0.1", 0, backlog=1024)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(work / "ca.pem", work / "key.pem")
    tls.set_alpn_protocols(["h2"])
    secure = await asyncio.start_server(hostile.serve(hostile.http2), "127.0.0.1", 0, ssl=tls, backlog=1024)
    bases = {
        "h1": f"http://127.0.0.1:{plain.sockets[0].getsockname()[1]}",
        "h2": f"https://127.0.0.1:{secure.sockets[0].getsockname()[1]}",
    }
    # One answer, alone, to a stack of two: the second request finds what the first has left behind.
    single = {kind: configure(kind, [[f"{base}/{n}" for n in range(STACK)]]) for kind, base in bases.items()}
    kinds = list(bases)
    many = configure("many", [
        [f"{bases[kinds[n % 2]]}/{n}/{m}" for m in range(STACK)] for n in range(SOURCES)])
    print(f"seed {seed}, {seconds:.0f} s, {program}", flush=True)

    found = 0
    for path in sorted(seeds.glob("h[12]-*")):
        hostile.fixed = path.read_bytes()
        status, reports, errors = await sync(single[path.name[:2]], 30)
        if status not in (0, 1) or len(reports) != 1:
            found += 1
            print(f"{path}: {describe(status)}\n{errors.decode(errors='replace')[:2000]}", flush=True)
    hostile.fixed = None

    outcomes, errors_seen, runs, answers, began = collections.Counter(), collections.Counter(), 0, 0, time.monotonic()
    while time.monotonic() - began < seconds:
        hostile.round, hostile.count, hostile.served = hostile.round + 1, 0, []
        status, reports, errors = await sync(many, 120)
        answers += len(hostile.served)
        late = [report for report in reports if report["seconds"] > STACK * TIMEOUT + 10]
        outcomes.update(report["outcome"] for report in reports)
        errors_seen.update(re.sub(r"[0-9]+", "0", report["error"].partition("/0: ")[2] or report["error"])[:90]
                           for report in reports if report["error"])
        runs += sum(report["outcome"] != "not_due" for report in reports)
        be_asked_again(work / "many.sqlite")
        if status in (0, 1) and len(reports) == SOURCES and not late:
            continue
        found += 1
        print(f"round {hostile.round}: {describe(status)}, {len(reports)} reports, late: {late}\n"
              f"{errors.decode(errors='replace')[-3000:]}", flush=True)
        runs = recorded(work / "many.sqlite")
        for kind, data in list(dict.fromkeys(hostile.served)):
            hostile.fixed = data
            status, reports, _ = await sync(single[kind], 30)
            if status not in (0, 1) or len(reports) != 1:
                seeds.mkdir(exist_ok=True)
                path = seeds / f"{kind}-{hashlib.sha256(data).hexdigest()[:12]}"
                path.write_bytes(data)
                print(f"{path}: {describe(status)}", flush=True)
        hostile.fixed = None
        if found >= 5:
            break
    print(f"{answers} answers in {hostile.round} rounds: {runs} runs {dict(outcomes)}", flush=True)
    for error, count in errors_seen.most_common(12):
        print(f"{count:8} {error}", flush=True)
    if recorded(work / "many.sqlite") != runs:
        found += 1
        print(f"{runs} runs were reported, and {recorded(work / 'many.sqlite')} recorded", flush=True)
    print("held" if not found else f"{found} findings", flush=True)
    # Connections that hang are not waited for.
    os._exit(1 if found else 0)


def be_asked_again(path):
    """An answer may have requested a wait, and the others would not be sent."""
    with sqlite3.connect(path) as store:
        store.executescript("DELETE FROM tributary_host; UPDATE tributary_source SET asked_until = NULL, gone = NULL")


def recorded(path):
    with sqlite3.connect(path) as store:
        return store.execute("SELECT count(*) FROM tributary_run").fetchone()[0]


asyncio.run(main())
