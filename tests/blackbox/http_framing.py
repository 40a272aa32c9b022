"""usage: http_framing.py PROGRAM - requests that two readers could take for different ones are refused."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from mailroom import Mailroom  # noqa: E402
from raw import Raw  # noqa: E402
from tap import Tap  # noqa: E402

LINE = b"GET /health HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
GOOD = LINE + HOST + b"\r\n"
POST = b"POST /mcp HTTP/1.1\r\n" + HOST

# Refused with 400 and these words.
BAD = (
    (LINE + b"Host: localhost\0\r\n\r\n", "a NUL in the headers"),
    (LINE + b"Host: localhost\0.evil.example\r\n\r\n", "a NUL in the headers"),
    (LINE + b"Host: localhost\0\n\r\n", "a NUL in the headers"),
    (LINE + HOST + b"A: b\0c\r\n\r\n", "a NUL in the headers"),
    (LINE + HOST + b"A\0: b\r\n\r\n", "a NUL in the headers"),
    (LINE + HOST + b"\0\r\n\r\n", "a NUL in the headers"),
    (LINE + HOST + b"\0\n", "a NUL in the headers"),
    (LINE + HOST + b"A: b\r\n c\r\n\r\n", "a header line begins with white space"),
    (LINE + HOST + b"A: b\r\n\tc\r\n\r\n", "a header line begins with white space"),
    (LINE + b" A: b\r\n" + HOST + b"\r\n", "a header line begins with white space"),
    (LINE + b"Host: local\r\n host\r\n\r\n", "a header line begins with white space"),
    (LINE + HOST + b": b\r\n\r\n", "a header line begins with a colon"),
    (LINE + HOST + b":\n", "a header line begins with a colon"),
    (LINE + b":\r\n" + HOST + b"\r\n", "a header line begins with a colon"),
    (LINE + b"Host: localhost\n\r\n", "a line ends with LF instead of CR LF"),
    (b"GET /health HTTP/1.1\n" + HOST + b"\r\n", "a line ends with LF instead of CR LF"),
    (LINE + HOST + b"\n", "a line ends with LF instead of CR LF"),
    (LINE + HOST + b"A: b\nTransfer-Encoding: chunked\r\n\r\n", "a line ends with LF instead of CR LF"),
    (LINE + HOST + b"A: b\rc\r\n\r\n", "a CR is not followed by LF"),
    (LINE + HOST + b"A: b\r\r\n\r\n", "a CR is not followed by LF"),
    (LINE + HOST + b"\rA: b\r\n\r\n", "a CR is not followed by LF"),
    (LINE + HOST + b"A : b\r\n\r\n", "white space before a header's colon"),
    (LINE + HOST + b"Transfer-Encoding\t: chunked\r\n\r\n", "white space before a header's colon"),
    (LINE + HOST + b"A b: c\r\n\r\n", "white space before a header's colon"),
    (LINE + HOST + b"A(b): c\r\n\r\n", "the name of a header is not a token"),
    (LINE + HOST + b"nothing\r\n\r\n", "a header line has no colon"),
    (LINE + HOST + b"A: \x1b[2J\r\n\r\n", "a control character in the headers"),
    (b"GET  /health HTTP/1.1\r\n" + HOST + b"\r\n", "the request line is not"),
    (b"GET /health  HTTP/1.1\r\n" + HOST + b"\r\n", "the request line is not"),
    (b"GET /health HTTP/1.1 \r\n" + HOST + b"\r\n", "the request line is not"),
    (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", "the request line is not"),
    (b"GET /health\r\n\r\n", "the request line is not"),
    (b"nonsense\r\n\r\n", "the request line is not"),
    (b"\r\n\r\n" + GOOD, "the request line is not"),
    (LINE + HOST + HOST + b"\r\n", "more than one Host"),
    (POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", "more than one Content-Length"),
    (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "more than one Content-Length"),
    (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length and Transfer-Encoding exclude each other"),
    (POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "Content-Length and Transfer-Encoding exclude each other"),
    (POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "more than one Transfer-Encoding"),
    (POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "the only Transfer-Encoding understood is chunked"),
    (POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", "a control character in the headers"),
    (b"POST /mcp HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 has no Transfer-Encoding"),
    (b"GET /health HTTP/1.0\r\n\r\n", "no Host"),
    (LINE + b"\r\n", "no Host"),
    (POST + b"Content-Length: x\r\n\r\n", "Content-Length is not a length"),
    (POST + b"Content-Length: 1 1\r\n\r\nx", "Content-Length is not a length"),
    (POST + b"Content-Length: -1\r\n\r\n", "Content-Length is not a length"),
    (POST + b"Content-Length: +1\r\n\r\nx", "Content-Length is not a length"),
    (POST + b"Content-Length:\r\n\r\n", "Content-Length is not a length"),
    (POST + b"Content-Length: 1 \r\n\r\nx", "Content-Length is not a length"),
    (POST + b"Content-Length: 99999999999999999999\r\n\r\n", "Content-Length is not a length"),
    # By the HTTP library, in its own words.
    (POST + b"Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\n0\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n0\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n: b\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n b\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\0\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\rc\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\rx\r\n\r\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\n", ""),
    (POST + b"Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n0\r\n\r\n", ""),
)

# Answered as STATUS says, and the connection goes on.
FINE = (
    GOOD,
    b"\r\n" + GOOD,
    b"GET /nowhere?a=b&c HTTP/1.1\r\nhost:localhost\r\nA:\r\nB: \t\r\nC: d e\r\nCookie: a=b; c=d\r\n\r\n",
    LINE + HOST + b"".join(b"X-%d: %d\r\n" % (i, i) for i in range(100)) + b"\r\n",
    LINE + HOST + b"X-Long: " + b"x" * 6000 + b"\r\n\r\n",
    LINE + HOST + b"X-Name: J\xc3\xbcrgen\r\n\r\n",
    b"POST /nowhere HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\n\r\n\0\n\r\n",
    b"POST /nowhere HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\n\0\n\r\r\n0\r\nA: b\r\n\r\n",
)
STATUS = [404 if b"/nowhere" in request else 200 for request in FINE]


def refused(raw, request, why):
    status, _, body = raw.hear()
    assert status == 400 and why.encode() in body.replace(b'\\"', b'"'), (request, why, status, body)
    assert raw.hear()[0] is None, (request, "the connection goes on")


def bad_requests_are_refused(m):
    """Whole and byte by byte, as first, as next and as pipelined request; nothing behind them is answered."""
    with m.serve() as server:
        for request, why in BAD:
            for in_bytes in (False, True):
                with Raw(server) as raw:
                    raw.say(request + GOOD, in_bytes)
                    refused(raw, request, why)
                with Raw(server) as raw:
                    raw.say(GOOD)
                    assert raw.hear()[0] == 200
                    raw.say(request + GOOD, in_bytes)
                    refused(raw, request, why)
                with Raw(server) as raw:
                    raw.say(GOOD + GOOD + request + GOOD, in_bytes)
                    assert raw.hear()[0] == 200 and raw.hear()[0] == 200, request
                    refused(raw, request, why)
        assert server.get("/health")[0] == 200


def a_bad_extension_of_a_chunk_ends_it(m):
    with m.serve() as server, Raw(server) as raw:
        raw.say(POST + b"Transfer-Encoding: chunked\r\n\r\n1;\0\r\nx\r\n0\r\n\r\n" + GOOD)
        assert raw.hear()[0] is None


def good_requests_are_answered(m):
    with m.serve() as server:
        for request, wanted in zip(FINE, STATUS):
            for in_bytes in (False, True):
                with Raw(server) as raw:
                    for _ in range(3):
                        raw.say(request, in_bytes)
                        status, _, body = raw.hear()
                        assert status == wanted, (request, in_bytes, status, body)
                    raw.say(request * 5 + GOOD, in_bytes)
                    assert [raw.hear()[0] for _ in range(6)] == [wanted] * 5 + [200], (request, in_bytes)
        with Raw(server) as raw:
            everything = b"".join(FINE)
            raw.say(everything * 3)
            assert [raw.hear()[0] for _ in FINE * 3] == STATUS * 3
            # However the bytes are cut.
            for size in (2, 3, 7, 64, 1000):
                for at in range(0, len(everything), size):
                    raw.say(everything[at:at + size])
                assert [raw.hear()[0] for _ in FINE] == STATUS, size


def refusals_are_logged_and_counted(m):
    with m.serve(env={"HTTP_REQUEST_LOG_ENABLED": "true"}) as server:
        with Raw(server) as raw:
            raw.say(LINE + b"Host: localhost\0\r\n\r\n")
            refused(raw, "NUL", "a NUL in the headers")
        server.stop()
        assert '"status":400' in server.logged(), server.logged()


with Tap() as tap:
    for case in (bad_requests_are_refused, a_bad_extension_of_a_chunk_ends_it, good_requests_are_answered,
            refusals_are_logged_and_counted):
        with Mailroom(sys.argv[1]) as room:
            tap.run(case.__name__, case, room)
