labels conforming
  expect rest not-applicable
  expect rest-HC pass
  expect HR-01 HR-02 HR-03 HR-05 HR-07 HR-08 HR-09 HR-11 HR-46 HR-47 HR-59 pass

story share
  about One tap, one session request, one page in the browser.
  transports 6
  keep
  labels conforming
  use servers
  use arrive
  use call-to-action
  tap: tap share
  operation: operation
  post: post
  use to-chia
  use leave
