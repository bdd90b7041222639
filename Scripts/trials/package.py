"""What Scripts/trials/package tries in the chroot."""
import glob
import http.server
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time

base, packages, work = sys.argv[1:]
[first] = glob.glob(f"{packages}/1/*.deb")
[second] = glob.glob(f"{packages}/2/*.deb")
[archive] = glob.glob(f"{packages}/1/*.tar.gz")
failures = []
FEED = "Scripts/sample-feeds/eurofxref-daily.xml"
STORE = "/var/lib/tributary/tributary.sqlite"
CONFIG = "/etc/tributary/sources.toml"
PAGE = 8090


def expect(condition, what, details=""):
    print("ok    " if condition else "WRONG ", what, flush=True)
    if not condition:
        failures.append(what)
        print(details, flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Feeds(http.server.BaseHTTPRequestHandler):
    """Serves one document at every path."""

    def do_GET(self):
        with open(FEED, "rb") as file:
            body = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Root:
    """A Debian that nobody else has."""

    def __init__(self, name):
        self.path = f"{work}/{name}"
        os.mkdir(self.path)
        subprocess.run(["tar", "-xf", base, "-C", self.path], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", f"{self.path}/proc"], check=True)
        shutil.copy("/etc/resolv.conf", f"{self.path}/etc/resolv.conf")
        # Nothing may be started in a chroot, as in a container's build.
        with open(f"{self.path}/usr/sbin/policy-rc.d", "w") as file:
            file.write("#!/bin/sh\nexit 101\n")
        os.chmod(f"{self.path}/usr/sbin/policy-rc.d", 0o755)

    def command(self, arguments, user="root", folder="/root"):
        words = ["chroot", self.path, "/usr/bin/env", "-i", f"--chdir={folder}", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                 "HOME=/root", "LANG=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        if user != "root":
            words += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs"]
        return words + arguments

    def run(self, text, **options):
        """Runs a line of the shell; returns its status and all that it prints."""
        done = subprocess.run(
            self.command(["sh", "-c", text], **options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def must(self, text, what=None, **options):
        status, output = self.run(text, **options)
        expect(status == 0, what or text, output)
        return output

    def start(self, arguments, **options):
        return subprocess.Popen(self.command(arguments, **options))

    def file(self, path):
        return self.path + path

    def close(self):
        subprocess.run(["umount", f"{self.path}/proc"], check=True)


def becomes_true(condition, seconds=20):
    """Asks until it is so."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def stop(process):
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=10)


def outside():
    """Looks at the packages without installing them."""
    lintian = subprocess.run(["lintian", "--fail-on", "error", first], capture_output=True, text=True)
    print(lintian.stdout + lintian.stderr)
    expect(lintian.returncode == 0, "lintian finds no error")
    files = subprocess.run(["dpkg-deb", "--fsys-tarfile", first], capture_output=True, check=True).stdout
    with open(f"{work}/fsys.tar", "wb") as file:
        file.write(files)
    with tarfile.open(f"{work}/fsys.tar") as file:
        names = {name.name.removeprefix(".").strip("/") for name in file if not name.isdir()}
    with tarfile.open(archive) as file:
        same = {name.name.partition("/")[2] for name in file if not name.isdir()}
    expect(same - {"INSTALL"} == names, "the .tar.gz has the same files", str(same ^ names))


def manual(root):
    root.must("apt-get install -qq --no-install-recommends man-db zsh fish", "apt installs man-db, zsh and fish")
    pages = root.must("dpkg -L tributary | grep /usr/share/man/ | grep '\\.gz$'", "pages are there").split()
    commands = re.findall(r"^  ([a-z-]+) ", root.run("tributary --help")[1].split("SUBCOMMANDS:")[1], re.MULTILINE)
    missing = [name for name in commands if name != "help" and f"/usr/share/man/man1/tributary-{name}.1.gz" not in pages]
    expect(commands and not missing, f"each of the {len(commands)} commands has a page", str(missing))
    for page in pages:
        status, output = root.run(f"MANWIDTH=80 man --warnings --local-file {page} 2>&1 >/dev/null")
        if status != 0 or output.strip():
            expect(False, f"{page} is sound", output)
    text = root.must("MANWIDTH=80 man tributary", "man tributary")
    expect(CONFIG in text and "sources.toml(5)" in text, "it leads to the configuration", text)
    for key in ["listen", "schedule", "max_deleted", "references"]:
        expect(key in root.run("MANWIDTH=80 man sources.toml")[1], f"man sources.toml has {key}")
    expect("--force" in root.run("man tributary sync")[1], "man tributary sync")


def completions(root):
    script = "/usr/share/bash-completion/completions/tributary"
    status, output = root.run(
        f"bash -c 'source {script} && complete -p tributary && COMP_WORDS=(tributary sy) COMP_CWORD=1 "
        "COMP_LINE=\"tributary sy\" COMP_POINT=12 && _tributary tributary sy tributary && echo ${COMPREPLY[@]}'")
    expect(status == 0 and "sync" in output, "bash completes", output)
    status, output = root.run("zsh -f -c 'autoload -Uz compinit && compinit -u -D && print $_comps[tributary]'")
    expect(output.strip() == "_tributary", "zsh finds its completions", output)
    status, output = root.run("zsh -n /usr/share/zsh/vendor-completions/_tributary")
    expect(status == 0 and not output, "zsh reads them", output)
    status, output = root.run("fish -c 'complete -C \"tributary sy\"'")
    expect(status == 0 and output.startswith("sync"), "fish completes", output)


def declare(root, address):
    """Does what the comments of the installed configuration say, with a feed of this machine."""
    path = root.file(CONFIG)
    with open(path) as file:
        text = file.read()
    text = re.sub(r"(?m)^#(?=\S)", "", text)
    text = re.sub(r'(?m)^url\b.*', f'url = "{address}/rates.xml"', text)
    # Another daemon may have the port: the chroot has the machine's network.
    expect(f'"127.0.0.1:{PAGE}"' in text, "the page listens on loopback", text)
    text = text.replace(f":{PAGE}", f":{free_port()}")
    with open(path, "w") as file:
        file.write(text)


def life(address):
    """From `apt install` to `apt purge`."""
    root = Root("life")
    shutil.copy(first, root.file("/root/tributary.deb"))
    root.must("apt-get update -qq", "apt-get update")
    print(root.must("apt-get install --yes ./tributary.deb", "apt install ./tributary.deb").splitlines()[-1])
    output = root.must("tributary --version")
    expect(re.fullmatch(r"tributary \d+\.\d+\.\d+ \([0-9a-f]{7}(-changed)?\)\n", output), "it names its commit", output)
    size = int(root.must("dpkg-query --show --showformat='${Installed-Size}' tributary", "dpkg knows it") or "0")
    print(f"       {size / 1024:.1f} MiB installed")
    libraries = root.must("ldd /usr/bin/tributary | grep -c 'not found' || true", "ldd")
    expect(libraries.strip() == "0", "no library is missing", libraries)
    expect(not os.path.exists(root.file("/opt/swift")), "there is no Swift")
    manual(root)
    completions(root)

    expect("0 sources" in root.must("tributary check"), "no source is declared yet")
    unit = "/usr/lib/systemd/system/tributary.service"
    wanted = "/etc/systemd/system/multi-user.target.wants/tributary.service"
    expect(os.path.islink(root.file(wanted)), "the unit is enabled")
    # Outside, where systemd's own units are, with the program at its place in the chroot.
    with open(root.file(unit)) as file, open(f"{work}/tributary.service", "w") as copy:
        copy.write(file.read().replace("=/usr/bin/", f"={root.path}/usr/bin/"))
    for words in [["verify", "--man=no"], ["security", "--offline=true", "--threshold=15"]]:
        done = subprocess.run(["systemd-analyze", *words, f"{work}/tributary.service"], capture_output=True, text=True)
        expect(done.returncode == 0 and not done.stderr, f"systemd-analyze {words[0]}", done.stdout + done.stderr)
    with open(root.file(unit)) as file:
        lines = dict(line.strip().split("=", 1) for line in file if line.startswith("Exec"))
    condition, run = lines["ExecCondition"], lines["ExecStart"]
    status, output = root.run(condition, user="tributary")
    expect(status == 1 and "no source is enabled" in output, "the unit waits for a source", output)

    declare(root, address)
    root.must("tributary check")
    expect(root.run(condition, user="tributary")[0] == 0, "the unit no longer waits")
    expect("4 inserted" in root.must("tributary sync", "root syncs"), "4 rows are inserted")
    root.must(lines["ExecStartPre"].removeprefix("+"), "the unit gives the daemon what root has made")
    query = f"sqlite3 {STORE} 'SELECT currency, value FROM rate ORDER BY currency'"
    rows = root.must(query, "the rows are there")
    expect(len(rows.splitlines()) == 4, "4 rows are in the table", rows)
    output = root.must("tributary sync --force", "the daemon's user syncs", user="tributary")
    expect("unchanged" in output, "nothing is new", output)

    daemon = root.start(shlex.split(run), user="tributary", folder="/")
    healthy = becomes_true(lambda: root.run("tributary healthcheck")[0] == 0)
    expect(healthy, "the unit's command runs, and is healthy", root.run("tributary healthcheck")[1])
    expect("No daemon runs" not in root.must("tributary status"), "status knows of it")
    expect(stop(daemon) == 0, "it stops")
    status, output = root.run("tributary healthcheck")
    expect(status == 1 and "127.0.0.1:" in output, "and is no longer healthy", output)

    # Upgraded, removed, purged.
    with open(root.file(CONFIG)) as file:
        config = file.read()
    shutil.copy(second, root.file("/root/second.deb"))
    before = root.run(query)[1]
    output = root.must("apt-get install --yes ./second.deb", "apt upgrades")
    expect(root.run("dpkg-query --show --showformat='${Version}' tributary")[1].endswith("-2"), "its version is the second")
    with open(root.file(CONFIG)) as file:
        expect(file.read() == config, "the configuration is kept on upgrade")
    expect(root.run(query)[1] == before, "the store is kept on upgrade")
    expect("unchanged" in root.run("tributary sync --force", user="tributary")[1], "it goes on with it")
    root.must("apt-get remove --yes tributary", "apt removes")
    expect(root.run("command -v tributary")[0] != 0, "the program is gone")
    expect(root.run(query)[1] == before, "the store is kept on removal")
    expect(os.path.exists(root.file(CONFIG)), "the configuration is kept on removal")
    root.must("apt-get install --yes ./second.deb", "apt installs it again")
    expect("unchanged" in root.run("tributary sync --force", user="tributary")[1], "it goes on once more")
    output = root.must("apt-get purge --yes tributary", "apt purges")
    expect("The store is kept: /var/lib/tributary" in output, "the purge says where the store is", output)
    expect(root.run(query)[1] == before, "the store is there")
    expect(not os.path.exists(root.file("/etc/tributary")), "the configuration is gone")
    expect(not os.path.lexists(root.file(wanted)), "the unit is no longer enabled")
    said = re.search(r"To delete it, too: (.*)", output)
    expect(said and root.run(said[1])[0] == 0, "what it says of deleting can be done", output)
    expect(not os.path.exists(root.file("/var/lib/tributary")), "the store is deleted")
    root.must("apt-get install --yes ./second.deb", "apt installs it on the clean system")
    output = root.must("apt-get purge --yes tributary", "apt purges what was never used")
    expect("store" not in output and not os.path.exists(root.file("/var/lib/tributary")), "no word of a store", output)
    root.close()


def container(address):
    """Does what each line of Containerfile says."""
    root = Root("container")
    user, folder, entry, process, health = "root", "/", [], [], []
    with open("Containerfile") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        word, rest = line.split(None, 1)
        match word:
            case "FROM":
                expect(rest.startswith("debian:"), line)
            case "COPY":
                source, target = rest.split()
                expect(bool(re.match(r"\.build/packages/tributary_\*\.deb$", source)), line)
                shutil.copy(first, root.file(target))
            case "RUN":
                root.must(rest, line, folder=folder, user=user)
            case "USER":
                user = rest
                expect(root.run("id -u", user=user)[1].strip() not in ("0", ""), line)
            case "WORKDIR":
                folder = rest
                expect(root.run("touch probe && rm probe", user=user, folder=folder)[0] == 0, line)
            case "VOLUME":
                expect(root.run(f"stat -c %U {rest}")[1].strip() == user, line)
            case "EXPOSE":
                expect(rest == str(PAGE), line)
            case "HEALTHCHECK":
                health = json.loads(rest.removeprefix("CMD "))
            case "ENTRYPOINT":
                entry = json.loads(rest)
            case "CMD":
                process = json.loads(rest)
            case _:
                expect(False, f"the trial knows no {word}")
    declare(root, address)
    daemon = root.start(entry + process, user=user, folder=folder)
    check = shlex.join(health)
    healthy = becomes_true(lambda: root.run(check, user=user, folder=folder)[0] == 0)
    expect(healthy, f"HEALTHCHECK {check}", root.run(check, user=user, folder=folder)[1])
    status = shlex.join(entry + ["status", "--json"])
    synced = becomes_true(lambda: '"committed"' in root.run(status, user=user, folder=folder)[1])
    expect(synced, "ENTRYPOINT and CMD sync", root.run(status, user=user, folder=folder)[1])
    expect(stop(daemon) == 0, "it stops at SIGTERM")
    expect(root.run(check, user=user, folder=folder)[0] == 1, "HEALTHCHECK says so")
    root.close()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Feeds)
threading.Thread(target=server.serve_forever, daemon=True).start()
feeds = f"http://127.0.0.1:{server.server_port}"
outside()
life(feeds)
container(feeds)
print(f"{len(failures)} wrong" if failures else "all right")
sys.exit(1 if failures else 0)
