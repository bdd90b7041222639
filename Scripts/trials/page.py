"""What Scripts/trials/page runs."""
import http.client, os, re, statistics, subprocess, sys, tempfile, threading, time

program, count = os.path.abspath(sys.argv[1]), int(sys.argv[2])


def ask(port, path, method="GET"):
    start = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request(method, path, headers={"Origin": f"http://127.0.0.1:{port}"})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body, time.perf_counter() - start


def figures(pid):
    status = open(f"/proc/{pid}/status").read()
    memory = int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
    return f"{memory:.0f} MB, {len(os.listdir(f'/proc/{pid}/fd'))} descriptors, {len(os.listdir(f'/proc/{pid}/task'))} threads"


with tempfile.TemporaryDirectory() as folder:
    with open(f"{folder}/feed.xml", "w") as feed:
        feed.write("<items><item id='1'/><item id='2'/></items>")
    with open(f"{folder}/sources.toml", "w") as file:
        file.write('[store]\npath = "s.sqlite"\n[daemon]\nlisten = "127.0.0.1:0"\n[defaults]\ncache = "1d"\n')
        for number in range(count):
            # One in fifty fails.
            name = "missing" if number % 50 == 0 else "feed"
            file.write(
                f'[sources.source-{number:05}]\n[[sources.source-{number:05}.requests]]\nurl = "file:{folder}/{name}.xml"\n'
                f'scope = {{ source = "{number}" }}\ntables = [{{ table = "t", element = "item", key = ["source", "id"], '
                f'columns = {{ source = {{ value = "{number}" }}, id = "@id" }} }}]\n')
    daemon = subprocess.Popen([program, "run", "--config", f"{folder}/sources.toml"], stderr=subprocess.PIPE, text=True)
    try:
        port = None
        for line in daemon.stderr:
            found = re.search(r"The page is at http://127.0.0.1:(\d+)", line)
            if found:
                port = int(found[1])
                break
        threading.Thread(target=lambda: [None for _ in daemon.stderr], daemon=True).start()
        begun = time.time()
        busy = []
        while True:
            status, body, seconds = ask(port, "/?state=new")
            busy.append(seconds)
            if re.search(rb"<b>0</b> new", body):
                break
            time.sleep(0.2)
        print(f"{count} sources have run in {time.time() - begun:.0f} s; meanwhile the list took "
              f"{statistics.median(busy) * 1000:.0f} ms (median), {max(busy) * 1000:.0f} ms (slowest of {len(busy)})")
        for name, path in [
            ("the list", "/"), ("a search", "/?q=source-09"), ("a filter", "/?state=failing"),
            ("an order", "/?sort=due&page=50"), ("a source", "/sources/source-00001"), ("all as JSON", "/api/status"),
            ("a scrape", "/metrics"),
        ]:
            times, size = [], 0
            for _ in range(30):
                status, body, seconds = ask(port, path)
                assert status == 200, (status, body)
                times.append(seconds)
                size = len(body)
                # The list is read from the store once a second at most, so that some wait for that.
                time.sleep(0.1)
            print(f"{name}: {statistics.median(times) * 1000:.0f} ms (median), {max(times) * 1000:.0f} ms (slowest), {size / 1000:.0f} kB")
        # Open pages while everything runs once more.
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
        cpu = sum(map(int, open(f"/proc/{daemon.pid}/stat").read().split()[13:15]))
        ask(port, "/api/refresh", "POST")
        time.sleep(30)
        cpu = (sum(map(int, open(f"/proc/{daemon.pid}/stat").read().split()[13:15])) - cpu) / os.sysconf("SC_CLK_TCK")
        print(f"20 open pages for 30 s while all run: {received[0] / 1e6:.1f} MB sent, {cpu:.0f} s of CPU; {before} before, {figures(daemon.pid)} after")
        begun = time.time()
        daemon.terminate()
        print(f"ended with {daemon.wait()} in {time.time() - begun:.1f} s")
    finally:
        daemon.kill()
