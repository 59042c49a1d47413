#!/usr/bin/env bash
# Check the steps of docs/lab.md that need no phone, with the files of docs/lab as they are: a device, the lab gateway and
# the Internet, each a network namespace of its own, over IPv4 and IPv6.
# usage: check-lab.sh HANDOFF          one line a check; exit 0 when all are ok, 1 when one is not, 77 when it can't be run
# It needs root, ip, nft, dnsmasq, curl, openssl, python3 and tshark. It is over after 8 minutes at the latest, and takes away what
# it made: namespaces with a name of this run's own, and processes by their number.
set -uo pipefail
[[ -n ${HANDOFF_LAB_BOUNDED:-} ]] || HANDOFF_LAB_BOUNDED=1 exec timeout --kill-after=20 480 "$BASH" "$0" "$@"
handoff=$(realpath "${1:?usage: $0 HANDOFF}")
here=$(cd "$(dirname "$0")" && pwd)
lab=$here/../docs/lab
for tool in ip nft dnsmasq curl openssl python3 tshark sysctl; do
  command -v "$tool" >/dev/null || { echo "skipped: there is no $tool here"; exit 77; }
done
[[ $(id -u) == 0 ]] || { echo "skipped: network namespaces need root"; exit 77; }

# --- what is made, and how it goes away ---------------------------------------------------------------------------------

run=$$
device=handoff-device-$run host=handoff-host-$run net=handoff-net-$run
work=$(mktemp -d)
processes=()
finish() {
  local status=$? process
  for process in "${processes[@]}"; do kill "$process" 2>/dev/null; done
  for process in "${processes[@]}"; do wait "$process" 2>/dev/null; done
  for name in $device $host $net; do ip netns del "$name" 2>/dev/null; done
  if [[ -n ${HANDOFF_LAB_KEEP:-} ]]; then echo "Recordings and outputs are kept in $work"; else rm -rf "$work"; fi
  exit "$status"
}
trap finish EXIT
trap 'exit 1' TERM INT HUP
ip netns add $device 2>/dev/null || { echo "skipped: network namespaces can't be made here"; exit 77; }
ip netns add $host && ip netns add $net || exit 1

# Each `ip netns exec` has mounts of its own.
with_resolver='mount --bind "$0" /etc/resolv.conf && exec "$@"'
# inside NAMESPACE COMMAND…: there, with its own resolver.
inside() {
  local name=$1
  shift
  ip netns exec "$name" sh -c "$with_resolver" "$work/resolv.$name" "$@"
}
# start NAME NAMESPACE COMMAND…: in the background; its outputs in NAME.out and NAME.err, its number in $started.
start() {
  local name=$1 namespace=$2
  shift 2
  # `exec`, so that the number is the program's own.
  (exec ip netns exec "$namespace" sh -c "$with_resolver" "$work/resolv.$namespace" "$@") \
    >"$work/$name.out" 2>"$work/$name.err" </dev/null &
  started=$!
  processes+=("$started")
}
# until COMMAND…: tries for 30 s.
until_ok() {
  local _
  for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.1; done
  return 1
}
failed=0 checks=0
# check WHAT GOT WANTED: equal?
check() {
  checks=$((checks + 1))
  if [[ $2 == "$3" ]]; then
    printf 'ok      %s\n' "$1"
  else
    failed=$((failed + 1))
    printf 'FAILED  %s: wanted %s; got %s\n' "$1" "${3//$'\n'/ | }" "${2//$'\n'/ | }"
  fi
}
# shows WHAT WORDS FILE: is a line with these words (a basic regular expression) in the file?
shows() {
  local content
  content=$(tr -d '\0' <"$3")
  checks=$((checks + 1))
  if grep -q -- "$2" <<<"$content"; then
    printf 'ok      %s\n' "$1"
  else
    failed=$((failed + 1))
    printf 'FAILED  %s: there is no "%s" in:\n' "$1" "$2"
    tail -n 6 <<<"$content" | cut -c 1-300 | sed 's/^/          /'
  fi
}

# --- three hosts ----------------------------------------------------------------------------------------------------------

for name in $device $host $net; do ip -n "$name" link set lo up; done
printf 'nameserver 192.168.50.1\nnameserver fd50::1\n' >"$work/resolv.$device"
printf 'nameserver 127.0.0.1\n' >"$work/resolv.$host"
printf '' >"$work/resolv.$net"
printf 'nameserver 192.0.2.1\n' >"$work/resolv.dead"
ip -n $device link add wlan0 address 02:00:00:00:47:73 type veth peer name wlan0 netns $host
ip -n $host link add eth0 type veth peer name eth0 netns $net
address() { ip -n "$1" addr add "$3" dev "$2" $([[ $3 == *:* ]] && echo nodad); }
address $host wlan0 192.168.50.1/24 && address $host wlan0 fd50::1/64
address $host eth0 203.0.113.1/24 && address $host eth0 2001:db8:113::1/64
address $net eth0 203.0.113.10/24 && address $net eth0 2001:db8:113::10/64
for end in "$host wlan0" "$host eth0" "$net eth0"; do ip -n ${end% *} link set ${end#* } up; done
# The device joins the network, also for a second time.
attach() {
  ip -n $device link set wlan0 up
  ip -n $device addr replace 192.168.50.20/24 dev wlan0
  ip -n $device addr replace fd50::20/64 dev wlan0 nodad
  ip -n $device route replace default via 192.168.50.1
  ip -n $device -6 route replace default via fd50::1 metric 100
}
attach
# So that replies find their way before the gateway's rules hide the devices behind its own address.
ip -n $net route add 192.168.50.0/24 via 203.0.113.1
ip -n $net -6 route add fd50::/64 via 2001:db8:113::1

# --- certificates, names, origins ---------------------------------------------------------------------------------------------

cd "$work" || exit 1
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -days 2 \
  -subj "/CN=Authority of the origins" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout origin.key -out origin.csr \
  -subj "/CN=api.partner.example" 2>/dev/null
printf 'subjectAltName=DNS:api.partner.example,DNS:shop.example\nextendedKeyUsage=serverAuth\n' >origin.ext
openssl x509 -req -in origin.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile origin.ext -out origin.pem 2>/dev/null
printf '203.0.113.10 api.partner.example shop.example four.shop.example\n2001:db8:113::10 api.partner.example shop.example\n' >hosts
printf 'version: 1\nhosts:\n  partner: [api.partner.example]\n' >handoff.yml
export HOME=$work XDG_DATA_HOME=$work/data XDG_RUNTIME_DIR=$work/runtime NO_COLOR=1
mkdir -p "$XDG_RUNTIME_DIR"
"$handoff" ca export --format pem >handoff-ca.pem || exit 1

start origins $net python3 "$here/check-lab-peers.py" origins origin.pem origin.key
until_ok grep -q ready origins.out || { cat origins.err; echo "the origins do not start"; exit 1; }
start dnsmasq $host dnsmasq --keep-in-foreground --conf-file="$lab/dnsmasq.conf" --no-resolv --addn-hosts="$work/hosts" \
  --user="$(id -un)" --pid-file= --dhcp-leasefile="$work/leases" --log-facility=-
ip netns exec $host sysctl -q -p "$lab/gateway.sysctl.conf" || echo "sysctl complains"
answers() { [[ $(inside $device timeout 10 python3 "$here/check-lab-peers.py" dns 192.168.50.1 api.partner.example) == 203* ]]; }
until_ok answers || { cat dnsmasq.err; echo "dnsmasq does not answer"; exit 1; }

# --- the gateway: addresses, names, what is rejected -----------------------------------------------------------------------------

probe() { inside $device timeout 30 python3 "$here/check-lab-peers.py" "$@"; }
mark_name=$'192.168.50.1\nfd50::1'
echo "== The gateway"
check "dnsmasq offers an address, with this host as router and resolver" \
  "$(probe dhcp | sed 's/^192\.168\.50\.1[0-9][0-9],/an address,/')" "an address, router 192.168.50.1, resolver 192.168.50.1"
advertised() { ip -n $device -6 addr show dev wlan0 | grep -q 'inet6 fd50:.*dynamic'; }
check "router advertisements give the device an IPv6 address" "$(until_ok advertised && echo yes)" yes
check "mark.handoff.test is this host, IPv4 and IPv6" "$(probe dns 192.168.50.1 mark.handoff.test)" "$mark_name"
check "trust.handoff.test too, asked over IPv6" "$(probe dns fd50::1 trust.handoff.test)" "$mark_name"
for name in mask.icloud.com mask-h2.icloud.com use-application-dns.net _dns.resolver.arpa; do
  check "$name does not exist" "$(probe dns 192.168.50.1 $name)" $'NXDOMAIN\nNXDOMAIN'
done
four=203.0.113.10 six=2001:db8:113::10
for address in $four $six; do
  check "without the rules, UDP 443 of $address answers" "$(probe udp $address 443)" reply
  check "without the rules, TCP 853 of $address is open" "$(probe tcp $address 853)" open
done
ip netns exec $host nft -f "$lab/gateway.nft" || { echo "FAILED  gateway.nft can't be loaded"; exit 1; }
check "gateway.nft can be loaded again" "$(ip netns exec $host nft -f "$lab/gateway.nft" 2>&1)" ""
rejections() {
  local address
  for address in $four $six; do
    check "$1, UDP 443 of $address is rejected at once" "$(probe udp $address 443)" rejected
    check "$1, TCP 853 of $address is rejected at once" "$(probe tcp $address 853)" rejected
    check "$1, UDP 853 of $address is rejected at once" "$(probe udp $address 853)" rejected
  done
  for address in 192.168.50.1 fd50::1; do
    check "$1, UDP 443 of this host ($address) is rejected at once" "$(probe udp $address 443)" rejected
  done
  for address in $four $six; do
    check "$1, a resolver of the app's own ($address) is this host's" "$(probe dns $address mark.handoff.test)" "$mark_name"
  done
}
rejections "with gateway.nft"

# --- the recorder ---------------------------------------------------------------------------------------------------------------

# record NAME OPTION…: starts it; the recording is NAME.pcapng, what it says NAME.err.
record() {
  local name=$1
  shift
  start "$name" $host "$handoff" record --out "$name.pcapng" --upstream-ca ca.pem --policy handoff.yml --control none --marks none \
    --report json="$name.live.json" "$@"
  recorder=$started
  until_ok grep -q "^Marks:" "$name.err" || { echo "FAILED  handoff record does not start:"; cat "$name.err"; exit 1; }
  mark_url=$(sed -n 's/^Marks: \([^?]*\).*/\1/p' "$name.err")
}
# stop_recording NAME: ends it, and reads the recording back: NAME.requests, NAME.show, NAME.events, NAME.check.json, and what
# Wireshark shows: NAME.tshark. $status is the recorder's, $checked the exit status of check.
stop_recording() {
  kill -INT "$recorder" 2>/dev/null
  wait "$recorder"
  status=$?
  "$handoff" check "$1.pcapng" --policy handoff.yml --report json="$1.check.json" >"$1.check" 2>&1
  checked=$?
  "$handoff" show --json "$1.pcapng" --policy handoff.yml >"$1.events" 2>"$1.show.err"
  "$handoff" show "$1.pcapng" --policy handoff.yml >"$1.show" 2>&1
  python3 "$here/check-lab-peers.py" requests <"$1.events" >"$1.requests"
  # The bytes before the ports: a client's port may be one that tshark knows as another protocol's.
  tshark -o tcp.try_heuristic_first:TRUE -r "$1.pcapng" -Y http.request -T fields -E separator=' ' -e ip.dst -e ipv6.dst \
    -e tcp.dstport -e http.host -e http.request.uri 2>/dev/null | tr -s ' ' | sed 's/^ //' >"$1.tshark"
  check "live and check agree: exit status ($1)" "$status" "$checked"
  check "live and check agree: every rule ($1)" "$(verdicts "$1.live.json")" "$(verdicts "$1.check.json")"
}
verdicts() {
  python3 -c 'import json, sys
for trace in json.load(open(sys.argv[1]))["traces"]:
    print(trace["verdict"], *[rule["id"] + "=" + rule["verdict"] for rule in trace["rules"]])' "$1"
}
# rule NAME ID: its verdict in the recording NAME.
rule() {
  python3 -c 'import json, sys
print(*[rule["verdict"] for rule in json.load(open(sys.argv[1]))["traces"][0]["rules"] if rule["id"] == sys.argv[2]])' \
    "$1.check.json" "$2"
}
# ask URL OPTION…: a request of the device with curl; the origin's answer, or curl's own exit status.
ask() {
  local url=$1 answer
  shift
  answer=$(inside $device timeout 30 curl -sS --max-time 25 --cacert handoff-ca.pem "$@" "$url" 2>>curl.err) || answer="curl $?"
  sed 's/^{"client": "\([^"]*\)", "path": "\(.*\)"}$/\2 from \1/' <<<"$answer"
}
secure=https://api.partner.example
clear=http://api.partner.example

# Every way to the proxy that works while `record` runs with the rules loaded. $1 is where a redirected device arrives.
transparent() {
  local how=$1 name=$2 version address from
  for version in 4 6; do
    if [[ $version == 4 ]]; then address=$four from=203.0.113.1; else address=$six from=2001:db8:113::1; fi
    check "$how, IPv$version: https" "$(ask $secure/catalog/$name-tls-$version -$version)" "/catalog/$name-tls-$version from $from"
    check "$how, IPv$version: http" "$(ask $clear/catalog/$name-clear-$version -$version)" "/catalog/$name-clear-$version from $from"
    check "$how, IPv$version: a device that trusts other authorities alone breaks off" \
      "$(ask https://shop.example/catalog/untrusted -$version --cacert ca.pem)" "curl 60"
    shows "$how, IPv$version: the set-up page at mark.handoff.test" '<html' <(ask http://mark.handoff.test/ -$version)
    shows "$how, IPv$version: its certificate is the one that is exported" "$(sed -n 2p handoff-ca.pem)" \
      <(ask http://mark.handoff.test/ca.pem -$version)
    shows "$how, IPv$version: the trust host, over TLS" '"trusted"' <(ask https://trust.handoff.test/ -$version)
    shows "$how, IPv$version: a mark in band is acknowledged" '"sequence"' \
      <(ask "$mark_url?kind=tap&target=share&id=$name-$version" -$version)
  done
}
read_back_transparent() {
  local how=$1 name=$2 version address there
  for version in 4 6; do
    if [[ $version == 4 ]]; then address=$four there=$four; else address=$six there="[$six]"; fi
    for kind in tls clear; do
      if [[ $kind == tls ]]; then port=443 url=$secure; else port=80 url=$clear; fi
      shows "$how, IPv$version: handoff reads $url and the true address" \
        "^${there//[][]/.}:$port - $url/catalog/$name-$kind-$version 200 yes" "$name.requests"
      shows "$how, IPv$version: so does Wireshark" "^$address $port api.partner.example /catalog/$name-$kind-$version" "$name.tshark"
    done
    shows "$how, IPv$version: the mark is in the trace" "\"id\":\"$name-$version\"" "$name.events"
  done
  shows "$how: the refused certificate is in the trace" '"leaf-refused"' "$name.events"
}

echo "== Explicit proxy, SOCKS5 and redirect mode"
record redirect --listen '[::]:4773' --also-capture wlan0
for way in 192.168.50.1 '[fd50::1]'; do
  [[ $way == *:* ]] && family=6 || family=4
  check "HTTP proxy, IPv$family: https" "$(ask $secure/catalog/connect-$family -x http://$way:4773 | cut -d' ' -f1)" "/catalog/connect-$family"
  check "HTTP proxy, IPv$family: http" "$(ask $clear/catalog/absolute-$family -x http://$way:4773 | cut -d' ' -f1)" "/catalog/absolute-$family"
  shows "HTTP proxy, IPv$family: the set-up page" '<html' <(ask http://mark.handoff.test/ -x http://$way:4773)
  shows "HTTP proxy, IPv$family: the set-up page at the proxy's own address" '<html' <(ask http://$way:4773/)
  shows "HTTP proxy, IPv$family: the PAC file names the proxy" "PROXY ${way//[][]/.}:4773" <(ask http://$way:4773/proxy.pac)
  shows "HTTP proxy, IPv$family: a mark in band is acknowledged" '"sequence"' \
    <(ask "$mark_url?kind=tap&target=share&id=connect-$family" -x http://$way:4773)
  # The device itself can't resolve: its resolver is the proxy's business.
  check "SOCKS5, IPv$family: https, the name resolved by the proxy" \
    "$(ip netns exec $device sh -c "$with_resolver" "$work/resolv.dead" \
      timeout 30 curl -sS --max-time 25 --cacert handoff-ca.pem -x socks5h://$way:4773 $secure/catalog/socks-$family 2>>curl.err |
      grep -o "/catalog/socks-$family")" "/catalog/socks-$family"
done
transparent "redirect" redirect
stop_recording redirect
for way in 192.168.50.1 '[fd50::1]'; do
  [[ $way == *:* ]] && family=6 || family=4
  at=${way//[][]/.}
  shows "HTTP proxy, IPv$family: handoff reads the request in its tunnel" \
    "^$at:4773 api.partner.example:443 $secure/catalog/connect-$family 200 yes" redirect.requests
  shows "HTTP proxy, IPv$family: so does Wireshark" "^${way//[][]/} 4773 api.partner.example /catalog/connect-$family" redirect.tshark
  shows "HTTP proxy, IPv$family: handoff reads the request in clear text" "^$at:4773 - $clear/catalog/absolute-$family 200 yes" redirect.requests
  shows "HTTP proxy, IPv$family: the mark is in the trace" "\"id\":\"connect-$family\"" redirect.events
  shows "SOCKS5, IPv$family: handoff reads the request in its tunnel" \
    "^$at:4773 api.partner.example:443 $secure/catalog/socks-$family 200 yes" redirect.requests
  shows "SOCKS5, IPv$family: so does Wireshark" "^${way//[][]/} 4773 api.partner.example /catalog/socks-$family" redirect.tshark
done
read_back_transparent "redirect" redirect
check "nothing went around the proxy, says HC-02" "$(rule redirect HC-02)" "pass"

echo "== TPROXY"
ip netns exec $host nft -f "$lab/gateway-tproxy.nft" || { echo "FAILED  gateway-tproxy.nft can't be loaded"; exit 1; }
ip netns exec $host sh "$lab/gateway-tproxy-routes.sh" || { echo "FAILED  gateway-tproxy-routes.sh"; exit 1; }
rejections "with gateway-tproxy.nft"
record tproxy --listen 'tproxy:[::]:4773'
transparent "TPROXY" tproxy
check "TPROXY: a client that has the proxy set is served too" \
  "$(ask $secure/catalog/connect-t -x http://192.168.50.1:4773 | cut -d' ' -f1)" "/catalog/connect-t"
stop_recording tproxy
read_back_transparent "TPROXY" tproxy
ip netns exec $host sh "$lab/gateway-tproxy-routes.sh" off || { echo "FAILED  gateway-tproxy-routes.sh off"; exit 1; }
ip netns exec $host nft -f "$lab/gateway.nft" || exit 1

echo "== A device that does not trust the certificate"
record untrusted --listen '[::]:4773'
check "curl says so" "$(ask $secure/catalog/1 --cacert ca.pem)" "curl 60"
stop_recording untrusted
shows "the recorder says so, and what to do" 'api.partner.example.*certificate' untrusted.err
shows "the trace says so" '"leaf-refused"' untrusted.events
check "the verdict is inconclusive" "$checked" 4

echo "== Traffic around the proxy"
for version in 4 6; do
  if [[ $version == 4 ]]; then address=$four there=$four; else address=$six there="[$six]"; fi
  record around-$version --listen '[::]:4773' --also-capture wlan0
  check "IPv$version: through the proxy" "$(ask $secure/catalog/first -$version | cut -d' ' -f1)" /catalog/first
  check "IPv$version: around it by TCP" "$(ask https://shop.example:8443/around -$version --cacert ca.pem | cut -d' ' -f1)" /around
  check "IPv$version: around it by UDP" "$(probe udp $address 5000)" reply
  for words in "TCP.*$there:8443" "UDP.*$there:5000"; do
    until_ok grep -q "${words//[][]/.}" around-$version.err
    shows "IPv$version: it is named live" "${words//[][]/.}" around-$version.err
  done
  stop_recording around-$version
  check "IPv$version: HC-02" "$(rule around-$version HC-02)" inconclusive
  check "IPv$version: the proxied connection is not named" "$(grep -c "around.*$address.*:443\b" around-$version.err)" 0
  shows "IPv$version: the trace has it" '"reason":"bypass"' around-$version.events
done

echo "== A device that is unplugged in the middle of a response"
for how in redirect connect; do
  record unplugged-$how --listen '[::]:4773'
  way=()
  [[ $how == connect ]] && way=(-x http://192.168.50.1:4773)
  check "$how: a request before" "$(ask $secure/catalog/whole "${way[@]}" | cut -d' ' -f1)" /catalog/whole
  start unplugged-$how.curl $device curl -sS --cacert handoff-ca.pem "${way[@]}" -o $how.body $secure/endless
  reader=$started
  until_ok test -s $how.body
  ip -n $device link set wlan0 down
  # The origin goes on sending; the proxy's kernel takes it, and nobody acknowledges.
  sleep 1
  stop_recording unplugged-$how
  kill "$reader" 2>/dev/null
  attach
  shows "$how: the response before was delivered" "$secure/catalog/whole 200 yes" unplugged-$how.requests
  shows "$how: the one that was cut does not count as delivered" "$secure/endless 200 \\(no\\|unknown\\)$" unplugged-$how.requests
done

echo "== WireGuard"
if command -v wg >/dev/null && command -v wireguard-go >/dev/null && [[ -c /dev/net/tun ]]; then
  gateway_key=$(wg genkey) device_key=$(wg genkey)
  fill() {
    sed "s|GATEWAY-PRIVATE-KEY|$gateway_key|; s|DEVICE-PRIVATE-KEY|$device_key|; s|GATEWAY-ADDRESS|192.168.50.1|
      s|GATEWAY-PUBLIC-KEY|$(wg pubkey <<<"$gateway_key")|; s|DEVICE-PUBLIC-KEY|$(wg pubkey <<<"$device_key")|" "$lab/$1.conf" >"$1.conf"
    chmod 600 "$1.conf"
  }
  # tunnel NAMESPACE NAME: what wg-quick does, with the file as it is but for its keys. The control socket is this run's own.
  tunnel() {
    local address
    start "$2" "$1" sh -c 'mount -t tmpfs tmpfs /run && mkdir /run/wireguard && exec wireguard-go -f "$0"' "$2"
    fill "$2"
    wg-quick strip "./$2.conf" >"$2.stripped"
    until_ok nsenter -t "$started" -m -n wg setconf "$2" "$work/$2.stripped"
    for address in $(sed -n 's/^Address = //p' "$2.conf" | tr -d ','); do address "$1" "$2" "$address"; done
    ip -n "$1" link set "$2" up
  }
  tunnel $host wg0
  tunnel $device wg-device
  ip -n $device route add 203.0.113.0/24 dev wg-device
  ip -n $device -6 route add 2001:db8:113::/64 dev wg-device
  printf 'nameserver %s\n' "$(sed -n 's/^DNS = \([^,]*\).*/\1/p' wg-device.conf)" >"$work/resolv.$device"
  ip -n $device route add 10.50.0.1 dev wg-device
  ip -n $device -6 route add fd50:1::1 dev wg-device
  resolves() { [[ $(probe dns 10.50.0.1 api.partner.example) == *203* ]]; }
  check "the gateway's resolver answers in the tunnel" "$(until_ok resolves && echo yes)" yes
  # A tunnel has no hardware address that would tell that two addresses are one device.
  record wireguard --listen '[::]:4773' --device phone
  transparent "WireGuard" wireguard
  for address in $four $six; do check "WireGuard, UDP 443 of $address is rejected at once" "$(probe udp $address 443)" rejected; done
  stop_recording wireguard
  read_back_transparent "WireGuard" wireguard
  shows "WireGuard: the device is the tunnel's address" '"client":"10.50.0.2:' wireguard.events
else
  echo "skipped: there is no wg, wireguard-go or /dev/net/tun here"
fi

echo
echo "$((checks - failed)) of $checks checks are ok"
((failed == 0))
