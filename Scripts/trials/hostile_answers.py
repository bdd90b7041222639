"""A server that answers with mutations of HTTP/1.1 heads and bodies and of HTTP/2 frames. Used by beside-hostile."""
import asyncio
import random
import ssl
import struct

ITEMS = b"<items><item id='1'><name>n</name></item><item id='2'/></items>"

# ---- HTTP/1.1

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


# ---- HTTP/2

H2_STATUSES = STATUSES + [b"+200", b" 200", b"0xc8", b"18446744073709551616", b"-1", b"-9223372036854775808", b"2e2", b"\x00"]


def frame(kind, flags, stream, payload=b"", length=None):
    size = len(payload) if length is None else length
    return struct.pack(">I", size)[1:] + bytes([kind & 255, flags & 255]) + struct.pack(">I", stream & 0xFFFFFFFF) + payload


def number(value, bits, first):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    rest, value = [first | most], value - most
    while value >= 128:
        rest.append(value % 128 | 128)
        value //= 128
    return bytes(rest + [value])


def field(name, value):
    return b"\x00" + number(len(name), 7, 0) + name + number(len(value), 7, 0) + value


def block(rng, status):
    fields = [] if status is None else [(b":status", status)]
    for _ in range(rng.choice([0, 0, 1, 2, 4])):
        line = rng.choice(HEADERS)
        name, _, value = line.partition(b":")
        fields.append((name.lower() if rng.random() < 0.9 else name, value.strip()))
    if rng.random() < 0.1:
        fields.append((rng.choice([b":status", b":path", b":method", b"", b"connection", b"te", b"\x00", b"A"]), b"x"))
    if rng.random() < 0.1:
        rng.shuffle(fields)
    data = b"".join(field(*pair) for pair in fields)
    if rng.random() < 0.1:
        data += rng.choice([b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80", b"\xbf", b"\x3f\xff\xff\xff\xff\x0f", b"\x20",
                            b"\x40\x85\xff\xff\xff\xff\xff\x01a", b"\x00\xff", b"\x0f\x00", b"\x88"])
    return data


def settings(rng):
    pairs = [(rng.choice([1, 2, 3, 4, 5, 6, 8, 9, 0, 65535]),
              rng.choice([0, 1, 2, 100, 16384, 65535, 16777215, 16777216, 2147483647, 2147483648, 4294967295]))
             for _ in range(rng.randrange(4))]
    return frame(4, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def odd_frame(rng, stream):
    other = rng.choice([0, stream, stream, stream + 2, 2, 1, 2147483647, 4294967295])
    integer = struct.pack(">I", rng.choice([0, 1, 7, 8, 65535, 2147483647, 4294967295]))
    return rng.choice([
        lambda: frame(3, 0, other, integer), lambda: frame(8, 0, other, integer), lambda: settings(rng),
        lambda: frame(4, 1, 0), lambda: frame(4, 1, 0, b"x"), lambda: frame(5, 4, other, integer + b"\x88"),
        lambda: frame(6, rng.randrange(2), rng.choice([0, stream]), b"12345678"[:rng.choice([8, 7])]),
        lambda: frame(7, 0, 0, integer + integer + b"debug"), lambda: frame(7, 0, stream, integer + integer),
        lambda: frame(9, 4, other, b"\x88"), lambda: frame(9, 0, stream), lambda: frame(10, 0, rng.choice([0, stream]), b"\x00\x01ah2"),
        lambda: frame(12, 0, 0, b"\x00\x05http:"), lambda: frame(12, 0, 0, b"\xff\xffx"), lambda: frame(2, 0, other, integer + b"\x10"),
        lambda: frame(2, 0, stream, integer), lambda: frame(16, 0, 0, integer + b"u=1"),
        lambda: frame(rng.randrange(256), rng.randrange(256), other, bytes(rng.randrange(256) for _ in range(rng.randrange(30)))),
        lambda: frame(0, 8, stream, b"\xff" + ITEMS), lambda: frame(0, 0, stream, b"x" * 20000),
        lambda: frame(1, 0x2C, stream, b"\x00" + integer + b"\x10" + b"\x88"), lambda: frame(0, 0, stream, b"", length=16777215),
    ])()


def http2(rng, stream):
    if rng.random() < 0.3:
        return frame(1, 4, stream, field(b":status", b"200")) + frame(0, 1, stream, ITEMS)
    frames = []
    for _ in range(rng.choice([0, 0, 0, 0, 1, 3, 120])):
        frames.append(frame(1, 4, stream, field(b":status", rng.choice([b"100", b"103", b"101", b"199"]))))
    status = rng.choice(H2_STATUSES) if rng.random() < 0.6 else b"200"
    ends = rng.random() < 0.15
    head = block(rng, None if rng.random() < 0.03 else status)
    if rng.random() < 0.1:
        cut = rng.randrange(len(head) + 1)
        frames += [frame(1, int(ends), stream, head[:cut]), frame(9, 4, stream, head[cut:])]
    else:
        frames.append(frame(1, 4 | int(ends), stream, head))
    frames.append(frame(0, 1 if rng.random() < 0.8 else 0, stream, rng.choice([ITEMS, ITEMS, b"", b"<items>"])))
    for _ in range(rng.choice([0, 0, 0, 1, 1, 2])):
        frames.append(frame(1, rng.choice([4, 5, 5, 1]), stream, block(rng, rng.choice([None, None, b"200"]))))
    for _ in range(rng.choice([0, 0, 0, 1, 2, 4])):
        frames.insert(rng.randrange(len(frames) + 1), odd_frame(rng, stream))
    if rng.random() < 0.1:
        rng.shuffle(frames)
    return mutated(b"".join(frames), rng) if rng.random() < 0.3 else b"".join(frames)


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

    async def http2(self, reader, writer):
        await reader.readexactly(24)
        rng = self.rng()
        start = frame(4, 0, 0) if rng.random() < 0.8 else settings(rng)
        if rng.random() < 0.05:
            start = mutated(rng.choice([start + odd_frame(rng, 0), odd_frame(rng, 0) + start]), rng)
        writer.write(start)
        while True:
            head = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(head[:3], "big"))
            if head[3] == 4 and not head[4] & 1:
                writer.write(frame(4, 1, 0))
            if head[3] != 1:
                continue
            stream = int.from_bytes(head[5:9], "big")
            rng = self.rng()
            if not await self.send(writer, http2(rng, stream), rng):
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
