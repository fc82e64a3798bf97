/* libcurl sets its options through variadic functions, which Swift cannot call: one function for each type of value. */
#pragma once
#include <curl/curl.h>

static inline CURLcode CCurl_set_long(CURL *_Nonnull handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_set_text(CURL *_Nonnull handle, CURLoption option, const char *_Nullable value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode CCurl_set_pointer(CURL *_Nonnull handle, CURLoption option, void *_Nullable value) {
    return curl_easy_setopt(handle, option, value);
}

/* CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION. */
static inline CURLcode CCurl_set_data_function(
    CURL *_Nonnull handle, CURLoption option, size_t (*_Nonnull function)(char *, size_t, size_t, void *)) {
    return curl_easy_setopt(handle, option, function);
}

/* CURLOPT_PREREQFUNCTION. */
static inline CURLcode CCurl_set_request_function(
    CURL *_Nonnull handle, curl_prereq_callback _Nonnull function, void *_Nonnull context) {
    CURLcode result = curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
    return result == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_PREREQDATA, context) : result;
}

/* Sets the function that gets what libcurl says of a request. */
static inline CURLcode CCurl_set_debug_function(
    CURL *_Nonnull handle, curl_debug_callback _Nonnull function, void *_Nonnull context) {
    CURLcode result = curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, function);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_DEBUGDATA, context);
    return result == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L) : result;
}

/* Sets the functions that open and close the sockets of connections. A connection keeps them until it is closed. */
static inline CURLcode CCurl_set_socket_functions(
    CURL *_Nonnull handle, curl_opensocket_callback _Nonnull open, curl_closesocket_callback _Nonnull close,
    void *_Nonnull context) {
    CURLcode result = curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, open);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, context);
    if (result == CURLE_OK) result = curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, close);
    return result == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_CLOSESOCKETDATA, context) : result;
}

static inline CURLcode CCurl_get_long(CURL *_Nonnull handle, CURLINFO info, long *_Nonnull value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLMcode CCurl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* Sets the functions by which the multi handle requests socket events and a timer. */
static inline CURLMcode CCurl_multi_set_callbacks(
    CURLM *_Nonnull multi, curl_socket_callback _Nonnull socket, curl_multi_timer_callback _Nonnull timer,
    void *_Nonnull context) {
    CURLMcode result = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (result == CURLM_OK) result = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (result == CURLM_OK) result = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    if (result == CURLM_OK) result = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return result;
}

/* Returns the next finished transfer; NULL if there is none. Swift has no good access to the union in CURLMsg. */
static inline CURL *_Nullable CCurl_next_finished(CURLM *_Nonnull multi, CURLcode *_Nonnull result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}
