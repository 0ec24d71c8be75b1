#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line: exit codes, where what is printed, pipes, manual pages, completion.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp "$SRC/tests/golden/report/small/trace.txt" . || exit 1
failed=0

bad()
{
	echo "$*"
	failed=1
}

# gives CODE COMMAND...: exits so; errors are one line on stderr that starts with "kiseki: ".
gives()
{
	local want=$1 got
	shift
	"$KISEKI" "$@" >out 2>err </dev/null
	got=$?
	[ $got -eq "$want" ] || bad "kiseki $*: exit $got, not $want"
	[ "$want" -eq 0 ] || [ "$(wc -l <err)" -eq 1 ] || bad "kiseki $*: not one line: $(cat err)"
	[ "$want" -eq 0 ] || grep -q '^kiseki: cannot ' err || bad "kiseki $*: says $(cat err)"
}

gives 0 --version
grep -Eqx 'kiseki [0-9]+\.[0-9]+\.[0-9]+' out || bad "version: $(cat out)"
gives 0 --help
gives 0 convert --help
gives 0
cmp -s out "$SRC/tests/golden/help/kiseki.txt" || bad "kiseki alone prints something else than its help"
gives 2 report
gives 2 chekc x
grep -q 'did you mean check' err || bad "no suggestion: $(cat err)"
gives 2 help nothing
gives 2 convert trace.txt
gives 2 convert trace.txt -o x.unknown
gives 2 convert trace.txt -o x.json --codec bsf
gives 2 report sched trace.txt --sort upside-down
gives 2 record -o -
gives 2 record --only
gives 2 record -d 0
gives 2 record --source magic
KISEKI_AGENT=/nowhere gives 1 record -o none.ksk -- true
KISEKI_AGENT=/bin/false gives 1 record -o none.ksk -- true
KISEKI_AGENT=/nowhere gives 1 doctor
[ ! -e none.ksk ] || bad "a recording without an agent"
gives 1 check missing.ksk
gives 1 check "$KISEKI"
gives 1 check .
gives 1 convert trace.txt -o missing/x.json
gives 1 convert trace.txt -f ctf -o -
: >empty
gives 1 info empty
# A trace of other things than the scheduler's events is not one in which nothing happened.
for report in sched latency; do
	gives 1 report $report "$SRC/tests/data/func/sample.ksk"
	grep -q 'it has no events of the scheduler' err || bad "report $report of calls: $(cat err)"
done
gives 0 info "$SRC/tests/data/func/sample.ksk"
grep -q 'bytes per event' out && bad "the bytes of calls are told as those of events"
gives 1 serve --listen 99999
grep -q "'99999' is not a numeric address; a port alone is written :PORT" err || bad "an address: $(cat err)"
printf 'KISEKI\r\n' >torn.ksk
gives 1 check torn.ksk
head -c 3000 /dev/urandom | sed 's/^/\x00/' >noise
gives 1 report sched noise

# Pipes at both ends, and formats told by their content.
gives 0 convert trace.txt -o a.ksk
"$KISEKI" convert - -f ksk -o - <trace.txt >b.ksk || bad "from a file as standard input"
# shellcheck disable=SC2002 # a pipe is what is tested
cat trace.txt | "$KISEKI" convert - -f ksk -o - | cat >c.ksk || bad "from a pipe"
# shellcheck disable=SC2002
cat a.ksk | "$KISEKI" convert - -f ndjson -o - >a.ndjson || bad "a .ksk from a pipe"
for f in a b c; do
	"$KISEKI" convert $f.ksk -f ndjson -o - | jq -c 'select(.ns) | del(.tick)' >$f.events
done
[ "$(wc -l <a.events)" -ge 13 ] || bad "events: $(wc -l <a.events)"
cmp a.events b.events && cmp a.events c.events || bad "pipes change the events"
gives 0 check a.ksk
head -c $(($(stat -c %s a.ksk) - 30)) a.ksk >cut.ksk
"$KISEKI" check cut.ksk >out && bad "a cut file passes the check"
grep -q '^damage    offset' out || bad "check does not name the damage: $(cat out)"

# Selections.
gives 0 convert a.ksk --cpu 1 --event switch -o cpu1.ndjson
[ "$(jq -r 'select(.ns) | .cpu' cpu1.ndjson | sort -u)" = 1 ] || bad "--cpu"
gives 2 convert a.ksk --cpu x -o x.ndjson

# Nothing is coloured where no terminal is.
"$KISEKI" report sched trace.txt | grep -q "$(printf '\033')" && bad "colours in a pipe"

# Manual pages are clean roff; completion is valid shell that knows the commands.
command -v man >/dev/null || echo "skipped: man is not installed, pages were not read by it"
for page in "" record serve devices start stop configure runs ledger export tail top convert info \
	check report "report sched" "report latency" doctor help completion; do
	# shellcheck disable=SC2086 # the words of a command
	"$KISEKI" help --man $page >page.1 || bad "man $page"
	if command -v man >/dev/null; then
		man --warnings -l page.1 2>warnings >/dev/null
		[ ! -s warnings ] || bad "man $page: $(cat warnings)"
	fi
	grep -q '^.SH EXIT STATUS' page.1 || bad "man $page is not whole"
done
"$KISEKI" --man | cmp - <("$KISEKI" help --man) || bad "--man"
complete_words()
{
	bash -c 'eval "$("$KISEKI" completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
		_kiseki; echo "${COMPREPLY[*]}"' x "$@"
}
[ "$(complete_words kiseki rep)" = report ] || bad "completion of a command"
[ "$(complete_words kiseki report "")" = "sched latency" ] || bad "completion of a report"
[ "$(complete_words kiseki convert x --form)" = "--format" ] || bad "completion of an option"
[ "$(complete_words kiseki convert -f nd)" = ndjson ] || bad "completion of a format"
[ "$(complete_words kiseki check tra)" = trace.txt ] || bad "completion of a file"

# What a terminal with zsh shows after a tab: a pattern in it. What was typed comes back, too, so the pattern is not in it.
zsh_shows()
{
	# shellcheck disable=SC2016 # the inner shell's
	timeout 60 zsh -f -c 'zmodload zsh/zpty; zpty shell "zsh -f -i"
		zpty -w shell "fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -D; echo ready-\$((1 + 1))"
		zpty -r shell out "*ready-2*" && zpty -w -n shell "$1" && zpty -r shell out "*$2*"' x "$1"$'\t' "$2" ||
		bad "completion for zsh: $1 has no $2"
}
if command -v zsh >/dev/null; then
	"$KISEKI" completion zsh >_kiseki && zsh -n _kiseki || bad "completion for zsh"
	zsh_shows "kiseki rep" report
	zsh_shows "kiseki report " "latency*sched"
	zsh_shows "kiseki convert x --form" --format
	zsh_shows "kiseki convert -f nd" ndjson
	zsh_shows "kiseki check tra" trace.txt
else
	echo "skipped: zsh is not installed, its completion was not tried"
fi
exit $failed
