#!/usr/bin/env python3
"""Make a large capture of real HTTPS traffic: record once, repeat under other addresses and later times.

usage: make_capture.py OUT.pcap [MEGABYTES]        (default 1024; needs root: it makes a network namespace of its own)

Records curl against nginx on loopback in a private network namespace (HTTP/1.1 and HTTP/2, TLS 1.2 and 1.3, small JSON,
posts, compressed pages, images), then appends shifted copies until the size is reached. Writes OUT.pcap and
OUT.pcap.keys (one TLS key log for all copies). Needs nginx, curl, tcpdump, openssl, iproute2, util-linux.
"""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

RECORD_MEGABYTES = 64


def record(folder):
    """Record about RECORD_MEGABYTES of traffic in the current (private) namespace."""
    def run(*words):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    run("ip", "link", "set", "lo", "mtu", "1500", "up")
    run("ip", "addr", "add", "127.0.0.2/8", "dev", "lo")
    run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=shop.example",
        "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem")
    os.makedirs(f"{folder}/www")
    for name, size in (("item.json", 900), ("page.html", 40_000), ("image.bin", 180_000)):
        content = os.urandom(size * 3 // 4)
        with open(f"{folder}/www/{name}", "wb") as file:
            file.write(content if name.endswith(".bin") else content.hex().encode()[:size])
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(f"""
user root; daemon off; pid {folder}/pid; error_log {folder}/errors; events {{}}
http {{ access_log off; gzip on; keepalive_requests 100000; default_type application/json;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.2:443 ssl http2; ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    ssl_protocols TLSv1.2 TLSv1.3; root {folder}/www; location /v1/ {{ return 200 '{{"ok":true}}'; }} }} }}
""")
    nginx = subprocess.Popen(["nginx", "-c", f"{folder}/nginx.conf", "-e", f"{folder}/errors"])
    dump = subprocess.Popen(["tcpdump", "-i", "lo", "-s", "0", "-B", "65536", "-U", "-w", f"{folder}/one.pcap",
                             "tcp", "port", "443"], stderr=subprocess.DEVNULL)
    try:
        time.sleep(1)
        variants = [("--http1.1", "--tls-max 1.2"), ("--http2", "--tlsv1.3"), ("--http1.1", "--tlsv1.3"),
                    ("--http2", "--tls-max 1.2")]
        for turn in range(2_000):
            if os.path.getsize(f"{folder}/one.pcap") >= RECORD_MEGABYTES << 20:
                break
            version, tls = variants[turn % 4]
            shared = ["--insecure", "--silent", "--resolve", "shop.example:443:127.0.0.2", version, *tls.split()]
            words = ["curl"]
            for item in range(20):
                asks = [[f"https://shop.example/item.json?n={item}"]] * 3 + [
                    ["https://shop.example/v1/orders", "--data", f'{{"turn":{turn}}}'],
                    ["https://shop.example/page.html", "--compressed"]]
                if item % 2:
                    asks.append(["https://shop.example/image.bin"])
                for ask in asks:
                    words += shared + ask + ["--output", "/dev/null", "--next"]
            subprocess.run(words[:-1], check=True, env={**os.environ, "SSLKEYLOGFILE": f"{folder}/keys"})
    finally:
        time.sleep(1)
        for process, stop in ((dump, signal.SIGINT), (nginx, signal.SIGTERM)):
            process.send_signal(stop)
            process.wait(timeout=20)


def repeat(source, target, megabytes):
    """Append copies of the capture with other addresses (10.9.N.x) and later times until the size is reached."""
    with open(source, "rb") as file:
        data = file.read()
    packets, offset = [], 24
    while offset + 16 <= len(data):
        seconds, micros, kept, length = struct.unpack_from("<IIII", data, offset)
        packets.append((seconds, micros, kept, length, data[offset + 16:offset + 16 + kept]))
        offset += 16 + kept
    span = packets[-1][0] - packets[0][0] + 2
    with open(target, "wb") as file:
        file.write(data[:24])
        copy = 0
        while file.tell() < megabytes << 20:
            client, server = bytes((10, 9, copy & 255, 1)), bytes((10, 9, copy & 255, 2))
            replaced = {b"\x7f\x00\x00\x01": client, b"\x7f\x00\x00\x02": server}
            block = bytearray()
            for seconds, micros, kept, length, frame in packets:
                block += struct.pack("<IIII", seconds + copy * span, micros, kept, length)
                # Ethernet: 14 bytes; IPv4 addresses at 26 and 30. Checksums stay as they were: nobody checks them.
                block += frame[:26] + replaced.get(frame[26:30], frame[26:30])
                block += replaced.get(frame[30:34], frame[30:34]) + frame[34:]
            file.write(block)
            copy += 1


def main():
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and not sys.argv[2].isdigit()):
        sys.exit(__doc__)
    target, megabytes = sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 1024
    if os.environ.get("HANDOFF_BENCH_INSIDE"):
        record(os.environ["HANDOFF_BENCH_INSIDE"])
        return
    if os.geteuid() != 0:
        sys.exit("make_capture.py: needs root, for a network namespace of its own")
    folder = tempfile.mkdtemp(prefix="handoff-bench-")
    try:
        subprocess.run(["unshare", "-n", "--", sys.executable, os.path.abspath(__file__), *sys.argv[1:]], check=True,
                       env={**os.environ, "HANDOFF_BENCH_INSIDE": folder}, timeout=600)
        repeat(f"{folder}/one.pcap", target, megabytes)
        shutil.copy(f"{folder}/keys", target + ".keys")
    finally:
        shutil.rmtree(folder)
    print(f"{target}: {os.path.getsize(target)} bytes, keys in {target}.keys")


main()
