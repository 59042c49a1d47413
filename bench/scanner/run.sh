#!/usr/bin/env bash
# The scanner beside grep -F with the same patterns, and beside vectorscan where it is installed, in one run.
# usage: bench/scanner/run.sh [FOLDER]     FOLDER as of build.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-.build/scanner}
bench/scanner/build.sh "$out"
bench=$out/scanner-bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bench" learn
"$bench" speed 64
"$bench" patterns "$work/patterns"
for kind in text json; do
  "$bench" write $kind 64 "$work/$kind"
  TIMEFORMAT="grep -F -f ($(wc -l <"$work/patterns.text") patterns), $kind of 64 MiB: %U CPU s"
  time LC_ALL=C grep -c -F -f "$work/patterns.text" "$work/$kind" >/dev/null || true
done
if cc -O2 bench/scanner/vectorscan.c -o "$work/vectorscan" -lhs 2>/dev/null; then
  for kind in text json; do echo "vectorscan, $kind: $("$work/vectorscan" "$work/patterns" "$work/$kind")"; done
else
  echo "vectorscan is not installed (libvectorscan-dev)"
fi
