# What all stories share: the policy, the senders' header fields, the servers' texts, and the parts that most stories
# are made of. See README.md.

policy
  version 1
  hosts.chia [chia.health]
  hosts.chia-api [api.chia.health]
  hosts.chia-assets [assets.chia.health]
  hosts.partner [api.partner.example]
  hosts.partner-assets [img.partner.example]
  hosts.return [www.partner.example]
  hosts.telemetry [builtin, logs.partner.example]
  requests.home '["GET /home"]'
  timing.double-tap 300ms
  timing.tap-to-request 800ms
  timing.observe-after 400ms

# -- who sends -------------------------------------------------------------------------------------------------------

sender app
  | User-Agent: okhttp/4.12.0
  | Accept: application/json

sender ios
  | User-Agent: PartnerShop/5.2 CFNetwork/1490 Darwin/23.2.0
  | Accept: application/json
  | Accept-Language: en-GB,en;q=0.9

sender dart
  | User-Agent: Dart/3.3 (dart:io)

sender browser
  | Upgrade-Insecure-Requests: 1
  | User-Agent: Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36
  | Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
  | Sec-Fetch-Site: none
  | Sec-Fetch-Mode: navigate
  | Sec-Fetch-User: ?1
  | Sec-Fetch-Dest: document
  | Accept-Language: en-GB,en;q=0.9

sender safari
  | Sec-Fetch-Dest: document
  | User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1
  | Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
  | Sec-Fetch-Site: none
  | Sec-Fetch-Mode: navigate
  | Accept-Language: en-GB,en;q=0.9
  | Priority: u=0, i

# What a page in the browser loads by itself.
sender page
  | User-Agent: Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36
  | Accept: */*
  | Origin: https://chia.health
  | Sec-Fetch-Site: cross-site
  | Sec-Fetch-Mode: cors
  | Sec-Fetch-Dest: empty
  | Referer: https://chia.health/
  | Accept-Language: en-GB,en;q=0.9

sender webview
  | Upgrade-Insecure-Requests: 1
  | User-Agent: Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240805.005; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/131.0.0.0 Mobile Safari/537.36
  | Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8
  | X-Requested-With: example.partner.shop
  | Sec-Fetch-Site: none
  | Sec-Fetch-Mode: navigate
  | Sec-Fetch-User: ?1
  | Sec-Fetch-Dest: document
  | Accept-Language: en-GB,en;q=0.9

sender os
  | User-Agent: swcd (unknown version) CFNetwork/1490 Darwin/23.2.0
  | Accept: */*

sender wkwebview
  | User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148
  | Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
  | Sec-Fetch-Site: none
  | Sec-Fetch-Mode: navigate
  | Sec-Fetch-Dest: document
  | Accept-Language: en-GB,en;q=0.9

sender firefox
  | User-Agent: Mozilla/5.0 (Android 14; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0
  | Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
  | Accept-Language: en-GB,en;q=0.5
  | Upgrade-Insecure-Requests: 1
  | Sec-Fetch-Dest: document
  | Sec-Fetch-Mode: navigate
  | Sec-Fetch-Site: none
  | Sec-Fetch-User: ?1
  | Priority: u=0, i

sender chrome-ios
  | User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1
  | Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
  | Sec-Fetch-Dest: document
  | Sec-Fetch-Site: none
  | Sec-Fetch-Mode: navigate
  | Accept-Language: en-GB,en;q=0.9

# -- names -----------------------------------------------------------------------------------------------------------

document partner
  | api.partner.example

document images
  | img.partner.example

document chia
  | chia.health

document credential
  | Bearer lab-account-1

document session-path
  | /handoff-session

document item
  | trt_4c1d9e7a20

document disclosure
  | 2026-11-01

document neutral
  | https://chia.health/start

document sentry
  | https://o4507.ingest.sentry.io/api/4507/envelope/

document amplitude
  | https://api2.amplitude.com/2/httpapi

document logs
  | https://logs.partner.example/v1/events

# -- what servers say ------------------------------------------------------------------------------------------------

document empty
  | {}

document page
  | <!doctype html><title>Chia</title><h1>Welcome to Chia</h1>

document home
  | {"items":[{"catalogId":"${item}","title":"Sleep care programme"}]}

document session-request
  | {"catalogId":"${item}","disclosureVersion":"${disclosure}","affirmed":true,"affirmedAt":"${now}"}

document session-answer
  | {"url":"https://chia.health/h/${token}","expiresIn":900}

document session-answer-fixed
  | {"url":"https://chia.health/h/phs_${random}","expiresIn":900}

document share-or-neutral
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document neutral-only
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"neutral_only","heading":"Continue with Chia","body":"Chia is a separate company.",
  | "actionLabel":"Continue to Chia","url":"${neutral}"}}

document count
  | {"api_key":"public","events":[{"event_type":"app_event","device_id":"d-1"}]}

document projection-extra
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"expiresAt":"2026-12-01","purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-label
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and Continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-duplicate
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To begin","purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-escaped
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection \u0061nd continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-beside
  | {"catalogId":"${item}","teaser":"New","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-path
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/handoff-session",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-unlisted-url
  | {"catalogId":"${item}","details":"https://www.partner.example/sleep","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-chia-asset
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://assets.chia.health/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-signed-image
  | {"catalogId":"${item}","details":"https://cdn.partner.example/x?Signature=aB3dE5fG7hJ9&Key-Pair-Id=K2JCJMDEHXQW5F","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png?X-Amz-Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7&X-Amz-Expires=900",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-unknown-mode
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_maybe","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-third-party-image
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://images.shopcdn.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-telling-image
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/insomnia-treatment.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-http-image
  | {"catalogId":"${item}","title":"Sleep care programme","image":"http://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-compensation
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We receive a payment (commission) when you place an order.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document projection-with-url
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"share_or_neutral","heading":"Continue with Chia",
  | "body":"Chia is a separate company. You can continue with or without sharing your selection.",
  | "recipient":{"legal_name":"Chia Health Inc.","privacy_contact":"privacy@chia.health"},
  | "dataShared":["Selected programme"],"resume":"${url}","purpose":"To start with the programme you selected",
  | "compensationDisclosure":"We may be paid when you continue.",
  | "policyUrls":{"privacy":"https://www.chia.health/privacy"},
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions",
  | "disclosureVersion":"${disclosure}"},
  | "secondary":{"actionLabel":"Continue without sharing","url":"${neutral}"}}}

document neutral-only-with-primary
  | {"catalogId":"${item}","title":"Sleep care programme","image":"https://img.partner.example/i/7f3a91.png",
  | "handoff":{"mode":"neutral_only","heading":"Continue with Chia","body":"Chia is a separate company.",
  | "actionLabel":"Continue to Chia","url":"${neutral}",
  | "primary":{"actionLabel":"Share selection and continue","sessionCreationPath":"/v2/handoff-sessions","disclosureVersion":"${disclosure}"}}}

document home-with-hidden
  | {"items":[{"catalogId":"${item}","title":"Sleep care programme"},{"catalogId":"trt_77aa01bc34","handoff":{"mode":"hidden"}}]}

document home-with-hidden-id
  | {"items":[{"catalogId":"${item}","title":"Sleep care programme"},{"catalogId":"trt_hidden0001","title":"Other"}]}

document home-with-raw-key
  | {"items":[{"catalogId":"${item}","title":"Sleep care programme","wholesale_price":12}]}

document home-hidden-word
  | {"items":[{"catalogId":"${item}","title":"The hidden causes of bad sleep"}]}

document help-text
  | {"help":"Keys that begin with whsec_ belong on a server, never into an app."}

document home-raw-word
  | {"items":[{"catalogId":"${item}","title":"Sleep care programme","note":"wholesale_price is not shown"}]}

document no-json
  | <html>maintenance</html>

document session-answer-tilde
  | {"url":"https://chia.health/h/phs_${random}/a~b","expiresIn":900}

document session-answer-fragment
  | {"url":"https://chia.health/h/phs_${random}#top","expiresIn":900}

document session-answer-stored
  | {"url":"https://chia.health/h/phs_SampleTokenOfTheLabWhichEveryRunGets0123456789","expiresIn":900}

document session-answer-capitals
  | {"url":"https://CHIA.health/h/phs_${random}","expiresIn":900}

document session-answer-readable
  | {"url":"https://chia.health/h?email=ana@example.org","expiresIn":900}

document session-answer-query
  | {"url":"https://chia.health/h/phs_${random}?product=sleep-care-programme","expiresIn":900}

document session-answer-plain-query
  | {"url":"https://chia.health/h/phs_${random}?v=2","expiresIn":900}

document session-answer-short
  | {"url":"https://chia.health/h/phs_aaaa1111","expiresIn":900}

document session-answer-id
  | {"id":"ses_51f0c2aa9e","url":"https://chia.health/h/phs_${random}","expiresIn":900}

document config-with-token
  | {"lastLink":"${url}"}

document config-with-secret
  | {"webhookSecret":"whsec_lab0123456789abcdefABCDEF012345"}

document status
  | {"state":"open"}

document orders
  | {"orders":[{"number":"1001","total":12}]}

document me-with-status
  | {"name":"Ana","order_status":"shipped"}

document crash-report lines
  | {"sent_at":"${now}"}
  | {"type":"event","content_type":"application/json"}
  | {"message":"out of memory","breadcrumbs":{"values":[{"category":"navigation","data":{"to":"${url}"}}]}}

document crash-report-neutral lines
  | {"sent_at":"${now}"}
  | {"type":"event","content_type":"application/json"}
  | {"message":"out of memory","breadcrumbs":{"values":[{"category":"navigation","data":{"to":"${neutral}"}}]}}

document crash-report-old lines
  | {"sent_at":"${now}"}
  | {"type":"event","content_type":"application/json"}
  | {"message":"out of memory","extra":{"last":"https://chia.health/h/phs_${random}"}}

document blob
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu
  | QmFzZSBmcmFtZSBvZiBhIHJlcGxheTogbm90aGluZyB0aGF0IG1lYW5zIGFueXRoaW5nIGF0IGFsbCwgYnV0IG1hbnkgYnl0ZXMgb2YgaXQu

# -- parts of stories ------------------------------------------------------------------------------------------------

# The servers as they should be.
fragment servers
  serve GET /home 200 document=home
  serve GET /catalog/* 200 document=share-or-neutral
  serve GET https://img.partner.example/* image
  serve POST /handoff-session session
  serve GET https://chia.health/* 200 document=page type="text/html; charset=utf-8"
  serve HEAD https://chia.health/* 200 document=page type="text/html; charset=utf-8"
  serve GET https://www.chia.health/* 200 document=page type="text/html; charset=utf-8"
  serve POST https://o4507.ingest.sentry.io/* 200
  serve POST https://api2.amplitude.com/* 200
  serve POST https://logs.partner.example/* 200
  serve GET https://www.partner.example/* 200 document=page type="text/html; charset=utf-8"

# A cold start, up to the card on the screen.
fragment arrive
  scenario attrs.platform=lab
  clean: browser-clean
  launch: launch
  home: get /home
  image: get https://img.partner.example/i/7f3a91.png
  start-count: send POST ${amplitude} body=${count}
  first-projection: get /catalog/${item}/handoff
  render: render
  rest: pause 60ms

# The touch on the card, the fresh projection, the disclosure.
fragment call-to-action
  cta: tap cta
  fresh-projection: get /catalog/${item}/handoff
  disclosure: jit-shown
  reading: pause 60ms

# The page in the browser, and an event that says so.
fragment to-chia
  opened: opened
  navigation: open ${url}
  opened-count: send POST ${amplitude} body=${count}

# Away and back, killed and launched again.
fragment leave
  background: background
  away: pause 80ms
  foreground: foreground
  foreground-projection: get /catalog/${item}/handoff
  kill: kill
  relaunch: launch
  relaunch-home: get /home
  watch: pause 450ms
  end: end
