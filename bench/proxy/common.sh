# Shared by run.sh and soak.sh: a scratch folder, certificates, the origin, the proxies. Everything is on loopback; ports
# are free ones; only processes started here are ended, by pid.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/handoff-bench.XXXXXX")
chmod 755 "$work"
pids=()

finish() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

die() {
  echo "$(basename "$0"): $*" >&2
  exit 2
}

need() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || die "$tool is missing (see README.md)"; done
}

free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 10000))
    ss -ltnH "sport = :$port" | grep -q . || break
  done
  echo "$port"
}

# wait_for COMMAND…: up to 20 s
wait_for() {
  local attempt
  for ((attempt = 0; attempt < 200; attempt++)); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.1
  done
  return 1
}

listens() { ss -ltnH "sport = :$1" | grep -q .; }

build_load() {
  cc -O2 -Wall -Wextra -o "$work/load" "$here/load.c" -lssl -lcrypto -lnghttp2 -lpthread || die "load.c does not compile"
}

# An authority and the origin's certificate, ECDSA P-256.
make_certificates() {
  (
    cd "$work"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=bench origin CA" \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
      -keyout origin-ca.key -out origin-ca.pem
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=bench.test" \
      -keyout origin.key -out origin.csr
    printf '%s\n' 'subjectAltName=DNS:bench.test,DNS:*.bench.test,IP:127.0.0.1' basicConstraints=CA:FALSE \
      extendedKeyUsage=serverAuth >origin.cnf
    openssl x509 -req -in origin.csr -CA origin-ca.pem -CAkey origin-ca.key -CAcreateserial -days 2 -extfile origin.cnf \
      -out origin.pem
    # squid is given its authority; the others make their own.
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=squid CA" \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
      -keyout squid-ca.key -out squid-ca.pem
  ) >"$work/openssl.log" 2>&1 || die "no certificates: $(tail -n 3 "$work/openssl.log")"
}

# nginx with TLS 1.3, HTTP/2 and HTTP/1.1. /small has 1 KB, /larger 100 KB, /large MEGABYTES; /upload takes a body and
# answers when it has it all.
unseen_count=${unseen_count:-0}
start_origin() {
  local megabytes=$1 echo_module
  echo_module=$(find /usr/lib/nginx/modules /usr/share/nginx/modules -name ngx_http_echo_module.so 2>/dev/null | head -n 1)
  [[ -n $echo_module ]] || die "nginx has no echo module (package libnginx-mod-http-echo)"
  mkdir "$work/www"
  head -c 1024 /dev/zero | tr '\0' x >"$work/www/small"
  head -c 102400 /dev/zero | tr '\0' y >"$work/www/larger"
  head -c $((megabytes << 20)) /dev/urandom >"$work/www/large"
  chmod -R a+rX "$work/www"
  origin_port=$(free_port)
  cat >"$work/nginx.conf" <<CONF
load_module $echo_module;
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/nginx.log; $([[ $(id -u) != 0 ]] || echo "user root;")
worker_rlimit_nofile 16384;
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 100000000; keepalive_timeout 3600; sendfile on; tcp_nopush on;
  client_max_body_size 0; client_body_buffer_size $((megabytes + 8))m;
  client_body_temp_path $work/n1; proxy_temp_path $work/n2; fastcgi_temp_path $work/n3; uwsgi_temp_path $work/n4;
  scgi_temp_path $work/n5;
  server {
    listen 127.0.0.1:$origin_port ssl http2 backlog=4096; root $work/www;
    ssl_certificate $work/origin.pem; ssl_certificate_key $work/origin.key; ssl_protocols TLSv1.2 TLSv1.3;
    location = /upload { echo_read_request_body; echo ok; }
  }
}
CONF
  nginx -p "$work" -c "$work/nginx.conf" 2>"$work/nginx.err" &
  pid_origin=$!
  pids+=("$pid_origin")
  wait_for listens "$origin_port" || die "nginx did not start: $(cat "$work/nginx.err")"
}

# The proxies: each sets port_NAME, ca_NAME and pid_NAME.
start_handoff() {
  port_handoff=$(free_port)
  HOME=$work XDG_DATA_HOME=$work/data "$handoff" record --quiet --listen "127.0.0.1:$port_handoff" --ca-dir "$work/ca" \
    --upstream-ca "$work/origin-ca.pem" --control none --marks none --out "$work/recording.pcapng" "$@" \
    >"$work/handoff.log" 2>&1 </dev/null &
  pid_handoff=$!
  pids+=("$pid_handoff")
  wait_for listens "$port_handoff" || die "handoff did not start: $(cat "$work/handoff.log")"
  "$handoff" ca export --ca-dir "$work/ca" --format pem >"$work/handoff-ca.pem"
  ca_handoff=$work/handoff-ca.pem
}

start_squid() {
  port_squid=$(free_port)
  mkdir "$work/squid"
  /usr/lib/squid/security_file_certgen -c -s "$work/squid/certificates" -M 16MB >/dev/null
  cat "$work/squid-ca.pem" "$work/squid-ca.key" >"$work/squid/ca.pem"
  # squid looks the Host of a request up, also when the client said an address in CONNECT.
  {
    echo 127.0.0.1 host.bench.test
    for ((round = 0; round < ${rounds:-1}; round++)); do
      for ((i = 0; i < unseen_count; i++)); do echo "127.0.0.1 squid$round-$i.bench.test"; done
    done
  } >"$work/squid/hosts"
  cat >"$work/squid.conf" <<CONF
http_port 127.0.0.1:$port_squid ssl-bump tls-cert=$work/squid/ca.pem generate-host-certificates=on dynamic_cert_mem_cache_size=16MB
sslcrtd_program /usr/lib/squid/security_file_certgen -s $work/squid/certificates -M 16MB
sslcrtd_children 8 startup=2 idle=1
tls_outgoing_options cafile=$work/origin-ca.pem
acl step1 at_step SslBump1
ssl_bump peek step1
ssl_bump bump all
http_access allow all
cache deny all
access_log none
cache_log $work/squid/cache.log
cache_store_log none
pid_filename $work/squid/squid.pid
pinger_enable off
hosts_file $work/squid/hosts
coredump_dir $work/squid
max_filedescriptors 8192
shutdown_lifetime 1 seconds
CONF
  [[ $(id -u) != 0 ]] || { chown -R proxy "$work/squid"; echo "cache_effective_user proxy" >>"$work/squid.conf"; }
  squid --foreground -n "bench$port_squid" -f "$work/squid.conf" >"$work/squid.out" 2>&1 &
  pid_squid=$!
  pids+=("$pid_squid")
  wait_for listens "$port_squid" || die "squid did not start: $(cat "$work/squid.out" "$work/squid/cache.log")"
  ca_squid=$work/squid-ca.pem
}

start_mitmproxy() {
  port_mitmproxy=$(free_port)
  mitmdump -q --listen-host 127.0.0.1 --listen-port "$port_mitmproxy" --set confdir="$work/mitmproxy" \
    --set ssl_verify_upstream_trusted_ca="$work/origin-ca.pem" --set stream_large_bodies=1m \
    >"$work/mitmproxy.log" 2>&1 </dev/null &
  pid_mitmproxy=$!
  pids+=("$pid_mitmproxy")
  wait_for listens "$port_mitmproxy" || die "mitmdump did not start: $(cat "$work/mitmproxy.log")"
  ca_mitmproxy=$work/mitmproxy/mitmproxy-ca-cert.pem
}

tree() {
  local child
  echo "$1"
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do tree "$child"; done
}

# The cores that may be used.
cores() { taskset -cp $$ | sed 's/.*: //' | tr , '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }'; }

# place CORES PID: the process, all its threads and what it started run on these cores alone
place() {
  local pid
  for pid in $(tree "$2"); do taskset -acp "$1" "$pid" >/dev/null; done
}

# memory PID FIELD: VmHWM or VmRSS of the process and what it started, in MB
memory() {
  local pid total=0 value
  for pid in $(tree "$1"); do
    value=$(awk -v field="$2:" '$1 == field { print $2 }' "/proc/$pid/status" 2>/dev/null)
    total=$((total + ${value:-0}))
  done
  awk -v kib="$total" 'BEGIN { printf "%.1f", kib / 1024 }'
}

descriptors() { find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l; }

# cpu PID: seconds of processor time of the process and what it started
cpu() {
  local pid total=0 value
  for pid in $(tree "$1"); do
    value=$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null)
    total=$((total + ${value:-0}))
  done
  awk -v ticks="$total" 'BEGIN { printf "%.2f", ticks / 100 }'
}
