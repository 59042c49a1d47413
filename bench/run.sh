#!/usr/bin/env bash
# Time handoff beside tcpdump and tshark on the same work, in one run: seconds, CPU seconds, peak memory, ratios.
# usage: run.sh HANDOFF [CAPTURE]       (without a capture one of 1 GB is made in a temporary folder; CAPTURE.keys is used)
# env: RUNS (default 3, the fastest counts; tshark runs once)
set -euo pipefail
handoff=$(realpath "${1:?usage: $0 HANDOFF [CAPTURE]}") capture=${2:-} runs=${RUNS:-3}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -z $capture ]]; then
  capture=$work/large.pcap
  python3 "$here/make_capture.py" "$capture" 1024
fi
keys=$capture.keys
small=$work/small.pcapng
# About 1 MB: a recorded session with its keys, and traffic of the large capture behind it (a pcapng file may have many
# sections, so files one behind the other are a capture).
editcap -r -F pcapng "$capture" "$work/part.pcapng" 1-950
cat "$here/../pcaps/conforming-share.pcapng" "$work/part.pcapng" >"$small"
cat "$capture" >/dev/null

# time_of RUNS COMMAND…: the fastest run as "seconds user system KiB status"
time_of() {
  local count=$1 best="" line status
  shift
  for ((i = 0; i < count; i++)); do
    status=0
    /usr/bin/time -f '%e %U %S %M' -o "$work/time" "$@" >/dev/null 2>&1 || status=$?
    line="$(tail -n 1 "$work/time") $status"
    if [[ -z $best ]] || awk -v a="${line%% *}" -v b="${best%% *}" 'BEGIN { exit !(a < b) }'; then best=$line; fi
  done
  echo "$best"
}

show() {
  awk -v name="$1" -v line="$2" -v base="$3" 'BEGIN {
    split(line, v, " "); split(base, b, " ")
    printf "%-34s %8.2f s  %8.2f CPU s  %7.1f MiB  exit %d  %7.2f x tcpdump\n",
      name, v[1], v[2] + v[3], v[4] / 1024, v[5], v[1] / (b[1] > 0 ? b[1] : 0.01) }'
}

echo "capture: $(stat -c %s "$capture") bytes; the fastest of $runs runs, tshark once"
base=$(time_of "$runs" tcpdump -nn -r "$capture" -w /dev/null)
show "tcpdump -r F -w /dev/null" "$base" "$base"
ours=$(time_of "$runs" "$handoff" check "$capture" --keylog "$keys")
show "handoff check, decrypted" "$ours" "$base"
facts=$(time_of "$runs" "$handoff" show --facts "$capture" --keylog "$keys")
show "handoff show --facts, decrypted" "$facts" "$base"
theirs=$(time_of 1 tshark -n -o "tls.keylog_file:$keys" -o tcp.reassemble_out_of_order:TRUE -r "$capture" \
  -Y 'http||http2' -T fields -e frame.number -e http.request.uri -e http2.headers.path)
show "tshark, keys and HTTP fields" "$theirs" "$base"
awk -v ours="$ours" -v theirs="$theirs" 'BEGIN { split(ours, a, " "); split(theirs, b, " ")
  printf "handoff check is %.1f times as fast as tshark\n", b[1] / a[1] }'
echo "small trace: $(stat -c %s "$small") bytes, the fastest of 10 runs"
show "handoff check, small trace" "$(time_of 10 "$handoff" check "$small")" "$base"
