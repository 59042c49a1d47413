#!/usr/bin/env bash
# Measures `handoff record`, recording to disk, beside squid with ssl-bump and mitmproxy, all against a direct connection.
# usage: run.sh HANDOFF
# env: ROUNDS (default 3; the median counts)  SECS (per measurement, default 2)  CONNECTIONS (default 16)
#      MEGABYTES (default 100)  ONLY (names, default "direct handoff squid mitmproxy")  INSTALL=0 (nothing is installed)
set -euo pipefail
handoff=$(realpath "${1:?usage: $0 HANDOFF}")
rounds=${ROUNDS:-3} secs=${SECS:-2} connections=${CONNECTIONS:-16} megabytes=${MEGABYTES:-100} unseen_count=40
read -ra names <<<"${ONLY:-direct handoff squid mitmproxy}"
# shellcheck source=common.sh
source "$(dirname "$0")/common.sh"
need cc openssl nginx ss taskset
mapfile -t here_cores < <(cores)
has() { [[ " ${names[*]} " == *" $1 "* ]]; }
for name in squid mitmproxy; do
  tool=$name package=$name
  [[ $name == squid ]] && package=squid-openssl || tool=mitmdump
  has "$name" && ! command -v "$tool" >/dev/null || continue
  # RUNLEVEL keeps the package from starting a service: the one that is measured is started below.
  if [[ ${INSTALL:-1} == 1 && $(id -u) == 0 ]] && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "$package" >"$work/apt.log" 2>&1; then continue; fi
  echo "$name is left out: package $package is not installed"
  kept=()
  for other in "${names[@]}"; do [[ $other == "$name" ]] || kept+=("$other"); done
  names=("${kept[@]}")
done
build_load
make_certificates
start_origin "$megabytes"
for name in "${names[@]}"; do [[ $name == direct ]] || "start_$name"; done

# load NAME ARGUMENT…: one measurement through NAME
load() {
  local name=$1 port ca=$work/origin-ca.pem via=()
  shift
  if [[ $name != direct ]]; then
    port=port_$name ca=ca_$name
    ca=${!ca} via=(-p "${!port}")
  fi
  "$work/load" "${via[@]}" -o "$origin_port" -a "$ca" -m "$megabytes" "$@" 2>>"$work/load.err"
}

# settle: what a proxy still has to do (a recording to be judged) must not be measured with another. Up to 20 s.
settle() {
  local attempt name pid before="" now
  for ((attempt = 0; attempt < 100; attempt++)); do
    now=""
    for name in "${names[@]}"; do
      [[ $name == direct ]] && continue
      pid=pid_$name
      now+=" $(cpu "${!pid}")"
    done
    [[ $now != "$before" ]] || return 0
    before=$now
    sleep 0.2
  done
}

# latency NAME: one connection, with client, proxy and origin on one core, and with the proxy on another than both. Left to the
# kernel, their places change from run to run, and with them the time of a wake-up.
latency() {
  local name=$1 proxy suffix=near pid=pid_$1 everywhere
  everywhere=$(IFS=, && echo "${here_cores[*]}")
  taskset -cp "${here_cores[0]}" $$ >/dev/null
  place "${here_cores[0]}" "$pid_origin"
  for proxy in "${here_cores[@]:0:2}"; do
    [[ $name == direct ]] || place "$proxy" "${!pid}"
    of -c 1 -s "$secs" keepalive && take "p50-$suffix" "$p50" && take "p99-$suffix" "$p99"
    suffix=apart
    [[ $name != direct ]] || break
  done
  [[ $name == direct ]] || place "$everywhere" "${!pid}"
  place "$everywhere" "$pid_origin"
  taskset -cp "$everywhere" $$ >/dev/null
}

# measure NAME: appends "metric<TAB>name<TAB>value" lines
measure() {
  local name=$1 line rate p50 p99 errors count
  take() { printf '%s\t%s\t%s\n' "$1" "$name" "$2" >>"$work/results"; }
  of() {
    line=$(load "$name" "$@")
    read -r rate p50 p99 errors count <<<"$line"
    [[ $count -gt 0 ]] || rate="" p50="" p99=""
    [[ $errors == 0 ]] || printf 'errors\t%s\t%s\n' "$name" "$errors" >>"$work/results"
  }
  latency "$name"
  of -c "$connections" -s "$secs" keepalive && take keepalive "$rate"
  of -c "$connections" -s "$secs" fresh && take fresh "$rate"
  of -c 1 -n "$unseen_count" -s 10 -u "$name$round" unseen && take unseen "$p50"
  if [[ $name != squid ]]; then of -c 4 -s "$secs" h2 && take h2 "$rate"; fi
  of download && take download "$rate"
  of upload && take upload "$rate"
}

: >"$work/results"
load_before=$(cut -d' ' -f1-3 /proc/loadavg)
for name in "${names[@]}"; do load "$name" -c 4 -s 0.5 keepalive >/dev/null; done
for ((round = 0; round < rounds; round++)); do
  for name in "${names[@]}"; do settle && measure "$name"; done
done
for name in "${names[@]}"; do
  [[ $name == direct ]] && continue
  pid=pid_$name
  printf 'memory\t%s\t%s\n' "$name" "$(memory "${!pid}" VmHWM)" >>"$work/results"
  printf 'cpu\t%s\t%s\n' "$name" "$(cpu "${!pid}")" >>"$work/results"
done

echo "$(nproc) cores shared by client, proxy and origin; load average before: $load_before; median of $rounds rounds"
awk -F '\t' -v names="${names[*]}" '
  function median(key,  n, i, j, v, t) {
    n = count[key]
    if (!n) return ""
    for (i = 1; i <= n; i++) v[i] = value[key, i]
    for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
  }
  function row(words, metric, factor, form, isRatio,  i, m, base) {
    printf "| %s |", words
    base = median(metric SUBSEP "direct")
    for (i = 1; i <= n; i++) {
      m = median(metric SUBSEP name[i])
      if (m == "") printf " – |"
      else if (isRatio && name[i] != "direct" && base > 0) printf " " form " (%.2f ×) |", m * factor, m / base
      else printf " " form " |", m * factor
    }
    print ""
  }
  $3 != "" { key = $1 SUBSEP $2; value[key, ++count[key]] = $3 }
  END {
    n = split(names, name, " ")
    printf "| |"; for (i = 1; i <= n; i++) printf " %s |", name[i]; print ""
    printf "|---|"; for (i = 1; i <= n; i++) printf "---|"; print ""
    row("keep-alive, requests/s", "keepalive", 1, "%.0f", 1)
    row("new TLS connections/s", "fresh", 1, "%.0f", 1)
    row("never-seen host, first GET, ms", "unseen", 0.001, "%.1f", 0)
    row("HTTP/2 multiplexed, requests/s", "h2", 1, "%.0f", 1)
    row("download, MB/s", "download", 1, "%.0f", 1)
    row("upload, MB/s", "upload", 1, "%.0f", 1)
    row("one connection, one core, p50, ms", "p50-near", 0.001, "%.3f", 0)
    row("one connection, one core, p99, ms", "p99-near", 0.001, "%.3f", 0)
    row("one connection, proxy on another core, p50, ms", "p50-apart", 0.001, "%.3f", 0)
    row("one connection, proxy on another core, p99, ms", "p99-apart", 0.001, "%.3f", 0)
    row("peak memory, MB", "memory", 1, "%.0f", 0)
    row("processor time of the run, s", "cpu", 1, "%.1f", 0)
    row("errors", "errors", 1, "%.0f", 0)
  }' "$work/results"
[[ ! -s $work/load.err ]] || sort "$work/load.err" | uniq -c | head -n 20 >&2
if has handoff; then echo "recording: $(stat -c %s "$work/recording.pcapng") bytes"; fi
