// libuv: event loop, timers, resolver, signals, terminal.
#include <uv.h>
