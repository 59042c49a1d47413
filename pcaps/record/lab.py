#!/usr/bin/env python3
"""Records one session: lab and device in namespaces of their own, real servers, real clients,
tcpdump on the device's side.

    sudo lab.py NAME OUTPUT.pcapng      record
    lab.py --list                       print the names
    lab.py --versions                   print the software used

Inside the device's namespace the same file runs again as `lab.py --device NAME WORK`.
What is made here (certificate authority, keys, namespaces) is gone when the session ends; only OUTPUT stays.
"""

import hashlib
import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LAB4, LAB6, DEVICE4, DEVICE6 = "10.77.0.1", "fd77::1", "10.77.0.2", "fd77::2"
PROXY_ADDRESS, PROXY_PORT = "10.77.0.40", 4773
# name -> the last part of its addresses 10.77.0.N and fd77::N
HOSTS = {"api.partner.example": 10, "img.partner.example": 11, "logs.partner.example": 12, "images.shopcdn.example": 13,
         "chia.health": 20, "www.chia.health": 20, "o4507.ingest.sentry.io": 30, "api2.amplitude.com": 31,
         "www.google-analytics.com": 32}
CNAMES = {"stats.partner.example": "api2.amplitude.com"}  # a collector under the partner's own name
SESSION_SECONDS = 120

NGINX = """daemon off; user root; worker_processes 1; pid {work}/nginx.pid; error_log {work}/nginx.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {work}/t1; proxy_temp_path {work}/t2; fastcgi_temp_path {work}/t3;
  uwsgi_temp_path {work}/t4; scgi_temp_path {work}/t5;
  ssl_certificate {work}/leaf.pem; ssl_certificate_key {work}/leaf.key; ssl_protocols {tls};
  server_tokens on; keepalive_timeout 60; reset_timedout_connection on;
  server {{
    listen 443 ssl{http2}; listen [::]:443 ssl{http2}; server_name _;
    location / {{ proxy_pass http://127.0.0.1:8080; proxy_http_version 1.1; proxy_set_header Host $host;
                  proxy_set_header Connection ""; }}
    location = /dropped {{ internal; return 444; }}
  }}
}}
"""


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          **options).stdout


def first_line(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
    return next((line for line in done.stdout.splitlines() if re.search(r"\d+\.\d+", line)), "").strip()


def versions():
    """The software that is recorded, by its own words."""
    okhttp = " ".join(name for name in os.listdir("/usr/share/java") if re.fullmatch(r"okhttp-\d[\d.]*\.jar", name))
    return {
        "curl": " ".join(first_line("curl", "--version").split()[:2]),
        "python": "Python " + sys.version.split()[0] + " http.client",
        "node": "Node " + first_line("node", "--version") + " http2",
        "okhttp": "OkHttp " + okhttp[7:-4] + " on " + " ".join(first_line("java", "--version").split()[:2]),
        "chromium": " ".join(first_line("chromium", "--version").split()[:2]),
        "nginx": first_line("nginx", "-v").split(": ")[-1],
        "tcpdump": first_line("tcpdump", "--version").replace(" version", ""),
        "editcap": "editcap " + re.search(r"\d+(\.\d+)+", first_line("editcap", "--version")).group(),
    }


class Device:
    """What the device knows of the lab."""

    def __init__(self, work, setup):
        with open(os.path.join(work, "device.json"), encoding="utf-8") as file:
            facts = json.load(file)
        self.work, self.here, self.keys = work, HERE, setup.get("keys", True)
        self.ca, self.java_classes = os.path.join(work, "ca.pem"), os.path.join(work, "classes")
        self.spki, self.chromium_major = facts["spki"], facts["chromium_major"]
        self.address = LAB6 if setup.get("ipv6") else LAB4
        self.proxy = f"http://{PROXY_ADDRESS}:{PROXY_PORT}"
        self.names = list(HOSTS)
        self.port_secrets = os.path.join(work, "port-secrets.tsv")

    def key_log(self, client):
        return os.path.join(self.work, "keys", client)


def play(name, work):
    """The device's part."""
    from sessions import SESSIONS, Session
    setup = SESSIONS[name]
    story = Session(name, Device(work, setup), setup)
    try:
        setup["play"](story)
    finally:
        story.close()


class Lab:
    """Both namespaces and everything that runs in them, for the length of one session."""

    def __init__(self, name, setup):
        self.name, self.setup = name, setup
        self.work = tempfile.mkdtemp(prefix="handoff-lab-")
        self.lab, self.device = f"hl{os.getpid()}", f"hd{os.getpid()}"
        self.children, self.logs = [], []

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def start(self, namespace, *command):
        log = open(self.path(os.path.basename(command[0]) + ".log"), "ab")
        self.logs.append(log)
        child = subprocess.Popen(["ip", "netns", "exec", namespace, *command], stdout=log, stderr=log,
                                 stdin=subprocess.DEVNULL, start_new_session=True)
        self.children.append(child)
        return child

    @staticmethod
    def stop(child, number=signal.SIGTERM):
        if child.poll() is None:
            child.send_signal(number)
            try:
                child.wait(8)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    # -- set-up ----------------------------------------------------------------------------------------------------
    def network(self):
        for namespace in (self.lab, self.device):
            run("ip", "netns", "add", namespace)
            for setting in ("net.ipv6.conf.all.accept_dad=0", "net.ipv6.conf.default.accept_dad=0",
                            "net.ipv6.conf.default.router_solicitations=0", "net.ipv6.conf.default.accept_ra=0"):
                run("ip", "netns", "exec", namespace, "sysctl", "-qw", setting)
            run("ip", "-n", namespace, "link", "set", "lo", "up")
        run("ip", "-n", self.device, "link", "add", "dev0", "type", "veth", "peer", "name", "lab0", "netns", self.lab)
        numbers = sorted({1, 40, *HOSTS.values()})
        addresses = [f"10.77.0.{n}" for n in numbers] + [f"fd77::{n}" for n in numbers]
        for namespace, link, own in ((self.lab, "lab0", addresses), (self.device, "dev0", [DEVICE4, DEVICE6])):
            for address in own:
                tail = "/64" if ":" in address else "/24"
                run("ip", "-n", namespace, "addr", "add", address + tail, "dev", link,
                    *(["nodad"] if ":" in address else []))
            # segments in the file as they would be on a wire: no offloading between the two ends of the pair
            run("ip", "netns", "exec", namespace, "ethtool", "-K", link, "tx", "off", "sg", "off", "tso", "off",
                "gso", "off", "gro", "off")
            run("ip", "-n", namespace, "link", "set", link, "up")
        # a way out that leads nowhere: Chromium asks for AAAA records only where it sees a route
        run("ip", "-n", self.device, "route", "add", "default", "via", LAB4)
        run("ip", "-n", self.device, "-6", "route", "add", "default", "via", LAB6)
        for namespace in (self.lab, self.device):  # mounted over /etc by `ip netns exec`
            os.makedirs(f"/etc/netns/{namespace}", exist_ok=True)
            with open(f"/etc/netns/{namespace}/resolv.conf", "w", encoding="ascii") as file:
                file.write(f"nameserver {LAB6 if self.setup.get('ipv6') else LAB4}\noptions timeout:2 attempts:2\n")
            with open(f"/etc/netns/{namespace}/nsswitch.conf", "w", encoding="ascii") as file:
                file.write("hosts: files dns\n")

    def certificates(self):
        ca, leaf = self.path("ca.pem"), self.path("leaf.pem")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3",
            "-subj", "/CN=throw-away lab authority", "-keyout", self.path("ca.key"), "-out", ca,
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")
        with open(self.path("leaf.ext"), "w", encoding="ascii") as file:
            file.write("subjectAltName=" + ",".join("DNS:" + n for n in [*HOSTS, *CNAMES]) + "\n"
                       "extendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n")
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=lab",
            "-keyout", self.path("leaf.key"), "-out", self.path("leaf.csr"))
        run("openssl", "x509", "-req", "-in", self.path("leaf.csr"), "-CA", ca, "-CAkey", self.path("ca.key"),
            "-CAcreateserial", "-days", "2", "-extfile", self.path("leaf.ext"), "-out", leaf)
        public = run("openssl", "pkey", "-in", self.path("leaf.key"), "-pubout", "-outform", "DER")
        return base64.b64encode(hashlib.sha256(public).digest()).decode()

    def servers(self):
        with open(self.path("origins.json"), "w", encoding="utf-8") as file:
            json.dump(self.setup.get("script", {}), file)
        self.start(self.lab, "python3", os.path.join(HERE, "origins.py"), self.path("origins.json"))
        with open(self.path("nginx.conf"), "w", encoding="ascii") as file:
            file.write(NGINX.format(work=self.work, tls=self.setup.get("tls", "TLSv1.2 TLSv1.3"),
                                    http2=" http2" if self.setup.get("http2", True) else ""))
        self.start(self.lab, "nginx", "-c", self.path("nginx.conf"), "-p", self.work, "-e", self.path("nginx.log"))
        kind = "fd77::{}" if self.setup.get("ipv6") else "10.77.0.{}"
        records = [f"--host-record={name},{kind.format(number)}" for name, number in HOSTS.items()]
        records += [f"--cname={name},{target}" for name, target in CNAMES.items()]
        self.start(self.lab, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
                   "--user=root", "--pid-file=" + self.path("dnsmasq.pid"), "--bind-interfaces",
                   f"--listen-address={LAB4}", f"--listen-address={LAB6}", "--local=/#/", *records)
        if self.setup.get("proxy"):
            self.start(self.lab, "python3", os.path.join(HERE, "connect_proxy.py"), PROXY_ADDRESS, str(PROXY_PORT))
        for port in ("443", "53", "8080"):
            self.wait_for(lambda: f":{port} " in run("ip", "netns", "exec", self.lab, "ss", "-Hltn").decode(),
                          "a server on port " + port)
        if self.setup.get("proxy"):
            self.wait_for(lambda: f":{PROXY_PORT} " in run("ip", "netns", "exec", self.lab, "ss", "-Hltn").decode(),
                          "the proxy")

    @staticmethod
    def wait_for(condition, what, seconds=15):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError("gave up waiting for " + what)
            time.sleep(0.05)

    # -- the session -----------------------------------------------------------------------------------------------
    def record(self, output):
        os.mkdir(self.path("keys"))
        self.network()
        with open(self.path("device.json"), "w", encoding="utf-8") as file:
            major = re.search(r"(\d+)\.", versions()["chromium"]).group(1)
            json.dump({"spki": self.certificates(), "chromium_major": major}, file)
        if self.setup["app"] == "okhttp":
            run("javac", "-cp", "/usr/share/java/okhttp.jar:/usr/share/java/okio.jar", "-d", self.path("classes"),
                os.path.join(HERE, "clients", "OkHttpApp.java"))
        self.servers()
        raw = self.path("raw.pcap")
        capture = self.start(self.device, "tcpdump", "-i", "dev0", "-s", "0", "-n", "-Z", "root",
                             "--immediate-mode", "-U", "-w", raw)
        self.wait_for(lambda: b"listening on" in open(self.path("tcpdump.log"), "rb").read(), "tcpdump")
        story = self.start(self.device, "python3", os.path.abspath(__file__), "--device", self.name, self.work)
        try:
            status = story.wait(SESSION_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(story.pid, signal.SIGKILL)
            raise RuntimeError("the session took too long") from None
        time.sleep(0.6)
        self.stop(capture, signal.SIGINT)
        if status != 0:
            with open(self.path("python3.log"), encoding="utf-8", errors="replace") as file:
                raise RuntimeError("the session failed:\n" + file.read())
        with open(self.path("tcpdump.log"), encoding="utf-8") as file:
            if "0 packets dropped by kernel" not in file.read():
                raise RuntimeError("the capture lost packets; record again")
        self.finish(raw, output)

    def key_log(self, raw):
        """The secrets of the connections in this capture, and no others."""
        hellos = run("tshark", "-n", "-r", raw, "-Y", "tls.handshake.type == 1", "-T", "fields", "-E", "occurrence=f",
                     "-e", "tls.handshake.random", "-e", "tcp.srcport").decode().split("\n")
        randoms = [line.replace(":", "").split("\t") for line in hellos if line]
        lines = []
        for client in sorted(os.listdir(self.path("keys"))):
            with open(self.path("keys", client), encoding="ascii") as file:
                for line in file.read().splitlines():
                    if not line.startswith("#") and any(random in line for random, _ in randoms):
                        lines.append(line)
        if os.path.exists(self.path("port-secrets.tsv")):
            with open(self.path("port-secrets.tsv"), encoding="ascii") as file:
                for port, secret in (line.split("\t") for line in file.read().splitlines()):
                    lines += [f"CLIENT_RANDOM {random} {secret}" for random, own in randoms if own == port]
        with open(self.path("keylog"), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        return self.path("keylog")

    def finish(self, raw, output):
        if self.setup.get("after") == "hole":
            raw = self.hole(raw)
        secrets = ["--inject-secrets", "tls," + self.key_log(raw)] if self.setup.get("keys", True) else []
        part = output + ".part"
        run("editcap", "-F", "pcapng", *secrets, raw, part)
        try:
            idle = self.idle_connections(part) if secrets else 0
            if idle != self.setup.get("idle", 0):
                raise RuntimeError(f"{idle} TLS connections carry no request; record again")
            os.replace(part, output)
        finally:
            if os.path.exists(part):
                os.remove(part)

    @staticmethod
    def idle_connections(path):
        """TLS connections without a request. Chromium now and then opens a spare one; a story says how many."""
        order = ("-o", "tcp.reassemble_out_of_order:TRUE")
        hellos, used = (set(run("tshark", "-n", "-r", path, *order, "-Y", display, "-T", "fields", "-E", "occurrence=f",
                                "-e", "tcp.stream").decode().split())
                        for display in ("tls.handshake.type == 1",
                                        "http.request || http2.headers.method || http.response"))
        return len(hellos - used)

    def hole(self, raw):
        """Deletes two segments in the middle of the upload to the log collector, as a capture that lost them."""
        rows = run("tshark", "-n", "-r", raw, "-Y", "ip.dst == 10.77.0.12 && tcp.len >= 1000", "-T", "fields",
                   "-e", "frame.number").decode().split()
        middle = len(rows) // 2
        if len(rows) < 5:
            raise RuntimeError("the upload has too few segments")
        run("editcap", "-F", "pcap", raw, self.path("hole.pcap"), *rows[middle - 1:middle + 1])
        return self.path("hole.pcap")

    def clean_up(self):
        for child in reversed(self.children):
            self.stop(child)
        for log in self.logs:
            log.close()
        for namespace in (self.lab, self.device):
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL, timeout=30, check=False)
            shutil.rmtree(f"/etc/netns/{namespace}", ignore_errors=True)
        if os.environ.get("KEEP_WORK"):
            print("kept", self.work)
        else:
            shutil.rmtree(self.work, ignore_errors=True)


def main(arguments):
    sys.dont_write_bytecode = True
    if arguments == ["--versions"]:
        print("\n".join(f"{name}\t{version}" for name, version in versions().items()))
        return 0
    from sessions import SESSIONS
    if arguments == ["--list"]:
        print("\n".join(SESSIONS))
        return 0
    if len(arguments) == 3 and arguments[0] == "--device":
        play(arguments[1], arguments[2])
        return 0
    if len(arguments) != 2 or arguments[0] not in SESSIONS:
        print(__doc__, file=sys.stderr)
        return 2
    name, output = arguments
    lab = Lab(name, SESSIONS[name])
    try:
        lab.record(output)
    except (RuntimeError, subprocess.SubprocessError) as error:
        detail = getattr(error, "stderr", None)
        print(f"{name}: {error}", detail.decode(errors="replace") if detail else "", file=sys.stderr)
        return 1
    finally:
        lab.clean_up()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
