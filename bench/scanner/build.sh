#!/bin/sh
# Builds the scanner's bench: the library modules, optimised, and the driver beside the tests' own encoders and decoders. Of
# Assertions only what the scanner needs is built, which takes a fifth of the time.
# usage: bench/scanner/build.sh [FOLDER]     default .build/scanner; the program is FOLDER/scanner-bench
set -eu
cd "$(dirname "$0")/../.."
out=${1:-.build/scanner}
mkdir -p "$out"
set -- -O -wmo -enable-testing -package-name handoff -swift-version 6 -enable-upcoming-feature ExistentialAny \
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature InternalImportsByDefault -I "$out"
for library in Sources/CLibraries/*/; do set -- "$@" -I "$library"; done

# The source files of a module.
sources() {
    if [ "$1" = Assertions ]; then
        echo Sources/Assertions/Model/Token.swift
        find Sources/Assertions/Scanner Sources/Assertions/Redaction -name '*.swift' ! -name 'Redactor+Printable.swift' | sort
    else
        find "Sources/$1" -name '*.swift' | sort
    fi
}

# A module is built again when one of its sources, or a module before it, is newer.
changed=0
objects=
for module in SessionTrace ContentCodings Crypto Assertions; do
    object=$out/$module.o
    sources "$module" > "$out/$module.sources"
    # shellcheck disable=SC2046 # a list of files
    if [ "$changed" = 1 ] || [ ! -f "$object" ] || [ -n "$(find $(cat "$out/$module.sources") -newer "$object")" ]; then
        echo "Building $module …"
        swiftc "$@" -parse-as-library -emit-module -emit-module-path "$out/$module.swiftmodule" -module-name "$module" \
            -c "@$out/$module.sources" -o "$object"
        # The compiler leaves an object as it is when nothing in it changed.
        touch "$object"
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
