#!/usr/bin/env python3
"""Documents that are made to take much out of little: how long does a sync of each take, how much memory, how does it end?

    hostile-documents.py PROGRAM [--size MIB] [--only NAME] [--limit MIB] [--seconds S]

Each is written to a file and synced by PROGRAM in a process of its own, with RLIMIT_DATA at --limit and `timeout` at --seconds;
then once more at twice the size. A line says how it ended, the seconds and their ratio, the peak of memory, and the size of the
store. What ends by a signal, takes more memory than the limit, or is not linear, is marked with an exclamation mark.
"""
import argparse
import gzip
import io
import json
import os
import resource
import shutil
import sys
import tempfile
import time
import zipfile

MAPPING = '''
[[sources.s.requests.tables]]
table = "r"
element = "r"
[sources.s.requests.tables.columns]
'''


def mapping(columns, element="r"):
    return MAPPING.replace('element = "r"', f'element = "{element}"') + columns


PLAIN = mapping('a = "@a"\nv = "v"\n')
WHOLE = mapping('t = "string(.)"\n')
MARKUP = mapping('x = { path = ".", type = "xml" }\n')
BOTH = mapping('t = "string(.)"\nx = { path = ".", type = "xml" }\n')
JOIN = mapping('v = { path = "v", repeat = "join" }\n')
JOINS = mapping('v = { path = "v", repeat = "join" }\nw = { path = "w", repeat = "join", separator = "" }\nl = { path = "v", repeat = "last" }\n')
LATE = mapping('a = "@a"\nlate = "../late"\n')
LATE_JOIN = mapping('a = "@a"\nlate = { path = "../v", repeat = "join" }\n')
INHERITED = mapping('a = "@a"\nday = "../@day"\n')
WIDE = mapping("".join(f'c{n} = "c{n}"\n' for n in range(40)))
SAME = mapping("".join(f'c{n} = "v"\n' for n in range(40)))
FEED = 'parser = "SyndicationParser"\n'


def dtd(text, body="<d><r a=''/></d>"):
    return f"<!DOCTYPE d [{text}]>{body}".encode()


def element(body):
    return ("<d>" + body + "</d>").encode()


def repeated(piece, n, before="<d>", after="</d>"):
    return before.encode() + piece.encode() * (n // len(piece)) + after.encode()


def numbered(piece, n, before="<d>", after="</d>"):
    parts, length, number = [], 0, 0
    while length < n:
        parts.append(piece.replace("#", str(number)))
        length += len(parts[-1])
        number += 1
    return (before + "".join(parts) + after).encode()


def nested(tag, depth, inner=""):
    return f"<{tag}>" * depth + inner + f"</{tag}>" * depth


def attributes(n, defaults=90):
    """A tenth of the document is defaults, the rest elements that have them."""
    value = "v" * max(1, n // 10 // defaults)
    lines = "".join(f"<!ATTLIST r a{i} CDATA '{value}'>" for i in range(defaults))
    return dtd(lines, "<d>" + "<r/>" * (9 * n // 10 // 4) + "</d>")


def entity_elements(n):
    return dtd("<!ENTITY e '" + "<r/>" * (n // 8) + "'>", "<d>" + "&e;" * (n // 6) + "</d>")


def laughs(n):
    lines = "<!ENTITY a0 'ha'>" + "".join(
        f"<!ENTITY a{i} '{('&a%d;' % (i - 1)) * 10}'>" for i in range(1, 12))
    return dtd(lines, "<d><r><v>&a11;</v></r>" + "<r/>" * (n // 4) + "</d>")


def zipped(data):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("d.xml", data)
    return buffer.getvalue()


CASES = {
    "deepest": (PLAIN, lambda n: nested("r", n // 7).encode()),
    "records-in-records": (PLAIN, lambda n: repeated(nested("r", 900, "<v>x</v>"), n)),
    "text-in-text": (WHOLE, lambda n: repeated(nested("r", 900, "x" * 6300), n)),
    "markup-in-markup": (BOTH, lambda n: repeated(nested("r", 900, "x"), n)),
    "markup-of-namespaces": (
        MARKUP, lambda n: f"<d xmlns:p='{'u' * (n // 2)}'><r>{'<p:a/>' * (n // 12)}</r></d>".encode()),
    "markup-many-prefixes": (
        MARKUP,
        lambda n: numbered("<b xmlns:q#='v#' q#:z=''/>", n // 2, "<d><r " + " ".join(
            f"xmlns:p{i}='u{i}' p{i}:a=''" for i in range(900)) + ">", "</r></d>")),
    "widest": (PLAIN, lambda n: repeated("<r/>", n)),
    "null-rows": (mapping('a = "@a"\n'), lambda n: repeated("<r/>", n)),
    "attribute": (PLAIN, lambda n: element(f"<r a='{'x' * n}'/>")),
    "attributes": (PLAIN, lambda n: element(numbered("a#='' ", n, "<r ", "/>").decode())),
    "attributes-of-each": (
        PLAIN, lambda n: repeated("<r " + " ".join(f"a{i}=''" for i in range(1900)) + "/>", n)),
    "names": (PLAIN, lambda n: numbered("<a#/>", n)),
    "names-of-one-parent": (
        PLAIN, lambda n: b"<d>" + b"".join(b"<n%d/>" % i for i in range(9000)) + b"<n8999/>" * (n // 8) + b"</d>"),
    "paths": (PLAIN, lambda n: element("".join(
        f"<a{i}>" + "".join(f"<b{k}/>" for k in range(500)) + f"</a{i}>" for i in range(max(1, n // 3500))))),
    "paths-deep": (PLAIN, lambda n: element(nested("a", 900, numbered("<b#/>", n, "", "").decode()))),
    "namespaces-in-force": (
        PLAIN, lambda n: repeated("<p0:r/>", n, "<d " + " ".join(f"xmlns:p{i}='u{i}'" for i in range(990)) + ">")),
    "namespaces-of-one-name": (PLAIN, lambda n: numbered("<r xmlns='u#'/>", n)),
    "namespace-long": (
        PLAIN, lambda n: numbered("<a#/>", n // 2, f"<d xmlns='{'u' * (n // 2)}'>")),
    "text": (PLAIN, lambda n: element(f"<r><v>{'x' * n}</v></r>")),
    "text-of-many": (WIDE, lambda n: element(
        "<r>" + "".join(f"<c{i}>{'x' * (n // 40)}</c{i}>" for i in range(40)) + "</r>")),
    "text-for-many": (SAME, lambda n: element(f"<r><v>{'x' * n}</v></r>")),
    "blank-then-children": (PLAIN, lambda n: repeated("<b/>", n // 2, "<d>" + " " * (n // 2) + "x")),
    "cdata": (PLAIN, lambda n: element(f"<r><v><![CDATA[{'x' * n}]]></v></r>")),
    "comment": (PLAIN, lambda n: element(f"<!--{'x' * n}--><r/>")),
    "comments": (PLAIN, lambda n: repeated("<!---->", n, "<d><r/>")),
    "instruction": (PLAIN, lambda n: element(f"<?p {'x' * n}?><r/>")),
    "entities": (PLAIN, lambda n: dtd(numbered("<!ENTITY e# 'x'>", n, "", "").decode())),
    "entity": (PLAIN, lambda n: dtd(f"<!ENTITY e '{'x' * n}'>", "<d><r><v>&e;</v></r></d>")),
    "entity-repeated": (
        PLAIN, lambda n: dtd(f"<!ENTITY e '{'x' * (n // 2)}'>", "<d><r><v>" + "&e;" * (n // 6) + "</v></r></d>")),
    "entity-of-elements": (PLAIN, entity_elements),
    "entity-in-attributes": (
        PLAIN, lambda n: dtd(f"<!ENTITY e '{'x' * (n // 2)}'>", "<d>" + "<r a='&e;'/>" * (n // 24) + "</d>")),
    "entities-empty": (PLAIN, lambda n: dtd("<!ENTITY e ''>", "<d>" + "&e;" * (n // 3) + "<r/></d>")),
    "laughs": (PLAIN, laughs),
    "parameter-entities": (PLAIN, lambda n: dtd(
        "<!ENTITY % a '<!ENTITY x &#34;y&#34;>'>" + "%a;" * (n // 3))),
    "declared-defaults": (PLAIN, attributes),
    "declared-few-defaults": (PLAIN, lambda n: attributes(n, 1)),
    "declared-attributes": (PLAIN, lambda n: dtd(numbered("<!ATTLIST r a# CDATA ''>", n, "", "").decode())),
    "declared-namespaces": (PLAIN, lambda n: dtd(numbered("<!ATTLIST r xmlns:p# CDATA ''>", n, "", "").decode())),
    "declared-values": (PLAIN, lambda n: dtd("<!ATTLIST r a (" + numbered("v#|", n, "", "").decode() + "x) 'x'>")),
    "declared-elements": (PLAIN, lambda n: dtd("<!ELEMENT r (" + numbered("v#|", n, "", "").decode() + "x)*>")),
    "declared-nested": (PLAIN, lambda n: dtd("<!ELEMENT r " + "(" * (n // 2) + "x" + ")" * (n // 2) + ">")),
    "notations": (PLAIN, lambda n: dtd(numbered("<!NOTATION n# SYSTEM 'x'>", n, "", "").decode())),
    "join": (JOIN, lambda n: element("<r>" + "<v>x</v>" * (n // 8) + "</r>")),
    "joins": (JOINS, lambda n: element("<r>" + "<v>x</v><w>y</w>" * (n // 16) + "</r>")),
    "last": (mapping('v = { path = "v", repeat = "last" }\n'),
             lambda n: element("<r>" + ("<v>" + "x" * 1000 + "</v>") * (n // 1007) + "</r>")),
    "waiting": (LATE, lambda n: repeated("<r a=''/>", n, "<d>", "<late>x</late></d>")),
    "waited-for": (LATE_JOIN, lambda n: repeated("<v>xxxxxxxxx</v>", n, "<d><r a=''/>")),
    "inherited": (INHERITED, lambda n: repeated("<r/>", n // 2, f"<d day='{'x' * min(n // 2, 9 << 20)}'>")),
    "mirrored": ('parser = "mirrored"\n', lambda n: repeated("<r><a>x</a></r>", n)),
    "gzip": (PLAIN, lambda n: gzip.compress(b"<d>" + b"<r/>" * (n * 200 // 4) + b"</d>", 9)),
    "gzip-of-blanks": (PLAIN, lambda n: gzip.compress(b"<d>" + b" " * (n * 400) + b"<r/></d>", 9)),
    "gzip-members": (PLAIN, lambda n: gzip.compress(b"<d>") + gzip.compress(b"") * (n // 20) + gzip.compress(b"<r/></d>")),
    "zip": (PLAIN, lambda n: zipped(b"<d>" + b"<r/>" * (n * 200 // 4) + b"</d>")),
    "json-name": (mapping("v = \"v\"\n", "n" * 900), lambda n: b'{"' + b"n" * 900 + b'": [' + b"1," * (n // 2) + b"1]}"),
    "json-names": (PLAIN, lambda n: b"{" + b"".join(b'"n%d":1,' % i for i in range(n // 10)) + b'"r":{}}'),
    "json-name-long": (PLAIN, lambda n: b'{"' + b"n" * n + b'": 1}'),
    "json-deep": (PLAIN, lambda n: b"[" * n),
    "json-nested": (
        MARKUP, lambda n: b'{"r": [' + (b'{"' + b"m" * 900 + b'":' + b"[" * 400 + b"1" + b"]" * 400 + b"},") * (n // 1700)
        + b"{}]}"),
    "json-string": (PLAIN, lambda n: b'{"r": {"v": "' + b"x" * n + b'"}}'),
    "json-escapes": (PLAIN, lambda n: b'{"r": {"v": "' + b"\\u0000" * (n // 6) + b'"}}'),
    "json-markup": (MARKUP, lambda n: b'{"r": {"' + b"m" * 900 + b'": [' + b"1," * (n // 2) + b"1]}}"),
    "syndication-enclosures": (
        FEED, lambda n: numbered("<enclosure url='#'/>", n, "<rss><channel><item>", "</item></channel></rss>")),
    "syndication-ids": (
        FEED, lambda n: numbered("<item><guid>#</guid></item>", n, "<rss><channel>", "</channel></rss>")),
    "syndication-markup": (
        FEED, lambda n: b"<rss><channel><item><description>" + b"<a/>" * (n // 4) + b"</description></item></channel></rss>"),
    "syndication-bases": (
        FEED, lambda n: numbered(
            "<item><link xml:base='d/' href='#'/></item>", n,
            f"<feed xml:base='http://e.org/{'a/' * 990}'>", "</feed>")),
    "syndication-items": (
        FEED, lambda n: f"<rss><channel>{'<item><title>' * 400}{'x' * n}</title></item></channel></rss>".encode()),
}


def sync(program, folder, case, size, arguments):
    columns, make = CASES[case]
    data = make(size)
    with open(folder + "/body", "wb") as file:
        file.write(data)
    for name in os.listdir(folder):
        if name.startswith("store"):
            path = folder + "/" + name
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    with open(folder + "/sources.toml", "w") as file:
        file.write(
            f'[store]\npath = "store.sqlite"\n[sources.s]\n[[sources.s.requests]]\nurl = "file://{folder}/body"\n'
            f'timeout = "{arguments.seconds}s"\nmax_body = "{arguments.max_body}"\n' + columns)
    reader, writer = os.pipe()
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        limit = arguments.limit << 20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.environ["SWIFT_BACKTRACE"] = "enable=no"
        os.dup2(writer, 1)
        null = os.open("/dev/null", os.O_WRONLY)
        os.dup2(null, 2)
        os.execv(program, [program, "sync", "--json", "--config", folder + "/sources.toml"])
    os.close(writer)
    output = b""
    while chunk := os.read(reader, 1 << 16):
        output += chunk
    os.close(reader)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - began
    try:
        line = json.loads(output.splitlines()[0])
    except (ValueError, IndexError):
        line = {"outcome": "-", "error": output[:80].decode(errors="replace")}
    store = os.path.getsize(folder + "/store.sqlite") if os.path.exists(folder + "/store.sqlite") else 0
    return {
        "size": len(data), "seconds": seconds, "peak": usage.ru_maxrss / 1024, "store": store / 2**20,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        "status": os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1,
        "outcome": line["outcome"], "error": line.get("error") or "",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--size", type=float, default=4, help="MiB of the smaller document")
    parser.add_argument("--only", action="append", help="cases whose names contain this")
    parser.add_argument("--limit", type=int, default=200, help="MiB")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--max-body", default="256MiB")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="hostile-")
    bad = 0
    print(f"{'case':26} {'KiB':>7} {'seconds':>8} {'twice':>6} {'peak':>5} {'store':>6}  outcome")
    try:
        for case in CASES:
            if arguments.only and not any(part in case for part in arguments.only):
                continue
            size = int(arguments.size * 2**20)
            once = sync(arguments.program, folder, case, size, arguments)
            twice = sync(arguments.program, folder, case, 2 * size, arguments)
            ratio = twice["seconds"] / once["seconds"]
            isBad = (
                once["signal"] or twice["signal"] or once["status"] not in (0, 1) or twice["status"] not in (0, 1)
                or max(once["peak"], twice["peak"]) > arguments.limit
                or ratio > 3 and twice["seconds"] > 1 or twice["seconds"] > arguments.seconds + 5)
            bad += bool(isBad)
            end = f"signal {twice['signal']}" if twice["signal"] else f"{twice['outcome']} {twice['error'][-130:]}"
            print(
                f"{'!' if isBad else ' '}{case:25} {once['size'] // 1024:7} {once['seconds']:8.2f} {ratio:6.1f} "
                f"{max(once['peak'], twice['peak']):5.0f} {max(once['store'], twice['store']):6.1f}  {end}", flush=True)
    finally:
        shutil.rmtree(folder)
    sys.exit(1 if bad else 0)


main()
