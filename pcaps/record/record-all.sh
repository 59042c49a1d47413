#!/usr/bin/env bash
# Records the sessions of pcaps/ anew.
# usage: sudo pcaps/record/record-all.sh [NAME…]      all sessions, or the named ones
#        pcaps/record/record-all.sh --list             their names
# Each session gets namespaces of its own, which are gone when it ends; only pcaps/NAME.pcapng stays.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(dirname "$here")

# command → the Debian package that has it
declare -A needs=(
  [python3]=python3 [nginx]=nginx-light [dnsmasq]=dnsmasq-base [ip]=iproute2 [ss]=iproute2 [ethtool]=ethtool
  [sysctl]=procps [tcpdump]=tcpdump [editcap]=wireshark-common [tshark]=tshark [openssl]=openssl [curl]=curl
  [node]=nodejs [java]=openjdk-17-jdk-headless [javac]=openjdk-17-jdk-headless [chromium]=chromium
)
PATH=$PATH:/usr/sbin:/sbin
missing=()
for command in "${!needs[@]}"; do
  command -v "$command" >/dev/null || missing+=("${needs[$command]}")
done
[[ -r /usr/share/java/okhttp.jar ]] || missing+=(libokhttp-java)
if ((${#missing[@]})); then
  mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
  echo "record-all: these Debian packages are missing: ${missing[*]}" >&2
  echo "record-all: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 2
fi

mapfile -t all < <(python3 -B "$here/lab.py" --list)
if [[ ${1:-} == --list ]]; then printf '%s\n' "${all[@]}"; exit 0; fi
if ((EUID != 0)); then
  echo "record-all: making network namespaces needs root: sudo $0 $*" >&2
  exit 2
fi

names=("$@")
((${#names[@]})) || names=("${all[@]}")
failed=0
for name in "${names[@]}"; do
  printf '%-36s' "$name"
  done=0
  for try in 1 2 3 4; do # lost packets, a spare connection of the browser: thrown away, and once more
    if timeout 200 python3 -B "$here/lab.py" "$name" "$out/$name.pcapng"; then done=1; break; fi
  done
  if ((done)); then echo "$(stat -c %s "$out/$name.pcapng") bytes"; else echo "FAILED"; failed=1; fi
done
python3 -B "$here/index.py" "${names[@]}" || failed=1
exit $failed
