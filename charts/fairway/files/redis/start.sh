# Starts Redis with the mounted configuration and the password after it. The password travels by standard input, so
# that neither the arguments nor the environment of a process show it. exec: Redis gets the SIGTERM of a stop itself.
set -eu
password=$(sed 's/["\\]/\\&/g' /etc/fairway-redis/password)
exec redis-server /etc/fairway-redis/conf/redis.conf - <<END
requirepass "$password"
END
