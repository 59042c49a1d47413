#!/bin/sh
# Runs the fuzz targets one after another.
# usage: fuzz/run.sh [SECONDS] [TARGET…]     default 60 seconds for each of all targets
# Inputs that were found stay in .build/fuzz/corpus; an input that fails is kept in .build/fuzz/findings.
set -eu
cd "$(dirname "$0")/.."
out=$PWD/.build/fuzz
seconds=${1:-60}
[ $# -eq 0 ] || shift
fuzz/build.sh "$out"
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0 FUZZ_POLICY="$PWD/pcaps/handoff.yml"

if [ ! -d "$out/corpus" ]; then
    shared=${HANDOFF_SHARED:-../shared}
    echo "Making seeds of pcaps/$([ -d "$shared/captures" ] && echo " and $shared/captures") …"
    find pcaps "$shared/captures" -type f \( -name '*.pcap' -o -name '*.pcapng' -o -name '*.yml' \) 2> /dev/null |
        FUZZ_SEEDS="$out/corpus" xargs "$out/fuzzer"
fi
[ $# -gt 0 ] || set -- capture-file packets pipeline tls quic conversation http2 hpack websocket dns content-codings \
    marks mark-import json policy scanner

failed=0
mkdir -p "$out/findings"
for target; do
    mkdir -p "$out/corpus/$target"
    case $target in capture-file | pipeline) length=65536 ;; tls | packets | conversation | http2) length=16384 ;; *) length=4096 ;; esac
    log=$out/$target.log
    # The limits: 10 s an input, 1 GiB of memory with AddressSanitizer's own.
    if FUZZ_TARGET=$target timeout "$((seconds + 60))" "$out/fuzzer" -max_total_time="$seconds" -max_len="$length" \
        -timeout=10 -rss_limit_mb=1024 -artifact_prefix="$out/findings/$target-" -print_final_stats=1 \
        "$out/corpus/$target" > "$log" 2>&1; then
        echo "$target: passed; $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs, $(grep -c . "$log") lines in $log"
    else
        failed=1
        echo "$target: FAILED; see $log"
        sed -n 's/.*\(Fatal error.*\)/    \1/p; s/.*\(ERROR: .*\)/    \1/p' "$log" | cut -c1-300 | head -n 5
        finding=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
        echo "    replay: FUZZ_TARGET=$target FUZZ_POLICY=pcaps/handoff.yml ASAN_OPTIONS=detect_leaks=0 $out/fuzzer ${finding:-INPUT}"
    fi
done
exit $failed
