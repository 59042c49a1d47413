#!/usr/bin/env python3
"""A small explicit proxy: CONNECT only, bytes relayed as they are. Arguments: address port."""

import select
import socket
import socketserver
import sys


class Tunnel(socketserver.StreamRequestHandler):
    def handle(self):
        request = self.rfile.readline(8192).decode("latin-1").split()
        while self.rfile.readline(8192) not in (b"\r\n", b"\n", b""):
            pass
        if len(request) != 3 or request[0] != "CONNECT":
            self.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        host, _, port = request[1].rpartition(":")
        try:
            origin = socket.create_connection((host.strip("[]"), int(port)), 5)
        except OSError:
            self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        with origin:
            self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            peers = {self.connection: origin, origin: self.connection}
            while peers:
                readable, _, _ = select.select(list(peers), [], [], 60)
                if not readable:
                    return
                for side in readable:
                    try:
                        data = side.recv(65536)
                        if data:
                            peers[side].sendall(data)
                            continue
                        peers.pop(side).shutdown(socket.SHUT_WR)
                    except OSError:
                        return


class Proxy(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    Proxy((sys.argv[1], int(sys.argv[2])), Tunnel).serve_forever()
