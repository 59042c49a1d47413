# Pairs as alike as can be, one on each side of a rule, and what else invites a wrong verdict.

# -- one millisecond either side of the clock bound: a side file's clock is known to 50 ms ----------------------------

story clock-bound-inside like share
  about The tap, by a side file, came 49 ms after the request: one millisecond less than the file's clock is known to.
  transports 3
  only stack=lab
  only via=passive
  replace tap: pause 10ms
  replace post: post as=first tight
  after post: mark: tap share way=file at=first.sent+49ms
  after post: pause 120ms
  trap HR-02 inconclusive clock-bound "one millisecond within the clock bound"
  expect HR-23 pass

story clock-bound-outside like clock-bound-inside
  about Its twin: 51 ms, one millisecond more than the file's clock is known to.
  transports 3
  replace post: post as=first tight
  # The request is still under way at the earliest moment that the tap can have been, so that the tap may have joined it.
  before post: serve POST /handoff-session session delay=20ms
  replace mark: tap share way=file at=first.sent+51ms
  trap HR-02 fail "one millisecond beyond the clock bound"

# -- what else invites a wrong verdict ---------------------------------------------------------------------------------

story affirmed-spaced like share
  about White space around true, as some JSON writers put it.
  before post: let body '{ "catalogId" : "${item}", "disclosureVersion" : "${disclosure}", "affirmed" : true , "affirmedAt" : "${now}" }'
  trap HR-20 HR-21 pass "white space is no part of a value"

story offered-at-the-tap like share
  about The first projection is neutral_only, the one at the tap on the card offers sharing.
  before launch: serve GET /catalog/* 200 document=neutral-only times=1
  expect HR-39 pass
  trap HR-24 HR-39 pass "the projection refreshed at the tap governs"

story hidden-in-words like share
  about An item's title has the word hidden.
  before launch: serve GET /home 200 document=home-hidden-word
  trap HR-40 pass "the word hidden in a text hides nothing"

story secret-in-words like share
  about A help text speaks of webhook secrets.
  before launch: serve GET /help 200 document=help-text
  after home: get /help
  trap HR-55 pass "a prefix in prose is no secret"

story raw-catalog-clean like share
  about The policy names a field of the raw catalog, and no answer has it.
  set forbidden.catalog-keys [wholesale_price]
  expect HR-58 pass

story raw-catalog-in-words like share
  about The field's name stands in a text.
  set forbidden.catalog-keys [wholesale_price]
  before launch: serve GET /home 200 document=home-raw-word
  trap HR-58 pass "a name in a value is no field"

story stale-evidence-left like share
  about The projection at the tap answers 500, and the person leaves.
  before cta: serve GET /catalog/* 500 times=1
  replace fresh-projection: get /catalog/${item}/handoff expect=500
  drop tap
  drop operation
  drop post
  drop opened
  drop navigation
  labels without-sharing
  expect HR-41 pass
  expect HR-01 inconclusive no-tap-mark
  expect HR-04 HR-06 HR-09 HR-10 HR-25 HR-28 HR-29 HR-30 HR-33 HR-34 HR-60 not-applicable
  expect HC-05 HC-07 not-applicable
  expect HC-08 inconclusive nothing-exercised
  expect HR-43 HR-49 HR-52 HR-65 not-applicable
  expect HR-04 pass

story neutral-chia-unread like neutral
  about Without sharing; the keys of Chia's host are missing.
  only via=passive
  capture keys-not=chia.health
  expect HC-01 inconclusive no-keys
  expect HR-03 HC-05 inconclusive actor-unknown
  expect HR-05 HR-09 HR-25 HR-28 HR-29 HR-30 HR-33 HR-34 HR-53 HR-55 HR-57 HR-59 inconclusive
  expect HR-06 inconclusive
  expect HC-07 HR-60 not-applicable
  expect HR-26 HR-27 HR-28 HR-29 HR-31 HR-61 HR-65 inconclusive no-keys
  expect HR-49 not-applicable
