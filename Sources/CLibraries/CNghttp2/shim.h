// nghttp2: the HPACK codec (`nghttp2_hd_*`), and for the lab its sessions (`nghttp2_session_*`).
#include <nghttp2/nghttp2.h>
