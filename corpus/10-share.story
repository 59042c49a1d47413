# Sessions that conform: sharing, not sharing, double taps, retries, and what looks odd without being wrong.

# What the rules must say of one share, seen whole.
labels conforming
  expect rest not-applicable
  expect rest-HC pass
  expect HR-01 HR-02 HR-03 HR-04 HR-05 HR-06 HR-07 HR-08 HR-09 HR-10 HR-11 pass
  expect HR-17 HR-18 HR-19 HR-20 HR-21 HR-22 HR-23 HR-24 pass
  expect HR-26 HR-27 HR-28 HR-29 HR-30 HR-31 HR-32 HR-34 HR-35 HR-36 HR-37 HR-38 pass
  expect HR-40 HR-42 HR-43 HR-44 HR-45 HR-46 HR-47 HR-48 HR-49 HR-50 HR-51 HR-52 HR-54 HR-55 HR-56 HR-57 HR-58 HR-59 HR-60 HR-65 pass
  # Nothing but process evidence tells a browser from what borrows its User-Agent.
  expect HR-33 inconclusive

# The same when a second attempt repeats the first.
labels retried
  expect HR-13 HR-14 pass

story share
  about One tap, one session request, one page in the browser.
  transports 12
  keep
  labels conforming
  use servers
  use arrive
  use call-to-action
  tap: tap share
  operation: operation
  post: post as=first
  use to-chia
  use leave

story share-ios like share
  about The same on iOS: CFNetwork and Safari.
  transports 4
  keep
  cast app ios
  cast browser safari

story share-flutter like share
  about The same by Dart's HttpClient.
  cast app dart

story share-relaunch-later like share
  about The same, but the app stays in the background for longer.
  replace away: pause 700ms

story double-tap like share
  about Two taps in one mark, joined into one request and one page.
  transports 6
  keep
  replace tap: tap share count=2

story double-tap-while-waiting like share
  about The second tap comes while the request is under way, and joins it.
  transports 4
  before post: serve POST /handoff-session session delay=200ms
  replace post: post later
  after post: pause 60ms
  after post: tap share
  after post: wait
  trap HR-07 HR-08 HR-09 pass "two taps, one operation: the second joins the first"

story double-tap-answered-between like share
  about The answer comes between the two taps of a double tap; still one request and one page.
  transports 4
  keep
  after post: pause 40ms
  after post: tap share
  trap HR-07 HR-09 HR-17 pass "an answer between two taps does not begin a new burst"

story triple-tap like share
  about Three taps, each within the double-tap time of the one before.
  replace tap: tap share
  before operation: pause 30ms
  before operation: tap share
  before operation: pause 30ms
  before operation: tap share
  trap HR-07 HR-09 pass "three taps are one burst"

story tap-with-interval like share
  about The share tap is known as an interval, by a pre and a post mark around it.
  replace tap: tap share id=t1 phase=pre
  before operation: tap share id=t1 phase=post

story share-twice like share
  about The person shares, comes back and shares again: a second key, a second URL, each opened once.
  transports 4
  keep
  drop end
  after watch: tap cta
  after watch: get /catalog/${item}/handoff
  after watch: tap share
  after watch: operation
  after watch: post as=second
  after watch: opened
  after watch: second-opened: open ${url}
  after watch: background
  after watch: foreground
  after watch: get /catalog/${item}/handoff
  after watch: kill
  after watch: launch
  after watch: get /home
  after watch: pause 450ms
  after watch: end
  expect HR-12 pass
  trap HR-07 HR-09 HR-26 HR-27 pass "the second share is an epoch of its own"

story share-two-items like share
  about Two items, one after the other: two operations of different bodies and keys.
  drop end
  after watch: let item trt_9b0f2266d1
  after watch: tap cta attrs.item=trt_9b0f2266d1
  after watch: serve GET /catalog/* 200 document=share-or-neutral
  after watch: get /catalog/${item}/handoff
  after watch: tap share attrs.item=trt_9b0f2266d1
  after watch: operation
  after watch: post
  after watch: opened
  after watch: open ${url}
  after watch: background
  after watch: foreground
  after watch: get /catalog/${item}/handoff
  after watch: kill
  after watch: launch
  after watch: get /home
  after watch: pause 450ms
  after watch: end
  expect HR-12 pass
  trap HR-07 HR-14 pass "another item starts an operation of its own"
  expect HR-14 not-applicable

story chia-redirects like share
  about Chia answers the handoff URL with 308 to its form with a slash at the end, which the browser follows.
  transports 4
  keep
  before navigation: serve GET https://chia.health/h/* 308 times=1 header="Location: ${url}/" type=text/html
  after navigation: open "${url}/"
  trap HR-05 HR-09 HR-26 HR-28 pass "a redirect that Chia issued is one chain"

story chia-sets-cookie like share
  about Chia's page sets a cookie in the browser, and the browser sends it back.
  before navigation: serve GET https://chia.health/h/* 200 document=page type=text/html header="Set-Cookie: sid=9Zq4T7bXw2LmC81r; Secure; HttpOnly"
  after navigation: open https://chia.health/next header="Cookie: sid=9Zq4T7bXw2LmC81r" header="Sec-Fetch-Site: same-origin" header="Referer: https://chia.health/"
  expect HR-53 pass
  trap HR-09 HR-05 pass "the person goes on inside Chia's site"
  trap HR-53 pass "the cookie goes back to Chia alone"

story os-noise like share
  about The phone's own services talk: connectivity check, association file of the Chia domain at Apple's CDN, push, updates.
  transports 4
  keep
  before cta: serve GET https://captive.apple.com/* 200
  before cta: serve GET https://app-site-association.cdn-apple.com/* 200
  before cta: serve POST https://xp.apple.com/* 200
  before cta: serve GET https://connectivitycheck.gstatic.com/* 204
  before cta: send GET https://captive.apple.com/hotspot-detect.html by=os
  before cta: send GET https://app-site-association.cdn-apple.com/a/v1/chia.health by=os
  before cta: send GET https://connectivitycheck.gstatic.com/generate_204 by=os
  after opened-count: send POST https://xp.apple.com/report body='{"events":1}' by=os
  trap HR-01 HR-03 HR-05 pass "the CDN's path has the Chia domain as text"

story policy-read like share
  about The person reads the privacy policy, which lies on a Chia host, before sharing.
  transports 4
  keep
  before tap: tap policy
  before tap: open https://www.chia.health/privacy
  before tap: pause 50ms
  trap HR-01 HR-05 HR-09 pass "a policy tap exempts the page that it opens"

story similar-hosts like share
  about The app talks to hosts that only look like Chia's, before the tap.
  transports 4
  keep
  before cta: serve GET https://notchia.health/* 200
  before cta: serve GET https://chia.health.partner.example/* 200
  before cta: send GET https://notchia.health/api
  before cta: send GET https://chia.health.partner.example/banner?next=chia.health
  trap HR-01 HR-03 HR-05 HR-56 pass "label boundaries: notchia.health is not Chia's"

story expectation-continued like share
  about Key in upper case: the same UUID.
  replace post: post key=${key|upper}
  trap HR-11 pass "UUID text is read whatever its case"

story key-quoted like share
  about The key in the quoted form of the draft's structured field.
  replace post: post key='"${key}"'
  trap HR-11 pass "draft-ietf-httpapi-idempotency-key-header wants quotes"

# -- without sharing -------------------------------------------------------------------------------------------------

labels without-sharing
  expect HR-02 HR-07 HR-08 HR-10 HR-11 HR-17 HR-18 HR-19 HR-20 HR-21 HR-22 HR-23 HR-24 not-applicable
  expect HR-26 HR-27 HR-31 HR-35 HR-36 HR-46 HR-47 HR-54 not-applicable
  expect HR-25 pass

story neutral like share
  about The person continues without sharing: no session request, the neutral page in the browser.
  transports 6
  keep
  labels without-sharing
  replace tap: tap neutral
  drop operation
  drop post
  replace navigation: open ${neutral}
  expect HR-30 HR-49 not-applicable

story neutral-only like neutral
  about The decision is neutral_only: one action, which opens the neutral page.
  transports 4
  keep
  before launch: serve GET /catalog/* 200 document=neutral-only
  expect HR-39 pass
  expect HR-24 pass
  expect HR-30 HR-49 not-applicable

story neutral-double-tap like neutral
  about Two taps on the neutral action, one page.
  replace tap: tap neutral count=2
  expect HR-30 HR-49 not-applicable

story no-tap like share
  about The person looks at the card and leaves.
  keep
  transports 2
  drop cta
  drop fresh-projection
  drop disclosure
  drop tap
  drop operation
  drop post
  drop opened
  drop navigation
  labels without-sharing
  expect HR-01 inconclusive no-tap-mark
  expect HR-04 HR-06 HR-09 HR-10 HR-25 HR-28 HR-29 HR-30 HR-33 HR-34 not-applicable
  expect HC-03 HC-05 HC-07 not-applicable
  expect HC-08 inconclusive nothing-exercised
  expect HR-60 not-applicable
  expect HC-10 HR-43 HR-48 HR-49 HR-50 HR-51 HR-52 HR-65 not-applicable

# -- retries ---------------------------------------------------------------------------------------------------------

story retry-503 like share
  about An answer 503, then the same key and body again.
  transports 6
  keep
  labels retried
  before post: fault: serve POST /handoff-session 503 times=1
  replace post: post expect=503
  after post: backoff: pause 60ms
  after post: retry: post
  trap HR-07 HR-08 pass "a second attempt after an uncertain end is the same operation"

story retry-500 like retry-503
  about An answer 500, then the same key and body again.
  replace fault: serve POST /handoff-session 500 times=1
  replace post: post expect=500

story retry-429 like retry-503
  about An answer 429 with Retry-After, then the same key and body again.
  transports 3
  replace fault: serve POST /handoff-session 429 times=1 header="Retry-After: 1"
  replace post: post expect=429

story retry-lost like retry-503
  about The connection ends without an answer, then the same key and body again.
  transports 4
  keep
  replace fault: serve POST /handoff-session drop times=1
  replace post: post expect=lost

story retry-reset like retry-503
  about The connection is reset without an answer, then the same key and body again.
  transports 4
  replace fault: serve POST /handoff-session reset times=1
  replace post: post expect=lost

story retry-half like retry-503
  about Half an answer comes, then the connection ends; the same key and body again give the same URL.
  transports 3
  only http=1
  only stack=lab
  replace fault: serve POST /handoff-session half times=1
  replace post: post expect=lost
  trap HR-17 pass "an answer that did not come whole is no success"

story retry-refused like retry-503
  about The HTTP/2 stream is refused unread, and the stack sends the request again.
  only http=2
  only stack=lab
  only via=passive
  replace fault: serve POST /handoff-session refuse times=1
  replace post: post expect=lost
  # Provably unprocessed: the two streams are one attempt.
  expect HR-13 HR-14 not-applicable
  trap HR-07 HR-08 pass "a refused stream was not processed: one attempt (RFC 9113 §8.7)"

story retry-second-tap like retry-503
  about An answer 503; the person taps again, and the same key and body go out.
  transports 4
  before retry: pause 350ms
  before retry: tap share

story retry-three-times like retry-503
  about 503, 503, and then it works: three attempts, one key.
  replace fault: serve POST /handoff-session 503 times=2
  after backoff: post expect=503
  after backoff: pause 60ms

story retry-relaunched like retry-lost
  about No answer, the app is killed and launched, the person shares again: the persisted key and body.
  transports 4
  keep
  replace backoff: kill
  after backoff: launch
  after backoff: get /home
  after backoff: pause 320ms
  after backoff: get /catalog/${item}/handoff
  after backoff: tap cta
  after backoff: get /catalog/${item}/handoff
  after backoff: tap share
  trap HR-12 not-applicable "the same key again is the same operation"

story retry-given-up like retry-503
  about After a 503 the person continues without sharing instead.
  transports 3
  drop retry
  replace backoff: pause 350ms
  after backoff: tap neutral
  replace navigation: open ${neutral}
  expect HR-13 not-applicable
  expect HR-14 not-applicable
  expect HR-25 pass
  expect HR-17 HR-26 HR-27 HR-31 HR-35 HR-36 HR-46 HR-47 HR-54 not-applicable
  trap HR-09 HR-10 pass "an uncertain end frees the neutral action"
  expect HR-30 HR-49 not-applicable
  expect HR-54 pass

story retry-409-kept like retry-503
  about An answer 409, then the same key and body again: the contract leaves it open.
  replace fault: serve POST /handoff-session 409 times=1
  replace post: post expect=409
  trap HR-15 HR-16 not-applicable "409 is neither a rejection nor uncertain"
  expect HR-14 not-applicable

story auth-refreshed like retry-503
  about An answer 401, a fresh credential, then the same key and body.
  transports 4
  keep
  replace fault: serve POST /handoff-session 401 times=1
  replace post: post expect=401
  replace retry: post header="Authorization: Bearer lab-account-1-renewed"
  expect HR-14 not-applicable
  trap HR-13 pass "a refreshed credential is no other body"
  trap HR-15 HR-16 not-applicable "401 is a challenge, not a rejection"

story rejected-then-anew like share
  about An answer 400; a new projection, then a new key and body.
  transports 4
  keep
  before tap: serve POST /handoff-session 400 times=1
  replace post: post expect=400
  after post: pause 350ms
  after post: get /catalog/${item}/handoff
  after post: tap share
  after post: second-operation: operation
  after post: post
  expect HR-12 HR-15 HR-16 pass
  trap HR-07 HR-14 pass "after a rejection a new key is right"
  expect HR-14 not-applicable

story rejected-and-left like share
  about An answer 422, and the person leaves it at that.
  before tap: serve POST /handoff-session 422 times=1
  replace post: post expect=422
  drop opened
  drop navigation
  expect HR-15 pass
  expect HR-16 not-applicable
  expect HR-01 HR-09 pass
  expect HR-04 HR-17 HR-26 HR-27 HR-28 HR-29 HR-30 HR-31 HR-33 HR-34 HR-35 HR-36 HR-46 HR-47 HR-54 not-applicable
  expect HC-05 not-applicable
  expect HR-60 not-applicable
  expect HR-49 HR-65 not-applicable
  expect HR-04 HR-54 pass
