#!/bin/sh
# Writes Sources/Assertions/Hosts/TelemetryHostList.swift from a list in our own TSV form (domain, category, vendor).
# usage: Scripts/embed-telemetry-hosts.sh telemetry-hosts.tsv
set -eu
[ $# -eq 1 ] || { echo "usage: $0 telemetry-hosts.tsv" >&2; exit 2; }
out="$(dirname "$0")/../Sources/Assertions/Hosts/TelemetryHostList.swift"
{
    cat <<'HEAD'
// Written by Scripts/embed-telemetry-hosts.sh; edit the list there and run it again.
//
// Origin: the product's own list of hosts that collect telemetry (RULES section 3). Host-level entries where a vendor's
// registrable domain also serves something else. The names were not resolved or checked live: a first list, which
// users extend by files of their own.

/// The built-in list in the product's TSV form: domain, category, vendor; `#` begins a comment line.
///
/// One literal, read when first asked for: a dictionary literal of this size would slow the build down, and a resource
/// file would have to travel with the executable.
let telemetryHostListText = """
HEAD
    grep -v '^#' "$1" | sed 's/\\/\\\\/g; s/^/    /'
    echo '    """'
} >"$out"
