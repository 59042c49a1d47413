#!/usr/bin/env bash
# Many connections at once through `handoff record`, HTTP/1.1 and HTTP/2 mixed, then one client that hardly reads.
# Fails when a request fails, when memory or descriptors do not come back, or when the slow reader is not held back.
# usage: soak.sh HANDOFF [SECONDS]     (default 60; 600 is the long run)
# env: CONNECTIONS (default 1000)
set -euo pipefail
handoff=$(realpath "${1:?usage: $0 HANDOFF [SECONDS]}")
seconds=${2:-60} connections=${CONNECTIONS:-1000}
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
need cc openssl nginx ss
ulimit -n "$(ulimit -Hn)"
[[ $(ulimit -n) == unlimited || $(ulimit -n) -gt $((connections * 2 + 200)) ]] || die "too few descriptors: $(ulimit -n)"
build_load
make_certificates
start_origin 100
start_handoff
failed=0
problem() {
  echo "FAILED: $*"
  failed=1
}
drive() { "$work/load" -p "$port_handoff" -o "$origin_port" -a "$ca_handoff" "$@"; }

drive -c 4 -s 1 fresh >/dev/null
sleep 1
start_descriptors=$(descriptors "$pid_handoff") start_memory=$(memory "$pid_handoff" VmRSS)
drive -c "$connections" -s "$seconds" soak >"$work/soak" 2>"$work/soak.err" &
driver=$!
pids+=("$driver")
sampled=0 most_descriptors=0 samples=()
while kill -0 "$driver" 2>/dev/null; do
  sleep 1
  sampled=$((sampled + 1))
  now=$(descriptors "$pid_handoff")
  [[ $now -le $most_descriptors ]] || most_descriptors=$now
  # Ten samples over the run tell whether memory grows with time.
  ((sampled * 10 % (seconds > 10 ? seconds - seconds % 10 : 10) >= 10)) || samples+=("$(memory "$pid_handoff" VmRSS)")
done
wait "$driver" || problem "the load generator ended early"
read -r rate p50 p99 errors count <"$work/soak"
echo "soak: $connections connections, $seconds s: $count requests ($rate/s), p50 $p50 us, p99 $p99 us, $errors errors"
[[ $errors == 0 ]] || problem "$(cat "$work/soak.err")"
sleep 3
end_descriptors=$(descriptors "$pid_handoff") end_memory=$(memory "$pid_handoff" VmRSS)
echo "descriptors: $start_descriptors at the start, $most_descriptors at most, $end_descriptors at the end"
[[ $end_descriptors -le $start_descriptors ]] || problem "descriptors did not come back"
echo "memory, MB: $start_memory at the start, ${samples[*]:-} during, $end_memory at the end, $(memory "$pid_handoff" VmHWM) at most"

# The slow reader: the origin's connection must be held back, others must not be.
before=$(memory "$pid_handoff" VmRSS)
drive -s 8 slow >"$work/slow" 2>&1 &
slow=$!
pids+=("$slow")
sleep 6
held=$(ss -tnHi "sport = :$origin_port" | grep -o 'bytes_acked:[0-9]*' | cut -d: -f2 | sort -n | tail -n 1)
read -r rate p50 p99 errors count < <(drive -c 8 -s 1 keepalive)
during=$(memory "$pid_handoff" VmRSS)
wait "$slow" || true
echo "slow reader: the origin could send ${held:-0} of 104857600 bytes; memory $before MB before, $during MB during; others meanwhile: $rate requests/s, p99 $p99 us, $errors errors"
[[ ${held:-0} -lt 33554432 ]] || problem "the origin was not held back"
[[ $errors == 0 && $count -gt 0 ]] || problem "others suffered"
sleep 2
[[ $(descriptors "$pid_handoff") -le $start_descriptors ]] || problem "descriptors did not come back after the slow reader"
echo "recording: $(stat -c %s "$work/recording.pcapng") bytes"
exit "$failed"
