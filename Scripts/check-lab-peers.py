"""The far ends of Scripts/check-lab.sh: origins that answer, and clients that ask what curl can't.

usage: check-lab-peers.py origins CERTIFICATE KEY   serve until ended; "ready" on standard output when it can be asked
       check-lab-peers.py udp ADDRESS PORT          send a datagram: reply, rejected (an ICMP error came back) or silence
       check-lab-peers.py tcp ADDRESS PORT          connect: open, rejected or silence
       check-lab-peers.py dns SERVER NAME           the A and AAAA records: addresses, NXDOMAIN, or what else came
       check-lab-peers.py dhcp                      ask for an IPv4 address: the one offered, and its router and resolver
       check-lab-peers.py requests < show --json    each request of a trace: server, tunnel, URL, status, delivered or not
"""
import json
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time

# Longest wait for an answer, in seconds.
PATIENCE = 10


class Server(socketserver.ThreadingTCPServer):
    """IPv4 and IPv6 on one port; TLS when there is a context."""
    address_family = socket.AF_INET6
    allow_reuse_address = True
    daemon_threads = True
    context = None

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()


class Answer(socketserver.StreamRequestHandler):
    """HTTP/1.1: says who asked for what. /endless goes on until the connection breaks."""

    def setup(self):
        if self.server.context:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def handle(self):
        while True:
            line = self.rfile.readline(65536).split()
            if len(line) < 2:
                return
            while self.rfile.readline(65536).strip():
                pass
            path = line[1].decode()
            if path == "/endless":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 900000000\r\n\r\n")
                while True:
                    self.wfile.write(b"x" * 8192)
                    time.sleep(0.02)
            peer = self.client_address[0].removeprefix("::ffff:")
            body = json.dumps({"client": peer, "path": path}).encode() + b"\n"
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                             + body)

    def finish(self):
        try:
            super().finish()
        except OSError:
            pass


class Quiet(Server):
    def handle_error(self, request, client_address):
        """A client that goes away is no error here."""


def serve_datagrams(port):
    sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.bind(("::", port))

    def echo():
        while True:
            data, peer = sock.recvfrom(2048)
            sock.sendto(data, peer)

    threading.Thread(target=echo, daemon=True).start()


def origins(certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    for port, secure in ((443, True), (80, False), (853, True), (8443, True), (53, False)):
        server = Quiet(("::", port), Answer)
        server.context = context if secure else None
        threading.Thread(target=server.serve_forever, daemon=True).start()
    for port in (443, 853, 5000, 53):
        serve_datagrams(port)
    print("ready", flush=True)
    threading.Event().wait()


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def probe(kind, address, port):
    sock = socket.socket(family(address), kind)
    sock.settimeout(PATIENCE)
    try:
        sock.connect((address, port))
        if kind == socket.SOCK_STREAM:
            return "open"
        sock.send(b"ping")
        return "reply" if sock.recv(64) == b"ping" else "something else"
    except (ConnectionRefusedError, ConnectionResetError, PermissionError):
        return "rejected"
    except TimeoutError:
        return "silence"


def lookup(server, name, kind):
    sock = socket.socket(family(server), socket.SOCK_DGRAM)
    sock.settimeout(PATIENCE)
    question = b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
    sock.sendto(struct.pack(">HHHHHH", 4773, 0x0100, 1, 0, 0, 0) + question + struct.pack(">HH", kind, 1), (server, 53))
    try:
        reply = sock.recv(4096)
    except TimeoutError:
        return ["silence"]
    code, answers = reply[3] & 15, struct.unpack(">H", reply[6:8])[0]
    if code:
        return [{3: "NXDOMAIN", 5: "REFUSED"}.get(code, f"code {code}")]
    found, at = [], 12 + len(question) + 4
    for _ in range(answers):
        while reply[at] and reply[at] < 192:
            at += reply[at] + 1
        at += 2 if reply[at] else 1
        type_, _, _, length = struct.unpack(">HHIH", reply[at:at + 10])
        at += 10
        if type_ == kind:
            found.append(socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, reply[at:at + length]))
        at += length
    return found


def dhcp():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"wlan0")
    sock.bind(("0.0.0.0", 68))
    # dnsmasq asks around whether an address is free before it offers it, which takes it some seconds.
    sock.settimeout(PATIENCE)
    discover = (struct.pack(">BBBBIHH", 1, 1, 6, 0, 0x4773, 0, 0x8000) + bytes(16) + b"\x02\0\0\0\x47\x73" + bytes(10 + 192)
                + b"\x63\x82\x53\x63" + b"\x35\x01\x01" + b"\x37\x02\x03\x06" + b"\xff")
    sock.sendto(discover, ("255.255.255.255", 67))
    try:
        offer = sock.recv(2048)
    except TimeoutError:
        return "silence"
    words, options = [socket.inet_ntoa(offer[16:20])], offer[240:]
    while options and options[0] != 255:
        code, length = options[0], options[1]
        if code in (3, 6):
            words.append(("router " if code == 3 else "resolver ") + socket.inet_ntoa(options[2:6]))
        options = options[2 + length:]
    return ", ".join(words)


def requests(lines):
    """Server address of the connection (and where a tunnel leads), URL, status, delivered or not."""
    connections, delivered, exchanges = {}, {}, []
    for line in lines:
        event = json.loads(line)
        if event["event"] == "connection-opened":
            connections[event["connection"]] = event
        elif event["event"] == "delivery":
            delivered[json.dumps(event["exchange"])] = event["delivered"]
        elif event["event"] == "exchange":
            exchanges.append(event)
    for event in exchanges:
        connection = connections.get(event["exchange"]["connection"], {})
        request, response = event.get("request") or {}, event.get("response") or {}
        if not request:
            continue
        target = request["target"]
        url = target if "://" in target else f"{request['scheme']}://{request.get('authority')}{target}"
        yield (connection.get("server"), connection.get("target") or "-", url, response.get("status"),
               delivered.get(json.dumps(event["exchange"]), "-"))


def main(mode, *words):
    if mode == "origins":
        origins(*words)
    elif mode in ("udp", "tcp"):
        kind = socket.SOCK_DGRAM if mode == "udp" else socket.SOCK_STREAM
        print(probe(kind, words[0], int(words[1])))
    elif mode == "dns":
        for kind in (1, 28):
            print(*lookup(words[0], words[1], kind))
    elif mode == "dhcp":
        print(dhcp())
    elif mode == "requests":
        for request in requests(sys.stdin):
            print(*request)
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
