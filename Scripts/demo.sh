#!/usr/bin/env bash
# Judge the recorded sessions in pcaps/, show what comes out, and compare each with what it must get.
# usage: demo.sh HANDOFF
set -euo pipefail
handoff=$(realpath "${1:?usage: $0 HANDOFF}")
cd "$(dirname "$0")/.."
mkdir -p reports

echo "== A session that breaks the contract: handoff check pcaps/url-in-crash-report.pcapng"
echo
"$handoff" check pcaps/url-in-crash-report.pcapng | sed '/^Summary by cause/,$d' || true

echo "== All recordings, each against what it must get (pcaps/index.tsv)"
echo
wrong=0
while IFS=$'\t' read -r file expected shows _; do
  [[ $file == file ]] && continue
  got=0
  "$handoff" check "pcaps/$file" >reports/one.txt 2>&1 || got=$?
  case $got in 0) word=pass ;; 1) word=FAIL ;; 4) word=inconclusive ;; *) word="exit $got" ;; esac
  rules=$(awk 'tolower($2) == "fail" || ($2 == "inconclusive" && '"$got"' == 4) {sub(/\*$/, "", $1); printf " %s", $1}' reports/one.txt)
  mark=""
  if [[ $got != "$expected" ]]; then mark="  <-- WRONG: expected exit $expected"; wrong=$((wrong + 1)); fi
  printf '  %-13s %-40s%s%s\n' "$word" "${file%.pcapng}" "$rules" "$mark"
  printf '  %-13s   %s\n' "" "$shows"
done <pcaps/index.tsv
rm -f reports/one.txt

echo
echo "== The set as a gate sees it: handoff check pcaps/*.pcapng --report json=… --report junit=…"
echo
"$handoff" check pcaps/*.pcapng --report json=reports/pcaps.json --report junit=reports/pcaps.xml >reports/pcaps.txt || true
sed -n '/^Summary by cause/,$p' reports/pcaps.txt
echo
echo "Reports: reports/pcaps.txt (every verdict in full), reports/pcaps.json, reports/pcaps.xml (JUnit)"
if ((wrong)); then echo "$wrong recording(s) were judged otherwise than expected"; exit 1; fi
echo "All recordings were judged as expected."

echo
echo "== Live: four sessions through the recording proxy on loopback: handoff demo"
echo
rm -rf reports/live
"$handoff" demo --out reports/live
