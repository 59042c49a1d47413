#!/usr/bin/env python3
"""Writes captures that are large where a session is small, to see that time stays linear and memory flat.

usage: stress.py KIND COUNT FILE

  connections  COUNT TCP connections that were refused
  lookups      COUNT DNS lookups with answers, each of another name
  hellos       COUNT TLS connections, each with another server name, that carry a little data
  chia         COUNT requests of a browser to Chia's host, each with another token
  sessions     COUNT session requests with their own key and answer, each followed by its navigation
  leaks        COUNT lookups whose name holds a handoff token
  marks        COUNT marks: taps, halves and scenarios, many with the same id
  cuts         COUNT requests with a content coding that lies
"""
import struct
import sys

kind, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
out = open(path, "wb", buffering=1 << 20)
out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
clock = 1_700_000_000_000_000


def packet(data):
    global clock
    clock += 50
    out.write(struct.pack("<IIII", clock // 1_000_000, clock % 1_000_000, len(data), len(data)) + data)


def ip(protocol, source, destination, payload):
    return struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, source, destination) + payload


CLIENT = 0x0A000002
SERVER = 0x5DB80000
RESOLVER = 0x0A000001


def tcp(source, sport, destination, dport, seq, ack, flags, payload=b""):
    packet(ip(6, source, destination, struct.pack(
        ">HHIIBBHHH", sport, dport, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0) + payload))


def udp(source, sport, destination, dport, payload):
    packet(ip(17, source, destination, struct.pack(">HHHH", sport, dport, 8 + len(payload), 0) + payload))


class Connection:
    made = 0

    def __init__(self, server, port):
        Connection.made += 1
        number = Connection.made
        self.client, self.cport = CLIENT + number // 60000 % 200, 1024 + number % 60000
        self.server, self.sport = server, port
        self.sent = [1000, 5000]
        tcp(self.client, self.cport, server, port, 999, 0, 2)
        tcp(server, port, self.client, self.cport, 4999, 1000, 0x12)
        tcp(self.client, self.cport, server, port, 1000, 5000, 0x10)

    def send(self, payload, back=False):
        if back:
            tcp(self.server, self.sport, self.client, self.cport, self.sent[1], self.sent[0], 0x18, payload)
        else:
            tcp(self.client, self.cport, self.server, self.sport, self.sent[0], self.sent[1], 0x18, payload)
        self.sent[back] += len(payload)

    def close(self):
        tcp(self.client, self.cport, self.server, self.sport, self.sent[0], self.sent[1], 0x11)
        tcp(self.server, self.sport, self.client, self.cport, self.sent[1], self.sent[0] + 1, 0x11)
        tcp(self.client, self.cport, self.server, self.sport, self.sent[0] + 1, self.sent[1] + 1, 0x10)


def name(text):
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def lookup(number, host, alias=None):
    port = 1024 + number % 60000
    question = name(host) + b"\0\1\0\1"
    udp(CLIENT, port, RESOLVER, 53, struct.pack(">HHHHHH", number & 0xFFFF, 0x100, 1, 0, 0, 0) + question)
    answers = b""
    if alias:
        target = name(alias)
        answers += b"\xc0\x0c\0\5\0\1\0\0\0\x3c" + struct.pack(">H", len(target)) + target
    answers += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + struct.pack(">I", SERVER + number & 0xFFFFFFFF)
    udp(RESOLVER, 53, CLIENT, port, struct.pack(
        ">HHHHHH", number & 0xFFFF, 0x8180, 1, 2 if alias else 1, 0, 0) + question + answers)


def token(number):
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    mixed = (number * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 0x1234567890ABCDEF1234567890ABCDEF) & ((1 << 192) - 1)
    mixed |= (mixed * 0xD1342543DE82EF95 & ((1 << 128) - 1)) << 66
    return "phs_" + "".join(alphabet[mixed >> 6 * place & 63] for place in range(32))


def uuid(number):
    digits = f"{(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) & ((1 << 128) - 1):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def hello(host):
    sni = host.encode()
    extension = struct.pack(">HHHBH", 0, len(sni) + 5, len(sni) + 3, 0, len(sni)) + sni
    body = b"\3\3" + bytes(range(32)) + b"\0" + b"\0\4\x13\1\x13\2" + b"\1\0" + struct.pack(">H", len(extension)) + extension
    return b"\x16\3\1" + struct.pack(">H", len(body) + 4) + b"\1\0" + struct.pack(">H", len(body)) + body


def mark(json):
    udp(CLIENT, 40000, RESOLVER, 9876, b"handoff-mark/1 " + json.encode())


BROWSER = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: text/html\r\n\r\nok"
connection = None
for number in range(count):
    if kind == "connections":
        source, port = CLIENT + number // 60000 % 200, 1024 + number % 60000
        tcp(source, port, SERVER + number % 65536, 443, 1, 0, 2)
        tcp(SERVER + number % 65536, 443, source, port, 0, 2, 0x14)
    elif kind == "lookups":
        lookup(number, f"h{number}.{'app.chia.health' if number % 3 else 'partner.example'}", f"c{number}.cdn.example" if number % 2 else None)
    elif kind == "leaks":
        lookup(number, f"{token(7)}.x{number}.collector.example")
    elif kind == "hellos":
        connection = Connection(SERVER + number % 65536, 443)
        connection.send(hello(f"h{number}.{'chia.health' if number % 4 == 0 else 'third.example'}"))
        connection.send(b"\x17\3\3\0\x20" + bytes(32))
        connection.close()
    elif kind == "marks":
        kinds = [
            '{"kind":"tap","target":"share","count":1000,"by":"script"}',
            '{"kind":"tap","target":"neutral","id":"a%d","phase":"pre"}' % number,
            '{"kind":"tap","target":"neutral","id":"a%d","phase":"post"}' % (number - 1),
            '{"kind":"tap","target":"share","id":"same","phase":"pre"}',
            '{"kind":"scenario","attrs":{"platform%d":"android"}}' % number,
            '{"kind":"odd%d"}' % number,
        ]
        mark(kinds[number % len(kinds)])
        clock += 3_000_000
    else:
        if connection is None or number % 10 == 0:
            if connection:
                connection.close()
            connection = Connection(SERVER, 80)
        if kind == "chia":
            connection.send((
                f"GET /handoff/{token(number)} HTTP/1.1\r\nHost: app.chia.health\r\nUser-Agent: {BROWSER}\r\n"
                f"Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n").encode())
            connection.send(OK, back=True)
        elif kind == "sessions":
            body = '{"catalogId":"c%d","disclosureVersion":"v1","affirmed":true,"affirmedAt":"2026-01-01T00:00:00Z"}' % number
            connection.send((
                f"POST /handoff-session HTTP/1.1\r\nHost: api.partner.example\r\nContent-Type: application/json\r\n"
                f"Idempotency-Key: {uuid(number)}\r\nUser-Agent: okhttp/4.12\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
            answer = '{"url":"https://app.chia.health/handoff/%s","sessionId":"s-%s"}' % (token(number), uuid(number + 1))
            connection.send((
                f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n{answer}").encode(), back=True)
            connection.send((
                f"GET /handoff/{token(number)} HTTP/1.1\r\nHost: app.chia.health\r\nUser-Agent: {BROWSER}\r\n"
                f"Accept: text/html\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n\r\n").encode())
            connection.send(OK, back=True)
        elif kind == "cuts":
            body = "x" * 200
            connection.send((
                f"POST /v1/log HTTP/1.1\r\nHost: t{number}.third.example\r\nContent-Type: application/json\r\n"
                f"Content-Encoding: compress\r\nUser-Agent: okhttp/4.12\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
            connection.send(OK, back=True)
        else:
            sys.exit(__doc__)
if connection and kind in ("chia", "sessions", "cuts"):
    connection.close()
out.close()
