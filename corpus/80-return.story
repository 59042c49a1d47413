# HR-61 to HR-66: the generic return.

labels returned
  expect HR-63 HR-64 pass
  # The link leads home, where no item is on the screen.
  expect HR-42 not-applicable

# The person comes back by the link on Chia's page.
ground return-ground like share
  about The person comes back by the link on Chia's page, which leads to the marketplace's home.
  labels returned
  before foreground: tap return
  before foreground: returned: return
  replace foreground-projection: get /home

story return like return-ground
  about The person comes back by the link on Chia's page, which leads to the marketplace's home.
  transports 4
  keep
  expect HR-63 not-applicable

story return-crafted-ignored like return-ground
  about The link's query is crafted; the app ignores it.
  transports 3
  keep
  replace returned: return attrs.status=paid attrs.canary=cnry4f7d2e19a6b3
  expect HR-63 HR-64 pass

story return-crafted-opened-by-browser like return-ground
  about The crafted link passes through the browser, which sends its query to the partner's site; the app ignores it.
  transports 3
  before foreground: open "https://www.partner.example/home?status=paid&canary=cnry4f7d2e19a6b3" header="Sec-Fetch-Site: cross-site" header="Referer: https://chia.health/"
  replace returned: return attrs.status=paid attrs.canary=cnry4f7d2e19a6b3
  trap HR-63 pass "the browser opens the link with its query; the app is what must not"
  expect HR-61 pass

story return-with-refresh like return-ground
  about The home comes up, and the item that lies behind it is refreshed.
  after foreground-projection: get /catalog/${item}/handoff
  trap HR-64 pass "the refresh of the item that was on the screen"
  expect HR-63 not-applicable

story return-crafted-sent like return-ground
  about The link's query is crafted, and the app sends it on.
  transports 3
  keep
  replace returned: return attrs.status=paid attrs.canary=cnry4f7d2e19a6b3
  before foreground: serve GET /home* 200 document=home
  replace foreground-projection: get /home?ref=cnry4f7d2e19a6b3
  expect HR-63 fail

story return-crafted-sent-encoded like return-ground
  about The crafted value goes to telemetry in base64.
  transports 2
  replace returned: return attrs.status=paid attrs.canary=cnry4f7d2e19a6b3
  after foreground-projection: let canary cnry4f7d2e19a6b3
  after foreground-projection: send POST ${amplitude} body='{"v":"${canary|base64}"}'
  expect HR-63 fail
  expect HR-43 fail

story return-to-item like return-ground
  about After the return the app opens the item instead of the home.
  transports 3
  keep
  replace foreground-projection: get /catalog/${item}/handoff
  after foreground-projection: serve GET /orders/last 200
  after foreground-projection: get /orders/last
  expect HR-64 fail
  expect HR-43 fail
  expect HR-63 not-applicable

story return-link-with-query like return-ground
  about Chia's page sends the browser to the return host with a status in the query.
  keep
  transports 2
  set hosts.return [www.partner.example]
  set return-link https://www.partner.example/home
  before foreground: serve GET https://chia.health/done 302 header="Location: https://www.partner.example/home?status=paid"
  before foreground: open https://chia.health/done header="Sec-Fetch-Site: same-origin" header="Referer: https://chia.health/"
  before foreground: open "https://www.partner.example/home?status=paid" header="Sec-Fetch-Site: cross-site" header="Referer: https://chia.health/"
  expect HR-61 fail
  expect HR-63 not-applicable

story return-link-plain like return-ground
  about Chia's page sends the browser to the registered return address.
  transports 2
  before foreground: serve GET https://chia.health/done 302 header="Location: https://www.partner.example/home"
  before foreground: open https://chia.health/done header="Sec-Fetch-Site: same-origin" header="Referer: https://chia.health/"
  before foreground: open https://www.partner.example/home header="Sec-Fetch-Site: cross-site" header="Referer: https://chia.health/"
  expect HR-61 pass
  expect HR-63 not-applicable

story return-link-registered-query like return-ground
  about Chia's page sends the browser to the registered return address, which has a query of its own.
  transports 2
  set return-link https://www.partner.example/home?from=care
  before foreground: serve GET https://chia.health/done 302 header="Location: https://www.partner.example/home?from=care"
  before foreground: open https://chia.health/done header="Sec-Fetch-Site: same-origin" header="Referer: https://chia.health/"
  before foreground: open "https://www.partner.example/home?from=care" header="Sec-Fetch-Site: cross-site" header="Referer: https://chia.health/"
  trap HR-61 pass "a query that is registered says nothing"
  expect HR-63 not-applicable

story callback-by-chia-page like share
  about Chia's page calls the partner's API by itself.
  transports 3
  keep
  before navigation: serve POST /chia-callback 200
  after navigation: send POST https://api.partner.example/chia-callback by=page body='{"ok":true}'
  expect HR-65 fail

story foreign-link like share
  about A link on a foreign host is opened, and the app stays asleep.
  transports 2
  keep
  after foreground-projection: link-opened attrs.host=evil.example attrs.url=https://evil.example/home
  replace kill: pause 5200ms
  drop relaunch
  drop relaunch-home
  expect HR-66 pass
  expect HR-49 inconclusive
  expect HR-49 not-applicable

story foreign-link-in-browser like foreign-link
  about The link on a foreign host is opened, and the browser shows it; the app stays asleep.
  before launch: serve GET https://evil.example/* 200 document=page type="text/html; charset=utf-8"
  after foreground-projection: open https://evil.example/home
  trap HR-66 pass "the browser opens the link, not the app"

story foreign-link-unread like foreign-link
  about The same, and the app polls a host whose keys are missing.
  only via=passive
  capture keys-not=push.partner-tools.example
  before launch: serve GET https://push.partner-tools.example/* 200
  before kill: get https://push.partner-tools.example/poll
  expect HC-01 inconclusive no-keys
  expect HR-36 HR-46 HR-47 HR-48 HR-55 HR-66 inconclusive no-keys

story foreign-link-wakes-app like share
  about A link on a foreign host brings the app to life.
  transports 2
  keep
  after foreground-projection: link-opened attrs.host=evil.example attrs.url=https://evil.example/home
  after foreground-projection: pause 40ms
  after foreground-projection: get /home
  expect HR-66 fail
