"""The recorded sessions: what the person taps, what the app sends, what the browser opens, in order.

Each session is a function that gets a `Session`; `@session` names it, says how the lab is set up and what it shows.
A conforming story is built from the same few steps; a violation changes one of them.
"""

import base64
import gzip
import json
import secrets
import time
import uuid
from datetime import datetime, timezone
from urllib.parse import quote

from device import Browser, CurlApp, Marks, PythonApp, node_app, okhttp_app

PARTNER = "https://api.partner.example"
CATALOG_ID = "trt_4c1d9e7a20"
IOS = "PartnerShop/5.2 CFNetwork/1490 Darwin/23.2.0"
ANDROID = "okhttp/4.12.0"
FLUTTER = "Dart/3.3 (dart:io)"
SENTRY = "https://o4507.ingest.sentry.io/api/4507/envelope/"
AMPLITUDE = "https://api2.amplitude.com/2/httpapi"
LOGS = "https://logs.partner.example/v1/events"
JSON = "application/json"

SESSIONS = {}


def session(name, app, platform, browser="chromium", **setup):
    """Registers a session. `setup`: http2, tls ("TLSv1.2" | "TLSv1.3"), ipv6, proxy, marks, keys, predictions,
    script (of origins.py), after, idle (TLS connections that carry no request)."""

    def register(play):
        SESSIONS[name] = {"play": play, "app": app, "platform": platform, "browser": browser, **setup}
        return play

    return register


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Session:
    """The steps that stories are made of."""

    def __init__(self, name, lab, setup):
        self.name, self.setup, self.platform = name, setup, setup["platform"]
        proxy = lab.proxy if setup.get("proxy") else None
        agent = {"ios": IOS, "flutter": FLUTTER}.get(self.platform, ANDROID)
        self.app = {"python": lambda: PythonApp(lab, agent), "node": lambda: node_app(lab, agent),
                    "curl": lambda: CurlApp(lab, agent, setup.get("http2", True), proxy),
                    "okhttp": lambda: okhttp_app(lab)}[setup["app"]]()
        self.browser = Browser(lab, proxy, setup.get("predictions", False))
        self.marks = Marks(lab.address, setup.get("marks", True))
        self.mark = self.marks.send
        self.credential = "Bearer " + secrets.token_urlsafe(18)
        self.session_path = setup.get("script", {}).get("session_path", "/handoff-session")
        self.url = None

    def close(self):
        self.app.close()
        self.browser.close()

    # -- the app ---------------------------------------------------------------------------------------------------
    def get(self, path):
        return self.app.request("GET", PARTNER + path, {"Authorization": self.credential, "Accept": JSON})

    def projection(self):
        answer = self.get(f"/catalog/{CATALOG_ID}/handoff")
        assert answer.status == 200, answer.error
        return answer.json()

    def image(self, url="https://img.partner.example/i/7f3a91.png", **headers):
        return self.app.request("GET", url, {"Accept": "image/png", **headers})

    def count(self, event):
        """Ordinary product analytics: the event's name, no selection, no URL."""
        body = json.dumps({"api_key": "public", "events": [{"event_type": event, "device_id": "d-1"}]}).encode()
        return self.app.request("POST", AMPLITUDE, {"Content-Type": JSON}, body)

    @staticmethod
    def envelope(item):
        """A Sentry envelope: a header line, an item header with its length, the item."""
        payload = json.dumps(item, separators=(",", ":")).encode()
        head = {"type": "event", "length": len(payload), "content_type": JSON}
        lines = [json.dumps({"event_id": secrets.token_hex(16), "sent_at": now()}).encode(), json.dumps(head).encode()]
        return b"\n".join(lines + [payload, b""])

    def crash_report(self, item, **headers):
        body = self.envelope(item)
        if headers.get("Content_Encoding") == "gzip":
            body = gzip.compress(body)
        fields = {"Content-Type": "application/x-sentry-envelope"}
        fields.update((name.replace("_", "-"), value) for name, value in headers.items())
        return self.app.request("POST", SENTRY, fields, body)

    def new_key(self):
        key = str(uuid.uuid4())
        return key.upper() if self.platform == "ios" else key

    @staticmethod
    def consent():
        """The body of the session request, stamped with the time of the affirmation."""
        return json.dumps({"catalogId": CATALOG_ID, "disclosureVersion": "2026-11-01", "affirmed": True,
                           "affirmedAt": now()}, separators=(",", ":")).encode()

    def post(self, key, body):
        """Starts the session request; gives a future."""
        return self.app.submit("POST", PARTNER + self.session_path,
                               {"Authorization": self.credential, "Content-Type": JSON, "Accept": JSON,
                                "Idempotency-Key": key}, body)

    # -- the story -------------------------------------------------------------------------------------------------
    def arrive(self, quiet=0.3, first=None):
        """A cold start up to the rendered card; `first` is what the app does as it starts."""
        self.mark("scenario", name=self.name, platform=self.platform, client=self.setup["app"])
        self.mark("browser-clean")
        self.mark("launch", start="cold")
        if first:
            first()
        assert self.get("/home").status == 200
        self.image()
        self.count("app_start")
        self.projection()
        self.mark("render")
        time.sleep(quiet)

    def call_to_action(self):
        """The tap on the card, the fresh projection, the disclosure."""
        self.mark("tap", "cta")
        fresh = self.projection()
        self.mark("jit-shown")
        time.sleep(0.7)
        return fresh

    def accept(self, answer):
        assert answer.status == 201, (answer.status, answer.error)
        self.url = answer.json()["url"]
        return answer.json()

    def share(self):
        """One tap, one request, a success."""
        self.mark("tap", "share")
        return self.accept(self.post(self.new_key(), self.consent()).result(30))

    def open(self, url=None):
        self.mark("opened")
        self.browser.open(url or self.url)

    def leave(self, dwell=0.8, relaunch=True, end=True):
        """To the background and back, then killed and launched again, then the end."""
        self.mark("background")
        time.sleep(dwell)
        self.mark("foreground")
        self.projection()
        if relaunch:
            self.mark("kill")
            self.app.drop_connections()
            self.browser.close()
            time.sleep(0.3)
            self.mark("launch", start="cold")
            assert self.get("/home").status == 200
            self.count("app_start")
            time.sleep(0.3)
        if end:
            self.mark("end")


def conforming(s, **arrive):
    s.arrive(**arrive)
    s.call_to_action()
    s.share()
    s.open()
    s.count("handoff_opened")
    s.leave()


# -- conforming ------------------------------------------------------------------------------------------------------
@session("conforming-share", "python", "ios", http2=False)
def conforming_share(s):
    """One tap, one session request, one navigation, then background and a cold relaunch; HTTP/1.1, TLS 1.3, ten
    quiet seconds before the first tap."""
    conforming(s, quiet=10.5)


@session("conforming-share-h2", "node", "react-native")
def conforming_share_h2(s):
    """The same over HTTP/2; the client writes the default port into :authority."""
    conforming(s)


@session("conforming-share-tls12", "okhttp", "android", tls="TLSv1.2")
def conforming_share_tls12(s):
    """The same over TLS 1.2 and HTTP/2, on OkHttp."""
    conforming(s)


@session("conforming-share-ipv6", "curl", "ios", ipv6=True)
def conforming_share_ipv6(s):
    """The same over IPv6 only, names with AAAA records only."""
    conforming(s)


@session("conforming-share-connect", "curl", "android", proxy=True)
def conforming_share_connect(s):
    """The same through an explicit proxy on port 4773: app and browser send CONNECT, no name lookup is in sight."""
    conforming(s)


@session("conforming-neutral", "python", "flutter")
def conforming_neutral(s):
    """Continue without sharing: no session request, the browser opens the neutral URL."""
    s.arrive()
    decision = s.call_to_action()["handoff"]
    s.mark("tap", "neutral")
    s.open(decision["secondary"]["url"])
    s.count("handoff_opened")
    s.leave()


@session("double-tap-joined-before", "okhttp", "android", tls="TLSv1.2")
def double_tap_joined_before(s):
    """Two taps; the answer arrives between them, and still one request and one navigation."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    answer = s.post(s.new_key(), s.consent()).result(30)
    s.accept(answer)
    time.sleep(0.12)
    s.mark("tap", "share")  # the finger comes down again after the answer; it starts nothing
    time.sleep(0.05)
    s.open()
    s.leave()


@session("double-tap-joined-after", "python", "ios", script={"delay": 0.9})
def double_tap_joined_after(s):
    """Two taps while the request is under way; the second joins it."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    pending = s.post(s.new_key(), s.consent())
    time.sleep(0.15)
    s.mark("tap", "share")  # joins the operation in flight
    s.accept(pending.result(30))
    s.open()
    s.leave()


@session("retry-503-same-key", "okhttp", "android", tls="TLSv1.2", script={"session": ["503", "ok"]})
def retry_503(s):
    """503 with Retry-After: 0; OkHttp itself sends the same request again: one operation, two attempts."""
    s.arrive()
    s.call_to_action()
    s.share()  # OkHttp itself sends the request again: 503 with Retry-After: 0
    s.open()
    s.leave()


@session("retry-429-same-key", "node", "react-native", script={"session": ["429", "ok"]})
def retry_429(s):
    """429 with Retry-After: 1; a second later the app sends key and body again, unchanged."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    key, body = s.new_key(), s.consent()
    first = s.post(key, body).result(30)
    assert first.status == 429
    time.sleep(float(first.headers["retry-after"]))
    s.accept(s.post(key, body).result(30))
    s.open()
    s.leave()


@session("retry-reset-same-key", "python", "flutter", http2=False, script={"session": ["reset", "ok"]})
def retry_reset(s):
    """The connection is reset without an answer; the person taps again, key and body stay."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    key, body = s.new_key(), s.consent()
    assert s.post(key, body).result(30).error
    time.sleep(1.2)
    s.mark("tap", "share")  # the person tries again; the app kept key and body
    s.accept(s.post(key, body).result(30))
    s.open()
    s.leave()


@session("chia-page-own-analytics", "node", "react-native", script={"page_analytics": True})
def chia_page_own_analytics(s):
    """Chia's own page sends its address to an analytics host, in the body's URL and as Referer: not the app's
    doing."""
    conforming(s)


@session("no-marks", "curl", "android", marks=False)
def no_marks(s):
    """A conforming share without a single mark: what only taps can show stays open."""
    conforming(s)


@session("conforming-policy-read", "node", "react-native")
def conforming_policy_read(s):
    """Before the share tap the person taps the privacy policy, which lies on a Chia host and opens in the browser."""
    s.arrive()
    decision = s.call_to_action()["handoff"]
    s.mark("tap", "policy")
    s.open(decision["policyUrls"]["privacy"])
    s.mark("background")
    time.sleep(0.5)
    s.mark("foreground")
    s.projection()
    time.sleep(0.3)
    s.share()
    s.open()
    s.leave()


@session("browser-spare-connection", "python", "ios", http2=False, predictions=True, idle=1)
def browser_spare_connection(s):
    """Beside the connection of the navigation the browser opens a second one to Chia and leaves it unused."""
    conforming(s)


@session("chia-redirects", "curl", "android", script={"redirect": True})
def chia_redirects(s):
    """Chia answers the handoff URL with a 308 to its form with a trailing slash: one navigation all the same."""
    conforming(s)


@session("auth-refresh-same-key", "okhttp", "android", tls="TLSv1.2", script={"session": ["401", "ok"]})
def auth_refresh(s):
    """401, a fresh credential, then key and body again, unchanged: neither an uncertain end nor a rejection."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    key, body = s.new_key(), s.consent()
    assert s.post(key, body).result(30).status == 401
    fresh = s.app.request("POST", PARTNER + "/token", {"Content-Type": JSON, "Accept": JSON}, b'{"grant":"refresh"}')
    s.credential = "Bearer " + fresh.json()["access_token"]
    s.accept(s.post(key, body).result(30))
    s.open()
    s.leave()


@session("two-shares", "okhttp", "android", tls="TLSv1.2")
def two_shares(s):
    """The person shares, comes back and shares again: a new operation, key and URL, each URL opened once."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    s.leave(relaunch=False, end=False)
    time.sleep(1)
    s.call_to_action()
    s.share()
    s.open()
    s.leave()


def retry_after_relaunch(s, keep):
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    key, body = s.new_key(), s.consent()
    assert s.post(key, body).result(30).error
    time.sleep(0.5)
    s.mark("background")
    s.mark("kill")
    s.app.drop_connections()
    time.sleep(0.5)
    s.mark("launch", start="cold")
    assert s.get("/home").status == 200
    s.projection()
    s.mark("render")
    time.sleep(0.3)
    s.call_to_action()
    s.mark("tap", "share")
    s.accept(s.post(key if keep else s.new_key(), body).result(30))
    s.open()
    s.leave()


@session("retry-after-relaunch-same-key", "python", "ios", http2=False, script={"session": ["reset", "ok"]})
def retry_after_relaunch_same_key(s):
    """No answer, the app is killed and launched, the person shares again: the persisted key and body go out again."""
    retry_after_relaunch(s, keep=True)


# -- violations ------------------------------------------------------------------------------------------------------
@session("prefetch-before-tap", "python", "ios")
def prefetch_before_tap(s):
    """Violation: the app fetches the neutral URL (Purpose: prefetch) before any tap."""
    s.arrive()
    decision = s.projection()["handoff"]
    s.app.request("GET", decision["secondary"]["url"], {"Purpose": "prefetch"})
    time.sleep(0.5)
    s.call_to_action()
    s.share()
    s.open()
    s.leave()


@session("head-probe", "curl", "android")
def head_probe(s):
    """Violation: between answer and navigation the app itself sends HEAD for the handoff URL."""
    s.arrive()
    s.call_to_action()
    s.share()
    assert s.app.request("HEAD", s.url).status == 200
    s.open()
    s.leave()


@session("preconnect-only", "python", "flutter", idle=1)
def preconnect_only(s):
    """Violation: before the tap, name lookup, TCP and TLS to Chia, and no request; nothing tells whose connection
    it is."""
    s.arrive()
    s.app.preconnect("chia.health")
    time.sleep(0.3)
    s.call_to_action()
    s.share()
    s.open()
    s.leave()


@session("double-tap-two-posts", "node", "react-native", script={"delay": 0.6})
def double_tap_two_posts(s):
    """Violation: each of two taps sends a session request of its own; two keys, overlapping."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    first = s.post(s.new_key(), s.consent())
    time.sleep(0.15)
    s.mark("tap", "share")
    second = s.post(s.new_key(), s.consent())
    s.accept(first.result(30))
    s.accept(second.result(30))
    s.open()
    s.leave()


@session("retry-new-key", "python", "ios", script={"session": ["503", "ok"]})
def retry_new_key(s):
    """Violation: after a 503 and a further tap the same body goes out under a fresh key."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    body = s.consent()
    assert s.post(s.new_key(), body).result(30).status == 503
    time.sleep(1.2)
    s.mark("tap", "share")
    s.accept(s.post(s.new_key(), body).result(30))
    s.open()
    s.leave()


@session("retry-restamped-body", "curl", "android", script={"session": ["503", "ok"]})
def retry_restamped_body(s):
    """Violation: after a 503 the same key goes out with a new affirmedAt."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    key = s.new_key()
    assert s.post(key, s.consent()).result(30).status == 503
    time.sleep(1)
    s.accept(s.post(key, s.consent()).result(30))
    s.open()
    s.leave()


def breadcrumbs(s):
    return {"platform": s.platform, "level": "error", "message": "RenderError",
            "breadcrumbs": {"values": [{"category": "navigation", "message": "card"},
                                       {"category": "intent", "data": {"action": "view", "url": s.url}}]}}


@session("url-in-crash-report", "python", "ios")
def url_in_crash_report(s):
    """Violation: a crash report's breadcrumb holds the handoff URL, plain."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    assert s.crash_report(breadcrumbs(s)).status == 200
    s.leave()


@session("url-in-crash-report-gzip-base64", "node", "react-native")
def url_in_crash_report_gzip_base64(s):
    """Violation: a crash report sent at the next start holds it in base64 inside a gzipped body."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    s.mark("background")
    time.sleep(0.5)
    s.mark("kill")
    s.app.drop_connections()
    s.browser.close()
    s.mark("launch", start="cold")  # the crash queue is sent at the next start
    log = base64.b64encode(("I/nav: start\nI/nav: view " + s.url + "\nE/ui: RenderError\n").encode()).decode()
    report = {"platform": s.platform, "level": "error", "message": "RenderError", "extra": {"log": log}}
    assert s.crash_report(report, Content_Encoding="gzip").status == 200
    assert s.get("/home").status == 200
    time.sleep(0.3)
    s.mark("end")


@session("url-in-app-referer", "curl", "ios")
def url_in_app_referer(s):
    """Violation: the app fetches a third party's image with the handoff URL as Referer."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    s.image("https://images.shopcdn.example/banner.png", Referer=s.url)
    s.leave()


@session("status-polling", "python", "flutter")
def status_polling(s):
    """Violation: after the navigation the app polls the partner for the state of the session by its id."""
    s.arrive()
    s.call_to_action()
    answer = s.share()
    s.open()
    for _ in range(3):
        assert s.get("/handoff-session/" + answer["handoffSessionId"]).status == 200
        time.sleep(0.7)
    s.leave()


@session("double-tap-two-navigations", "node", "react-native", script={"delay": 0.4})
def double_tap_two_navigations(s):
    """Violation: two taps share one request, and both open its URL."""
    s.arrive()
    s.call_to_action()
    s.mark("tap", "share")
    pending = s.post(s.new_key(), s.consent())
    time.sleep(0.15)
    s.mark("tap", "share")
    s.accept(pending.result(30))  # both handlers wait for the one answer, and both open its URL
    s.open()
    s.open()
    s.leave()


@session("custom-tab-prefetch", "node", "react-native", predictions=True)
def custom_tab_prefetch(s):
    """Violation: before the tap the browser prefetches the neutral URL (Sec-Purpose: prefetch), as a warm tab does."""
    s.arrive()
    neutral = s.projection()["handoff"]["secondary"]["url"]
    s.browser.open(f"data:text/html,<title>Chia</title><link rel=prefetch href={neutral}>")
    time.sleep(0.6)
    s.call_to_action()
    s.share()
    s.open()
    s.leave()


@session("retry-after-relaunch-new-key", "python", "ios", http2=False, script={"session": ["reset", "ok"]})
def retry_after_relaunch_new_key(s):
    """Violation: the key did not outlive the app: no answer, a relaunch, the same body under a new one."""
    retry_after_relaunch(s, keep=False)


@session("url-in-analytics-query", "okhttp", "android", tls="TLSv1.2")
def url_in_analytics_query(s):
    """Violation: the app's page-view pixel carries the handoff URL, percent-encoded in its query."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    pixel = "https://www.google-analytics.com/collect?v=1&t=pageview&dl=" + quote(s.url, safe="")
    assert s.app.request("GET", pixel).status == 204
    s.leave()


@session("url-in-cname-collector", "python", "ios")
def url_in_cname_collector(s):
    """Violation: an event with the token goes to stats.partner.example, by DNS an alias of an Amplitude host."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    event = {"events": [{"event_type": "view", "event_properties": {"ref": s.url.rsplit("/", 1)[1]}}]}
    answer = s.app.request("POST", "https://stats.partner.example/2/httpapi", {"Content-Type": JSON},
                           json.dumps(event).encode())
    assert answer.status in (200, 204)
    s.leave()


@session("old-token-in-crash-report", "node", "react-native")
def old_token_in_crash_report(s):
    """Violation: the crash report of an earlier run holds a token that no answer in this capture shows."""
    s.url = "https://chia.health/h/phs_" + secrets.token_urlsafe(24)
    report = breadcrumbs(s)
    s.arrive(first=lambda: s.crash_report(report))
    decision = s.call_to_action()["handoff"]
    s.mark("tap", "neutral")
    s.open(decision["secondary"]["url"])
    s.leave()


# -- not to be decided -----------------------------------------------------------------------------------------------
@session("no-keys", "okhttp", "android", keys=False)
def no_keys(s):
    """Undecided: a conforming share of which no key is known (TLS 1.3)."""
    conforming(s)


@session("hole-in-the-middle", "python", "ios", http2=False, after="hole")
def hole_in_the_middle(s):
    """Undecided: two segments of an upload to a log collector, sent after the URL was handed out, are missing."""
    s.arrive()
    s.call_to_action()
    s.share()
    s.open()
    lines = [f"{i:04d} frame ok, layout 1.{i % 7} ms, paint 2.{i % 5} ms" for i in range(180)]
    body = "\n".join(lines).encode()
    assert s.app.request("POST", LOGS, {"Content-Type": "text/plain", "Connection": "close"}, body).status == 204
    s.leave()


@session("unnamed-session-path", "curl", "android", script={"session_path": "/api/start-handoff"})
def unnamed_session_path(s):
    """Undecided: the app posts to /api/start-handoff, which the policy does not name; method, key and answer look
    like a session request."""
    conforming(s)
