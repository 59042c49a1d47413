#!/usr/bin/env python3
"""The origins behind nginx: the partner's backend, Chia's pages, an image host and three collectors.

Clear-text HTTP/1.1 on 127.0.0.1:8080 of the lab namespace; nginx terminates TLS in front of it and names the
host that was asked for in `Host`. What the session endpoint answers is scripted by a JSON file (argument 1):

    {"session": ["503", "ok"], "delay": 0.9, "page_analytics": true, "session_path": "/handoff-session"}

Steps: `ok` (201), `503` (with Retry-After: 0), `429` (with Retry-After: 1), `401`, `reset` (nginx drops the
connection with a RST and no answer). The last step repeats. `redirect`: Chia sends the handoff URL on to its form
with a trailing slash. Also swallows the mark datagrams on UDP port 4774.
"""

import json
import secrets
import socket
import sys
import threading
import time
import zlib
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CATALOG_ID = "trt_4c1d9e7a20"
NEUTRAL_URL = "https://chia.health/start"
DISCLOSURE = "2026-11-01"

with open(sys.argv[1], encoding="utf-8") as file:
    SCRIPT = json.load(file)
STEPS = list(SCRIPT.get("session", ["ok"]))
SESSION_PATH = SCRIPT.get("session_path", "/handoff-session")
ANSWERS = {}  # idempotency key -> the answer that was given, replayed for the same key
LOCK = threading.Lock()


def projection():
    """One item with a closed decision of mode share_or_neutral."""
    return {
        "catalogId": CATALOG_ID,
        "title": "Sleep care programme",
        "image": "https://img.partner.example/i/7f3a91.png",
        "handoff": {
            "mode": "share_or_neutral",
            "heading": "Continue with Chia",
            "body": "Chia is a separate company. You can continue with or without sharing your selection.",
            "recipient": {"legal_name": "Chia Health Inc.", "privacy_contact": "privacy@chia.health"},
            "dataShared": ["Selected programme"],
            "purpose": "To start with the programme you selected",
            "compensationDisclosure": "We may be paid when you continue.",
            "policyUrls": {"privacy": "https://www.chia.health/privacy"},
            "primary": {
                "actionLabel": "Share selection and continue",
                "sessionCreationPath": "/v2/handoff-sessions",
                "disclosureVersion": DISCLOSURE,
            },
            "secondary": {"actionLabel": "Continue without sharing", "url": NEUTRAL_URL},
        },
    }


def png():
    """A 24 by 16 image of one colour."""
    rows = b"".join(b"\x00" + b"\x5a\x8f\x7b" * 24 for _ in range(16))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 24, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chia</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="https://www.chia.health/a.css">{script}</head>
<body><h1>Welcome to Chia</h1><p>Let us get to know you.</p></body></html>"""

# What the page of Chia does when it has analytics of its own: it sends its own address.
PAGE_ANALYTICS = """<script>
fetch("https://www.google-analytics.com/g/collect?v=2&en=page_view&dl=" + encodeURIComponent(location.href),
  {method: "POST", mode: "no-cors", keepalive: true, body: ""});
</script>"""


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "origin"
    sys_version = ""

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", kind="application/json", **headers):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 204:
            self.wfile.write(body)

    def do_GET(self):
        self.route()

    def do_HEAD(self):
        self.route()

    def do_POST(self):
        self.route()

    def do_OPTIONS(self):
        self.route()

    def route(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host = (self.headers.get("Host") or "").split(":")[0]
        path = self.path.split("?")[0]
        if host == "api.partner.example":
            self.partner(path)
        elif host in ("img.partner.example", "images.shopcdn.example"):
            self.answer(200, png(), "image/png", Cache_Control="max-age=3600")
        elif host in ("chia.health", "www.chia.health"):
            self.chia(path)
        else:
            self.collector(host)

    def partner(self, path):
        if path == SESSION_PATH and self.command == "POST":
            return self.session()
        if path.startswith("/handoff-session/"):
            return self.answer(200, {"state": "pending"})
        if path.startswith("/catalog/") and path.endswith("/handoff"):
            return self.answer(200, projection(), Cache_Control="no-store")
        if path == "/token":
            return self.answer(200, {"access_token": secrets.token_urlsafe(18)}, Cache_Control="no-store")
        if path == "/home":
            return self.answer(200, {"items": [{"catalogId": CATALOG_ID, "title": "Sleep care programme"}]},
                               Cache_Control="no-store")
        return self.answer(404, {"error": "not found"})

    def session(self):
        time.sleep(float(SCRIPT.get("delay", 0)))
        key = self.headers.get("Idempotency-Key", "")
        with LOCK:
            step = STEPS.pop(0) if len(STEPS) > 1 else STEPS[0]
            if step == "503":
                return self.answer(503, {"error": "try again"}, Retry_After="0")
            if step == "429":
                return self.answer(429, {"error": "slow down"}, Retry_After="1")
            if step == "401":
                return self.answer(401, {"error": "expired"}, WWW_Authenticate="Bearer")
            if step == "reset":
                return self.answer(200, {}, X_Accel_Redirect="/dropped")
            if key not in ANSWERS:
                ANSWERS[key] = {
                    "url": "https://chia.health/h/phs_" + secrets.token_urlsafe(24),
                    "handoffSessionId": "hs_" + secrets.token_hex(10),
                }
            return self.answer(201, ANSWERS[key], Cache_Control="no-store")

    def chia(self, path):
        if path == "/a.css":
            return self.answer(200, b"body{font-family:sans-serif;margin:2em}", "text/css",
                               Cache_Control="max-age=3600")
        if SCRIPT.get("redirect") and path.startswith("/h/phs_") and not path.endswith("/"):
            return self.answer(308, b"", "text/plain", Location=path + "/", Cache_Control="no-store",
                               Referrer_Policy="no-referrer")
        if path in ("/start", "/privacy") or path.startswith("/h/phs_"):
            own = SCRIPT.get("page_analytics", False)
            page = PAGE.replace("{script}", PAGE_ANALYTICS if own else "")
            return self.answer(200, page.encode(), "text/html; charset=utf-8", Cache_Control="no-store",
                               Referrer_Policy="unsafe-url" if own else "no-referrer")
        return self.answer(404, b"not found", "text/plain")

    def collector(self, host):
        if host.endswith("sentry.io"):
            return self.answer(200, {"id": secrets.token_hex(16)})
        if host.endswith("amplitude.com") or host == "stats.partner.example":
            return self.answer(200, {"code": 200, "events_ingested": 1})
        return self.answer(204)


def swallow_marks():
    """Receives the mark datagrams, so that no ICMP error answers them."""
    receiver = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    receiver.bind(("::", 4774))
    while True:
        receiver.recv(65536)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


if __name__ == "__main__":
    threading.Thread(target=swallow_marks, daemon=True).start()
    Server(("127.0.0.1", 8080), Origin).serve_forever()
