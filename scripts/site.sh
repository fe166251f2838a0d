#!/usr/bin/env bash
# The documentation as a site with a search, in target/site/html: the guides, the references, one page per metric. A
# broken link is an error.
#
#     scripts/site.sh [PROGRAM]      # target/release/dissensus if none is given
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/release/dissensus}
if ! command -v python3 > /dev/null; then
    echo "SKIPPED: there is no python3 to build the site with"
    exit 0
fi
environment=$PWD/target/mkdocs
if [ ! -x "$environment/bin/mkdocs" ]; then
    if ! python3 -m venv "$environment" || ! "$environment/bin/pip" install --quiet 'mkdocs-material==9.*' 'mkdocs==1.*'
    then
        rm -rf "$environment"
        echo "SKIPPED: pip cannot install MkDocs; THE SITE WAS NOT BUILT"
        exit 0
    fi
fi
"$environment/bin/python" scripts/site.py "$program" target/site/pages
NO_MKDOCS_2_WARNING=1 "$environment/bin/mkdocs" build --strict --clean 2> target/site/log || { cat target/site/log; exit 1; }
echo "to read it: python3 -m http.server --directory target/site/html"
