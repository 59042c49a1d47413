// zlib: gzip and deflate. The init calls are macros in zlib.h, so they are wrapped here.
#include <zlib.h>
static inline int handoff_inflate_init(z_stream *stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}
static inline int handoff_deflate_init(z_stream *stream, int level, int windowBits) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}
