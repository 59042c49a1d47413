# HR-46 to HR-54: the handoff URL, the token and the selection where they must not be.

story url-in-crash-report like share
  about A crash report's breadcrumb has the handoff URL.
  transports 4
  keep
  after navigation: send POST ${sentry} type=application/x-sentry-envelope body=${crash-report}
  expect HR-46 HR-47 fail

story url-spoilt-in-crash-report like share
  about Its twin: a URL that differs in its last character, of the same form.
  transports 2
  after navigation: send POST ${sentry} type=application/x-sentry-envelope body=${crash-report-neutral}
  trap HR-46 HR-47 pass "a Chia URL without a token is no handoff URL"

story url-percent-in-query like share
  about A page-view pixel has the handoff URL in its query, percent-encoded.
  transports 3
  before launch: serve GET https://www.google-analytics.com/* 204
  after navigation: get "https://www.google-analytics.com/collect?v=1&t=pageview&dl=${url|percent}"
  expect HR-46 HR-47 fail

story token-base64 like share
  about An event has the token in base64.
  transports 3
  after navigation: send POST ${amplitude} body='{"events":[{"p":"${token|base64}"}]}'
  expect HR-46 HR-47 fail

story token-base64-of-json like share
  about An event has JSON with the URL in it, in base64.
  transports 2
  after navigation: let inner '{"screen":"handoff","link":"${url}"}'
  after navigation: send POST ${amplitude} body='{"payload":"${inner|base64}"}'
  expect HR-46 HR-47 fail

story token-hex like share
  about An event has the token in hex.
  after navigation: send POST ${amplitude} body='{"events":[{"p":"${token|hex}"}]}'
  expect HR-46 HR-47 fail

story token-json-escaped like share
  about An event has the token as JSON escapes.
  transports 2
  after navigation: send POST ${amplitude} body='{"events":[{"p":"${token|json-u}"}]}'
  expect HR-46 HR-47 fail

story token-reversed like share
  about An event has the token backwards.
  after navigation: send POST ${amplitude} body='{"events":[{"p":"${token|reverse}"}]}'
  expect HR-46 HR-47 fail

story token-sha256 like share
  about An event has the SHA-256 of the URL.
  transports 2
  after navigation: send POST ${amplitude} body='{"events":[{"p":"${url|sha256}"}]}'
  expect HR-46 HR-47 fail

story token-md5 like share
  about An event has the MD5 of the token.
  after navigation: send POST ${amplitude} body='{"events":[{"p":"${token|md5}"}]}'
  expect HR-46 HR-47 fail

story url-gzip-body like share
  about A gzipped body has the URL.
  transports 3
  after navigation: let inner '{"events":[{"link":"${url}"}]}'
  after navigation: send POST ${amplitude} body=${inner|gzip} header="Content-Encoding: gzip"
  expect HR-46 HR-47 fail

story url-gzip-base64 like share
  about A field has the URL, gzipped, in base64.
  transports 2
  after navigation: let inner '{"link":"${url}"}'
  after navigation: send POST ${amplitude} body='{"data":"${inner|gzip|base64}"}'
  expect HR-46 HR-47 fail

story token-split like share
  about The token's two halves go out in two requests.
  transports 3
  keep
  after navigation: send POST ${amplitude} body='{"a":"${token|first-half}"}'
  after navigation: send POST ${amplitude} body='{"b":"${token|second-half}"}'
  expect HR-46 HR-47 fail

story token-utf16 like share
  about A body in UTF-16 has the URL.
  after navigation: send POST ${amplitude} type=application/octet-stream body=${url|utf16}
  expect HR-46 HR-47 fail

story token-in-header like share
  about A request to telemetry has the token in a header field.
  transports 2
  after navigation: send POST ${amplitude} body=${count} header="X-Trace: ${token}"
  expect HR-46 HR-47 fail

story token-in-cookie like share
  about A request to telemetry has the token in a cookie.
  after navigation: send POST ${amplitude} body=${count} header="Cookie: last=${token}"
  expect HR-46 HR-47 fail

story url-to-own-logs like share
  about The partner's own log collector gets the URL.
  transports 3
  after navigation: send POST ${logs} body='{"level":"info","message":"opening ${url}"}'
  expect HR-46 HR-47 fail

story url-as-referer like share
  about The app fetches a third party's image with the URL as Referer.
  transports 3
  before launch: serve GET https://images.shopcdn.example/* image
  after navigation: get https://images.shopcdn.example/p.png header="Referer: ${url}"
  expect HR-47 fail

story token-to-partner like share
  about The app sends the token back to the partner.
  transports 3
  after navigation: serve POST /handoff-opened 200
  after navigation: send POST /handoff-opened body='{"token":"${token}"}'
  expect HR-47 HR-59 fail

story token-in-hostname like share
  about The app looks up a name that has the token in it.
  only via=passive
  after navigation: lookup ${token|hex-labels}.collect.example
  expect HR-47 fail

story old-token-in-crash-report like share
  about A crash report of an earlier run has a token that no answer of this trace shows.
  transports 2
  after relaunch-home: send POST ${sentry} type=application/x-sentry-envelope body=${crash-report-old}
  expect HR-46 HR-47 fail
  expect HR-49 fail

story url-after-relaunch like share
  about The crash report with the URL goes out at the next start.
  transports 3
  keep
  after relaunch-home: send POST ${sentry} type=application/x-sentry-envelope body=${crash-report}
  expect HR-46 HR-47 HR-49 fail

story crash-reporter-and-no-relaunch like share
  about A crash reporter is in use, and the trace ends before a relaunch.
  transports 3
  after opened-count: send POST ${sentry} type=application/x-sentry-envelope body='{"type":"session"}'
  drop kill
  drop relaunch
  drop relaunch-home
  expect HR-49 inconclusive

story chia-page-own-analytics like share
  about Chia's page in the browser sends its own address to an analytics host.
  transports 4
  keep
  after navigation: send POST ${amplitude} by=page header="Referer: ${url}" body='{"page":"${url}"}'
  trap HR-46 HR-47 HR-03 pass "Chia's page is not the app"

story chia-page-own-api like share
  about Chia's page in the browser calls Chia's own API and loads the partner's logo.
  transports 3
  before navigation: serve GET https://api.chia.health/* 200
  after navigation: send GET https://api.chia.health/v1/context by=page
  after navigation: get https://img.partner.example/logo.png by=page header="Sec-Fetch-Dest: image" header="Sec-Fetch-Mode: no-cors" header="Origin:"
  trap HR-03 HR-56 HR-59 HR-65 HR-45 pass "what Chia's page loads is not the app's act"

story other-tokens-in-telemetry like share
  about Telemetry has other random tokens of the same length.
  transports 3
  after navigation: send POST ${amplitude} body='{"events":[{"id":"${random}","sid":"${random|base64}"}]}'
  trap HR-46 HR-47 pass "random tokens are everywhere"

story selection-in-telemetry like share
  about An event has the catalog id.
  transports 3
  keep
  before opened: send POST ${amplitude} body='{"events":[{"event_type":"share","catalogId":"${item}"}]}'
  expect HR-48 fail

story selection-url-in-telemetry like share
  about An event has a URL with the catalog id in it.
  transports 2
  before opened: send POST ${amplitude} body='{"events":[{"page":"https://api.partner.example/catalog/${item}/handoff"}]}'
  expect HR-48 fail

story selection-before-the-flow like share
  about An event has the catalog id before the tap on the card: ordinary product analytics.
  transports 2
  before cta: send POST ${amplitude} body='{"events":[{"event_type":"view","catalogId":"${item}"}]}'
  trap HR-48 pass "before the flow a shop may count what is looked at"

story other-id-in-telemetry like share
  about An event has another item's id.
  before opened: send POST ${amplitude} body='{"events":[{"event_type":"view","catalogId":"trt_4c1d9e7a21"}]}'
  trap HR-48 pass "another item's id"

story replay-upload like share
  about A session-replay library uploads 12 KB during the flow.
  transports 3
  before launch: serve POST https://rec.smartlook.com/* 200
  before opened: send POST https://rec.smartlook.com/v1/record type=application/octet-stream body=${blob}
  expect HR-50 fail

story replay-upload-before like share
  about The same upload, before the tap on the card.
  before launch: serve POST https://rec.smartlook.com/* 200
  before cta: send POST https://rec.smartlook.com/v1/record type=application/octet-stream body=${blob}
  trap HR-50 pass "before the flow"

story shortener-gets-url like share
  about The app makes a short link of the URL.
  transports 3
  keep
  before launch: serve POST https://api-ssl.bitly.com/* 200
  before opened: send POST https://api-ssl.bitly.com/v4/shorten body='{"long_url":"${url}"}'
  expect HR-46 HR-47 HR-51 fail

story attribution-during-flow like share
  about An attribution service gets an event during the flow.
  keep
  transports 3
  before launch: serve POST https://app.adjust.com/* 200
  before opened: send POST https://app.adjust.com/event body='{"event_token":"abc123","created_at":"now"}'
  expect HR-52 fail

story attribution-at-launch like share
  about The attribution service counts the start of the app, long before the tap.
  transports 3
  before launch: serve POST https://app.adjust.com/* 200
  after home: send POST https://app.adjust.com/session body='{"created_at":"now"}'
  after rest: pause 1100ms
  trap HR-52 pass "the start of the app is no click"

story person-uses-shortener like share
  about Later, in the browser, the person follows a short link of somebody's.
  transports 3
  before launch: serve GET https://bit.ly/* 200 document=page type="text/html; charset=utf-8"
  after opened-count: open https://bit.ly/3xYzAbC
  trap HR-51 HR-30 pass "the browser's own way is not the app's"

story page-analytics-after-relaunch like share
  about The browser restores Chia's page after the relaunch, and that page counts itself with its own address.
  transports 3
  before launch: serve POST https://www.google-analytics.com/* 204
  after relaunch-home: send POST https://www.google-analytics.com/g/collect by=page body='dl=${url|percent}'
  trap HR-49 HR-46 HR-47 pass "Chia's page is not the app"

story chia-cookie-in-app like chia-sets-cookie
  about The app sends the cookie that Chia set in the browser.
  transports 3
  keep
  before background: get /home header="Cookie: sid=9Zq4T7bXw2LmC81r"
  expect HR-53 fail

story key-in-telemetry like share
  about An event has the idempotency key.
  keep
  transports 2
  before opened: send POST ${amplitude} body='{"events":[{"request":"${key}"}]}'
  # Worth knowing, and no more: the contract does not speak of it.
  trap HR-54 pass "a key in telemetry is an information"
