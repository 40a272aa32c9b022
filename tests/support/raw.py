"""Bytes to and from a server, as they are."""

import http.client
import socket

TIMEOUT_S = 60


class Raw:
    """A connection to a Server, on which responses are read one by one."""

    def __init__(self, server):
        self.socket = socket.create_connection(server.address.split(":"), timeout=TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def say(self, data, in_bytes=False):
        """A server that refuses it may hang up before its end."""
        try:
            for piece in ([data[i:i + 1] for i in range(len(data))] if in_bytes else [data]):
                self.socket.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def hear(self):
        """(status, headers, body) of the next response; the status is None at the end of the connection."""
        try:
            line = self.file.readline()
            if not line:
                return None, None, b""
            headers = http.client.parse_headers(self.file)
            return int(line.split()[1]), headers, self.file.read(int(headers.get("Content-Length", 0)))
        except ConnectionResetError:
            return None, None, b""

    def close(self):
        self.file.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()
