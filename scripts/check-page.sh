#!/usr/bin/env bash
# The report's page in a real browser: writes a page whose data tries to break out of it, and one of
# 10,000 items, and drives both in a headless Chromium. Installs the browser where apt is there.
#
#     scripts/check-page.sh [FOLDER]      # screenshots go to FOLDER; target/page if none is given
set -euo pipefail
cd "$(dirname "$0")/.."
folder=${1:-target/page}
mkdir -p "$folder"

if ! command -v python3 > /dev/null; then
    echo "SKIPPED: there is no python3 to drive a browser with"
    exit 0
fi
if ! command -v chromium > /dev/null || ! command -v chromedriver > /dev/null; then
    if ! command -v apt-get > /dev/null; then
        echo "SKIPPED: there is no chromium with chromedriver, and no apt-get to install it with"
        exit 0
    fi
    as_root=()
    if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
    installed=
    for attempt in 1 2 3; do
        if "${as_root[@]}" apt-get update -qq && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends chromium chromium-driver fonts-dejavu-core
        then installed=yes; break; fi
        sleep $((5 * attempt))
    done
    if [ -z "$installed" ]; then
        echo "SKIPPED: chromium could not be installed"
        exit 0
    fi
fi

# With the features of the whole workspace: then `cargo test --workspace` has built it already.
cargo build --quiet --locked --workspace --example page
page=${CARGO_TARGET_DIR:-target}/debug/examples/page

"$page" "$folder/page.html"
python3 scripts/check-page.py "$folder/page.html" "$folder"
"$page" "$folder/large.html" --large
python3 scripts/check-page.py --large "$folder/large.html"
rm "$folder/large.html"
