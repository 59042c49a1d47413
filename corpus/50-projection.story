# HR-37 to HR-45: projections, images, the foreground.

story projection-extra-key like share
  about The decision has a key that the contract does not have.
  transports 3
  keep
  before launch: serve GET /catalog/* 200 document=projection-extra
  expect HR-37 fail

story projection-other-label like share
  about The label of the primary action differs in one letter.
  transports 3
  before launch: serve GET /catalog/* 200 document=projection-label
  expect HR-37 HR-41 fail

story projection-duplicate-key like share
  about The decision has one key twice.
  transports 2
  before launch: serve GET /catalog/* 200 document=projection-duplicate
  expect HR-37 fail

story projection-escaped-label like share
  about The label is written with an escape: the same text.
  transports 3
  before launch: serve GET /catalog/* 200 document=projection-escaped
  trap HR-37 pass "escapes are another way to write the same label"

story projection-extra-beside like share
  about The item has a key of its own beside the decision.
  before launch: serve GET /catalog/* 200 document=projection-beside
  trap HR-37 HR-38 pass "the closed union is the decision, not the item"

story projection-other-creation-path like share
  about sessionCreationPath is the partner's own path.
  before launch: serve GET /catalog/* 200 document=projection-path
  expect HR-37 HR-41 fail

story projection-unlisted-url like share
  about The item has a URL at a place where none may be.
  transports 3
  keep
  before launch: serve GET /catalog/* 200 document=projection-unlisted-url
  expect HR-38 fail

story projection-chia-asset like share
  about The image is an authenticated asset of Chia's.
  transports 3
  before launch: serve GET /catalog/* 200 document=projection-chia-asset
  expect HR-38 HR-57 fail
  expect HR-45 fail

story neutral-only-with-action like neutral-only
  about neutral_only with the session action in it.
  transports 3
  keep
  before launch: serve GET /catalog/* 200 document=neutral-only-with-primary
  expect HR-37 HR-39 fail
  expect HR-30 HR-49 not-applicable

story hidden-item-sent like share
  about A hidden item is sent to the app.
  transports 3
  before launch: serve GET /home 200 document=home-with-hidden
  expect HR-40 fail

story hidden-by-id like share
  about An item that the policy names as hidden is sent.
  set fields.hidden [trt_hidden0001]
  before launch: serve GET /home 200 document=home-with-hidden-id
  expect HR-40 fail

story stale-evidence-shared like share
  about The projection at the tap answers 500, and the app shares all the same.
  transports 3
  keep
  before cta: serve GET /catalog/* 500 times=1
  replace fresh-projection: get /catalog/${item}/handoff expect=500
  expect HR-41 fail
  expect HR-06 fail
  expect HR-22 pass

story stale-evidence-safe like share
  about The projection at the tap answers 500; the app asks again, gets a valid one, and shares.
  transports 3
  before cta: serve GET /catalog/* 500 times=1
  replace fresh-projection: get /catalog/${item}/handoff expect=500
  after fresh-projection: get /catalog/${item}/handoff
  trap HR-41 HR-06 pass "sharing is right again once a valid projection came"

story malformed-projection-shared like share
  about The projection at the tap is no JSON, and the app shares all the same.
  transports 2
  before cta: serve GET /catalog/* 200 document=no-json times=1
  expect HR-41 fail
  expect HR-06 fail
  expect HR-06 pass
  expect HR-22 HR-24 inconclusive projection-opaque

story unknown-mode-shared like share
  about The projection at the tap has a mode that does not exist, and the app shares all the same.
  transports 2
  before cta: serve GET /catalog/* 200 document=projection-unknown-mode times=1
  expect HR-41 HR-37 fail
  expect HR-22 not-applicable
  expect HR-24 fail

story no-refresh-on-foreground like share
  about The app comes back and does not fetch the projection.
  transports 3
  drop foreground-projection
  after foreground: pause 5500ms
  expect HR-42 fail

story foreground-not-modified like share
  about The projection on foreground is answered 304.
  before foreground: serve GET /catalog/* 304 times=1
  trap HR-42 pass "304 counts as a refresh"

story foreground-without-net like share
  about The app comes back while the network is off.
  drop foreground-projection
  before foreground: net-off
  after foreground: pause 5500ms
  after foreground: net-on
  expect HR-42 inconclusive

story outcome-words-after-foreground like share
  about After it came back the app sends how long the person was away.
  transports 3
  keep
  after foreground-projection: send POST ${logs} body='{"event":"handoff_returned","item":"${item}","elapsed_ms":81,"completed":true}'
  expect HR-43 fail
  expect HR-48 fail

story other-request-after-foreground like share
  about After it came back the app asks for something that no list names.
  transports 2
  before foreground: serve GET /promotions 200
  after foreground-projection: get /promotions
  expect HR-43 fail

story session-event-after-foreground like share
  about An analytics library counts the foreground.
  transports 2
  after foreground-projection: send POST ${amplitude} body='{"events":[{"event_type":"app_foreground"}]}'
  trap HR-43 fail "a library's own event is a warning only"

story polling-in-background like share
  about While the browser has the screen the app asks every 300 ms.
  keep
  transports 3
  before away: serve GET /poll 200
  replace away: pause 50ms
  after away: get /poll
  after away: pause 300ms
  after away: get /poll
  after away: pause 300ms
  after away: get /poll
  after away: pause 300ms
  after away: get /poll
  expect HR-44 fail

story burst-in-background like share
  about Before it goes to sleep the app fetches four pages of a list, one right after the other.
  before away: serve GET /pages 200
  replace away: pause 50ms
  after away: get /pages
  after away: pause 40ms
  after away: get /pages
  after away: pause 40ms
  after away: get /pages
  after away: pause 40ms
  after away: get /pages
  trap HR-44 pass "what loads a screen is close together, and watches nothing"

story two-requests-in-background like share
  about While the browser has the screen the app sends two requests, with no period.
  before away: serve GET /poll 200
  replace away: pause 50ms
  after away: get /poll
  after away: pause 150ms
  after away: get /poll
  trap HR-44 pass "two requests are no period"

story image-from-third-party like share
  about The card's image comes from a host that nobody named.
  transports 3
  keep
  before launch: serve GET /catalog/* 200 document=projection-third-party-image
  before launch: serve GET https://images.shopcdn.example/* image
  replace image: get https://images.shopcdn.example/i/7f3a91.png
  expect HR-45 fail

story image-path-names-treatment like share
  about The image's path names the treatment.
  transports 2
  before launch: serve GET /catalog/* 200 document=projection-telling-image
  replace image: get https://img.partner.example/i/insomnia-treatment.png
  expect HR-45 fail
