#!/usr/bin/env bash
# Write docs/example.md anew: each command is run, and what it prints goes into the document as it is.
# usage: example.sh HANDOFF
set -euo pipefail
program=$(realpath "${1:?usage: $0 HANDOFF}")
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Digests in reports are keyed per installation; a key that is the same each time keeps the document the same.
mkdir -p "$work/data/handoff"
printf '%032d' 0 >"$work/data/handoff/installation-key"
export XDG_DATA_HOME=$work/data NO_COLOR=1
handoff() { "$program" "$@"; }

# The commands see the recordings and their policy in the folder where they run.
mkdir "$work/traces"
cd "$work/traces"
for name in url-in-crash-report-gzip-base64 unnamed-session-path; do ln -s "$root/pcaps/$name.pcapng" .; done
cp "$root/pcaps/handoff.yml" .

# Prints a command, runs it, prints its output and exit status.
run() {
  printf '```console\n$ %s\n' "$1"
  local status=0
  eval "$1" 2>&1 || status=$?
  printf '$ echo $?\n%s\n```\n' "$status"
}

{
  cat <<'TEXT'
# A worked example

<!-- Written by Scripts/example.sh: the commands were run and their output was not edited. -->

Two recordings from [`pcaps/`](../pcaps/README.md): one that fails, followed to the packet, and one that can't be decided
until the policy says more. Both lie in the current folder with the recordings' policy, `handoff.yml`.

## A failing trace

The verdict first: what failed with its evidence, then what passed. A `*` marks the rules of the gate, a `†` a pass that rests
on an assumption; the fingerprint names the finding from run to run.

TEXT
  run 'handoff check --policy handoff.yml url-in-crash-report-gzip-base64.pcapng'
  cat <<'TEXT'

The app sent the handoff URL to a crash reporter, base64-encoded in a log line of a gzipped report. `U#1` is the handoff
URL: reports never print it. What happened around it:

TEXT
  run 'handoff show --policy handoff.yml url-in-crash-report-gzip-base64.pcapng'
  cat <<'TEXT'

The number behind `#` is the packet's, as Wireshark counts. The report leaves the device after the app was killed and
launched again, so a test that stops at the navigation would have missed it. One rule alone, with all that it looked at:

TEXT
  run 'handoff show --policy handoff.yml --rule HR-46 url-in-crash-report-gzip-base64.pcapng'
  cat <<'TEXT'

The last line goes into Wireshark's filter bar. The keys are inside the file, so Wireshark shows the requests decrypted.
tshark agrees on what those packets are:

TEXT
  run "tshark -r url-in-crash-report-gzip-base64.pcapng -Y 'frame.number in {88, 91, 172, 175}' -T fields -e frame.number -e http2.headers.method -e http2.headers.authority -e http2.headers.path -e http2.headers.status 2>/dev/null | sed 's/phs_[A-Za-z0-9_-]*/phs_…/'"
  cat <<'TEXT'

## A trace that can't be decided

Here the app posts its session request to a path that the policy doesn't name. That must never look like a pass: rules
that count session requests would be green because they found none.

TEXT
  run 'handoff check --policy handoff.yml unnamed-session-path.pcapng >check.txt'
  echo
  run 'grep -A 2 HR- check.txt | head -n 12'
  echo
  run "sed -n '/^Summary by cause/,/^$/p' check.txt"
  cat <<'TEXT'

`policy init --from` looks at what the trace shows and prints a policy to begin with:

TEXT
  run 'handoff policy init --from unnamed-session-path.pcapng'
  cat <<'TEXT'

The two lines from there go into the policy:

TEXT
  run "handoff policy init --from unnamed-session-path.pcapng | grep -e '^requests:' -e '^  session:' >>handoff.yml"
  echo
  run 'handoff policy check handoff.yml'
  echo
  run 'handoff check --policy handoff.yml unnamed-session-path.pcapng'
} >"$work/example.md"
mv "$work/example.md" "$root/docs/example.md"
