#!/bin/sh
# The browser tests drive Debian's chromium: its headless shell, which draws pages with no
# browser around them in half the processor time, else the whole. Install it where that is
# possible; where it is not, say so in one line: the tests then skip themselves.
command -v chromium-headless-shell >/dev/null 2>&1 && exit 0
install() {
    apt-get install -y -qq --no-install-recommends "$1" fonts-dejavu-core
}
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    {
        apt-get update -qq -o Acquire::http::Timeout=10 -o Acquire::Retries=0
        install chromium-headless-shell || command -v chromium || install chromium
    } >/dev/null 2>&1
fi
command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 ||
    echo "chromium is missing and could not be installed: the browser tests will be skipped"
exit 0
