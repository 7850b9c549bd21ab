#!/bin/sh
# Written by `manage.py service_files`. For operators: /usr/local/bin/leaderboard, as in `sudo leaderboard check_invariants`.
# Runs a command of this site as its user, with what the service is told.
set -eu
set -a
. /etc/leaderboard/leaderboard.env
set +a
HOME=~$user
export HOME
umask 077
cd $base
exec runuser -u $user -- $python manage.py "$$@"
