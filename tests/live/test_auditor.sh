#!/bin/bash
# Every command of docs/auditor.md, in its order, on a bundle that was signed here; and that the page's own commands notice a
# bundle, a list, a statement and a key that are not what they should be.
# shellcheck disable=SC2317 # check() calls functions by name
# shellcheck source=tests/live/live.sh
. "$(dirname "$0")/live.sh"
need_engine
copy_tree tree

# The page's commands: each block that is set off by four blanks is a file of its own, 01, 02, ...
mkdir -p "$folder/page" "$folder/bin"
awk -v to="$folder/page/" '
	/^    / { if (!inside) { count++; file = sprintf("%s%02d", to, count) } inside = 1; print substr($0, 5) > file; next }
	/^$/ { if (inside) print "" > file; next }
	{ inside = 0 }' docs/auditor.md
ln -s "$folder/tree/build/harness" "$folder/bin/harness"
PATH=$folder/bin:$PATH

step() { # FOLDER NUMBER: the block does as the page says
	(cd "$folder/$1" && bash -euo pipefail "$folder/page/$2") >"$folder/said" 2>&1 || { tail -n 5 "$folder/said"; return 1; }
}
block() { grep -lF -- "$1" "$folder"/page/?? | head -n 1 | xargs basename; } # TEXT: number of the block that holds it

openssl genpkey -algorithm ed25519 -out "$folder/key.pem" 2>/dev/null && chmod 600 "$folder/key.pem"
harness tree run --sign "$folder/key.pem" baseline
check "the run passes" exits 0
mkdir "$folder/audit"
cp "$folder"/runs/latest/* docs/recheck.py ci/scan-bundle "$folder/audit"
openssl pkey -in "$folder/key.pem" -pubout -out "$folder/audit/key.pub"

check "the page has commands" test "$(find "$folder/page" -type f | wc -l)" -ge 10
for block in "$folder"/page/*; do
	number=$(basename "$block")
	check "block $number: $(head -n 1 "$block")" step audit "$number"
done
check "the replay says so" grep -q '^replay: REPRODUCED' "$folder/said"

# ---- the commands notice ----
copy() { rm -rf "${folder:?}/other" && cp -a "$folder/audit" "$folder/other"; }

copy
printf x >>"$folder/other/confinement-evidence/arms.json"
check "a changed member: sha256sum" not bash -c "cd '$folder/other/confinement-evidence' && sha256sum --check --strict --quiet SHA256SUMS"
copy
echo >"$folder/other/confinement-evidence/extra.txt"
check "a file too many: the lists" not step other "$(block 'cmp found listed')"
copy
openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -pubout -out "$folder/other/key.pub"
check "another key: harness" not step other "$(block 'harness verify --key')"
check "another key: openssl" not step other "$(block 'openssl pkeyutl')"
check "another key: ssh-keygen" not step other "$(block 'ssh-keygen -Y')"
copy
sed -i '1s/arms.json/arms.jsom/' "$folder/other/SHA256SUMS"
check "another list: ssh-keygen" not step other "$(block 'ssh-keygen -Y')"
copy
printf x >>"$folder/other/confinement-evidence.tar.gz"
check "another archive: the statement" not step other "$(block 'grep -qF')"
check "another archive: harness" not step other "$(block 'harness verify --key')"
finish
