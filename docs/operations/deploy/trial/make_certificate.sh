#!/bin/sh
# Writes a certificate for 127.0.0.1, for 30 days, to ./secrets. Run it after make_secrets.sh, beside compose.trial.yaml.
set -eu
umask 077
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=piecework-trial \
    -addext subjectAltName=IP:127.0.0.1,DNS:localhost \
    -keyout secrets/trial_key -out secrets/trial_certificate
chmod 644 secrets/trial_certificate
