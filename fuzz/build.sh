#!/bin/sh
# Builds the fuzzer: the library modules as they are, compiled with coverage and AddressSanitizer, and the targets.
# usage: fuzz/build.sh [FOLDER]     default .build/fuzz; the program is FOLDER/fuzzer
set -eu
cd "$(dirname "$0")/.."
out=${1:-.build/fuzz}
mkdir -p "$out"
# The settings of Package.swift, and `internal` opened up for the targets. Optimised: the checks stay in.
set -- -O -wmo -parse-as-library -enable-testing -package-name handoff -swift-version 6 -sanitize=fuzzer,address \
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility \
    -enable-upcoming-feature InternalImportsByDefault -I "$out"
for library in Sources/CLibraries/*/; do set -- "$@" -I "$library"; done

# A module is built again when one of its sources, or a module before it, is newer.
changed=0
objects=
for module in SessionTrace ContentCodings Crypto WireFormats CaptureAnalyzer Assertions Reports; do
    object=$out/$module.o
    if [ "$changed" = 1 ] || [ ! -f "$object" ] || [ -n "$(find "Sources/$module" -name '*.swift' -newer "$object")" ]; then
        echo "Building $module for fuzzing …"
        find "Sources/$module" -name '*.swift' | sort > "$out/$module.sources"
        swiftc "$@" -emit-module -emit-module-path "$out/$module.swiftmodule" -module-name "$module" \
            -c "@$out/$module.sources" -o "$object"
        changed=1
    fi
    objects="$objects $object"
done
echo "Building the fuzz targets …"
# shellcheck disable=SC2086 # a list of files
swiftc "$@" -module-name Fuzzer -use-ld=lld fuzz/Targets/*.swift $objects -o "$out/fuzzer"
