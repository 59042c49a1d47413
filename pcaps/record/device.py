"""The device: the app on one of four HTTP stacks, the OS browser, and the test script's marks.

Everything here runs inside the device's network namespace.
"""

import base64
import concurrent.futures
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
from urllib.parse import urlsplit, quote

MARK_PORT = 4774
BROWSER_PORT = 9222


class Answer:
    """What came back: status, header fields with lower-case names, body; or an error and no status."""

    def __init__(self, status, headers=None, body=b"", error=None):
        self.status, self.headers, self.body, self.error = status, headers or {}, body, error

    def json(self):
        return json.loads(self.body)


class Marks:
    """Sends marks as UDP datagrams to the lab host, each before the act that it announces."""

    def __init__(self, address, enabled=True):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.address, self.enabled, self.count = address, enabled, 0

    def send(self, kind, target=None, name=None, **attributes):
        self.count += 1
        mark = {"kind": kind}
        if target:
            mark["target"] = target
        mark["id"] = f"m{self.count}"
        mark["by"] = "script"
        if name:
            mark["name"] = name
        if attributes:
            mark["attrs"] = attributes
        if self.enabled:
            text = "handoff-mark/1 " + json.dumps(mark, separators=(",", ":"))
            self.socket.sendto(text.encode(), (self.address, MARK_PORT))
            time.sleep(0.01)


class App:
    """An HTTP stack with the header fields every request of the app carries."""

    def __init__(self, lab, user_agent):
        self.lab, self.user_agent = lab, user_agent
        self.threads = concurrent.futures.ThreadPoolExecutor(8)

    def submit(self, method, url, headers=None, body=b""):
        """Starts a request; gives a future of its Answer."""
        fields = {"User-Agent": self.user_agent} if self.user_agent else {}
        fields.update(headers or {})
        return self.threads.submit(self.exchange, method, url, fields, body)

    def request(self, method, url, headers=None, body=b""):
        return self.submit(method, url, headers, body).result(30)

    def exchange(self, method, url, fields, body):
        raise NotImplementedError

    def drop_connections(self):
        """What the end of the process does."""

    def close(self):
        self.drop_connections()
        self.threads.shutdown()


class PythonApp(App):
    """Python's http.client: HTTP/1.1, one connection a host, kept open."""

    def __init__(self, lab, user_agent):
        super().__init__(lab, user_agent)
        self.context = ssl.create_default_context(cafile=lab.ca)
        self.context.set_alpn_protocols(["http/1.1"])
        self.context.keylog_filename = lab.key_log("python")
        self.idle, self.lock = {}, threading.Lock()

    def exchange(self, method, url, fields, body):
        target = urlsplit(url)
        with self.lock:
            connection = self.idle.pop(target.hostname, None)
        if connection is None:
            connection = http.client.HTTPSConnection(target.hostname, timeout=20, context=self.context)
        path = target.path + ("?" + target.query if target.query else "")
        try:
            connection.request(method, path, body=body or None, headers=fields)
            response = connection.getresponse()
            received = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return Answer(None, error=repr(error))
        with self.lock:
            if response.will_close or target.hostname in self.idle:
                connection.close()
            else:
                self.idle[target.hostname] = connection
        return Answer(response.status, {n.lower(): v for n, v in response.getheaders()}, received)

    def preconnect(self, host):
        """TCP and TLS, and no request."""
        with socket.create_connection((host, 443), 10) as plain:
            with self.context.wrap_socket(plain, server_hostname=host):
                time.sleep(0.3)

    def drop_connections(self):
        with self.lock:
            for connection in self.idle.values():
                connection.close()
            self.idle.clear()


class CurlApp(App):
    """curl: one process, so one connection, a request."""

    def __init__(self, lab, user_agent, http2=True, proxy=None):
        super().__init__(lab, user_agent)
        self.options = ["--http2" if http2 else "--http1.1"] + (["--proxy", proxy] if proxy else [])

    def exchange(self, method, url, fields, body):
        with tempfile.TemporaryDirectory(dir=self.lab.work) as folder:
            head, content = os.path.join(folder, "head"), os.path.join(folder, "body")
            command = ["curl", "-q", "-sS", "--max-time", "20", "--cacert", self.lab.ca, "-D", head, "-o", content,
                       "--suppress-connect-headers", *self.options]
            command += ["--head"] if method == "HEAD" else ["-X", method] if method not in ("GET", "POST") else []
            for name, value in fields.items():
                command += ["-H", f"{name}: {value}"]
            if method == "POST":
                command += ["--data-binary", "@-"]
            environment = dict(os.environ, SSLKEYLOGFILE=self.lab.key_log("curl"))
            done = subprocess.run(command + [url], input=body, env=environment, capture_output=True, timeout=30)
            if done.returncode != 0:
                return Answer(None, error=done.stderr.decode())
            with open(head, encoding="latin-1") as file:
                lines = file.read().strip().splitlines()
            headers = dict((n.strip().lower(), v.strip()) for n, _, v in (line.partition(":") for line in lines[1:]))
            received = b""
            if os.path.exists(content):
                with open(content, "rb") as file:
                    received = file.read()
            return Answer(int(lines[0].split()[1]), headers, received)


class LineApp(App):
    """A client process that speaks the line protocol of clients/http2-client.js."""

    def __init__(self, lab, user_agent, command, environment=None):
        super().__init__(lab, user_agent)
        self.command, self.environment = command, dict(os.environ, **(environment or {}))
        self.process, self.waiting, self.count, self.lock = None, {}, 0, threading.Lock()
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        threading.Thread(target=self.listen, args=(self.process,), daemon=True).start()

    def listen(self, process):
        for line in process.stdout:
            part = line.rstrip("\n").split("\t")
            if part[0] == "secret":
                with open(self.lab.port_secrets, "a", encoding="ascii") as file:
                    file.write(f"{part[1]}\t{part[2]}\n")
                continue
            future = self.waiting.pop(part[0], None)
            if future is None:
                print("client says:", line, end="")
            elif part[1] == "error":
                future.set_result(Answer(None, error=base64.b64decode(part[2]).decode()))
            else:
                fields = base64.b64decode(part[2]).decode("latin-1").splitlines()
                headers = dict((n.strip().lower(), v.strip()) for n, _, v in (f.partition(":") for f in fields))
                future.set_result(Answer(int(part[1]), headers, base64.b64decode(part[3])))

    def submit(self, method, url, headers=None, body=b""):
        fields = {"User-Agent": self.user_agent} if self.user_agent else {}
        fields.update(headers or {})
        lines = "\n".join(f"{name}: {value}" for name, value in fields.items())
        future = concurrent.futures.Future()
        with self.lock:
            self.count += 1
            self.waiting[str(self.count)] = future
            self.process.stdin.write("\t".join([str(self.count), method, url, base64.b64encode(lines.encode()).decode(),
                                                base64.b64encode(body).decode()]) + "\n")
            self.process.stdin.flush()
        return future

    def drop_connections(self):
        self.stop()
        self.start()

    def stop(self):
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def close(self):
        self.stop()
        self.threads.shutdown()


def node_app(lab, user_agent):
    """Node's http2 module."""
    script = os.path.join(lab.here, "clients", "http2-client.js")
    return LineApp(lab, user_agent, ["node", "--tls-keylog=" + lab.key_log("node"), script],
                   {"NODE_EXTRA_CA_CERTS": lab.ca})


def okhttp_app(lab):
    """OkHttp with its own User-Agent."""
    jars = ":".join(f"/usr/share/java/{name}.jar" for name in ("okhttp", "okio"))
    return LineApp(lab, None, ["java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", jars + ":" + lab.java_classes,
                               "--add-opens", "java.base/sun.security.ssl=ALL-UNNAMED", "OkHttpApp", lab.ca])


class Browser:
    """Headless Chromium in the role of the OS browser, started before it is needed, as on a phone."""

    # Everything that Chromium would do for itself is off, so that what is left was asked for.
    QUIET = ["--no-first-run", "--no-default-browser-check", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
             "--disable-client-side-phishing-detection", "--disable-domain-reliability", "--disable-breakpad",
             "--metrics-recording-only", "--disable-quic", "--disable-field-trial-config", "--no-pings",
             "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,"
             "CertificateTransparencyComponentUpdater,NetworkTimeServiceQuerying,DnsOverHttpsUpgrade,"
             "InterestFeedContentSuggestions,LoadingPredictorUseOptimizationGuide,PreconnectToSearch,"
             "SpeculativePreconnect,LoadingPredictor,"
             # the lab's addresses are private ones, which a page from elsewhere may not ask for without leave
             "LocalNetworkAccessChecks"]

    def __init__(self, lab, proxy=None, predictions=False):
        self.profile = tempfile.mkdtemp(prefix="browser-", dir=lab.work)
        os.mkdir(os.path.join(self.profile, "Default"))
        with open(os.path.join(self.profile, "Default", "Preferences"), "w", encoding="ascii") as file:
            # 2: no preloading, no preconnecting; 0: as a page asks
            json.dump({"net": {"network_prediction_options": 0 if predictions else 2}}, file)
        chromium = shutil.which("chromium") or "chromium"
        command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *self.QUIET,
                   "--user-data-dir=" + self.profile, f"--remote-debugging-port={BROWSER_PORT}",
                   "--ignore-certificate-errors-spki-list=" + lab.spki,
                   "--host-resolver-rules=" + ", ".join(["MAP * ~NOTFOUND"] + [f"EXCLUDE {n}" for n in lab.names]
                                                        + ["EXCLUDE 127.0.0.1", f"EXCLUDE {lab.address}"]
                                                        + ["EXCLUDE 10.77.0.40"]),
                   f"--user-agent=Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                   f"Chrome/{lab.chromium_major}.0.0.0 Safari/537.36"]
        if lab.keys:
            command.append("--ssl-key-log-file=" + lab.key_log("chromium"))
        if proxy:
            # Chromium's own hosts go past the proxy, where no name resolves: they never leave the device
            command += ["--proxy-server=" + proxy, "--proxy-bypass-list=*.google.com;*.googleapis.com;*.gstatic.com"]
        environment = dict(os.environ, HOME=self.profile, XDG_CONFIG_HOME=self.profile, XDG_CACHE_HOME=self.profile)
        environment.pop("SSLKEYLOGFILE", None)
        self.log = open(os.path.join(lab.work, "chromium.log"), "ab")
        self.process = subprocess.Popen(command + ["about:blank"], env=environment, stdout=self.log, stderr=self.log,
                                        start_new_session=True)
        deadline = time.monotonic() + 40
        while True:
            try:
                self.control("GET", "/json/version")
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError("chromium did not start; see " + self.log.name)
                time.sleep(0.1)

    @staticmethod
    def control(method, path):
        connection = http.client.HTTPConnection("127.0.0.1", BROWSER_PORT, timeout=10)
        connection.request(method, path)
        return json.loads(connection.getresponse().read())

    def open(self, url):
        """What the OS does with a URL that an app hands over; returns when the page has its title."""
        page = self.control("PUT", "/json/new?" + quote(url, safe=":/,"))["id"]
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            if any(p["id"] == page and p.get("title") == "Chia" for p in self.control("GET", "/json/list")):
                time.sleep(0.4)
                return
            time.sleep(0.05)
        raise RuntimeError("the page did not load")

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(8)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.log.close()
