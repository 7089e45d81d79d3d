#!/bin/sh
# Writes the secrets of compose.yaml to the folder ./secrets, each in a file, and never replaces one.
# Run it as root beside compose.yaml. With rootless podman: podman unshare sh make_secrets.sh
set -eu
umask 077
mkdir -p secrets
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

for name in postgres store prefect; do
    [ -e "secrets/${name}_password" ] || random > "secrets/${name}_password"
done
# PostgreSQL's programs read a file of passwords only if others cannot, so it belongs to the image's user.
[ -e secrets/pgpass ] || printf 'postgres:5432:labels:piecework:%s\npostgres:5432:prefect:prefect:%s\n' \
    "$(cat secrets/store_password)" "$(cat secrets/prefect_password)" > secrets/pgpass
[ -e secrets/prefect_profile ] || {
    caller="piecework:$(random)"
    printf 'active = "piecework"\n\n[profiles.piecework]\nPREFECT_SERVER_API_AUTH_STRING = "%s"\nPREFECT_API_AUTH_STRING = "%s"\n' \
        "$caller" "$caller"
} > secrets/prefect_profile
# Replaced by the key of `piecework market account add`; without keys, passes say that they have none.
[ -e secrets/market_key ] || printf '[default]\n' > secrets/market_key

if [ "$(id -u)" = 0 ]; then
    chown 999:999 secrets/postgres_password
    chown 10001:10001 secrets/pgpass secrets/prefect_profile secrets/market_key
    # PostgreSQL's container reads both once, as its own user.
    chown 999:999 secrets/store_password secrets/prefect_password
    chmod 711 secrets
else
    echo "make_secrets.sh: not root, so the files belong to you; the containers cannot read them" >&2
    exit 1
fi
