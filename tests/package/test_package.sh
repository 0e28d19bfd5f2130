#!/bin/bash
# What leaves the tree works where it arrives: installed below a prefix, as a source archive, as a Debian package. Nothing is
# installed on this host: the package goes into a root folder of its own, and is removed from it.
# shellcheck disable=SC2317 # check() calls functions by name
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

BUILD=${BUILD:-build}
passed=0 failed=0 skipped=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/harness-package.XXXXXX") || exit 1
chmod 755 "$folder" # for nobody
trap 'rm -rf "$folder"' EXIT

check() { # WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$folder/said" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'package: FAILED: %s\n' "$what"
		tail -n 20 "$folder/said" | sed 's/^/    /'
	fi
}
skip() { # WHY
	echo "package: skipped: $*"
	skipped=$((skipped + 1))
}
root() { [ "$(id -u)" -eq 0 ]; }
# From / and with an empty environment; as nobody where we are root.
stranger() { # PROGRAM WORD...
	if root; then
		(cd / && env -i PATH="$PATH" setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@")
	else
		(cd / && env -i PATH="$PATH" "$@")
	fi
}
version=$(sed -n 's/^VERSION := //p' Makefile)

# What a program that was installed below $1 must do. A run needs root and an engine, and is asked for by "run".
works() { # NAME PREFIX [run]
	local file name=$1 prefix=$2 bundle=$folder/away/$1/latest/confinement-evidence.tar.gz
	check "$name: its version" grep -x "harness $version" <(stranger "$prefix/bin/harness" --version)
	check "$name: lists what came with it" grep '^  mutation/network ' <(stranger "$prefix/bin/harness" list)
	check "$name: a plan" stranger "$prefix/bin/harness" run --dry-run all
	check "$name: the gateway" grep "^harness-gateway $version" <(stranger "$prefix/bin/harness-gateway" --version)
	check "$name: every helper is found" not_missing "$prefix"
	check "$name: every link of its pages" links_hold "$prefix/share/doc/harness"
	for file in docs/recheck.py ci/scan-bundle; do
		check "$name: $file is the source's" cmp "$file" "$prefix/share/doc/harness/$file"
	done
	check "$name: a manual page" test -s "$(echo "$prefix"/share/man/man1/harness.1*)"
	[ "${3:-}" = run ] || return 0
	if root && ci/engine status >"$folder/said" 2>&1; then
		mkdir -p "$folder/away"
		check "$name: a run from another folder" run_away "$prefix" "$name"
		check "$name: nobody verifies the bundle" stranger "$prefix/bin/harness" verify "$bundle"
	else
		skip "$name: a run needs root and an engine"
	fi
}
links_hold() { # FOLDER: what its pages link to, but for other sites and places in themselves, is there
	local page link links=0 broken=0
	while read -r page; do
		while read -r link; do
			links=$((links + 1))
			[ -e "$(dirname "$page")/${link%%#*}" ] || { echo "${page#"$1"/}: $link" && broken=1; }
		done < <(grep -oE '\]\([^)]*\)' "$page" | sed 's/^](//; s/)$//' | grep -vE '^(https?:|#)')
	done < <(find "$1" -name '*.md*')
	[ "$broken" -eq 0 ] && [ "$links" -ge 20 ]
}
not_missing() { # PREFIX
	stranger "$1/bin/harness" doctor >"$folder/doctor" || true # it may lack other things
	grep -E '^ok +helpers ' "$folder/doctor"
}
run_away() { # PREFIX NAME
	(cd "$folder/away" && env -i PATH="$PATH" timeout 120 "$1/bin/harness" run --quiet --out "$2" baseline)
}

# ---- make install, make uninstall ----

install_at() { make -s BUILD="$BUILD" install DESTDIR="$folder/root" prefix=/opt/h; }
uninstall_at() { make -s BUILD="$BUILD" uninstall DESTDIR="$folder/root" prefix=/opt/h; }
nothing_there() { # it finds nothing, and takes nothing away here
	mkdir -p "$BUILD/empty-folder" && make -s BUILD="$BUILD" uninstall DESTDIR="$folder/none" && rmdir "$BUILD/empty-folder"
}
no_folder() { # of ours is left but the one that holds theirs
	[ "$(find "$folder/root" -name 'harness' -o -name examples -o -name schema)" = "$folder/root/opt/h/libexec/harness" ]
}
left_alone() { # what somebody else put there, and nothing besides
	[ "$(find "$folder/root" -type f -o -type l)" = "$folder/root/opt/h/libexec/harness/theirs" ]
}
check "make install" install_at
works installed "$folder/root/opt/h" run
check "no path of the build folder in a link" test "$(readlink "$folder/root/opt/h/bin/harness-gateway")" = \
	../libexec/harness/harness-gateway
mv "$folder/root/opt" "$folder/root/moved"
works "moved as a whole" "$folder/root/moved/h"
mv "$folder/root/moved" "$folder/root/opt"
touch "$folder/root/opt/h/libexec/harness/theirs"
check "make uninstall" uninstall_at
check "make uninstall leaves what is not ours, and nothing besides" left_alone
check "make uninstall leaves no folder of ours" no_folder
check "make uninstall where nothing is installed" nothing_there

# ---- make dist ----

dist() { ci/dist "$version" "$folder/$1.tar.gz"; }
dist_elsewhere() { # with another time, mask, home, language and order of the folder's entries
	git clone -q . "$folder/clone" && git -C "$folder/clone" checkout -q "$(git rev-parse HEAD)" &&
		(cd "$folder/clone" && umask 077 && find . -path ./.git -prune -o -type f -exec touch -d 2001-01-01 {} + &&
			env -i PATH="$PATH" HOME=/nonexistent LC_ALL=C.UTF-8 TZ=Asia/Tokyo GZIP='' ci/dist "$version" "$folder/second.tar.gz")
}
same_files() { # those that are committed, below one folder
	diff <(git ls-tree -r --name-only HEAD | sed "s,^,harness-$version/," | sort) \
		<(tar -tzf "$folder/first.tar.gz" | grep -v '/$' | sort)
}
refused_commit() { # in one line, and nothing is left
	! ci/dist "$version" "$folder/none.tar.gz" no-such-commit >"$folder/refused" 2>&1 && [ "$(wc -l <"$folder/refused")" -eq 1 ] &&
		[ ! -e "$folder/none.tar.gz" ]
}
if git rev-parse --verify --quiet HEAD >/dev/null 2>&1; then
	check "make dist" dist first
	check "make dist elsewhere" dist_elsewhere
	check "the same bytes twice" cmp "$folder/first.tar.gz" "$folder/second.tar.gz"
	check "the files that are committed, and no other" same_files
	check "no commit of that name" refused_commit
else
	skip "a source archive needs a clone with git"
fi

# ---- make deb ----

builds_from() { # the package asks for each library that ci/deps installs for the build
	local name
	while read -r name; do
		[ "$name" = libc6-dev ] || grep -x " $name," packaging/debian/control || { echo "missing: $name" && return 1; }
	done < <(sed -nE 's/^build +(lib[^ ]*-dev) .*/\1/p' ci/deps)
}
check "what it builds from" builds_from

lists() { dpkg-deb -c "$1" | awk '{ print $6 }' | grep -x "$2"; }
lint_clean() { # PACKAGE: no error, no warning, and no override that says nothing
	lintian --fail-on error,warning --display-info --tag-display-limit 0 "$1" >"$folder/lintian" 2>/dev/null || { cat "$folder/lintian" && return 1; }
	! grep -E '^[EW]:|unused-override' "$folder/lintian"
}
in_root() { # WORD...
	dpkg --root="$folder/debian" --force-depends --log=/dev/null "$@"
}
depends_here() { # PACKAGE: each package that it needs is one of those that built it
	local name
	for name in $(dpkg-deb -f "$1" Depends | sed -e 's/([^)]*)//g' -e 's/|[^,]*//g' | tr ',' ' '); do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$name")" = installed ] || { echo "$name" && return 1; }
	done
}
if ! command -v dh >/dev/null || ! command -v lintian >/dev/null; then
	skip "a Debian package needs debhelper and lintian: ci/deps package"
elif [ -s "$folder/first.tar.gz" ]; then
	check "make deb" ci/deb "$folder/first.tar.gz" "$folder/out"
	package=$(echo "$folder"/out/harness_*.deb)
	check "lintian has nothing to say" lint_clean "$package"
	check "the version is ours" test "$(dpkg-deb -f "$package" Version)" = "$version-1"
	check "what it depends on" depends_here "$package"
	for file in bin/harness share/bash-completion/completions/harness share/zsh/vendor-completions/_harness \
		share/fish/vendor_completions.d/harness.fish share/man/man1/harness.1.gz share/doc/harness/copyright; do
		check "it holds $file" lists "$package" "./usr/$file"
	done
	if root; then
		mkdir -p "$folder"/debian/var/lib/dpkg/{info,updates,triggers}
		touch "$folder/debian/var/lib/dpkg/status"
		check "dpkg installs it" in_root -i "$package"
		works "of the package" "$folder/debian/usr" run
		check "dpkg removes it" in_root -P harness
		check "dpkg leaves nothing" test -z "$(find "$folder/debian" -path '*/var' -prune -o -type f -print)"
	else
		mkdir "$folder/debian"
		check "it unpacks" dpkg-deb -x "$package" "$folder/debian"
		works "of the package" "$folder/debian/usr"
	fi
fi

printf 'package: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
