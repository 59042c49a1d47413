#!/usr/bin/env python3
"""Looks at the recordings with tshark alone: are they what the sessions' script says?

    pcaps/record/verify.py [NAME…]

For each file: every TLS connection has its secrets inside the file (none in `no-keys`); names looked up, asked for or
shown as SNI are the lab's; marks are all there, in order; the requests for sessions, projections and navigations come
in the number and with the keys and bodies that the story has. Exit status 1 and a line a difference otherwise.
"""

import collections
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from lab import CNAMES, HOSTS  # noqa: E402
from sessions import SESSIONS  # noqa: E402

# session requests, distinct keys, distinct bodies, their answers, documents at the handoff URL and at the neutral URL,
# requests of the app to Chia
Story = collections.namedtuple("Story", "posts keys bodies statuses opened neutral app_chia",
                               defaults=(1, 1, 1, "201", 1, 0, 0))
STORIES = {
    "conforming-neutral": Story(0, 0, 0, "", 0, 1),
    "retry-503-same-key": Story(2, 1, 1, "503 201"), "retry-429-same-key": Story(2, 1, 1, "429 201"),
    "retry-reset-same-key": Story(2, 1, 1, "201"), "double-tap-two-posts": Story(2, 2, 2, "201 201"),
    "retry-new-key": Story(2, 2, 1, "503 201"), "retry-restamped-body": Story(2, 1, 2, "503 201"),
    "double-tap-two-navigations": Story(opened=2), "prefetch-before-tap": Story(app_chia=1),
    "head-probe": Story(app_chia=1),
    "auth-refresh-same-key": Story(2, 1, 1, "401 201"), "two-shares": Story(2, 2, 2, "201 201", 2),
    "retry-after-relaunch-same-key": Story(2, 1, 1, "201"), "retry-after-relaunch-new-key": Story(2, 2, 1, "201"),
    "chia-redirects": Story(opened=2), "old-token-in-crash-report": Story(0, 0, 0, "", 0, 1),
    "no-keys": Story(0, 0, 0, "", 0, 0),
}

def tshark(path, *arguments):
    done = subprocess.run(["tshark", "-n", "-r", path, "-o", "tcp.reassemble_out_of_order:TRUE", *arguments],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    return done.stdout.decode("utf-8", "replace").splitlines()


def column(path, field, display):
    values = tshark(path, "-Y", display, "-T", "fields", "-E", "occurrence=a", "-e", field)
    return [value for line in values for value in line.split(",") if value]


def requests(path):
    """Every request and every answer of the session endpoint, HTTP/1 and 2, from tshark's JSON."""
    display = "http.request || http.response || http2.headers.method || http2.headers.status || http2.type == 0"
    rows = json.loads("\n".join(tshark(path, "-Y", display, "-T", "json", "--no-duplicate-keys")) or "[]")
    found, streams = [], {}
    for row in rows:
        layers = row["_source"]["layers"]
        stream = layers["tcp"]["tcp.stream"]
        for layer in as_list(layers.get("http")):
            line = next((v for v in layer.values() if isinstance(v, dict) and
                         ("http.request.method" in v or "http.response.code" in v)), {})
            if "http.request.method" in line:
                if line["http.request.method"] == "CONNECT":
                    continue
                lines = as_list(layer.get("http.request.line"))
                fields = dict(text.strip().split(": ", 1) for text in lines if ": " in text)
                entry = {"method": line["http.request.method"], "host": layer.get("http.host", ""),
                         "path": line["http.request.uri"], "fields": {n.lower(): v for n, v in fields.items()},
                         "body": str(layer.get("http.file_data", "")), "status": None}
                found.append(entry)
                streams.setdefault((stream, None), []).append(entry)
            elif "http.response.code" in line:
                waiting = [e for e in streams.get((stream, None), []) if e["status"] is None]
                if waiting:
                    waiting[0]["status"] = line["http.response.code"]
        for layer in as_list(layers.get("http2")):
            for frame in as_list(layer.get("http2.stream")):
                if not isinstance(frame, dict):
                    continue
                key = (stream, frame.get("http2.streamid"))
                headers = {h.get("http2.header.name"): h.get("http2.header.value")
                           for h in as_list(frame.get("http2.header")) if isinstance(h, dict)}
                if ":method" in headers:
                    entry = {"method": headers[":method"], "host": headers[":authority"].split(":")[0],
                             "path": headers[":path"], "fields": headers, "body": "", "status": None}
                    found.append(entry)
                    streams[key] = [entry]
                elif ":status" in headers and key in streams:
                    streams[key][0]["status"] = headers[":status"]
                elif frame.get("http2.data.data") and key in streams and streams[key][0]["status"] is None:
                    streams[key][0]["body"] += str(frame["http2.data.data"])
    return found


def as_list(value):
    return value if isinstance(value, list) else [] if value is None else [value]


def verify(name):
    path = os.path.join(os.path.dirname(HERE), name + ".pcapng")
    setup, wrong = SESSIONS[name], []

    def expect(what, seen, wanted):
        if seen != wanted:
            wrong.append(f"{name}: {what}: {seen}, wanted {wanted}")

    names = set(column(path, "dns.qry.name", "dns.flags.response == 0 && udp.dstport == 53"))
    names |= set(column(path, "tls.handshake.extensions_server_name", "tls.handshake.type == 1"))
    expect("names of others", sorted(names - set(HOSTS) - set(CNAMES)), [])
    hellos = tshark(path, "-Y", "tls.handshake.type == 1", "-T", "fields", "-E", "occurrence=f", "-e", "tcp.stream")
    opened = set(tshark(path, "-Y", "http || http2", "-T", "fields", "-e", "tcp.stream"))
    dark = sorted(set(hellos) - opened, key=int)
    if not setup.get("keys", True):
        expect("connections that open without keys", sorted(opened), [])
    else:
        # an idle one carries no request, so nothing shows that it opens
        expect("connections that stay dark", len(dark), setup.get("idle", 0))
    marks = [json.loads(bytes.fromhex(value.replace(":", "")).decode().removeprefix("handoff-mark/1 "))
             for value in column(path, "data.data", "udp.dstport == 4774")]
    if setup.get("marks", True):
        expect("ids of the marks", [m["id"] for m in marks], [f"m{i + 1}" for i in range(len(marks))])
        expect("first and last mark", [marks[0]["kind"], marks[-1]["kind"]] if marks else [], ["scenario", "end"])
    else:
        expect("marks", len(marks), 0)

    story, seen = STORIES.get(name, Story()), requests(path)
    session_path = setup.get("script", {}).get("session_path", "/handoff-session")
    posts = [r for r in seen if r["method"] == "POST" and r["path"] == session_path]
    chia = [r for r in seen if r["host"].endswith("chia.health")]
    app_chia = [r for r in chia if "Mozilla/" not in r["fields"].get("user-agent", "")]
    documents = [r for r in chia if r not in app_chia and r["fields"].get("sec-fetch-dest") == "document"]
    expect("session requests", len(posts), story.posts)
    expect("keys", len({r["fields"].get("idempotency-key") for r in posts}), story.keys)
    expect("bodies", len({r["body"] for r in posts}), story.bodies)
    expect("answers", " ".join(r["status"] for r in posts if r["status"]), story.statuses)
    expect("navigations to the handoff URL", sum("/h/phs_" in r["path"] for r in documents), story.opened)
    expect("navigations to the neutral URL", sum(r["path"] == "/start" for r in documents), story.neutral)
    expect("requests of the app to Chia", len(app_chia), story.app_chia)
    return wrong, len(hellos), len(seen)


def main(names):
    failed = False
    for name in names or SESSIONS:
        wrong, connections, count = verify(name)
        print(f"{name}: {connections} TLS connections, {count} requests" + ("" if not wrong else ", NOT as scripted"))
        for line in wrong:
            failed = True
            print("  " + line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
