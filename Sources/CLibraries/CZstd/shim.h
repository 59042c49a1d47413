// zstd: decoding of the `zstd` content coding and of `.zst` capture files.
#include <zstd.h>
#include <zstd_errors.h>
