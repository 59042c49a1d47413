# HR-55 to HR-60: secrets, catalog, status.

story webhook-secret-to-app like share
  about A configuration that the app fetches holds a webhook secret.
  transports 3
  keep
  before launch: serve GET /config 200 document=config-with-secret
  after home: get /config
  expect HR-55 fail

story api-key-to-chia like share
  about The app calls Chia with an API key.
  transports 3
  before launch: serve GET https://api.chia.health/* 200
  before opened: get https://api.chia.health/v1/catalog header="X-Api-Key: ck_lab_51d0a7c2b3"
  expect HR-03 HR-55 HR-56 HR-59 fail
  expect HR-53 pass
  expect HR-58 fail

story chia-sdk like share
  about A request has the SDK's name in its User-Agent.
  transports 3
  keep
  replace home: get /home header="User-Agent: @chiahealth/partner 2.1.0"
  expect HR-56 fail

story asset-fetched like share
  about The app fetches an authenticated asset of Chia's.
  transports 3
  keep
  before launch: serve GET https://assets.chia.health/* image
  after image: get https://assets.chia.health/i/7f3a91.png
  expect HR-01 HR-03 HR-56 HR-57 HR-59 fail
  expect HR-45 fail
  expect HR-56 pass

story signed-shop-image like share
  about The app fetches an image of the partner's shop by a signed URL of its store.
  transports 3
  keep
  before launch: serve GET https://shop-images.s3.amazonaws.com/* image
  after image: get "https://shop-images.s3.amazonaws.com/banner.png?X-Amz-Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7&X-Amz-Expires=900"
  trap HR-57 pass "signed URLs of the partner's own shop are none of Chia's"
  trap HR-45 pass "a banner is no card image"

story signed-image-in-projection like share
  about A projection has a signed URL.
  transports 2
  before launch: serve GET /catalog/* 200 document=projection-signed-image
  expect HR-57 fail
  expect HR-38 fail

story raw-catalog-key like share
  about A response has a key that only the raw catalog has.
  transports 3
  keep
  set forbidden.catalog-keys [wholesale_price]
  before launch: serve GET /home 200 document=home-with-raw-key
  expect HR-58 fail

story raw-catalog-endpoint like share
  about The app calls the catalog endpoint.
  transports 2
  set requests.catalog '["GET /v2/catalog/{id}"]'
  before launch: serve GET /v2/catalog/* 200
  after home: get /v2/catalog/${item}
  expect HR-58 fail

story status-polling like share
  about The app asks the partner for the state of the session by the id that its answer gave.
  transports 4
  keep
  before tap: serve POST /handoff-session 201 document=session-answer-id
  before foreground: serve GET /handoff-session/* 200 document=status
  after foreground-projection: get /handoff-session/ses_51f0c2aa9e
  after foreground-projection: pause 80ms
  after foreground-projection: get /handoff-session/ses_51f0c2aa9e
  expect HR-59 fail
  expect HR-43 fail

story status-by-template like share
  about The app calls a path that the policy names as a status call.
  transports 2
  set requests.status '["GET /handoff-status"]'
  before foreground: serve GET /handoff-status 200
  after foreground-projection: get /handoff-status
  expect HR-59 fail
  expect HR-43 fail

story own-orders like share
  about The app shows the partner's own orders.
  transports 3
  keep
  set requests.foreground-allow '["GET /orders"]'
  before foreground: serve GET /orders 200 document=orders
  after foreground-projection: get /orders
  trap HR-59 pass "the partner's own order history"

story maintenance-check like share
  about The app asks the partner's backend whether it is up.
  set requests.foreground-allow '["GET /status"]'
  before foreground: serve GET /status 200
  after foreground-projection: get /status
  trap HR-59 pass "a bare /status is a hint, not a violation"

story order-status-after-handoff like share
  about A response after the handoff has the state of an order.
  transports 3
  keep
  set requests.foreground-allow '["GET /me"]'
  before foreground: serve GET /me 200 document=me-with-status
  after foreground-projection: get /me
  expect HR-60 fail

story compensation-text like share
  about The projection's compensation disclosure speaks of payment.
  transports 2
  before launch: serve GET /catalog/* 200 document=projection-compensation
  trap HR-60 HR-37 pass "compensationDisclosure must be there"
