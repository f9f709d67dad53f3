#!/bin/sh
# Runs the main jobs on the sample data and shows what they answer. Reports go to output/demo/.
set -eu
cd "$(dirname "$0")/.."
out=output/demo
rm -rf "$out"
mkdir -p "$out"

# Shows a command, runs it, and stops the demo when its exit code is another one than expected.
run() {
    expected=$1
    shift
    printf '\n\033[1m$ autofuse %s\033[0m\n' "$*"
    code=0
    autofuse "$@" || code=$?
    if [ "$code" -ne "$expected" ]; then
        echo "demo: exit code $code where $expected is expected" >&2
        exit 1
    fi
}

echo "Which template was chosen, and why?"
run 0 run summary examples/runs/default
run 0 -q run summary examples/runs/default --invocations all -o "$out/summary.html"
run 0 -q run summary examples/runs/default --invocations all -o "$out/summary.xlsx"

echo
echo "What got slower from one run to the other? The gate names the operator and fails; turned around it passes."
run 1 -q run compare examples/runs/default examples/runs/pgo --fail-on-regression 3
run 0 -q run compare examples/runs/pgo examples/runs/default --fail-on-regression 3 -o "$out/compare.html"

echo
echo "Can it be proved?"
run 0 -q run evidence examples/runs/default -o "$out/evidence"
run 0 run evidence --check "$out/evidence"
run 0 -q run split-slog examples/runs/default -o "$out/split"

echo
echo "Is the tiling ABI right? The generated code is compiled and called, and writes a log that the others can read."
run 0 run verify-tiling examples/tiling/mul_sum_dyn --preset B -o "$out/verify"
run 0 -q run summary "$out/verify/att.log"

echo
echo "Which term of which pipe bounds it, and what would move it?"
run 0 run perf-formula examples/tiling/mul_sum_dyn "$out/verify/att.log" -f console
run 0 -q run perf-formula examples/tiling/mul_sum_dyn "$out/verify/att.log" -o "$out/perf"

echo
echo "Which fused operator made the result worse?"
run 1 --lang en run precision \
    --af-open-graph examples/precision/ge_proto_00031_resnet_block_Build.txt \
    --af-close-graph examples/precision/resnet_block_fusion_off.json \
    --af-open-data examples/precision/open --af-close-data examples/precision/close --compare-input

echo
echo "The reports are in $out."
