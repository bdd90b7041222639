"""A server that answers with mutations of HTTP/1.1 heads and bodies. Used by beside-hostile."""
import asyncio
import random
import ssl

ITEMS = b"<items><item id='1'><name>n</name></item><item id='2'/></items>"

HEADERS = [
    b"Content-Length: 0", b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Content-Length: 5, 5",
    b"Content-Length: 9223372036854775807", b"Content-Length:", b"Content-Length: +3", b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity", b"Transfer-Encoding: chunked, chunked",
    b"Connection: close", b"Connection: keep-alive", b"Connection: upgrade", b"Upgrade: h2c", b"Upgrade: websocket",
    b"Content-Encoding: gzip", b"Content-Encoding: deflate", b"Content-Encoding: br", b"ETag: \"\xe9\xff\"", b"ETag:",
    b"ETag: \"\x01\"", b"Last-Modified: never", b"Retry-After: 99999999999999999999", b"Retry-After: inf",
    b"Cache-Control: max-age=99999999999999999999", b"Age: nan", b"Expires: Fri, 31 Dec 99999 23:59:59 GMT",
    b"Date: Mon, 01 Jan 0001 00:00:00 GMT", b"Location: http://127.0.0.1:65536/", b"Location: http://[::1]:70000/",
    b"Location: //:0/", b"Location: \xff\xfe", b"Location: http://u:p@127.0.0.1/", b"Location:", b": x", b" folded", b"\x00",
    b"X: " + b"x" * 9000, b"X: " + b"y" * 90000, b"Content-Type: text/xml; charset=\xff", b"Trailer: X", b"no colon",
    b"Content-Type: application/json", b"Content-Type: text/html; charset=utf-8; charset=latin1",
]
STATUSES = [b"000", b"001", b"042", b"099", b"100", b"101", b"102", b"103", b"199", b"200", b"204", b"205", b"206", b"300",
            b"301", b"302", b"304", b"307", b"400", b"401", b"410", b"429", b"500", b"503", b"599", b"600", b"999", b"1000",
            b"-01", b"20", b"", b"2 0", b"\xd9\xa2"]


def chunked(body, rng):
    size = rng.choice([b"%x" % len(body), b"%X;a=b" % len(body), b"0%x" % len(body), b"%x;" % len(body) + b"e" * 5000])
    end = rng.choice([b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\nContent-Length: 3\r\n\r\n", b"0\r\n: \r\n\r\n", b"00000\r\n\r\n"])
    return size + b"\r\n" + body + b"\r\n" + end


def message(rng):
    status = rng.choice(STATUSES) if rng.random() < 0.6 else b"200"
    lines = [rng.choice([b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/2.0 ", b"HTTP/0.9 ", b"http/1.1 "])
             + status + rng.choice([b" Reason", b"", b" ", b" \xff", b" " + b"r" * 3000])]
    body = rng.choice([ITEMS, ITEMS, b"", b"<items>", b"{}", b"\x1f\x8b\x08", b"PK\x03\x04", b"x" * 70000])
    framing = rng.randrange(4)
    if framing == 0:
        lines.append(b"Content-Length: %d" % (len(body) + rng.choice([0, 0, 0, 1, -1])))
    elif framing == 1:
        lines.append(b"Transfer-Encoding: chunked")
        body = chunked(body, rng)
    lines += rng.sample(HEADERS, rng.choice([0, 0, 1, 1, 2, 3]))
    if rng.random() < 0.02:
        lines += [b"H%d: v" % n for n in range(300)]
    end = b"\n" if rng.random() < 0.03 else b"\r\n"
    return end.join(lines) + end + end + body


def http1(rng):
    if rng.random() < 0.3:
        return b"HTTP/1.1 200 OK\r\nETag: \"%d\"\r\nContent-Length: %d\r\n\r\n" % (rng.randrange(9), len(ITEMS)) + ITEMS
    parts = [b"HTTP/1.1 %s X\r\n%s\r\n" % (rng.choice([b"100", b"102", b"103"]), rng.choice([b"", b"A: b\r\n"]))
             for _ in range(rng.choice([0, 0, 0, 0, 1, 2, 120]))]
    parts.append(message(rng))
    if rng.random() < 0.15:
        parts.append(message(rng))
    return mutated(b"".join(parts), rng)


def mutated(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 5])):
        place = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and place < len(data):
            data[place] = rng.choice([0, 10, 13, 32, 58, 127, 128, 255, rng.randrange(256)])
        elif kind == 1:
            data[place:place] = rng.choice([b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\x00", b" ", b":", b"HTTP/1.1 000 \r\n\r\n"])
        elif kind == 2:
            del data[place:place + rng.choice([1, 2, 10])]
        elif kind == 3:
            data[place:place] = data[place:place + rng.choice([1, 9, 40])]
        else:
            del data[place:]
    return bytes(data)


# ---- The servers

class Hostile:
    """Answers with mutations, each of which follows from the seed and its number."""

    def __init__(self, seed, hangs):
        self.seed, self.hangs, self.count = seed, hangs, 0

    def rng(self):
        self.count += 1
        return random.Random(f"{self.seed}:{self.count}")

    async def send(self, writer, data, rng):
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.choice([0, 0, 1, 3]))) if data else []
        for start, end in zip([0, *cuts], [*cuts, len(data)]):
            writer.write(data[start:end])
            await writer.drain()
            if cuts:
                await asyncio.sleep(rng.choice([0, 0.001]))
        ending = rng.choice(["keep"] * 8 + ["close"] * 4 + ["reset"] * 2 + ["hang"])
        if ending == "close":
            return False
        if ending == "reset":
            writer.transport.abort()
            return False
        if ending == "hang":
            await asyncio.sleep(self.hangs)
        return True

    async def http1(self, reader, writer):
        while await reader.readuntil(b"\r\n\r\n"):
            rng = self.rng()
            if not await self.send(writer, http1(rng), rng):
                return

    def serve(self, handler):
        async def connection(reader, writer):
            try:
                await handler(reader, writer)
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ssl.SSLError, TimeoutError):
                pass
            finally:
                writer.close()
        return connection
