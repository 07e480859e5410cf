# Ready once the data is loaded and the password is the one clients have. A server that refuses writes because its disk
# is full stays ready: its clients are to be told so by it, not by a connection that fails.
REDISCLI_AUTH=$(cat /etc/fairway-redis/password)
export REDISCLI_AUTH
reply=$(redis-cli -h 127.0.0.1 ping 2>&1)
case $reply in
    PONG | MISCONF*) exit 0 ;;
esac
echo "$reply"
exit 1
