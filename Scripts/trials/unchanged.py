"""The cost of unchanged feeds. Called by Scripts/trials/unchanged."""
import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time

program, work, sources, seconds = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

(work / "www").mkdir()
(work / "www/feed.xml").write_text(
    "<?xml version='1.0'?><rss version='2.0'><channel><title>Feed</title>"
    + "".join(f"<item><title>Item {n}</title><guid>{n}</guid></item>" for n in range(50)) + "</channel></rss>")
paths = "".join(f"{name}_temp_path {work}/{name};" for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
(work / "nginx.conf").write_text(f"""
pid {work}/nginx.pid; error_log {work}/error.log; worker_processes 1;
events {{ worker_connections 8192; }}
http {{
    access_log off; keepalive_requests 1000000; types {{ application/rss+xml xml; }}
    client_body_temp_path {work}/body; {paths}
    server {{ listen {port}; root {work}/www; location / {{ rewrite ^ /feed.xml break; }} }}
}}""")
work.chmod(0o755)
subprocess.run(["nginx", "-c", work / "nginx.conf"], check=True)

lines = ["[store]\npath = 'store.sqlite'\n[defaults]\nparser = 'SyndicationParser'\n"]
lines += [
    f"[sources.s{n}]\ncache = '1s'\n[[sources.s{n}.requests]]\nurl = 'http://127.0.{n // 200}.{n % 200 + 1}:{port}/{n}.xml'\n"
    for n in range(sources)]
(work / "sources.toml").write_text("".join(lines))


def figures(pid):
    """CPU seconds and context switches of all threads that live. `stat` counts ticks, which short jobs slip between."""
    nanoseconds = switches = 0
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        nanoseconds += int((thread / "schedstat").read_text().split()[0])
        status = (thread / "status").read_text()
        switches += sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches" in line)
    return nanoseconds / 1e9, switches


def runs():
    with sqlite3.connect(f"file:{work}/store.sqlite?mode=ro", uri=True) as store:
        return dict(store.execute("SELECT outcome, sum(polls) FROM tributary_run GROUP BY outcome"))


def types(samples):
    """The types that the sampled functions belong to or take, by target."""
    script = subprocess.run(["perf", "script", "-i", samples, "-F", "ip,sym"], capture_output=True, text=True).stdout
    symbols = {line.split()[1] for line in script.splitlines() if len(line.split()) > 1}
    names = subprocess.run(["swift", "demangle"], input="\n".join(symbols), capture_output=True, text=True).stdout
    targets = "|".join(path.name for path in pathlib.Path("Sources").iterdir())
    found = {}
    for target, name in re.findall(rf"\b({targets})\.([A-Z]\w*)", names):
        found.setdefault(target, set()).add(name)
    return found


daemon = subprocess.Popen(
    [program, "--config", str(work / "sources.toml"), "run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    time.sleep(5)
    before, began, known = figures(daemon.pid), time.monotonic(), runs()
    if "--types" in sys.argv:
        subprocess.run(
            ["perf", "record", "-q", "-F", "4999", "-g", "-o", work / "samples", "-p", str(daemon.pid), "--", "sleep", str(seconds)],
            check=True)
    else:
        time.sleep(seconds)
    after, ended, all_runs = figures(daemon.pid), time.monotonic(), runs()
    made = {name: count - known.get(name, 0) for name, count in all_runs.items()}
    count = made.get("unchanged", 0)
    cpu, switches = (a - b for a, b in zip(after, before))
    print(f"{count} unchanged runs in {ended - began:.1f} s ({count / (ended - began):.1f}/s), others {sum(made.values()) - count}")
    print(f"CPU a run: {1000 * cpu / count:.3f} ms")
    print(f"context switches a run: {switches / count:.1f}")
    if "--types" in sys.argv:
        found = types(work / "samples")
        print(f"types: {sum(map(len, found.values()))}")
        for target, names in sorted(found.items()):
            print(f"  {target} ({len(names)}): {', '.join(sorted(names))}")
finally:
    daemon.send_signal(signal.SIGTERM)
    daemon.wait(20)
