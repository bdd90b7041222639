"""A healthy server of many feeds, for the trials beside hostile and silent ones."""
import asyncio
import collections
import signal
import time


def healthy_server(ready, times, closes=False):
    """Serves feeds: 304s, and each fifth time a new revision. Runs in a process of its own. Sends when each was asked, in the end.

    It can close each connection after its answer.
    """
    close = b"Connection: close\r\n" if closes else b""
    asked = collections.defaultdict(list)

    async def connection(reader, writer):
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                number = int(request.split(b" ", 2)[1][1:])
                asked[number].append(time.monotonic())
                etag = b'"%d"' % (len(asked[number]) // 5)
                if etag in request:
                    writer.write(b"HTTP/1.1 304 Not Modified\r\n%sETag: %s\r\n\r\n" % (close, etag))
                    if closes:
                        break
                    continue
                body = b"<items>" + b"".join(
                    b"<item id='%d'><name>%s</name></item>" % (number * 100 + n, etag[1:-1]) for n in range(20)) + b"</items>"
                writer.write(b"HTTP/1.1 200 OK\r\n%sETag: %s\r\nContent-Length: %d\r\n\r\n%s" % (close, etag, len(body), body))
                if closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def serve():
        server = await asyncio.start_server(connection, "0.0.0.0", 0, backlog=4096)
        ready.put(server.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, ended.set)
        await ended.wait()
        times.put(dict(asked))

    asyncio.run(serve())
