#!/usr/bin/env bash
# Runs stages under their time budgets and sums up. Sourced by `run` and `nightly`; call `drive`.
#
# A stage is an executable file NN-name with a line `# budget: N s`. It passes with exit code 0, is skipped with 77
# where skipping is allowed, and fails with any other code or when its budget is spent.

set -euo pipefail

SKIP_CODE=77
GRACE_S=20

stage_pid=

die() {
    echo "$*" >&2
    exit 2
}

budget_of() {
    sed -n 's/^# budget: \([0-9][0-9]*\) s$/\1/p' "$1" | head -n 1
}

# Installs what is missing, and says so; nothing is touched where everything is there.
prepare() {
    local packages=() component
    command -v cc >/dev/null || packages+=(gcc libc6-dev)
    command -v git >/dev/null || packages+=(git)
    if ((${#packages[@]} > 0)); then
        local as_root=()
        [[ $EUID -eq 0 ]] || as_root=(sudo)
        echo "missing, installing with apt-get: ${packages[*]}"
        "${as_root[@]}" apt-get update -qq
        "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}"
    fi
    command -v cargo >/dev/null || die "missing: cargo; install Rust with rustup first"
    for component in rustfmt clippy; do
        "cargo-${component/rust/}" --version >/dev/null 2>&1 && continue
        echo "missing, installing with rustup: $component"
        rustup component add "$component"
    done
    cargo --version
}

# What every stage and test may read. See STYLE.md, "Continuous integration".
announce() {
    local root=$1 scratch=$2 real=$1/../shared/topo/real
    export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
    export CMWQ_SKIPS=$scratch/skips
    : >"$CMWQ_SKIPS"
    if [[ -z ${CMWQ_TOPO_REAL:-} && -d $real ]]; then
        CMWQ_TOPO_REAL=$(cd "$real" && pwd)
        export CMWQ_TOPO_REAL
    fi
}

# Selects the stages whose names hold one of the words, or all.
select_stages() {
    local directory=$1 stage word
    shift
    for stage in "$directory"/[0-9][0-9]-*; do
        if (($# == 0)); then
            echo "$stage"
            continue
        fi
        for word in "$@"; do
            [[ ${stage##*/} == *"$word"* ]] && echo "$stage" && break
        done
    done
    return 0
}

# Runs one stage; leaves what became of it in `result` and how long it took in `seconds`.
run_stage() {
    local stage=$1 budget=$2 allow_skip=$3 code=0 started=$SECONDS
    timeout --kill-after="$GRACE_S" "$budget" "$stage" &
    stage_pid=$!
    wait "$stage_pid" || code=$?
    stage_pid=
    seconds=$((SECONDS - started))
    case $code in
        0) result=passed ;;
        124) result='failed: budget spent' ;;
        "$SKIP_CODE")
            result=skipped
            [[ $allow_skip == yes ]] || result='failed: skipped'
            ;;
        *) result="failed: exit $code" ;;
    esac
    # Killed: after the grace period that follows the budget, or by somebody else before.
    ((code != 137 || seconds < budget)) || result='failed: budget spent'
}

print_skips() {
    local count
    count=$(grep -c '^skipped: ' "$CMWQ_SKIPS" || true)
    sort "$CMWQ_SKIPS" | uniq -c
    echo "skipped tests: $count"
}

# drive DIRECTORY LIMIT_S ALLOW_SKIP [WORD...]: stages of DIRECTORY whose budgets sum up to LIMIT_S at most.
drive() {
    local directory=$1 limit=$2 allow_skip=$3
    shift 3
    local root stages stage name budget seconds result sum=0 total=0 passed=0 failed=0 skipped=0 table=
    root=$(cd "$directory/../.." && pwd)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    trap '[[ -z $stage_pid ]] || kill "$stage_pid"; exit 130' INT TERM

    for stage in "$directory"/[0-9][0-9]-*; do
        [[ -x $stage ]] || die "$stage is not executable"
        budget=$(budget_of "$stage")
        [[ -n $budget ]] || die "$stage has no line '# budget: N s'"
        sum=$((sum + budget))
    done
    ((sum <= limit)) || die "the budgets sum up to $sum s, allowed are $limit s"
    mapfile -t stages < <(select_stages "$directory" "$@")
    ((${#stages[@]} > 0)) || die "no stage of that name"

    cd "$root"
    prepare
    announce "$root" "$scratch"
    for stage in "${stages[@]}"; do
        name=${stage##*/}
        budget=$(budget_of "$stage")
        printf '\n== %s (budget %s s)\n' "$name" "$budget"
        run_stage "$stage" "$budget" "$allow_skip"
        printf -- '-- %s: %s, %s s of %s s\n' "$name" "$result" "$seconds" "$budget"
        table+=$(printf '%-22s %8s %8s  %s' "$name" "$seconds" "$budget" "$result")$'\n'
        total=$((total + seconds))
        case $result in
            passed) passed=$((passed + 1)) ;;
            skipped) skipped=$((skipped + 1)) ;;
            *) failed=$((failed + 1)) ;;
        esac
    done

    printf '\n%-22s %8s %8s  %s\n%s' stage seconds budget result "$table"
    printf '%-22s %8s\n' total "$total"
    print_skips
    ((skipped == 0)) || echo "skipped stages: $skipped"
    echo "$passed passed, $failed failed"
    ((failed == 0))
}
