#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command of every program has a manual page that is installed, and the page and what a shell offers have each option
# that --help has. SCRIPTS is the folder of the build with the latter.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

bad()
{
	echo "$*"
	failed=1
}

# All commands of a program, as its script for bash knows them: "kiseki report sched".
commands_of() { sed -n "s/^\t\t'\($1\(\| [^'-][^']*\)\)')\$/\1/p" "$2"; }

# Whatever looks like an option in a text.
words_of() { grep -o -- '--[a-z][a-z-]*' | sort -u; }

# The words that bash would offer for an option.
offered()
{
	# shellcheck disable=SC2016 # the inner shell's
	bash -c 'source "$1"; shift; name=$1; COMP_WORDS=("$@" -); COMP_CWORD=$#; "_$name"; printf "%s\n" "${COMPREPLY[@]}"' x "$@" | sort -u
}

command -v zsh >/dev/null || echo "skipped: zsh is not installed, its scripts were not read"
count=0
: >"$work/missing"
for program in "$KISEKI" "$AGENT" "$KISEKI_BOOT" "$GUEST"; do
	name=$(basename "$program")
	script=$SCRIPTS/$name
	zsh=$SCRIPTS/_$name
	[ -s "$script" ] && [ -s "$zsh" ] || bad "$name has no completion"
	head -n 1 "$zsh" | grep -qx "#compdef $name" || bad "zsh will not find $zsh"
	! command -v zsh >/dev/null || zsh -n "$zsh" || bad "$zsh is no script"
	words_of <"$zsh" >"$work/zsh"
	commands_of "$name" "$script" >"$work/commands"
	grep -qx "$name" "$work/commands" || bad "$script has no commands"
	while read -r -a words; do
		page=$(dirname "$program")/$(IFS=- && echo "${words[*]}").1
		[ -s "$page" ] || { bad "there is no page $(basename "$page")" && continue; }
		"$program" "${words[@]:1}" --help </dev/null >"$work/help" || bad "${words[*]} --help"
		sed -n '/^Options$/,/^$/ s/^ \{1,8\}\(-[A-Za-z0-9], \)\?\(--[a-z-]*\).*/\2/p' "$work/help" | sort -u >"$work/options"
		grep -qx -- --help "$work/options" || bad "${words[*]} --help has no list of options"
		offered "$script" "${words[@]}" | grep '^--' | cmp -s - "$work/options" ||
			bad "${words[*]}: bash offers other options than --help"
		sed 's/\\-/-/g' "$page" | words_of | comm -23 "$work/options" - | sed "s/^/$(basename "$page") has no /" >>"$work/missing"
		comm -23 "$work/options" "$work/zsh" | sed "s/^/_$name has no /" >>"$work/missing"
		count=$((count + 1))
	done <"$work/commands"
done
[ ! -s "$work/missing" ] || bad "$(cat "$work/missing")"
echo "$count commands"
exit $failed
