#!/usr/bin/env bash
# Write docs/rules.md anew from the rules' own descriptions.
# usage: rules-doc.sh HANDOFF
set -euo pipefail
handoff=$(realpath "${1:?usage: $0 HANDOFF}")
cd "$(dirname "$0")/.."
"$handoff" rules --markdown >docs/rules.md.new
mv docs/rules.md.new docs/rules.md
