#!/bin/sh
# Packets that gateway-tproxy.nft has marked are delivered to this host, whatever address they carry. With "off" as
# argument it takes the routes away.
set -e
if [ "$1" = off ]; then act=del; else act=add; fi
for family in -4 -6; do
	ip $family rule $act fwmark 0x4773 lookup 4773
	ip $family route $act local default dev lo table 4773
done
