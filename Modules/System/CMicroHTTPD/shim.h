#pragma once
#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>

#ifdef __linux__
#include <sys/epoll.h>
#include <sys/eventfd.h>

// Swift's Glibc module does not have these, and sees epoll's events as a union.
static inline int ferry_epoll_new(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline int ferry_waker_new(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static const uint32_t ferry_epoll_gone = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLONESHOT;

static inline int ferry_epoll_watch(int epoll, int descriptor, uint64_t number) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = ferry_epoll_gone;
  event.data.u64 = number;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static inline int ferry_epoll_forget(int epoll, int descriptor) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, &event);
}

// An eventfd among the others, by the number 0.
static inline int ferry_epoll_add_waker(int epoll, int descriptor) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = EPOLLIN;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

// The numbers of what is ready; at most 64.
static inline int ferry_epoll_wait(int epoll, uint64_t *numbers, int timeout) {
  struct epoll_event events[64];
  int count = epoll_wait(epoll, events, 64, timeout);
  for (int i = 0; i < count; i++) numbers[i] = events[i].data.u64;
  return count;
}
#endif

static const ssize_t ferry_mhd_end = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t ferry_mhd_failure = MHD_CONTENT_READER_END_WITH_ERROR;
static const uint64_t ferry_mhd_unknown_size = MHD_SIZE_UNKNOWN;

// What a daemon is started with; MHD_start_daemon is variadic.
struct ferry_mhd_start {
  int socket;
  unsigned connections;
  unsigned idle_seconds;
  unsigned threads;
  size_t memory;
  // PEM, both or neither.
  const char *key;
  const char *certificate;
  const char *priorities;
  void *context;
  MHD_AcceptPolicyCallback accept;
  MHD_NotifyConnectionCallback connection;
  MHD_AccessHandlerCallback request;
  MHD_RequestCompletedCallback completed;
};

// Escapes are undone by us, once a path is known to be clean.
static size_t ferry_mhd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

static inline struct MHD_Daemon *ferry_mhd_start(const struct ferry_mhd_start *start) {
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;
  struct MHD_OptionItem secure[] = {
    {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)start->key},
    {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)start->certificate},
    {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)start->priorities},
    {MHD_OPTION_END, 0, NULL},
  };
  struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
  if (start->key) flags |= MHD_USE_TLS;
  return MHD_start_daemon(
    flags, 0, start->accept, start->context, start->request, start->context,
    MHD_OPTION_NOTIFY_COMPLETED, start->completed, start->context,
    MHD_OPTION_NOTIFY_CONNECTION, start->connection, start->context,
    MHD_OPTION_UNESCAPE_CALLBACK, ferry_mhd_keep_escapes, NULL,
    MHD_OPTION_LISTEN_SOCKET, (MHD_socket)start->socket,
    MHD_OPTION_CONNECTION_LIMIT, start->connections,
    MHD_OPTION_CONNECTION_TIMEOUT, start->idle_seconds,
    MHD_OPTION_CONNECTION_MEMORY_LIMIT, start->memory,
    MHD_OPTION_THREAD_POOL_SIZE, start->threads,
    MHD_OPTION_STRICT_FOR_CLIENT, 1,
    MHD_OPTION_ARRAY, start->key ? secure : plain,
    MHD_OPTION_END);
}

static inline int ferry_mhd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *ferry_mhd_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

static inline void *ferry_mhd_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}
