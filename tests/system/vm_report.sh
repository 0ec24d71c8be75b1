#!/bin/bash
# SPDX-License-Identifier: MIT
# What `vm report`, `steal` and `correct` make of a small recording that was worked out by hand (tests/golden/vm),
# word for word; that classes add up; and what is said of a file that has no virtual machines.
# UPDATE=1 writes what they print now into tests/golden.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
golden=$SRC/tests/golden/vm

fail()
{
	echo "FAILED: $*"
	failed=1
}

"$SAMPLE_MAKE" "$golden/two.sample" "$work/two.ksk" || exit 1
"$SAMPLE_MAKE" "$SRC/tests/golden/profile/before.profile" "$work/native.ksk" || exit 1
cd "$work" || exit 1

# same GOLDEN COMMAND...: the command must succeed and print the golden file.
same()
{
	local file=$golden/$1
	shift
	"$KISEKI" "$@" >out 2>err || fail "kiseki $*: $(cat err)"
	[ -z "${UPDATE-}" ] || cp out "$file"
	diff -u "$file" out || fail "kiseki $* prints something else"
}

same report.txt vm report two.ksk
same report-process.txt vm report two.ksk --by process --from +200us --to +700us
same steal.txt vm steal two.ksk
same correct.txt vm correct two.ksk
same correct-function.txt vm correct two.ksk --by function --process 'pid*'
same steal.json vm steal two.ksk --json

"$KISEKI" vm report two.ksk --json >report.json || fail "vm report --json"
python3 - report.json <<'END' || fail "the classes do not add up"
import json, sys
for vm in json.load(open(sys.argv[1]))["machines"]:
    for part in [vm] + vm["vcpus"]:
        assert sum(part["classes_ns"].values()) == part["wall_ns"], part
    assert sum(v["wall_ns"] for v in vm["vcpus"]) == vm["wall_ns"]
END

# Who took time beyond the limit is still in the sum.
sed 's|^1 1610000 switch 501/500/0/CPU%200/KVM|1 1609000 switch 501/500/0/CPU%200/KVM 9/9/-/sh 0\n1 1610000 switch 9/9/-/sh|' \
	"$golden/two.sample" | "$SAMPLE_MAKE" - three.ksk || fail "no recording"
"$KISEKI" vm report three.ksk --limit 1 >out || fail "--limit"
grep -q ' 1\.00 us .*\[ steal \] (others: 1)$' out || fail "what is beyond the limit is not said: $(cat out)"

# A thread whose guest was not yet entered is not yet known to be a virtual CPU; later it is.
sed 's|^\(1 1310000 switch .*\) 501/500/0/|\1 501/500/-/|' "$golden/two.sample" | "$SAMPLE_MAKE" - late.ksk || fail "no recording"
"$KISEKI" vm report late.ksk >out || fail "a thread that enters its guest later"
grep -q ' 305 us .*\[ steal \] (vcpu 0 of VM 500)$' out || fail "who took the time is not named: $(cat out)"

# A guest's kernel has names if somebody gives them.
printf 'ffffa00008002000 T do_idle\nffffa00008003000 T _etext\n' >guest.map
"$KISEKI" vm report two.ksk --guest-kallsyms 400=guest.map >out || fail "--guest-kallsyms"
grep -q 'do_idle \[kernel\]  pid 101' out || fail "a function of a guest's kernel has no name: $(cat out)"

"$KISEKI" vm report native.ksk >out 2>err && fail "a profile without guests was taken"
grep -q 'cannot read native.ksk: no virtual CPU was seen in it' err || fail "it says: $(cat err)"
"$KISEKI" vm report two.ksk --guest-kallsyms x=guest.map >out 2>err
[ $? -eq 2 ] || fail "a wrong pid was taken: $(cat err)"
exit $failed
