#!/usr/bin/env bash
# Judge the recorded sessions in pcaps/ and compare each exit status with the one expected.
# usage: demo.sh HANDOFF
set -euo pipefail
handoff=${1:?usage: $0 HANDOFF}
cd "$(dirname "$0")/.."
mkdir -p reports
status=0
"$handoff" check pcaps --policy pcaps/handoff.yml --report json=reports/pcaps.json --report junit=reports/pcaps.xml \
  >reports/pcaps.txt || status=$?
cat reports/pcaps.txt
echo
echo "Each recording against what it must get (pcaps/index.tsv):"
wrong=0
while IFS=$'\t' read -r file expected shows _; do
  [[ $file == file ]] && continue
  got=0
  "$handoff" check "pcaps/$file" --policy pcaps/handoff.yml >/dev/null 2>&1 || got=$?
  mark=ok
  if [[ $got != "$expected" ]]; then mark="WRONG: exit $got, expected $expected"; wrong=$((wrong + 1)); fi
  printf '  %-42s exit %s  %s\n' "$file" "$got" "$mark"
done <pcaps/index.tsv
echo
echo "Reports: reports/pcaps.txt (the text above), reports/pcaps.json, reports/pcaps.xml (JUnit)"
if ((wrong)); then echo "$wrong recording(s) were judged otherwise than expected"; exit 1; fi
echo "All recordings were judged as expected."
