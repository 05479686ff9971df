#!/usr/bin/env bash
# What stages share. Sourced by each stage, which may also be run by itself.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The benchmarks of the tool, each run by both entry points.
# shellcheck disable=SC2034
benches=(cull flush queue ring timer)
# shellcheck disable=SC2034
target=${CARGO_TARGET_DIR:-$PWD/target}
stage_scratch=$(mktemp -d)
trap 'rm -rf "$stage_scratch"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# Runs a test command; fails if a test fails, and if it ran no test at all.
tested() {
    local log=$stage_scratch/tested count
    "$@" 2>&1 | tee "$log"
    count=$(awk '/^test result:/ { sum += $4 } END { print sum + 0 }' "$log")
    ((count > 0)) || fail "no test ran: $*"
    echo "$count tests passed"
}

# Skips the stage unless the nightly toolchain has the component or can get it.
need_nightly() {
    local component=$1
    rustup component list --toolchain nightly --installed 2>/dev/null | grep -q "^$component" && return
    echo "missing, installing with rustup: nightly $component"
    rustup component add --toolchain nightly "$component" && return
    echo "skipped: no nightly toolchain with $component"
    exit 77
}
