# What can't be seen: rules stay open, and say why.

labels unread
  expect rest inconclusive

story no-keys like share
  about Nobody kept the device's keys.
  transports 4
  keep
  only via=passive
  capture keys=none
  labels unread
  expect HC-01 inconclusive

story partner-unread like share
  about The keys of the partner's host are missing.
  only via=passive
  capture keys-not=api.partner.example

story chia-unread like share
  about The keys of Chia's host are missing.
  only via=passive
  capture keys-not=chia.health

story telemetry-unread like share
  about The keys of the analytics host are missing.
  only via=passive
  transports 3
  capture keys-not=api2.amplitude.com
  expect HR-46 HR-47 inconclusive opaque-telemetry

story snapped like share
  about Packets were captured in part.
  only via=passive
  capture snaplen=96

story cut-short like share
  about The file ends in the middle of a packet.
  transports 3
  capture cut=70

story quic-to-chia like share
  about A QUIC datagram to Chia, after the tap.
  only via=passive
  before opened: datagram chia.health:443 ${random}

story contradicting-marks like share
  about Two marks have one id and two contents.
  transports 3
  keep
  replace cta: tap cta id=m1
  replace tap: tap share id=m1
  expect HC-04 inconclusive marks-inconsistent
