#!/bin/bash
# measure.sh FOLDER STEP ...: build, time and profile the corpus on a machine with a GPU.
#
#   build      the programs, into FOLDER/bin
#   times      every version checked and timed             FOLDER/times.jsonl
#   ceilings   what the device reaches                     FOLDER/ceilings.jsonl
#   full       a report of each version, the full set      FOLDER/full/PAIR-VERSION.ncu-rep
#   basic      the same with the default set               FOLDER/basic/PAIR-VERSION.ncu-rep
#   repeat-N   all pairs in one report, the default set   FOLDER/repeats/N-VERSION.ncu-rep
#
# PAIRS names the pairs; without it all are taken. Clocks are left as they are. DEADLINE: seconds
# after which no further report is begun.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && cd "$1" && shift
DEADLINE=${DEADLINE:-100000}
OF_PYTORCH="product-library triton-elementwise triton-small-tiles triton-softmax-warps"

profile() {  # profile REPORT SET PROGRAM... : the first eight launches of the profiled range
  local report=$1 set=$2
  shift 2
  [ -s "$report.ncu-rep" ] && return
  ((SECONDS > DEADLINE)) && { echo "left out: $report"; return; }
  ncu --quiet --force-overwrite --profile-from-start off --launch-count "${LAUNCHES:-8}" --set "$set" \
    --clock-control none --export "$report" "$@" >"$report.log" 2>&1 || { echo "failed: $report"; tail -3 "$report.log"; }
  [ -s "$report.ncu-rep" ] && rm -f "$report.log"
}

versions() {  # versions FOLDER SET: a report for each version of each pair
  mkdir -p "$1"
  for pair in ${PAIRS:-$(./bin/corpus list) $OF_PYTORCH}; do
    for version in before after; do
      case "$pair-$version" in
        product-by-warps-after | product-library-before) profile "$1/$pair-$version" "$2" python3 ./triton_pairs.py profile "$version" "$pair" ;;
        triton-*) profile "$1/$pair-$version" "$2" python3 ./triton_pairs.py profile "$version" "$pair" ;;
        copy-16-after | product-library-after) ;;
        *) profile "$1/$pair-$version" "$2" ./bin/corpus profile "$version" "$pair" ;;
      esac
    done
  done
}

for step in "$@"; do
  began=$SECONDS
  case $step in
    build)
      cp "$here"/*.py . && make -s -j "$(nproc)" -C "$here" BUILD="$PWD/bin" >build.log 2>&1 || tail build.log
      rm -f bin/*.o
      ;;
    times) { ./bin/corpus time ${PAIRS:-}; python3 ./triton_pairs.py time; } >times.jsonl 2>times.log; cat times.log ;;
    ceilings) { ./bin/ceilings; python3 ./library_ceilings.py; } >ceilings.jsonl 2>ceilings.log; cat ceilings.log ;;
    full) versions full full ;;
    basic) versions basic basic ;;
    repeat-*)
      mkdir -p repeats
      for version in before after; do
        LAUNCHES=1000 profile "repeats/${step#repeat-}-$version" basic ./bin/corpus profile "$version" ${PAIRS:-$(./bin/corpus list | grep -v -e tiny-launches -e streaming-passes)}
      done
      ;;
  esac
  echo "$step: $((SECONDS - began)) s"
done
