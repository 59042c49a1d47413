// brotli: decoding of the `br` content coding.
#include <brotli/decode.h>
