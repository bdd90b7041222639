"""10,000 sources, beside newsboat and reader. Called by Scripts/trials/many-sources."""
import collections
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import time

program, work, sources = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
others = min(sources, 1_000)
HOSTS, PER_HOST, ITEMS, TURNS = 200, 2, 50, 3

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]


def url(number):
    return f"http://127.0.1.{number % HOSTS + 1}:{port}/{number}.xml"


def publish(revision):
    """One feed of 50 items, which every address serves."""
    items = "".join(
        f"<item><title>Item {n}, revision {revision}</title><link>http://example.org/{n}</link>"
        f"<guid isPermaLink='false'>id-{n}</guid><pubDate>Fri, 20 Nov 2026 12:00:{n:02d} GMT</pubDate>"
        f"<description>Some text of item {n} in revision {revision}, as long as summaries are.</description></item>"
        for n in range(ITEMS))
    (work / "www").mkdir(exist_ok=True)
    (work / "www/feed.xml").write_text(
        "<?xml version='1.0' encoding='UTF-8'?><rss version='2.0'><channel><title>Feed</title>"
        f"<link>http://example.org/</link><description>d</description>{items}</channel></rss>")


def start_nginx():
    paths = "".join(f"{name}_temp_path {work}/{name};" for name in ("proxy", "fastcgi", "uwsgi", "scgi"))
    (work / "nginx.conf").write_text(f"""
pid {work}/nginx.pid; error_log {work}/error.log; worker_processes 1;
events {{ worker_connections 8192; }}
http {{
    access_log off; keepalive_requests 1000000; types {{ application/rss+xml xml; }}
    client_body_temp_path {work}/body; {paths}
    limit_conn_zone $server_addr zone=hosts:1m; limit_conn_status 503;
    server {{ listen {port}; root {work}/www; LIMIT location / {{ rewrite ^ /feed.xml break; }} }}
}}""".replace("LIMIT", f"limit_conn hosts {PER_HOST};"))
    work.chmod(0o755)
    subprocess.run(["nginx", "-c", work / "nginx.conf"], check=True)


def configure(count, cache, name):
    lines = [f"[store]\npath = '{name}.sqlite'\n[daemon]\nper_host = {PER_HOST}\n[defaults]\nparser = 'SyndicationParser'\n"]
    lines += [f"[sources.s{n}]\ncache = '{cache}'\n[[sources.s{n}.requests]]\nurl = '{url(n)}'\n" for n in range(count)]
    (work / f"{name}.toml").write_text("".join(lines))
    return str(work / f"{name}.toml")


def sync(config, count, label):
    began = time.monotonic()
    process = subprocess.Popen(
        [program, "--config", config, "sync", "--force", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    outcomes = collections.Counter(json.loads(line)["outcome"] for line in process.stdout)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - began
    rate = count / wall
    print(f"tributary  {label:8} {count:6} feeds {wall:7.2f} s {rate:6.0f}/s  peak {usage.ru_maxrss / 1024:.0f} MiB  {dict(outcomes)}",
          flush=True)
    if process.returncode or outcomes["discarded"]:
        sys.exit(f"the sync ended with {process.returncode}")
    return rate


def timed(name, label, count, command, **options):
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    wall = time.monotonic() - began
    print(f"{name:10} {label:8} {count:6} feeds {wall:7.2f} s {count / wall:6.0f}/s", flush=True)
    return count / wall


def descriptors(config):
    """How many the daemon has open while its sources come due again and again."""
    process = subprocess.Popen(
        [program, "--config", config, "run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts = []
    for _ in range(6):
        time.sleep(5)
        counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
    process.send_signal(signal.SIGTERM)
    process.wait(10)
    print(f"tributary  run      open descriptors every 5 s: {counts}", flush=True)


READER = """
import sys, time
from reader import make_reader
reader = make_reader(sys.argv[1])
if sys.argv[2] == 'add':
    for line in sys.stdin: reader.add_feed(line.strip(), exist_ok=True)
else:
    reader.update_feeds(workers=4, scheduled=False)
"""

publish(1)
start_nginx()
all_sources = configure(sources, "1h", "all")
sync(all_sources, sources, "new")
sync(all_sources, sources, "304")
descriptors(configure(min(sources, 500), "1s", "often"))

few = min(others, 200)
some = configure(others, "1h", "some")
(work / "urls").write_text("".join(url(n) + "\n" for n in range(others)))
(work / "newsboat").write_text("reload-threads 4\n")
newsboat = ["newsboat", "-u", work / "urls", "-c", work / "cache.db", "-C", work / "newsboat", "-x", "reload"]
reader = [sys.executable, "-c", READER, work / "reader.sqlite"]
subprocess.run([*reader, "add"], input="".join(url(n) + "\n" for n in range(few)), text=True, check=True)

# In turn, so that a slow minute of the machine is everybody's.
rates = collections.defaultdict(list)
for turn in range(1 + TURNS):
    for label in ("304", "changed") if turn else ("new",):
        if label == "changed":
            publish(1 + turn)
        rates["tributary", label].append(sync(some, others, label))
        for _ in range(1 if turn else 2):  # newsboat keeps no validators of its first reload
            rates["newsboat", label].append(timed("newsboat", label, others, newsboat))
        rates["reader", label].append(timed("reader", label, few, [*reader, "update"]))
for name in ("newsboat", "reader"):
    for label in ("304", "changed"):
        ratio = statistics.median(rates["tributary", label]) / statistics.median(rates[name, label])
        print(f"tributary / {name}, {label}: {ratio:.1f}")
