// jemalloc: the allocator of the whole process, since it is linked.
#include <jemalloc/jemalloc.h>
