# HR-07 to HR-25: the session request.

story two-posts-for-double-tap like share
  about Each of two taps sends a request of its own, with a key of its own, while the answers are slow.
  transports 4
  keep
  before post: serve POST /handoff-session session delay=150ms times=2
  replace post: post later as=first
  after post: pause 40ms
  after post: tap share
  after post: operation
  after post: post later as=second
  after post: wait
  replace navigation: open ${first.url}
  expect HR-07 HR-08 fail
  expect HR-10 fail
  expect HR-27 fail

story two-posts-after-answer like share
  about The second of two taps sends a second request after the first was answered.
  transports 3
  after post: pause 40ms
  after post: tap share
  after post: operation
  after post: post as=second
  expect HR-07 fail

story same-key-twice-at-once like share
  about Two taps send the same key and body twice, overlapping.
  transports 3
  before post: serve POST /handoff-session session delay=150ms times=2
  replace post: post later
  after post: pause 40ms
  after post: tap share
  after post: post later
  after post: wait
  expect HR-07 HR-08 fail
  expect HR-13 pass
  expect HR-10 pass

story overlap-after-lost-connection like retry-lost
  about The second attempt begins while the first connection is only just dying.
  replace fault: serve POST /handoff-session drop times=1 delay=120ms
  replace post: post later expect=lost
  replace backoff: pause 60ms
  after retry: wait
  trap HR-08 pass "failover: the earlier attempt got no byte and its connection was closed within a second"
  expect HR-07 pass

story double-tap-two-navigations like share
  about Two taps share one request, and both open its URL.
  transports 4
  replace tap: tap share count=2
  after navigation: open ${url}
  expect HR-09 HR-26 fail

story tap-without-request like share
  about A share tap, and no request follows; elsewhere in the trace one does.
  transports 2
  after watch: tap cta
  after watch: get /catalog/${item}/handoff
  after watch: tap share
  after watch: pause 1000ms
  expect HR-07 fail
  expect HR-09 pass

story other-path-than-the-policy like share
  about The app posts to a path that the policy does not name.
  transports 3
  keep
  before tap: serve POST /api/start-handoff session
  replace post: post path=/api/start-handoff
  expect HR-02 HR-07 HR-08 HR-11 HR-17 HR-18 HR-19 HR-20 HR-21 HR-22 HR-23 inconclusive policy-mismatch
  expect HR-09 HR-10 HR-12 HR-13 HR-14 HR-15 HR-16 inconclusive policy-mismatch
  expect HR-24 inconclusive policy-mismatch
  expect HR-27 inconclusive policy-mismatch

story key-missing like share
  about The session request has no key.
  transports 3
  before tap: serve POST /handoff-session 201 document=session-answer-fixed
  replace post: post key=""
  expect HR-11 fail
  expect HR-54 not-applicable

story key-version-1 like share
  about The key is a UUID of version 1.
  transports 2
  replace post: post key=c232ab00-9414-11ec-b3c8-9f68deced846
  expect HR-11 fail

story key-version-7 like share
  about The key is a UUID of version 7: a time, and not all random.
  replace post: post key=0192f1a0-7c3e-7b3a-9c1d-0f2e5a6b7c8d
  expect HR-11 fail

story key-nil like share
  about The key is the nil UUID.
  replace post: post key=00000000-0000-0000-0000-000000000000
  expect HR-11 fail

story key-wrong-variant like share
  about One digit from a version 4: the variant bits are wrong.
  replace post: post key=5f0c2d1e-8a7b-4c3d-4e5f-60718293a4b5
  expect HR-11 fail

story key-urn like share
  about The key as a URN.
  replace post: post key=urn:uuid:${key}
  expect HR-11 fail

story key-twice like share
  about Two different keys in one request.
  replace post: post header="Idempotency-Key: ${uuid}"
  expect HR-11 fail
  expect HR-54 not-applicable

story retry-new-key like retry-503
  about An answer 503, a further tap, and the same body under a new key.
  transports 4
  keep
  before retry: pause 350ms
  before retry: tap share
  replace retry: post key=${uuid}
  expect HR-14 fail
  expect HR-13 not-applicable

story retry-new-key-same-burst like retry-503
  about An answer 503, and the app sends the same body under a new key by itself.
  replace retry: post key=${uuid}
  expect HR-07 HR-14 fail
  expect HR-13 not-applicable
  # The key is HR-14's matter.
  expect HR-07 pass

story lost-new-key like retry-lost
  about No answer, and after a further tap the same body goes out under a new key.
  transports 3
  before retry: pause 350ms
  before retry: tap share
  replace retry: post key=${uuid}
  expect HR-14 fail
  expect HR-13 not-applicable

story answered-new-key like share
  about The twin of a lost answer: it came, and a new share after it has a new key, rightly.
  transports 3
  after watch: tap cta
  after watch: get /catalog/${item}/handoff
  after watch: tap share
  after watch: operation
  after watch: post as=second
  after watch: opened
  after watch: open ${url}
  after watch: background
  after watch: foreground
  after watch: get /catalog/${item}/handoff
  after watch: pause 450ms
  trap HR-14 not-applicable "the answer came: nothing is uncertain"
  expect HR-12 pass

story other-item-after-503 like retry-503
  about A 503 for one item; the person shares another item under a new key.
  transports 3
  keep
  replace backoff: pause 350ms
  before retry: let item trt_9b0f2266d1
  before retry: tap cta attrs.item=trt_9b0f2266d1
  before retry: serve GET /catalog/* 200 document=share-or-neutral
  before retry: get /catalog/${item}/handoff
  before retry: tap share attrs.item=trt_9b0f2266d1
  before retry: operation
  expect HR-13 not-applicable
  trap HR-14 not-applicable "another item starts its own operation"
  expect HR-12 pass

story same-item-after-503 like other-item-after-503
  about Its twin: the same item, under a new key.
  transports 3
  replace backoff: pause 350ms
  drop retry
  before opened: let item trt_4c1d9e7a20
  before opened: serve GET /catalog/* 200 document=share-or-neutral
  before opened: tap cta
  before opened: get /catalog/${item}/handoff
  before opened: tap share
  before opened: operation
  before opened: post
  expect HR-14 fail
  expect HR-12 not-applicable

story relaunch-new-key like retry-relaunched
  about The key did not outlive the app: no answer, a relaunch, the same body under a new key.
  transports 3
  replace retry: post key=${uuid}
  expect HR-14 fail
  expect HR-13 not-applicable

story retry-restamped like retry-503
  about The retry has the same key, and a new affirmedAt in its body.
  transports 4
  keep
  before retry: let key2 ${key}
  before retry: operation
  replace retry: post key=${key2}
  expect HR-13 fail
  expect HR-14 pass
  expect HR-23 fail
  expect HR-23 pass

story retry-escaped like retry-503
  about The retry differs in one escaped character of its JSON: the same value, other bytes.
  transports 3
  replace operation: let key ${uuid}
  after operation: let stamp ${now}
  after operation: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":true,"affirmedAt":"${stamp}"}'
  before retry: let body '{"catalogId":"${item}","disclosureVersion":"2026\u002d11-01","affirmed":true,"affirmedAt":"${stamp}"}'
  trap HR-13 fail "one escaped character: equal as JSON, other bytes"
  expect HR-14 pass

story retry-other-headers like retry-503
  about The retry has other header fields around the same key and body.
  transports 3
  replace retry: post header="Traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" header="User-Agent: okhttp/4.12.1"
  trap HR-13 pass "header fields may differ"

story retry-reordered like retry-503
  about The retry has the members of its body in another order.
  replace operation: let key ${uuid}
  after operation: let stamp ${now}
  after operation: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":true,"affirmedAt":"${stamp}"}'
  before retry: let body '{"disclosureVersion":"${disclosure}","catalogId":"${item}","affirmed":true,"affirmedAt":"${stamp}"}'
  expect HR-13 fail
  expect HR-14 pass
  trap HR-20 pass "members in any order"

story retry-other-path like retry-503
  about The retry goes to another path of the same template: a query is new.
  before retry: serve POST /handoff-session* session
  replace retry: post path=/handoff-session?attempt=2
  expect HR-13 fail

story repost-by-307 like share
  about The partner redirects the session request with 307 to a path of the same host, and the stack posts again.
  transports 3
  keep
  before post: serve POST /handoff-session 307 times=1 header="Location: https://api.partner.example/v1/handoff-session"
  before post: serve POST /v1/handoff-session session
  after post: follow: post path=/v1/handoff-session
  trap HR-07 HR-08 HR-17 pass "a redirect chain is one attempt"
  expect HR-13 not-applicable
  expect HR-18 fail

story repost-by-307-elsewhere like repost-by-307
  about The redirect leads to another host, which gets the body.
  replace follow: post to=handoff.example path=/handoff-session
  before post: serve POST /handoff-session 307 times=1 header="Location: https://handoff.example/handoff-session"
  before post: serve POST https://handoff.example/handoff-session session
  expect HR-18 fail

story rejected-key-again like rejected-then-anew
  about After 400 the same key and body go out again.
  transports 4
  drop second-operation
  expect HR-12 not-applicable
  expect HR-15 fail
  expect HR-12 fail
  expect HR-13 pass

story rejected-without-refresh like share
  about After 400 a new key and body go out, and no new projection was fetched.
  transports 4
  keep
  before tap: serve POST /handoff-session 400 times=1
  replace post: post expect=400
  after post: pause 350ms
  after post: tap share
  after post: operation
  after post: post
  expect HR-12 HR-15 pass
  expect HR-16 fail

story success-then-again like share
  about After the answer the app sends the same key and body once more.
  transports 4
  after post: pause 350ms
  after post: post
  expect HR-17 fail
  expect HR-13 pass
  trap HR-36 pass "the same answer again is a session response"

story success-then-new-operation like share
  about After the answer the app sends another session request without any tap.
  transports 3
  after opened-count: pause 350ms
  after opened-count: operation
  after opened-count: post as=second
  expect HR-17 fail
  expect HR-07 inconclusive tap-not-marked
  expect HR-09 inconclusive trace-ended
  expect HR-12 pass

story lost-then-again like retry-lost
  about The twin: the answer never came, so the same key and body are right.
  transports 3
  keep
  trap HR-17 pass "a lost answer is no success"

story session-to-chia like share
  about The app posts the session request to Chia itself.
  transports 3
  before tap: serve POST https://chia.health/handoff-session session
  replace post: post to=chia.health
  expect HR-18 fail
  expect HR-03 HR-56 HR-59 fail
  expect HR-56 pass
  expect HR-53 pass
  expect HR-55 fail

story partner-mounts-chia-path like share
  about The partner's own backend serves the session at /v2/handoff-sessions, and the policy says so.
  transports 2
  set requests.session.path /v2/handoff-sessions
  before tap: serve POST /v2/handoff-sessions session
  replace post: post path=/v2/handoff-sessions
  trap HR-18 HR-03 pass "the host's role decides, not the path"

story no-credential like share
  about The session request has no credential.
  transports 3
  keep
  replace post: post header="Authorization:"
  expect HR-19 fail

story credential-by-cookie like share
  about The credential is a cookie.
  replace post: post header="Authorization:" header="Cookie: session=k2Jw8Zp4Vb7Nq1Xr"
  trap HR-19 pass "a cookie is a credential too"

story extra-field like share
  about The session request's body has a field of its own.
  transports 3
  before post: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":true,"affirmedAt":"${now}","deviceId":"d-5512"}'
  expect HR-20 fail

story missing-field like share
  about The time of the affirmation is missing.
  before post: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":true}'
  expect HR-20 fail
  expect HR-23 fail
  expect HR-23 inconclusive policy-mismatch

story affirmed-string like share
  about affirmed is the text "true".
  transports 3
  keep
  before post: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":"true","affirmedAt":"${now}"}'
  expect HR-21 fail

story affirmed-false like share
  about affirmed is false.
  before post: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":false,"affirmedAt":"${now}"}'
  expect HR-21 fail

story affirmed-number like share
  about affirmed is 1.
  before post: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":1,"affirmedAt":"${now}"}'
  expect HR-21 fail

story stale-disclosure like share
  about The session request names an older disclosure version than the projection.
  transports 3
  before post: let body '{"catalogId":"${item}","disclosureVersion":"2026-10-01","affirmed":true,"affirmedAt":"${now}"}'
  expect HR-22 fail

story disclosure-changes-at-cta like share
  about The projection that is fetched at the tap on the card has a newer disclosure version, and the session request has it.
  transports 3
  before cta: let disclosure 2026-11-15
  before cta: serve GET /catalog/* 200 document=share-or-neutral
  trap HR-22 pass "the last projection before the share tap counts"

story disclosure-from-first-projection like share
  about The projection changes at the tap on the card, and the session request has the first one's version.
  transports 2
  before cta: let disclosure 2026-11-15
  before cta: serve GET /catalog/* 200 document=share-or-neutral
  before operation: let disclosure 2026-11-01
  expect HR-22 fail

story affirmed-long-before like share
  about The time of the affirmation lies a day back.
  transports 3
  keep
  before post: let body '{"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":true,"affirmedAt":"2025-01-01T00:00:00Z"}'
  expect HR-23 fail
  # Nothing says how the phone's clock goes.
  expect HR-23 inconclusive device-clock-unknown

story affirmed-long-before-clock-known like affirmed-long-before
  about The same, and the marks say what the phone's clock was.
  keep
  replace tap: tap share attrs.deviceTime=${now}
  expect HR-23 fail

story affirmed-with-clock-known like share
  about The marks say what the phone's clock is, and the affirmation fits.
  replace tap: tap share attrs.deviceTime=${now}

story no-fresh-projection like share
  about No projection is fetched at the tap on the card.
  transports 3
  drop fresh-projection
  expect HR-06 fail

story fresh-projection-not-modified like share
  about The projection at the tap on the card is answered 304.
  before cta: serve GET /catalog/* 304 times=1
  replace fresh-projection: get /catalog/${item}/handoff header='If-None-Match: "v1"'
  trap HR-06 pass "304 is fresh"

story fresh-projection-local like share
  about The policy says that eligibility is local; no projection is fetched at the tap on the card.
  set eligibility local
  drop fresh-projection
  before launch: serve GET /catalog/* 200 document=share-or-neutral header="Cache-Control: max-age=60"
  trap HR-06 pass "with local eligibility the last projection may do"

story neutral-while-sharing like share
  about While the session request is under way, the person taps the other action and its page opens.
  transports 3
  keep
  before post: serve POST /handoff-session session delay=450ms times=1
  only stack=lab
  replace post: post later
  after post: pause 100ms
  after post: tap neutral
  after post: open ${neutral}
  after post: wait
  expect HR-10 fail
  expect HR-25 not-applicable

story neutral-tap-ignored like share
  about While the session request is under way, the person taps the other action, and nothing happens, rightly.
  transports 3
  before post: serve POST /handoff-session session delay=450ms times=1
  only stack=lab
  replace post: post later
  after post: pause 100ms
  after post: tap neutral
  after post: wait
  trap HR-09 HR-10 pass "a tap on the disabled action has no effect"
  trap HR-25 not-applicable "a tap on the disabled action asks for nothing"

story session-when-neutral-only like share
  about The decision is neutral_only, and a session request goes out all the same.
  transports 3
  before launch: serve GET /catalog/* 200 document=neutral-only
  expect HR-24 fail
  expect HR-39 pass
  expect HR-22 inconclusive
  expect HR-22 not-applicable

story session-after-projection-changed like share
  about The first projection allows sharing, the one at the tap does not, and a session request goes out.
  before cta: serve GET /catalog/* 200 document=neutral-only
  expect HR-24 fail
  expect HR-39 pass
  expect HR-22 inconclusive
  expect HR-22 not-applicable

story neutral-through-partner like neutral
  about Without sharing, the browser is sent through the partner's redirector first.
  transports 3
  keep
  before navigation: serve GET https://go.partner.example/* 302 header="Location: ${neutral}"
  before navigation: open https://go.partner.example/out
  expect HR-25 fail
  # The way to the neutral URL is HR-25.
  expect HR-30 HR-49 not-applicable

story neutral-with-parameter like neutral
  about Without sharing, the neutral URL gets a parameter of the app's.
  transports 3
  replace navigation: open ${neutral}?src=shop
  expect HR-25 HR-28 fail
  expect HR-30 HR-49 not-applicable

story session-after-neutral like neutral
  about After the tap on the neutral action a session request goes out.
  transports 3
  before navigation: operation
  before navigation: post
  expect HR-25 HR-02 fail
  expect HR-07 inconclusive no-tap-mark
  expect HR-08 HR-10 HR-11 HR-17 HR-18 HR-19 HR-20 HR-21 HR-22 HR-35 HR-36 HR-46 HR-47 HR-49 HR-54 pass
  expect HR-09 inconclusive trace-ended
  expect HR-23 HR-24 pass
  expect HR-30 not-applicable
