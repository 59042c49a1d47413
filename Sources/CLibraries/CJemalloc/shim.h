// jemalloc: the allocator of the whole process, since it is linked; MALLCTL_ARENAS_ALL is a macro inside a name.
#include <jemalloc/jemalloc.h>
