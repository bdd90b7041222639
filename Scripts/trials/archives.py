#!/usr/bin/env python3
"""Feeds of many files at two sizes; see Scripts/trials/archives. archives.py PROGRAM PART"""
import bz2
import gzip
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile

NETEX = """
[[sources.s.requests]]
url = "{url}"
documents = "**/*.xml"
sync = "mirror"
namespaces = {{ n = "http://www.netex.org.uk/netex" }}
[[sources.s.requests.tables]]
table = "stop"
element = "n:ScheduledStopPoint"
key = ["id"]
[sources.s.requests.tables.columns]
id = "@id"
version = "@version"
name = "n:Name"
longitude = {{ path = "n:Location/n:Longitude", type = "real" }}
latitude = {{ path = "n:Location/n:Latitude", type = "real" }}
file = {{ response = "member" }}
"""
OVAL = """
[[sources.s.requests]]
url = "{url}"
documents = "*"
sync = "mirror"
namespaces = {{ o = "http://oval.mitre.org/XMLSchema/oval-definitions-5" }}
[[sources.s.requests.tables]]
table = "definition"
element = "o:definition"
key = ["id"]
columns = {{ id = "@id", class = "@class", title = "o:metadata/o:title", description = "o:metadata/o:description" }}
[[sources.s.requests.tables]]
table = "criterion"
element = "o:criterion"
key = ["test", "definition"]
columns = {{ test = "@test_ref", definition = {{ parent = "definition" }}, comment = "@comment" }}
"""
DMARC = """
[[sources.s.requests]]
url = "{url}"
sync = "mirror"
[[sources.s.requests.tables]]
table = "verdict"
element = "record"
key = ["report", "ip"]
[sources.s.requests.tables.columns]
report = "/feedback/report_metadata/report_id"
organisation = "/feedback/report_metadata/org_name"
ip = "row/source_ip"
count = {{ path = "row/count", type = "integer" }}
disposition = "row/policy_evaluated/disposition"
file = {{ response = "member" }}
"""
STOPS, RECORDS = 40, 25
# More than this, twice the members must not take.
MEMORY_RATIO, TIME_RATIO = 1.2, 2.6


def netex(folder, members):
    """A ZIP archive of lines, each with stops of its own, in folders by operator."""
    with zipfile.ZipFile(folder / "netex.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for member in range(members):
            stops = "".join(
                f'<ScheduledStopPoint id="NO:Stop:{member}-{n}" version="1"><Name>Halt &amp; Gate {n}</Name><Location>'
                f"<Longitude>{10 + n / 1000}</Longitude><Latitude>{59 + member / 100000}</Latitude></Location>"
                "<ForAlighting>true</ForAlighting></ScheduledStopPoint>" for n in range(STOPS))
            archive.writestr(
                f"operator-{member % 50}/line-{member}.xml",
                '<?xml version="1.0" encoding="UTF-8"?><PublicationDelivery xmlns="http://www.netex.org.uk/netex" version="1.15">'
                f"<dataObjects><CompositeFrame id='f{member}' version='1'><frames><ServiceFrame id='s{member}' version='1'>"
                f"<scheduledStopPoints>{stops}</scheduledStopPoints></ServiceFrame></frames></CompositeFrame></dataObjects>"
                "</PublicationDelivery>")
        archive.writestr("_readme.txt", "not a document")
    return folder / "netex.zip", {"stop": members * STOPS}


def oval(folder, definitions):
    """One long document in bzip2."""
    with bz2.open(folder / "oval.xml.bz2", "wt", compresslevel=5, encoding="utf-8") as out:
        out.write('<oval_definitions xmlns="http://oval.mitre.org/XMLSchema/oval-definitions-5"><definitions>')
        for n in range(definitions):
            criteria = "".join(
                f'<criterion test_ref="oval:tst:{n}{k}" comment="package {k} is earlier than 1.{n}"/>' for k in range(3))
            out.write(
                f'<definition id="oval:def:{n}" version="1" class="patch"><metadata><title>Advisory {n}</title>'
                f"<description>{'A flaw was found in the parser of packets. ' * 5}</description></metadata>"
                f'<criteria operator="OR"><criteria operator="AND">{criteria}</criteria></criteria></definition>')
        out.write("</definitions></oval_definitions>")
    return folder / "oval.xml.bz2", {"definition": definitions, "criterion": 3 * definitions}


def dmarc(folder, reports):
    """Reports as mail brings them: most by gzip, some in a ZIP archive of their own."""
    inbox = folder / "reports"
    inbox.mkdir()
    for report in range(reports):
        records = "".join(
            f"<record><row><source_ip>192.0.{report % 250}.{n}</source_ip><count>{n + 1}</count><policy_evaluated>"
            "<disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row><identifiers>"
            "<header_from>example.org</header_from></identifiers></record>" for n in range(RECORDS))
        text = (
            f'<?xml version="1.0"?><feedback><report_metadata><org_name>mail {report % 7}</org_name><report_id>{report}</report_id>'
            f"</report_metadata><policy_published><domain>example.org</domain><p>none</p></policy_published>{records}</feedback>")
        name = f"mail{report % 7}!example.org!{report:06}.xml"
        if report % 5 == 0:
            with zipfile.ZipFile(inbox / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr(name, text)
        else:
            (inbox / f"{name}.gz").write_bytes(gzip.compress(text.encode(), 5))
    return inbox / "*", {"verdict": reports * RECORDS}


def sync(program, folder, mapping, address):
    """Returns the seconds, those of the processor, the peak of memory in MiB, and what the program has printed if it failed."""
    url = "file://" + str(address).replace("!", "%21")
    (folder / "sources.toml").write_text(
        '[store]\npath = "store.sqlite"\n[sources.s]\nmax_body = "16GiB"\n' + mapping.format(url=url))
    began = time.monotonic()
    process = subprocess.Popen(
        [program, "-c", str(folder / "sources.toml"), "sync"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output if status else ""


def count(folder, expected):
    store = sqlite3.connect(folder / "store.sqlite")
    found = {table: store.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in expected}
    store.close()
    return found


def main():
    program, part = sys.argv[1], float(sys.argv[2])
    feeds = [("netex in a zip", netex, NETEX, 4_000), ("oval in bzip2", oval, OVAL, 50_000), ("dmarc in a folder", dmarc, DMARC, 2_000)]
    is_good = True
    print(f"{'feed':20}{'members':>9}{'rows':>9}{'seconds':>9}{'cpu s':>8}{'MiB':>6}{'× cpu':>7}{'× MiB':>7}")
    for name, write, mapping, size in feeds:
        last = None
        for members in (max(1, int(size * part)), 2 * max(1, int(size * part))):
            folder = pathlib.Path(tempfile.mkdtemp())
            try:
                address, expected = write(folder, members)
                seconds, processor, memory, failure = sync(program, folder, mapping, address)
                if failure:
                    sys.exit(f"! {name}, {members}: {failure}")
                found = count(folder, expected)
            finally:
                shutil.rmtree(folder)
            line = f"{name:20}{members:9}{sum(found.values()):9}{seconds:9.2f}{processor:8.2f}{memory:6.0f}"
            marks = [f"rows {found} and not {expected}"] if found != expected else []
            if last:
                ratios = processor / last[0], memory / last[1]
                line += f"{ratios[0]:7.2f}{ratios[1]:7.2f}"
                # What takes less than a second says nothing of how it grows. The processor's time is that of all threads: it hardly
                # depends on what else the machine does.
                if ratios[0] > TIME_RATIO and processor > 1:
                    marks.append("time")
                if ratios[1] > MEMORY_RATIO:
                    marks.append("memory")
            last = processor, memory
            print(line + "".join(f"  ! {mark}" for mark in marks), flush=True)
            is_good = is_good and not marks
    sys.exit(0 if is_good else 1)


main()
