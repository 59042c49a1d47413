// A closed-loop load generator that speaks HTTPS through an HTTP proxy (CONNECT), or without one.
//
// usage: load [-p PROXYPORT] -o ORIGINPORT -a CA.pem [-c CONNECTIONS] [-s SECONDS] [-n REQUESTS] [-m MEGABYTES] [-u PREFIX] MODE
//
//   keepalive   GETs over HTTP/1.1, one after the other, on CONNECTIONS connections
//   fresh       a new TLS connection for each GET, the same host (no session is taken up again)
//   unseen      a new TLS connection for each GET, the host PREFIX-0.bench.test, PREFIX-1 and so on
//   h2          GETs over HTTP/2, STREAMS at once on each connection
//   download    one GET of MEGABYTES
//   upload      one POST of MEGABYTES
//   soak        CONNECTIONS at once, every other one HTTP/2: small and larger answers, uploads, pauses, reconnects
//   slow        a GET of MEGABYTES that is read at 40 KiB a second
//
// Everything is on 127.0.0.1. It prints one line: operations per second, p50 and p99 in microseconds, errors, operations;
// for download and upload MB/s stands in the first place.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { STREAMS = 16, PIECE = 256 << 10, PATIENCE_SECONDS = 60, ERROR_LIMIT = 200 };
enum mode { KEEPALIVE, FRESH, UNSEEN, H2, DOWNLOAD, UPLOAD, SOAK, SLOW };
static const char *const mode_names[] = {"keepalive", "fresh", "unseen", "h2", "download", "upload", "soak", "slow"};

static int proxy_port, origin_port, connections = 1;
static long request_limit, megabytes = 100;
static double seconds = 3, deadline;
static enum mode mode;
static SSL_CTX *context;
static char first_error[300];
static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static char *payload;
static const char *prefix = "unseen";

struct worker {
    pthread_t thread;
    int id;
    float *latencies;
    size_t count, capacity;
    long errors;
    unsigned random;
    // The connection.
    int fd;
    SSL *ssl;
    char *buffer;
    size_t have;
    // HTTP/2.
    nghttp2_session *session;
    int open_streams, h2_failed;
    long started;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(struct worker *w, const char *words) {
    pthread_mutex_lock(&error_lock);
    if (!first_error[0]) snprintf(first_error, sizeof first_error, "%s (connection %d)", words, w->id);
    pthread_mutex_unlock(&error_lock);
    return -1;
}

static void took(struct worker *w, double from) {
    if (w->count == w->capacity) {
        w->capacity = w->capacity ? w->capacity * 2 : 256;
        w->latencies = realloc(w->latencies, w->capacity * sizeof *w->latencies);
    }
    w->latencies[w->count++] = (float)((now() - from) * 1e6);
}

// ---- the connection

static ssize_t receive(struct worker *w, void *bytes, size_t count) {
    return w->ssl ? SSL_read(w->ssl, bytes, (int)count) : recv(w->fd, bytes, count, 0);
}

static int send_all(struct worker *w, const char *bytes, size_t count) {
    while (count) {
        ssize_t taken = w->ssl ? SSL_write(w->ssl, bytes, (int)count) : send(w->fd, bytes, count, MSG_NOSIGNAL);
        if (taken <= 0) return fail(w, "nothing can be sent");
        bytes += taken;
        count -= (size_t)taken;
    }
    return 0;
}

static void hang_up(struct worker *w) {
    if (w->session) nghttp2_session_del(w->session);
    w->session = NULL;
    if (w->ssl) {
        SSL_shutdown(w->ssl);
        SSL_free(w->ssl);
    }
    w->ssl = NULL;
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
    w->have = 0;
}

static void drop(struct worker *w, size_t count) {
    w->have -= count;
    memmove(w->buffer, w->buffer + count, w->have);
    w->buffer[w->have] = 0;
}

// Reads a head into the buffer; its length, 0 at the end of the stream.
static size_t head(struct worker *w) {
    char *end;
    w->buffer[w->have] = 0;
    while (!(end = strstr(w->buffer, "\r\n\r\n"))) {
        if (w->have >= 65535) return 0;
        ssize_t count = receive(w, w->buffer + w->have, 65535 - w->have);
        if (count <= 0) return 0;
        w->have += (size_t)count;
        w->buffer[w->have] = 0;
    }
    return (size_t)(end + 4 - w->buffer);
}

static int dial(struct worker *w, const char *name, int h2) {
    int one = 1, port = proxy_port ? proxy_port : origin_port;
    struct timeval patience = {PATIENCE_SECONDS, 0};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    w->have = 0;
    setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(w->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(w->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (mode == SLOW) {
        int small = 64 << 10;
        setsockopt(w->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    }
    if (connect(w->fd, (struct sockaddr *)&address, sizeof address)) return fail(w, "no connection");
    if (proxy_port) {
        char request[256];
        int length = snprintf(request, sizeof request, "CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                              origin_port, origin_port);
        int status = 0;
        if (send_all(w, request, (size_t)length)) return -1;
        size_t count = head(w);
        if (count) sscanf(w->buffer, "HTTP/%*s %d", &status);
        if (status != 200) return fail(w, "CONNECT was refused");
        drop(w, count);
    }
    w->ssl = SSL_new(context);
    SSL_set_fd(w->ssl, w->fd);
    SSL_set_tlsext_host_name(w->ssl, name);
    SSL_set1_host(w->ssl, name);
    if (h2)
        SSL_set_alpn_protos(w->ssl, (const unsigned char *)"\2h2", 3);
    else
        SSL_set_alpn_protos(w->ssl, (const unsigned char *)"\10http/1.1", 9);
    if (SSL_connect(w->ssl) != 1) {
        char words[200];
        snprintf(words, sizeof words, "no TLS: %s, errno %d",
                 X509_verify_cert_error_string(SSL_get_verify_result(w->ssl)), errno);
        return fail(w, words);
    }
    return 0;
}

// ---- HTTP/1.1

// Reads a whole response with Content-Length; its status, or -1. *keeps tells whether the connection stays open.
static int response(struct worker *w, int *keeps) {
    size_t count = head(w);
    int status = 0;
    long long length = -1;
    int is_chunked = 0;
    if (!count) return fail(w, "no response");
    sscanf(w->buffer, "HTTP/%*s %d", &status);
    *keeps = 1;
    w->buffer[count - 2] = 0;
    for (char *line = strstr(w->buffer, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        if (!strncasecmp(line + 2, "content-length:", 15)) length = atoll(line + 17);
        if (!strncasecmp(line + 2, "transfer-encoding: chunked", 26)) is_chunked = 1;
        if (!strncasecmp(line + 2, "connection: close", 17)) *keeps = 0;
    }
    drop(w, count);
    // The only chunked response is the short one to an upload.
    while (is_chunked && (w->have < 5 || memcmp(w->buffer + w->have - 5, "0\r\n\r\n", 5))) {
        ssize_t taken = w->have < 60000 ? receive(w, w->buffer + w->have, 65535 - w->have) : -1;
        if (taken <= 0) return fail(w, "a chunked response that does not end");
        w->have += (size_t)taken;
    }
    if (is_chunked) length = (long long)w->have;
    if (length < 0) return fail(w, "a response without a length");
    size_t inside = (size_t)length < w->have ? (size_t)length : w->have;
    drop(w, inside);
    length -= (long long)inside;
    while (length > 0) {
        size_t piece = mode == SLOW ? 4096 : length < 65535 ? (size_t)length : 65535;
        if (mode == SLOW) {
            if (now() > deadline) return status;
            usleep(100000);
        }
        ssize_t taken = receive(w, w->buffer, piece);
        if (taken <= 0) return fail(w, "a response that is too short");
        length -= taken;
    }
    return status;
}

static int request(struct worker *w, const char *name, const char *path, size_t body, int *keeps) {
    char text[512];
    int length = body ? snprintf(text, sizeof text,
                                 "POST %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: load\r\nContent-Length: %zu\r\n\r\n", path,
                                 name, origin_port, body)
                      : snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: load\r\n\r\n", path,
                                 name, origin_port);
    if (send_all(w, text, (size_t)length)) return -1;
    for (size_t sent = 0; sent < body;) {
        size_t piece = body - sent < PIECE ? body - sent : PIECE;
        if (send_all(w, payload, piece)) return -1;
        sent += piece;
    }
    int status = response(w, keeps);
    if (status > 0 && status != 200) {
        char words[60];
        snprintf(words, sizeof words, "status %d for %s", status, path);
        return fail(w, words);
    }
    return status == 200 ? 0 : -1;
}

// ---- HTTP/2

struct stream {
    double began;
    size_t left;
};

static ssize_t body_source(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t room, uint32_t *flags,
                           nghttp2_data_source *source, void *user) {
    (void)session, (void)id, (void)user;
    struct stream *s = source->ptr;
    size_t count = s->left < room ? s->left : room;
    memcpy(bytes, payload, count);
    s->left -= count;
    if (!s->left) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

static void h2_request(struct worker *w, const char *path, size_t body) {
    char authority[40], length[24];
    snprintf(authority, sizeof authority, "host.bench.test:%d", origin_port);
    snprintf(length, sizeof length, "%zu", body);
#define FIELD(name, value) {(uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, strlen(value), 0}
    nghttp2_nv fields[] = {FIELD(":method", body ? "POST" : "GET"), FIELD(":scheme", "https"),
                           FIELD(":authority", authority), FIELD(":path", path), FIELD("user-agent", "load"),
                           FIELD("content-length", length)};
    struct stream *s = calloc(1, sizeof *s);
    s->began = now();
    s->left = body;
    nghttp2_data_provider source = {.source = {.ptr = s}, .read_callback = body_source};
    if (nghttp2_submit_request(w->session, NULL, fields, body ? 6 : 5, body ? &source : NULL, s) < 0) {
        free(s);
        w->h2_failed = 1;
        return;
    }
    w->open_streams++;
    w->started++;
}

static ssize_t h2_send(nghttp2_session *session, const uint8_t *bytes, size_t count, int flags, void *user) {
    (void)session, (void)flags;
    return send_all(user, (const char *)bytes, count) ? NGHTTP2_ERR_CALLBACK_FAILURE : (ssize_t)count;
}

static int h2_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_length,
                     const uint8_t *value, size_t value_length, uint8_t flags, void *user) {
    (void)session, (void)frame, (void)flags;
    struct worker *w = user;
    if (name_length == 7 && !memcmp(name, ":status", 7) && (value_length != 3 || memcmp(value, "200", 3))) {
        fail(w, "a status that is not 200 over HTTP/2");
        w->errors++;
    }
    return 0;
}

static int h2_closed(nghttp2_session *session, int32_t id, uint32_t code, void *user) {
    struct worker *w = user;
    struct stream *s = nghttp2_session_get_stream_user_data(session, id);
    if (!s) return 0;
    if (code) {
        fail(w, "a stream was reset");
        w->errors++;
    } else {
        took(w, s->began);
    }
    free(s);
    w->open_streams--;
    if (mode == H2 && now() < deadline) h2_request(w, "/small", 0);
    return 0;
}

static int h2_begin(struct worker *w) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_send_callback(callbacks, h2_send);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, h2_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, h2_closed);
    nghttp2_session_client_new(&w->session, callbacks, w);
    nghttp2_session_callbacks_del(callbacks);
    const unsigned char *chosen;
    unsigned length;
    SSL_get0_alpn_selected(w->ssl, &chosen, &length);
    if (length != 2) return fail(w, "no HTTP/2");
    nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}};
    nghttp2_submit_settings(w->session, NGHTTP2_FLAG_NONE, settings, 1);
    w->open_streams = 0;
    w->h2_failed = 0;
    return 0;
}

// Goes on until no stream is open.
static int h2_run(struct worker *w) {
    while (w->open_streams > 0 && !w->h2_failed) {
        if (nghttp2_session_send(w->session)) return fail(w, "HTTP/2 can't send");
        ssize_t count = receive(w, w->buffer, 65535);
        if (count <= 0) return fail(w, "an HTTP/2 connection ended early");
        if (nghttp2_session_mem_recv(w->session, (uint8_t *)w->buffer, (size_t)count) < 0)
            return fail(w, "HTTP/2 was broken");
    }
    return w->h2_failed ? -1 : 0;
}

// ---- work

static unsigned dice(struct worker *w, unsigned sides) { return (unsigned)rand_r(&w->random) / 7u % sides; }

static void rest(struct worker *w) {
    double pause = 0.05 + dice(w, 1000) / 1000.0;
    if (now() + pause < deadline) usleep((useconds_t)(pause * 1e6));
}

static void soak_http1(struct worker *w) {
    int keeps = 1;
    for (unsigned left = 5 + dice(w, 30); left && keeps && now() < deadline; left--) {
        double began = now();
        unsigned kind = dice(w, 10);
        int failed = kind == 0   ? request(w, "host.bench.test", "/upload", 20000 + dice(w, 60000), &keeps)
                     : kind <= 2 ? request(w, "host.bench.test", "/larger", 0, &keeps)
                                 : request(w, "host.bench.test", "/small", 0, &keeps);
        if (failed) {
            w->errors++;
            break;
        }
        took(w, began);
        rest(w);
    }
}

static void soak_http2(struct worker *w) {
    if (h2_begin(w)) {
        w->errors++;
        return;
    }
    for (unsigned left = 2 + dice(w, 10); left && now() < deadline; left--) {
        for (unsigned streams = 1 + dice(w, 6); streams; streams--) {
            unsigned kind = dice(w, 10);
            if (kind == 0)
                h2_request(w, "/upload", 5000 + dice(w, 20000));
            else
                h2_request(w, kind <= 2 ? "/larger" : "/small", 0);
        }
        if (h2_run(w)) {
            w->errors++;
            break;
        }
        rest(w);
    }
}

static void *work(void *argument) {
    struct worker *w = argument;
    int keeps = 1, is_warm = 0;
    char name[128] = "host.bench.test";
    w->buffer = malloc(65536);
    w->fd = -1;
    w->random = (unsigned)w->id * 2654435761u + 1;
    if (mode == SOAK) usleep((useconds_t)(w->id * 3000));
    for (long i = 0; now() < deadline && (!request_limit || i < request_limit) && w->errors < ERROR_LIMIT; i++) {
        double began = now();
        int wants_h2 = mode == H2 || (mode == SOAK && w->id % 2);
        if (mode == UNSEEN)
            snprintf(name, sizeof name, "%s-%ld.bench.test", prefix, i);
        if (w->fd < 0) {
            if (dial(w, name, wants_h2)) {
                w->errors++;
                hang_up(w);
                continue;
            }
            is_warm = 0;
        }
        switch (mode) {
        case SOAK:
            if (wants_h2)
                soak_http2(w);
            else
                soak_http1(w);
            hang_up(w);
            continue;
        case H2:
            if (h2_begin(w)) {
                w->errors++;
            } else {
                for (int stream = 0; stream < STREAMS; stream++) h2_request(w, "/small", 0);
                if (h2_run(w)) w->errors++;
            }
            hang_up(w);
            continue;
        case DOWNLOAD:
        case SLOW: keeps = request(w, name, "/large", 0, &keeps) ? -1 : keeps; break;
        case UPLOAD: keeps = request(w, name, "/upload", (size_t)megabytes << 20, &keeps) ? -1 : keeps; break;
        default: keeps = request(w, name, "/small", 0, &keeps) ? -1 : keeps;
        }
        if (keeps < 0) {
            w->errors++;
            hang_up(w);
            continue;
        }
        // The first request of a connection that is kept has its handshake in it.
        if (mode != KEEPALIVE || is_warm) took(w, began);
        is_warm = 1;
        if (mode != KEEPALIVE || !keeps) hang_up(w);
    }
    hang_up(w);
    return NULL;
}

static int ascending(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    const char *authority = NULL;
    signal(SIGPIPE, SIG_IGN);
    for (int option; (option = getopt(argc, argv, "p:o:a:c:s:n:m:u:")) > 0;) switch (option) {
        case 'p': proxy_port = atoi(optarg); break;
        case 'o': origin_port = atoi(optarg); break;
        case 'a': authority = optarg; break;
        case 'c': connections = atoi(optarg); break;
        case 's': seconds = atof(optarg); break;
        case 'n': request_limit = atol(optarg); break;
        case 'm': megabytes = atol(optarg); break;
        case 'u': prefix = optarg; break;
        default: return 2;
        }
    int known = 0;
    for (int i = 0; optind < argc && i < 8; i++)
        if (!strcmp(argv[optind], mode_names[i])) mode = (enum mode)i, known = 1;
    if (!known || !authority || !origin_port) return fprintf(stderr, "see the head of load.c\n"), 2;
    if (mode == DOWNLOAD || mode == UPLOAD || mode == SLOW) {
        request_limit = 1;
        if (mode != SLOW) seconds = 120;
    }
    payload = malloc(PIECE);
    for (int i = 0; i < PIECE; i++) payload[i] = (char)(i * 131 + i / 251);
    struct rlimit files = {8192, 8192};
    setrlimit(RLIMIT_NOFILE, &files);
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_load_verify_locations(context, authority, NULL) != 1) return fprintf(stderr, "bad CA file\n"), 2;

    struct worker *workers = calloc((size_t)connections, sizeof *workers);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    double began = now();
    deadline = began + seconds;
    for (int i = 0; i < connections; i++) {
        workers[i].id = i;
        if (pthread_create(&workers[i].thread, &attributes, work, &workers[i])) return fprintf(stderr, "no thread\n"), 2;
    }
    size_t count = 0, filled = 0;
    long errors = 0;
    for (int i = 0; i < connections; i++) {
        pthread_join(workers[i].thread, NULL);
        count += workers[i].count;
        errors += workers[i].errors;
    }
    double elapsed = now() - began;
    float *all = malloc((count + 1) * sizeof *all);
    for (int i = 0; i < connections; i++) {
        memcpy(all + filled, workers[i].latencies, workers[i].count * sizeof *all);
        filled += workers[i].count;
    }
    qsort(all, count, sizeof *all, ascending);
    double rate = (double)count / elapsed;
    if (mode == DOWNLOAD || mode == UPLOAD) rate = count ? (double)megabytes * 1.048576 / (all[0] * 1e-6) : 0;
    printf("%.1f %.0f %.0f %ld %zu\n", rate, count ? all[count / 2] : 0.f, count ? all[(size_t)((double)count * 0.99)] : 0.f,
           errors, count);
    if (first_error[0]) fprintf(stderr, "load %s: %ld errors, the first: %s\n", mode_names[mode], errors, first_error);
    return 0;
}
