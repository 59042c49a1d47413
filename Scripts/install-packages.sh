#!/usr/bin/env bash
# Install the Debian packages that handoff needs and this machine lacks.
# usage: install-packages.sh build|test        (test includes build)
# On a system without apt it prints the list and stops.
set -euo pipefail
purpose=${1:?usage: $0 build|test}
list=$(dirname "$0")/packages.tsv
missing=()
while IFS=$'\t' read -r package need why; do
  [[ $package == \#* || -z $package ]] && continue
  [[ $need == build || $purpose == test ]] || continue
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' && continue
  missing+=("$package")
  printf '  %-20s %s\n' "$package" "$why"
done < <(if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then cat "$list"; else
  echo "This is not a Debian-like system. Install the equivalents of these yourself, then set HANDOFF_SKIP_PACKAGES=1:" >&2
  awk -F'\t' -v p="$purpose" '!/^#/ && ($2 == "build" || p == "test") {printf "  %-20s %s\n", $1, $3}' "$list" >&2
fi)
if ! command -v apt-get >/dev/null; then exit "$([[ -n ${HANDOFF_SKIP_PACKAGES:-} ]] && echo 0 || echo 1)"; fi
if ((${#missing[@]})); then
  echo "Installing the ${#missing[@]} missing package(s) above."
  as_root=(); [[ $(id -u) == 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
command -v swift >/dev/null || {
  echo "swift is not on PATH: install Swift 6.3 or later from swift.org and put its usr/bin on PATH." >&2
  exit 1
}
