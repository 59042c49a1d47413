# HR-26 to HR-35: the URL on its way to the browser.

story opened-again-after-relaunch like share
  about The URL was kept, and is opened once more after a relaunch.
  transports 4
  keep
  before watch: open ${url}
  expect HR-09 HR-26 fail
  expect HR-27 fail

story opened-again-on-foreground like share
  about The URL is opened once more when the app comes back.
  transports 3
  after foreground-projection: open ${url}
  expect HR-09 HR-26 fail
  expect HR-27 fail

story reloaded-by-tester like share
  about The tester reloads the page, and says so with a mark.
  transports 3
  after navigation: reload
  after navigation: open ${url}
  trap HR-05 HR-09 HR-26 pass "a reload that is marked is no second navigation"

story broken-off-then-loaded like share
  about The first load of the page gets no byte, and the browser tries again.
  transports 3
  only stack=lab
  before navigation: serve GET https://chia.health/h/* drop times=1
  replace navigation: open ${url} expect=lost
  after navigation: open ${url}
  trap HR-09 HR-26 pass "two GETs where the first got no byte count as one"

story old-url-opened like share-twice
  about At the second share the app opens the first one's URL.
  transports 3
  keep
  replace post: post as=first
  replace second-opened: open ${first.url}
  expect HR-09 HR-26 HR-27 fail

story url-opened-after-failed-retry like retry-503
  about The second session request fails too, and an URL that no answer gave is opened.
  replace fault: serve POST /handoff-session 503 times=9
  replace retry: post expect=503
  replace navigation: open https://chia.health/h/phs_${random}
  expect HR-27 fail
  expect HR-17 not-applicable
  expect HR-26 HR-28 HR-30 HR-31 inconclusive url-of-another-session
  expect HR-35 not-applicable

story url-with-parameter like share
  about The app adds a parameter to the URL.
  transports 4
  replace navigation: open ${url}?utm_source=shop
  expect HR-28 fail
  expect HR-27 pass

story url-with-slash like share
  about The app adds a slash to the URL; Chia never asked for one.
  transports 3
  keep
  replace navigation: open ${url}/
  expect HR-28 fail

story url-reencoded like share
  about A part of the URL is percent-encoded on the way.
  transports 2
  before post: serve POST /handoff-session 201 document=session-answer-tilde
  replace navigation: open "${url|path-escaped}"
  expect HR-28 fail

story url-token-spoilt like share
  about One character of the token differs.
  keep
  replace navigation: open ${url|spoilt}
  expect HR-27 fail
  # Another token is another URL: there is nothing to compare it with.
  expect HR-26 HR-28 HR-30 HR-31 inconclusive url-of-another-session
  expect HR-09 inconclusive trace-ended

story url-with-fragment like share
  about The answer's URL has a fragment, which never reaches the wire.
  transports 2
  before post: serve POST /handoff-session 201 document=session-answer-fragment
  trap HR-28 pass "fragments are not sent"

story url-normalised like share
  about The answer's URL writes the host in capitals; browsers write it small.
  transports 3
  before post: serve POST /handoff-session 201 document=session-answer-capitals
  replace navigation: open "https://chia.health${url|path}"
  trap HR-28 pass "the browser normalises hosts (WHATWG URL)"

story header-of-the-app like share
  about The navigation carries a header field of the app.
  transports 3
  replace navigation: open ${url} header="X-Partner-Session: 1"
  expect HR-29 fail

story authorization-to-chia like share
  about The navigation carries a credential.
  replace navigation: open ${url} header="Authorization: Bearer lab-account-1"
  expect HR-29 fail
  expect HR-53 fail

story client-hints like share
  about The navigation carries client hints, DNT and Save-Data.
  transports 3
  replace navigation: open ${url} header='Sec-CH-UA: "Chromium";v="131", "Google Chrome";v="131"' header="Sec-CH-UA-Mobile: ?1" header='Sec-CH-UA-Platform: "Android"' header="DNT: 1" header="Save-Data: on"
  trap HR-29 HR-33 pass "browsers send client hints by themselves"
  expect HR-33 inconclusive

story android-referrer like share
  about Android's Referer names an app that opened the page.
  replace navigation: open ${url} header="Referer: android-app://com.example.launcher/"
  trap HR-29 pass "Chrome adds android-app referrers"

story through-shortener like share
  about The browser is sent through a link shortener first.
  transports 3
  keep
  before navigation: serve GET https://bit.ly/* 301 header="Location: ${url}"
  before navigation: open https://bit.ly/3xYzAbC
  expect HR-30 fail

story through-partner-redirector like share
  about The browser is sent through the partner's host first.
  transports 3
  before navigation: serve GET https://api.partner.example/out 302 header="Location: ${url}"
  before navigation: open https://api.partner.example/out
  expect HR-30 fail

story url-inside-url like share
  about The browser opens a redirector with the URL in its query.
  transports 3
  before navigation: serve GET https://go.partner.example/* 302 header="Location: ${url}"
  before navigation: open "https://go.partner.example/out?to=${url|percent}"
  expect HR-30 HR-47 fail

story parallel-tab like share
  about Another tab of the browser loads the person's own page at the same time.
  before navigation: serve GET https://news.example/* 200 document=page type=text/html
  before navigation: open https://news.example/today
  trap HR-30 HR-09 pass "a tab of the person's own"

story opened-too-late like share
  about The URL is opened after its lifetime.
  transports 3
  set timing.url-lifetime 1s
  replace opened: pause 1300ms
  expect HR-31 fail

story opened-just-in-time like share
  about The same wait, and a longer lifetime.
  transports 2
  set timing.url-lifetime 3s
  replace opened: pause 1300ms
  trap HR-31 pass "the same delay, within the lifetime"

story image-over-http like share
  about The projection names an image without TLS.
  transports 2
  before launch: serve GET /catalog/* 200 document=projection-http-image
  expect HR-32 fail

# A web view is the app: what it does is the app's act, and no browser ever opens the URL.
labels web-view
  expect HR-03 HR-05 HR-09 HR-33 HR-47 HR-59 fail

story embedded-web-view like share
  about The URL is opened in a web view.
  transports 4
  keep
  replace navigation: open ${url} by=webview
  labels web-view
  expect HR-34 not-applicable

story web-view-by-header like share
  about Chrome's User-Agent, and the header field that a web view adds.
  transports 3
  replace navigation: open ${url} header="X-Requested-With: example.partner.shop"
  labels web-view
  expect HR-34 not-applicable

story web-view-of-ios like share
  about A WKWebView: AppleWebKit without Version and Safari.
  transports 3
  cast app ios
  cast browser wkwebview
  labels web-view
  expect HR-34 not-applicable

story web-view-by-client-hints like share
  about The brand list says Android WebView.
  replace navigation: open ${url} header='Sec-CH-UA: "Android WebView";v="131", "Chromium";v="131"'
  labels web-view
  expect HR-34 not-applicable

story other-browsers like share
  about Firefox is the person's browser.
  transports 2
  cast browser firefox
  trap HR-09 HR-29 HR-03 pass "Firefox is a browser, too"

story warm-up-after-tap like share
  about Before the URL is opened the browser prefetches Chia's start page, as mayLaunchUrl() does.
  transports 3
  keep
  before opened: open https://chia.health/ header="Sec-Purpose: prefetch" header="Sec-Fetch-User:"
  expect HR-34 fail

story browser-fetches-ahead like share
  about Right with the handover the browser opens a spare connection to Chia, as browsers do.
  transports 3
  before opened: dial chia.health by=browser
  trap HR-34 HR-04 pass "a browser's spare connections come with its own"

story url-without-token like share
  about The answer's URL has no token, but an e-mail address.
  transports 3
  before tap: serve POST /handoff-session 201 document=session-answer-readable
  drop opened
  drop navigation
  # That the URL has no token was seen, whatever the handoff URL is.
  expect HR-35 fail
  expect HR-01 HR-05 HR-09 HR-46 HR-47 HR-59 inconclusive handoff-url-unknown
  expect HR-01 pass
  expect HC-05 HR-03 HR-17 HR-60 not-applicable
  expect HR-03 pass
  expect HR-36 inconclusive handoff-url-unknown
  expect HR-26 HR-27 HR-28 HR-29 HR-30 HR-31 HR-33 inconclusive handoff-url-unknown
  expect HR-34 HR-49 HR-65 not-applicable

story url-with-readable-query like share
  about The answer's URL has a token, and the product's name in its query.
  transports 3
  before post: serve POST /handoff-session 201 document=session-answer-query
  expect HR-35 fail

story url-with-plain-query like share
  about The URL has a query besides its token, and nobody can read anything from it.
  before tap: serve POST /handoff-session 201 document=session-answer-plain-query
  trap HR-35 pass "a query that says nothing"

story chrome-of-ios like share
  about The page opens in Chrome on iOS, which lends no views, and whose stack another page has shown.
  keep
  transports 3
  cast app ios
  cast browser chrome-ios
  before launch: serve GET https://www.shop.example/* 200 document=page type="text/html; charset=utf-8"
  before cta: open https://www.shop.example/
  expect HR-33 pass

story library-fetches-url like app-fetches-url
  about An HTTP library of the app fetches the URL beside the browser: that is no view.
  trap HR-33 inconclusive "an HTTP library that asks for the URL is HR-05's matter"

story url-with-short-token like share
  about The token is too short to be unguessable.
  before post: serve POST /handoff-session 201 document=session-answer-short
  expect HR-35 fail

story same-url-for-two-keys like share-twice
  about Two operations get the same URL.
  before tap: serve POST /handoff-session 201 document=session-answer-fixed
  expect HR-35 fail
  expect HR-26 HR-09 fail

story url-in-projection like share
  about After the share the projection holds the handoff URL, too.
  transports 3
  keep
  before foreground: serve GET /catalog/* 200 document=projection-with-url
  expect HR-36 HR-37 HR-38 fail

story url-in-push-config like share
  about A configuration that the app fetches holds the token.
  transports 2
  before background: serve GET /config 200 document=config-with-token
  before background: get /config
  expect HR-36 fail
