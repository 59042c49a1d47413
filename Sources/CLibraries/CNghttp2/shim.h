// nghttp2: the HPACK codec (`nghttp2_hd_*`).
#include <nghttp2/nghttp2.h>
