# HR-01 to HR-05 and HR-34: contact with Chia before the tap, by the app, and requests for the handoff URL.

# A request of the app for a Chia host, at any time.
labels app-to-chia
  expect HR-03 HR-59 fail

story app-prefetches-neutral like share
  about Before any tap the app fetches the neutral URL.
  transports 4
  keep
  after render: prefetch: get ${neutral} header="Purpose: prefetch"
  labels app-to-chia
  expect HR-01 HR-05 fail

story app-prefetches-after-cta like share
  about After the tap on the card, but before the person has chosen, the app fetches the neutral URL.
  after disclosure: get ${neutral}
  labels app-to-chia
  trap HR-01 fail "a tap on the card is no choice"
  expect HR-05 fail

story app-probes-with-head like share
  about Between answer and navigation the app sends HEAD for the handoff URL.
  transports 4
  before opened: send HEAD ${url}
  labels app-to-chia
  expect HR-05 HR-47 fail

story app-fetches-url like share
  about The app itself fetches the handoff URL, after the browser has opened it.
  transports 3
  after navigation: get ${url}
  labels app-to-chia
  expect HR-05 HR-47 fail

story app-fetches-range like share
  about The app asks for the first bytes of the handoff URL.
  after navigation: get ${url} header="Range: bytes=0-0" expect=any
  labels app-to-chia
  expect HR-05 HR-47 fail

story preview-agent like share
  about A link preview agent fetches the handoff URL.
  transports 3
  before opened: get ${url} header="User-Agent: facebookexternalhit/1.1"
  expect HR-05 HR-47 fail
  # On a device the app, a library in it, or the messages app of the system sends such a request: nothing tells which.
  expect HR-03 HR-59 HC-05 inconclusive actor-unknown

story browser-prefetches-url like share
  about The browser prefetches the handoff URL as a warm tab does, and then opens it.
  transports 3
  keep
  before navigation: open ${url} header="Sec-Purpose: prefetch" header="Sec-Fetch-Dest: empty" header="Sec-Fetch-Mode: no-cors" header="Sec-Fetch-User:"
  expect HR-05 fail
  trap HR-09 HR-26 pass "a prefetch is no second navigation"

story browser-prefetches-neutral-before-tap like share
  about Before the tap the browser prefetches the neutral URL, as mayLaunchUrl() makes it.
  transports 4
  after render: open ${neutral} header="Sec-Purpose: prefetch;prerender" header="Sec-Fetch-User:"
  expect HR-01 HR-05 HR-34 fail

story browser-visits-chia-first like share
  about Before the tap the browser has a page of Chia open; the browser was clean.
  transports 2
  after render: open https://chia.health/
  expect HR-01 fail

story browser-visits-chia-first-not-clean like share
  about The same, but nobody said that the browser was clean: perhaps an earlier visit.
  transports 3
  keep
  drop clean
  after render: open https://chia.health/
  expect HR-01 inconclusive browser-not-clean

story lookup-before-tap like share
  about A DNS query for Chia before the tap.
  only via=passive
  transports 3
  after render: lookup chia.health
  expect HR-01 HR-04 fail
  expect HR-03 HC-05 inconclusive actor-unknown

story https-record-before-tap like share
  about A query for Chia's HTTPS record before the tap.
  only via=passive
  after render: lookup chia.health type=65
  expect HR-01 HR-04 fail
  expect HR-03 HC-05 inconclusive actor-unknown

story lookup-similar-before-tap like share
  about A DNS query for notchia.health before the tap.
  only via=passive
  transports 3
  keep
  after render: lookup notchia.health
  after render: lookup chia.health.partner.example
  trap HR-01 HR-03 HR-04 pass "one label away from a Chia host"

story preconnect-before-tap like share
  about TLS to Chia before the tap, and no request on it.
  transports 4
  after render: dial chia.health
  after render: pause 20ms
  expect HR-01 HR-04 fail
  expect HR-03 HC-05 inconclusive actor-unknown
  # CONNECT has the app's User-Agent.
  expect HR-03 fail via=connect
  expect HC-05 pass via=connect
  # Over HTTP/2 the app and the test browser have one TLS stack there: it may be either's.
  expect HR-34 inconclusive actor-unknown via=socks
  # Its TLS stack is the test browser's there, not the app's: so it looks like a warmed up browser.
  expect HR-34 fail via=socks stack=curl

story preconnect-at-navigation like share
  about The browser opens a spare connection beside that of the navigation, and leaves it unused.
  transports 3
  keep
  before navigation: dial chia.health by=browser
  before navigation: serve GET https://chia.health/never 404
  trap HR-01 HR-03 HR-04 HR-05 pass "browsers open spare connections at a navigation"

story contact-just-after-tap like share
  about The browser reaches Chia's neutral page right after the mark of the tap.
  replace tap: tap neutral
  drop operation
  drop post
  replace navigation: open ${neutral}
  labels without-sharing
  expect HR-30 HR-49 not-applicable

story session-before-tap like share
  about The session request goes out before the tap.
  transports 4
  before tap: operation
  before tap: post
  before tap: pause 50ms
  drop operation
  drop post
  expect HR-02 fail
  expect HR-07 fail
  expect HR-23 pass
  before end: pause 900ms

story session-without-any-tap like share
  about A session request, and the only tap is the one on the card.
  transports 3
  drop tap
  # A tap on the card is no action: nothing tells that the person chose.
  expect HR-02 HR-07 inconclusive no-tap-mark
  expect HR-23 pass

story session-untargeted-tap like share
  about The taps are marked, but no mark names its target.
  transports 3
  replace cta: tap
  replace tap: tap
  expect HR-02 inconclusive generic-tap-mark
  expect HR-06 inconclusive no-cta-mark

story session-no-marks like share
  about Not a single mark.
  transports 4
  keep
  drop cta
  drop tap
  drop render
  drop disclosure
  drop background
  drop foreground
  drop relaunch
  drop launch
  drop opened
  drop end
  replace kill: close app
  replace away: pause 80ms
  expect HR-01 pass
  expect HR-02 HR-07 HR-09 inconclusive no-tap-mark
  expect HR-06 HR-42 HR-43 HR-44 not-applicable
  expect HR-49 inconclusive
  expect HC-03 not-applicable
  expect HR-06 inconclusive no-cta-mark
  expect HR-23 inconclusive no-tap-mark
  expect HC-10 HR-49 not-applicable
  expect HR-34 inconclusive no-tap-mark
  expect HR-44 pass

story late-mark like share
  about A person marks the share tap by hand, 300 ms after the request.
  transports 3
  replace tap: pause 10ms
  after post: pause 300ms
  after post: tap share by=person
  trap HR-02 inconclusive late-mark "a hand-made mark comes late"
  expect HR-23 pass
  trap HR-23 pass "the affirmation lies before a hand-made mark that is late"

story hand-mark-in-time like share
  about A person presses, then taps.
  transports 2
  replace tap: tap share by=person
  before operation: pause 400ms
  trap HR-01 HR-02 pass "a hand-made mark is an interval that ends with the request"

story mark-after-request like share
  about A script's mark of the share tap, 300 ms after the request.
  transports 3
  replace tap: pause 10ms
  after post: pause 300ms
  after post: tap share
  expect HR-02 HR-07 HR-23 fail
  expect HR-23 pass
  before end: pause 900ms
