#!/bin/sh
# Makes the passwords of compose.yaml, once: ./make-secrets.sh [FOLDER]
#
# The folder is for its owner only. The files in it can be read by the users of the containers, who are not the owner
# and see no other file of the folder.
set -eu
folder="${1:-$(dirname "$0")/secrets}"

if [ -e "$folder/store_url" ]; then
    echo "there are secrets in $folder already: nothing was changed" >&2
    exit 1
fi

random() {
    # Hexadecimal digits: nothing in them has a meaning in a URL, a shell or a file of settings.
    od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

keep() {
    printf '%s\n' "$2" > "$folder/$1"
    chmod 444 "$folder/$1"
}

mkdir -p "$folder"
chmod 700 "$folder"
database="$(random)"
broker="$(random)"
keep postgres_password "$database"
keep redis.conf "requirepass $broker"
keep flower_login "gossamer:$(random)"
keep broker_url "redis://:$broker@redis:6379/0"
# Last: whoever is interrupted before it can begin again.
keep store_url "postgresql://gossamer:$database@postgres:5432/gossamer"
echo "the secrets are in $folder: keep a copy of it with your back-ups, and out of version control" >&2
