#!/bin/sh
# get-nvim.sh SUITE FOLDER: put the Neovim of a Debian suite (trixie: 0.10, forky: 0.12) into FOLDER, for tests.
#
# Only unpacks: nothing of the system changes. The mirror is the one of this machine's apt; the packages' own
# libraries and loader are used, so the suite need not fit this machine. FOLDER/nvim is what to run, embedded or
# headless (v:progpath is the loader). Prints the version.
set -eu

[ $# -eq 2 ] || { echo "usage: $0 SUITE FOLDER" >&2; exit 2; }
suite=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
fail() { echo "get-nvim.sh: $1" >&2; exit 1; }
command -v apt-get >/dev/null || fail "needs apt-get (Debian or a derivative); set ACP_TEST_NVIM to a Neovim of your own"

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep '/debian/*$' | grep -v security | head -n 1)
[ -n "$mirror" ] || fail "apt has no Debian mirror: run 'apt-get update' first"
keyring=$(ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1)

# An apt of its own: sources, lists, an empty list of installed packages, and its cache.
mkdir -p "$folder/etc" "$folder/lists/partial" "$folder/cache/archives/partial"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$folder/etc/sources.list"
: >"$folder/status"
apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$folder/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State::lists="$folder/lists" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
    -o Debug::NoLocking=1 -o APT::Sandbox::User=root "$@"
}
apt update
apt -y --no-install-recommends --download-only install neovim >/dev/null

root=$folder/root
for package in "$folder"/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
loader=
for path in "$root"/lib64/ld-linux-*.so.* "$root"/usr/lib64/ld-linux-*.so.* "$root"/lib/ld-linux-*.so.* "$root"/usr/lib/ld-linux-*.so.*; do
  [ ! -e "$path" ] || loader=$path
done
[ -n "$loader" ] || fail "no loader among the packages"
libraries=$(ls -d "$root"/usr/lib/*-linux-gnu | head -n 1)
libraries=$libraries:$root/lib/$(basename "$libraries")

cat >"$folder/nvim" <<RUN
#!/bin/sh
export VIMRUNTIME=$root/usr/share/nvim/runtime LUA_PATH=";;"
exec $loader --library-path $libraries --argv0 nvim $root/usr/bin/nvim --cmd "set rtp+=$root/usr/lib/nvim" "\$@"
RUN
chmod +x "$folder/nvim"
"$folder/nvim" --version | head -n 1
