# Sessions that are judged together (sets.tsv): what rules over several traces say of runs with different outcomes.

ground watched-return like return-ground
  about The generic return, and a while of watching after it.
  set timing.after-return 300ms
  before kill: pause 400ms

ground watched-back like share
  about The person comes back to the item, and a while of watching after it.
  set timing.after-return 300ms
  before kill: pause 400ms

story run-paid like watched-return
  about A run that was paid, and its generic return.
  after clean: scenario name=run attrs.outcome=paid
  expect HR-63 not-applicable

story run-abandoned like watched-return
  about A run that was given up, and its generic return.
  after clean: scenario name=run attrs.outcome=abandoned
  expect HR-63 not-applicable

story run-paid-asks-more like run-paid
  about After the return of a run that was paid the app asks for the home twice.
  after foreground-projection: get /home

story run-paid-with-picture like run-paid
  about After the return of a run that was paid the home shows a picture more.
  after foreground-projection: get https://img.partner.example/i/7f3a91.png

story run-paid-unread like run-paid
  about The same, and the app talks to a host whose keys are missing.
  only via=passive
  capture keys-not=push.partner-tools.example
  before launch: serve GET https://push.partner-tools.example/* 200
  after foreground-projection: get https://push.partner-tools.example/poll
  after relaunch-home: get https://push.partner-tools.example/poll
  expect HC-01 HR-36 HR-43 HR-44 HR-46 HR-47 HR-48 HR-49 HR-55 HR-64 inconclusive no-keys
  expect HR-44 pass

story back-paid like watched-back
  about A run that was paid; the person comes back to the item.
  after clean: scenario name=run attrs.outcome=paid

story back-abandoned like watched-back
  about A run that was given up; the person comes back to the item.
  after clean: scenario name=run attrs.outcome=abandoned

story back-paid-asks-more like back-paid
  about After it came back the app of a run that was paid fetches the projection twice.
  after foreground-projection: get /catalog/${item}/handoff

story back-paid-counts-more like back-paid
  about After it came back the app of a run that was paid shows a picture more.
  after foreground-projection: get https://img.partner.example/i/7f3a91.png

story back-paid-unread like back-paid
  about The same, and the app talks to a host whose keys are missing.
  only via=passive
  capture keys-not=push.partner-tools.example
  before launch: serve GET https://push.partner-tools.example/* 200
  after foreground-projection: get https://push.partner-tools.example/poll
  after relaunch-home: get https://push.partner-tools.example/poll
  expect HC-01 HR-36 HR-43 HR-46 HR-47 HR-48 HR-49 HR-55 inconclusive no-keys

story pinned-key like share
  about The generator of keys is pinned: every run has the same key.
  replace post: post key=4b1d3c52-7a6e-4f0a-9c3d-2e8f5a6b7c81

story stored-url like share
  about The partner's backend hands out one URL for every operation, and each run opens it.
  before tap: serve POST /handoff-session 201 document=session-answer-stored
