#!/usr/bin/env bash
# What stages share. Sourced by each stage, which may also be run by itself.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The benchmarks of the tool, each run by both entry points.
# shellcheck disable=SC2034
benches=(queue)
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
