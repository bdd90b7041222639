"""A spyne server, and what tributary makes of it. Called by Scripts/trials/soap."""
import json
import logging
import pathlib
import sqlite3
import subprocess
import sys
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import Application, Array, ComplexModel, Decimal, Fault, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication

program, work = sys.argv[1], pathlib.Path(sys.argv[2])
logging.disable(logging.CRITICAL)


class Rate(ComplexModel):
    __namespace__ = "urn:rates"
    currency = Unicode
    value = Decimal


class RateService(ServiceBase):
    @rpc(Unicode, Unicode(max_occurs="unbounded"), _returns=Array(Rate))
    def GetRates(ctx, base, currency):
        if base != "EUR":
            raise Fault("Client.Base", f"no rates for <{base}>")
        return [Rate(currency=name, value=len(name) + number) for number, name in enumerate(currency)]


class QuietHandler(WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


def serve(protocol):
    # Validation by schema: parameters in the wrong order or namespace are refused.
    application = Application(
        [RateService], "urn:rates", in_protocol=protocol(validator="lxml"), out_protocol=protocol())
    server = make_server("127.0.0.1", 0, WsgiApplication(application), handler_class=QuietHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def sync(port, version, base):
    (work / "sources.toml").write_text(f"""
[[sources.rates.requests]]
url = "http://127.0.0.1:{port}/"
[sources.rates.requests.soap]
version = "{version}"
action = "GetRates"
namespace = "urn:rates"
name = "GetRates"
parameters = {{ base = "{base}", currency = ["USD", "CHF & more", "JPY"] }}
[[sources.rates.requests.tables]]
table = "rate_{version.replace('.', '_')}"
element = "/GetRatesResponse/GetRatesResult/Rate"
key = ["currency"]
sync = "mirror"
columns = {{ currency = "currency", value = {{ path = "value", type = "integer" }} }}
""")
    command = [program, "--config", str(work / "sources.toml"), "sync", "--force", "--json"]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def check(what, is_right, found):
    print(("right  " if is_right else "WRONG  ") + what + ("" if is_right else f": {found}"))
    return is_right


good = True
for version, protocol in (("1.1", Soap11), ("1.2", Soap12)):
    port = serve(protocol)
    report = sync(port, version, "EUR")
    table = f"rate_{version.replace('.', '_')}"
    rows = []
    if report["outcome"] == "committed":
        rows = sqlite3.connect(work / "tributary.sqlite").execute(f"SELECT * FROM {table} ORDER BY value").fetchall()
    good &= check(f"SOAP {version}: rows", rows == [("USD", 3), ("JPY", 5), ("CHF & more", 11)], (report, rows))
    fault = sync(port, version, "XYZ")["error"] or ""
    print("       " + fault)
    good &= check(f"SOAP {version}: fault", "Base" in fault and "no rates for <XYZ>" in fault, fault)
sys.exit(0 if good else 1)
