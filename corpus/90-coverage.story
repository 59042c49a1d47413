# What can't be seen: rules stay open, and say why.

labels unread
  expect rest inconclusive

# The session request and the projections are unread; what is sent elsewhere is not.
labels session-unread
  expect HC-01 inconclusive no-keys
  expect HC-07 pass
  expect HR-02 HR-05 HR-06 HR-07 HR-08 HR-09 HR-10 HR-11 HR-12 HR-13 HR-14 HR-15 HR-16 HR-17 HR-18 HR-19 HR-20 HR-21 HR-22 HR-23 HR-24 inconclusive
  expect HR-45 HR-55 HR-56 HR-57 inconclusive
  expect HR-26 HR-27 HR-28 HR-31 HR-35 HR-36 HR-37 HR-38 HR-39 HR-40 HR-41 HR-42 HR-43 HR-46 HR-47 HR-48 HR-49 HR-58 HR-59 HR-60 inconclusive

story no-keys like share
  about Nobody kept the device's keys.
  keep
  transports 4
  only via=passive
  capture keys=none
  labels unread
  expect HC-01 inconclusive no-keys
  expect HC-05 inconclusive actor-unknown
  expect HC-07 not-applicable
  expect HR-03 inconclusive actor-unknown
  # Name lookups and connections are seen all the same.
  expect HR-01 HR-04 pass
  expect HR-25 not-applicable
  # Which hosts were contacted is seen all the same.
  expect HR-51 HR-52 pass
  # Nothing of the kind was marked.
  expect HR-63 HR-64 HR-66 not-applicable

story partner-unread like share
  about The keys of the partner's host are missing.
  keep
  only via=passive
  capture keys-not=api.partner.example
  labels session-unread
  expect HR-29 HR-30 HR-32 HR-44 HR-54 HR-65 inconclusive

story return-crafted-unread like return-crafted-ignored
  about The same, and the keys of the partner's host are missing.
  only via=passive
  capture keys-not=api.partner.example
  labels session-unread
  expect HR-29 HR-30 HR-32 HR-44 HR-54 HR-65 inconclusive
  expect HR-63 HR-64 inconclusive no-keys
  expect HR-42 not-applicable

story chia-unread like share
  about The keys of Chia's host are missing.
  only via=passive
  capture keys-not=chia.health
  expect HC-01 inconclusive no-keys
  expect HR-03 HC-05 inconclusive actor-unknown
  expect HR-05 HR-09 HR-26 HR-27 HR-28 HR-29 HR-30 HR-31 HR-33 HR-34 inconclusive
  expect HR-10 HR-47 HR-53 HR-55 HR-57 HR-59 inconclusive no-keys
  expect HR-61 HR-65 inconclusive no-keys

story telemetry-unread like share
  about The keys of the analytics host are missing.
  keep
  only via=passive
  transports 3
  capture keys-not=api2.amplitude.com
  after foreground-projection: send POST ${amplitude} body=${count}
  after relaunch-home: send POST ${amplitude} body=${count}
  expect HR-43 HR-44 HR-46 HR-47 HR-48 HR-49 HR-50 HR-54 inconclusive opaque-telemetry
  expect HC-01 inconclusive no-keys

story cut-short like share
  about The file ends in the middle of a packet.
  transports 3
  capture cut=70
  expect HR-01 HR-02 HR-03 HR-04 HR-05 HR-06 HR-07 HR-08 HR-09 HR-10 HR-11 HR-18 HR-19 HR-20 HR-21 HR-22 HR-23 HR-24 inconclusive
  expect HR-17 HR-26 HR-27 HR-28 HR-29 HR-30 HR-31 HR-32 HR-34 HR-35 HR-36 HR-37 HR-38 HR-40 HR-42 HR-43 HR-45 HR-46 HR-47 HR-48 HR-49 HR-50 HR-51 HR-54 HR-55 HR-56 HR-57 HR-59 HR-60 inconclusive
  expect HC-06 inconclusive file-cut-short
  expect HR-42 HR-43 HR-49 not-applicable
  expect HR-44 HR-52 HR-58 HR-65 inconclusive file-cut-short

story quic-to-chia like share
  about A QUIC datagram to Chia, after the tap.
  only via=passive
  before opened: datagram chia.health:443 ${random}
  expect HR-46 HR-47 inconclusive unknown-protocol
  expect HR-48 HR-50 HR-51 HR-52 HR-54 inconclusive unknown-protocol

story private-relay like share
  about The phone uses a relay that carries other hosts unseen.
  keep
  only via=passive
  before cta: dial mask.icloud.com by=os
  expect HC-02 inconclusive private-relay
  expect HR-01 HR-02 HR-03 HR-04 HR-05 HR-07 HR-08 HR-09 HR-10 HR-26 HR-27 HR-28 HR-29 HR-30 HR-31 HR-32 HR-36 HR-37 HR-38 HR-39 inconclusive private-relay
  expect HR-40 HR-41 HR-43 HR-44 HR-45 HR-46 HR-47 HR-48 HR-49 HR-50 HR-51 HR-52 HR-54 HR-55 HR-56 HR-57 HR-58 HR-59 HR-60 inconclusive private-relay
  expect HR-11 HR-12 HR-13 HR-14 HR-15 HR-16 HR-17 HR-18 HR-19 HR-20 HR-21 HR-22 HR-23 HR-24 HR-34 HR-35 HR-65 inconclusive private-relay

story marks-of-a-bad-clock like share
  about The marks come from a clock that is known to 300 ms only.
  keep
  only via=passive
  set timing.clock-error 300ms
  replace cta: tap cta way=file
  replace tap: tap share way=file
  expect HC-03 HR-01 inconclusive clock-bound

story two-phones like share
  about Another phone in the same network opens Chia's start page.
  keep
  only via=passive
  cast neighbour browser
  before end: open https://chia.health/start by=neighbour
  expect HC-07 HR-28 HR-29 inconclusive several-devices

story partner-host-unresolved like share
  about The app asks a host of the partner's whose name leads nowhere, so that the recorder can't reach it.
  keep
  only recorder=proxy
  set hosts.partner [api.partner.example, old.partner.invalid]
  before cta: get https://old.partner.invalid/health expect=lost
  expect HC-09 HC-01 HR-02 inconclusive dial-failed

story contradicting-marks like share
  about Two marks have one id and two contents.
  transports 3
  keep
  replace cta: tap cta id=m1
  replace tap: tap share id=m1
  expect HC-04 inconclusive marks-inconsistent
  expect HR-01 HR-09 inconclusive marks-inconsistent
  expect HR-02 HR-07 inconclusive no-tap-mark
  expect HR-06 HR-10 HR-23 inconclusive
  expect HR-22 inconclusive marks-inconsistent
  expect HR-04 HR-34 HR-42 HR-43 inconclusive marks-inconsistent
