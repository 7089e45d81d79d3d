#!/bin/sh
# The browser tests drive Debian's chromium. Install it where that is possible; where it
# is not, say so in one line: the tests then skip themselves.
command -v chromium >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1
fi
command -v chromium >/dev/null 2>&1 ||
    echo "chromium is missing and could not be installed: the browser tests will be skipped"
exit 0
