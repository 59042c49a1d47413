// libcrypto: digests, HMAC, HKDF, the TLS PRF, ciphers and certificates. libssl: TLS.
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Options and modes of libssl that are macros with casts, which Swift does not import.
static const uint64_t HANDOFF_SSL_OP_NO_TICKET = SSL_OP_NO_TICKET;
static const uint64_t HANDOFF_SSL_OP_NO_RENEGOTIATION = SSL_OP_NO_RENEGOTIATION;
static const uint64_t HANDOFF_SSL_OP_LEGACY_SERVER_CONNECT = SSL_OP_LEGACY_SERVER_CONNECT;
static const uint64_t HANDOFF_SSL_OP_ALL = SSL_OP_ALL;
static const uint64_t HANDOFF_SSL_OP_NO_COMPRESSION = SSL_OP_NO_COMPRESSION;
static const uint64_t HANDOFF_SSL_OP_CIPHER_SERVER_PREFERENCE = SSL_OP_CIPHER_SERVER_PREFERENCE;
static const uint64_t HANDOFF_SSL_OP_PRIORITIZE_CHACHA = SSL_OP_PRIORITIZE_CHACHA;
// Printing of a distinguished name as RFC 2253 does, with ", " between its parts and UTF-8 left readable.
static const unsigned long HANDOFF_NAME_FLAGS =
    (XN_FLAG_RFC2253 & ~XN_FLAG_SEP_MASK & ~ASN1_STRFLGS_ESC_MSB) | XN_FLAG_SEP_CPLUS_SPC;
