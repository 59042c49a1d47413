#!/bin/sh
# Builds the scanner's bench: the library modules, optimised, and the driver beside the tests' own encoders and decoders.
# usage: bench/scanner/build.sh [FOLDER]     default .build/scanner; the program is FOLDER/scanner-bench
set -eu
cd "$(dirname "$0")/../.."
out=${1:-.build/scanner}
mkdir -p "$out"
set -- -O -wmo -enable-testing -package-name handoff -swift-version 6 -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault -I "$out"
for library in Sources/CLibraries/*/; do set -- "$@" -I "$library"; done

# A module is built again when one of its sources, or a module before it, is newer.
changed=0
objects=
for module in SessionTrace ContentCodings Crypto Assertions; do
    object=$out/$module.o
    if [ "$changed" = 1 ] || [ ! -f "$object" ] || [ -n "$(find "Sources/$module" -name '*.swift' -newer "$object")" ]; then
        echo "Building $module …"
        find "Sources/$module" -name '*.swift' | sort > "$out/$module.sources"
        swiftc "$@" -parse-as-library -emit-module -emit-module-path "$out/$module.swiftmodule" -module-name "$module" \
            -c "@$out/$module.sources" -o "$object"
        changed=1
    fi
    objects="$objects $object"
done
echo "Building the bench …"
samples=Tests/AssertionsTests/Scanner
# shellcheck disable=SC2086 # a list of files
swiftc "$@" -module-name ScannerBench -use-ld=lld bench/scanner/*.swift $samples/SampleEncoding.swift \
    $samples/Replay.swift $samples/ScannerSamples.swift $samples/LeakPlaces.swift $samples/LeakPlaces+More.swift \
    $samples/SQLitePages.swift $samples/LeakMatrix.swift $samples/InnocentBodies.swift \
    $objects -o "$out/scanner-bench"
