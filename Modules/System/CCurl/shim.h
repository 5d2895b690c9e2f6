#pragma once
#include <curl/curl.h>

// curl_easy_setopt and its kin are variadic macros, which Swift does not import: one typed wrapper a kind of value.
typedef size_t (*ferry_curl_data)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ferry_curl_progress)(void *context, curl_off_t downTotal, curl_off_t down, curl_off_t upTotal, curl_off_t up);

static inline CURLcode ferry_setopt_long(CURL *h, CURLoption o, long v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode ferry_setopt_offset(CURL *h, CURLoption o, curl_off_t v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode ferry_setopt_string(CURL *h, CURLoption o, const char *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode ferry_setopt_pointer(CURL *h, CURLoption o, void *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode ferry_setopt_list(CURL *h, CURLoption o, struct curl_slist *v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode ferry_setopt_data(CURL *h, CURLoption o, ferry_curl_data v) { return curl_easy_setopt(h, o, v); }
static inline CURLcode ferry_setopt_progress(CURL *h, ferry_curl_progress v) {
  return curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, v);
}
static inline CURLcode ferry_getinfo_long(CURL *h, CURLINFO i, long *v) { return curl_easy_getinfo(h, i, v); }
static inline CURLcode ferry_getinfo_offset(CURL *h, CURLINFO i, curl_off_t *v) { return curl_easy_getinfo(h, i, v); }
static inline CURLcode ferry_getinfo_string(CURL *h, CURLINFO i, char **v) { return curl_easy_getinfo(h, i, v); }
static inline CURLMcode ferry_multi_setopt_long(CURLM *m, CURLMoption o, long v) { return curl_multi_setopt(m, o, v); }
static inline CURLcode ferry_message_result(CURLMsg *m) { return m->data.result; }
