// Server-sent events to many subscribers: the same client for every server it measures.
//
//   fanout HOST PORT SUBSCRIBERS MESSAGES PUBLISHERS RATE SUBSCRIBE PUBLISH MARK [ACK]
//
// Opens SUBSCRIBERS connections, sends the bytes of the file SUBSCRIBE on each (with %d replaced by nothing) and waits
// until each has received a response's header. Then PUBLISHERS connections send requests in closed loops until
// MESSAGES are sent: request i is the i-th piece of the file PUBLISH, pieces being divided by the byte 0. RATE above 0
// limits them to so many a second. Each MARK in what a subscriber receives is one message. Prints, as one line of JSON:
// deliveries, seconds from the first request to the last delivery, and the latency of a delivery from the moment its
// request was sent (k-th message on a connection, k-th request sent): median and 99th percentile in milliseconds.
//
// One thread, epoll. Exits with 1 if a connection ends early or 120 s pass.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct connection {
    int fd;
    bool is_publisher, has_header, is_busy;
    size_t matched;          // of MARK, at the end of what was received
    size_t header_matched;   // of the empty line
    unsigned received;       // messages
    size_t body_left;        // publishers: of an answer; SIZE_MAX while its header is read
    char header[4096];
    size_t header_length;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void fail(const char *what) {
    fprintf(stderr, "fanout: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

static char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    if (!bytes || fread(bytes, 1, *length, file) != *length) fail(path);
    bytes[*length] = 0;
    fclose(file);
    return bytes;
}

static int connect_to(const struct sockaddr_in *address) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) != 0) fail("connect");
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) continue;
        if (sent <= 0) fail("send");
        bytes += sent;
        length -= (size_t)sent;
    }
}

static const char *mark;
static size_t mark_length;
static double *sent_at;          // by message
static float *latencies;
static size_t deliveries, wanted;
static unsigned sent, answered, messages;

static void received(struct connection *c, const char *bytes, size_t length, double at) {
    for (size_t i = 0; i < length; i++) {
        if (!c->has_header) {
            c->header_matched = bytes[i] == "\r\n\r\n"[c->header_matched] ? c->header_matched + 1 : bytes[i] == '\r';
            if (c->header_matched == 4) c->has_header = true;
            continue;
        }
        if (bytes[i] == mark[c->matched]) c->matched++;
        else c->matched = bytes[i] == mark[0];
        if (c->matched < mark_length) continue;
        c->matched = 0;
        if (c->received < messages) latencies[deliveries++] = (float)(at - sent_at[c->received]);
        c->received++;
    }
}

// Whether an answer is complete.
static bool answered_by(struct connection *c, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (c->body_left == SIZE_MAX) {
            if (c->header_length + 1 >= sizeof c->header) fail("an answer's header is too long");
            c->header[c->header_length++] = bytes[i];
            c->header[c->header_length] = 0;
            if (c->header_length < 4 || memcmp(c->header + c->header_length - 4, "\r\n\r\n", 4) != 0) continue;
            if (strncmp(c->header, "HTTP/1.1 20", 11) != 0) { errno = 0; fail(c->header); }
            char *field = strcasestr(c->header, "content-length:");
            c->body_left = field ? strtoul(field + 15, NULL, 10) : 0;
        } else {
            c->body_left--;
        }
        if (c->body_left == 0) {
            c->body_left = SIZE_MAX;
            c->header_length = 0;
            return true;
        }
    }
    return false;
}

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    if (count < 10) { errno = 0; fail("HOST PORT SUBSCRIBERS MESSAGES PUBLISHERS RATE SUBSCRIBE PUBLISH MARK"); }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[2]))};
    inet_pton(AF_INET, words[1], &address.sin_addr);
    unsigned subscribers = (unsigned)atoi(words[3]), publishers = (unsigned)atoi(words[5]);
    messages = (unsigned)atoi(words[4]);
    double rate = atof(words[6]);
    size_t subscribe_length, publish_length;
    char *subscribe = read_file(words[7], &subscribe_length), *publish = read_file(words[8], &publish_length);
    mark = words[9];
    mark_length = strlen(mark);
    const char **pieces = calloc(messages + 1, sizeof *pieces);
    size_t *lengths = calloc(messages + 1, sizeof *lengths);
    size_t at = 0;
    for (unsigned i = 0; i < messages; i++) {
        if (at >= publish_length) { errno = 0; fail("PUBLISH has fewer pieces than MESSAGES"); }
        pieces[i] = publish + at;
        lengths[i] = strlen(pieces[i]);
        at += lengths[i] + 1;
    }
    struct rlimit files = {subscribers + publishers + 64, subscribers + publishers + 64};
    setrlimit(RLIMIT_NOFILE, &files);
    wanted = (size_t)subscribers * messages;
    sent_at = calloc(messages + 1, sizeof *sent_at);
    latencies = malloc((wanted + 1) * sizeof *latencies);
    struct connection *all = calloc(subscribers + publishers, sizeof *all);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < subscribers + publishers; i++) {
        all[i].fd = connect_to(&address);
        all[i].is_publisher = i >= subscribers;
        all[i].body_left = SIZE_MAX;
        if (!all[i].is_publisher) send_all(all[i].fd, subscribe, subscribe_length);
        fcntl(all[i].fd, F_SETFL, O_NONBLOCK);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
        epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &event);
    }
    static char buffer[1 << 18];
    struct epoll_event events[512];
    double limit = now() + 120, began = 0, ended = 0;
    unsigned ready = 0;
    bool is_counting = false;
    if (messages == 0 && getenv("FANOUT_HOLD") == NULL) { errno = 0; fail("nothing to send"); }
    while (deliveries < wanted || answered < messages || ready < subscribers) {
        double time = now();
        if (time > limit) { errno = 0; fail("120 s have passed"); }
        if (ready == subscribers && !is_counting) {
            // Data in transit (a first comment, for example) is not a message.
            usleep(300000);
            is_counting = true;
            began = now();
            puts("READY");
            fflush(stdout);
        }
        for (unsigned i = subscribers; is_counting && i < subscribers + publishers && sent < messages; i++) {
            if (all[i].is_busy || (rate > 0 && now() < began + sent / rate)) continue;
            all[i].is_busy = true;
            sent_at[sent] = now();
            send_all(all[i].fd, pieces[sent], lengths[sent]);
            sent++;
        }
        int found = epoll_wait(poll, events, 512, is_counting && rate > 0 ? 1 : 100);
        for (int i = 0; i < found; i++) {
            struct connection *c = events[i].data.ptr;
            ssize_t length = recv(c->fd, buffer, sizeof buffer, 0);
            if (length < 0 && errno == EAGAIN) continue;
            if (length <= 0) { fail(c->is_publisher ? "a publisher's connection ended" : "a subscriber was disconnected"); }
            if (c->is_publisher) {
                if (answered_by(c, buffer, (size_t)length)) { c->is_busy = false; answered++; }
            } else {
                bool had = c->has_header;
                received(c, buffer, (size_t)length, now());
                if (!had && c->has_header) ready++;
            }
        }
        ended = now();
    }
    if (getenv("FANOUT_HOLD")) { puts("HELD"); fflush(stdout); getchar(); }
    qsort(latencies, deliveries, sizeof *latencies, by_value);
    printf("{\"deliveries\": %zu, \"seconds\": %.6f, \"p50\": %.4f, \"p99\": %.4f}\n", deliveries, ended - began,
           deliveries ? latencies[deliveries / 2] * 1e3 : 0, deliveries ? latencies[deliveries * 99 / 100] * 1e3 : 0);
    return 0;
}
