"""See the script `webhooks`."""
import base64, hashlib, hmac, http.server, json, os, signal, sqlite3, subprocess, sys, tempfile, threading, time

program, seconds, sources, delay = os.path.abspath(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
key = os.urandom(32)
secret = "whsec_" + base64.b64encode(key).decode()
events, problems, counters, lock = [], [], {}, threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, body=b"", status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with lock:
            count = counters[self.path] = counters.get(self.path, 0) + 1
        items = "".join(f'<item id="{number}"/>' for number in range(max(1, count - 20), count + 1))
        self.answer(f"<items>{items}</items>".encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        identifier, moment = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        code = hmac.new(key, f"{identifier}.{moment}.".encode() + body, hashlib.sha256).digest()
        event = json.loads(body)
        if self.headers["webhook-signature"] != "v1," + base64.b64encode(code).decode():
            problems.append(f"signature of {identifier}")
        if event["id"] != identifier:
            problems.append(f"id of {identifier}")
        if abs(time.time() - int(moment)) > 60:
            problems.append(f"time of {identifier}")
        time.sleep(delay)
        events.append(event)
        self.answer(status=204)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"


def commits(hooked):
    counters.clear()
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/sources.toml", "w") as file:
            file.write("[daemon]\nper_host = 16\nconcurrency = 16\n")
            for number in range(sources):
                file.write(f'''
[sources.s{number}]
cache = "100ms"
[[sources.s{number}.requests]]
url = "{url}/s{number}"
tables = [{{ table = "thing{number}", element = "item", key = ["id"], columns = {{ id = "@id" }} }}]
''')
            if hooked:
                file.write(f'[hooks.slow]\non = ["changed"]\npost = "{url}/hook"\nsecret = "{secret}"\n')
        daemon = subprocess.Popen(
            [program, "run", "--config", folder + "/sources.toml", "--log-level", "warning"])
        time.sleep(seconds)
        daemon.send_signal(signal.SIGTERM)
        if daemon.wait() != 0:
            problems.append(f"the daemon ended with {daemon.returncode}")
        store = sqlite3.connect(folder + "/tributary.sqlite")
        runs = [
            (source, run) for source, run in store.execute(
                "SELECT source, id FROM tributary_run WHERE inserted + updated + deleted > 0 ORDER BY id")]
        return runs


plain = commits(False)
runs = commits(True)
received = []
for event in events:
    if not received or received[-1]["id"] != event["id"]:
        received.append(event)
order = [(event["source"], event["run"]) for event in received]
if order != runs[: len(order)]:
    problems.append("the events are not the runs in their order")
print(f"{len(plain)} commits in {seconds:g} s without a hook, {len(runs)} with one;", end=" ")
print(f"{len(events)} events delivered, {len(events) - len(received)} of them repeated; receiver takes {delay:g} s")
print("problems:", problems[:5] or "none")
sys.exit(1 if problems else 0)
