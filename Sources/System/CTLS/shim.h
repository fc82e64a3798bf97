/* Macros and casts of callbacks in OpenSSL that Swift cannot call. */
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* Selects by ALPN h2 if the client offers it, otherwise http/1.1, otherwise nothing. */
static inline int CTLS_select_protocol(
    SSL *_Nonnull session, const unsigned char *_Nonnull *_Nonnull out, unsigned char *_Nonnull out_length,
    const unsigned char *_Nonnull offered, unsigned int length, void *_Nullable context) {
    static const unsigned char known[] = "\x02h2\x08http/1.1";
    (void) session;
    (void) context;
    return SSL_select_next_proto((unsigned char **) out, out_length, known, sizeof known - 1, offered, length) ==
            OPENSSL_NPN_NEGOTIATED
        ? SSL_TLSEXT_ERR_OK
        : SSL_TLSEXT_ERR_NOACK;
}

/* Accepts every client certificate: the server reads it, and derives no trust from it. */
static inline int CTLS_pass(int is_good, X509_STORE_CTX *_Nullable store) {
    (void) is_good;
    (void) store;
    return 1;
}

/* Applies the settings of a server that are macros in OpenSSL. */
static inline int CTLS_configure_server(SSL_CTX *_Nonnull context) {
    static const unsigned char name[] = "pushrouter-gateway";
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_alpn_select_cb(context, CTLS_select_protocol, NULL);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_CLIENT_ONCE, CTLS_pass);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    /* One session ticket instead of two, because clients keep their connections. The session id context below is
     * required with client certificates. */
    SSL_CTX_set_num_tickets(context, 1);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
        SSL_CTX_set_session_id_context(context, name, sizeof name - 1) == 1;
}

static inline void CTLS_add_chain_certificate(SSL_CTX *_Nonnull context, X509 *_Nonnull certificate) {
    SSL_CTX_add1_chain_cert(context, certificate);
}

static inline BIO *_Nullable CTLS_memory(void) {
    BIO *memory = BIO_new(BIO_s_mem());
    /* An empty buffer means retry, not end of file: more bytes may follow. */
    if (memory) BIO_set_mem_eof_return(memory, -1);
    return memory;
}

static inline long CTLS_pending(BIO *_Nonnull memory) { return (long) BIO_ctrl_pending(memory); }

/* The curve P-256, made once for each thread. NULL: OpenSSL failed. */
static inline const EC_GROUP *_Nullable CTLS_p256(void) {
    static _Thread_local EC_GROUP *group;
    if (!group) group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    return group;
}

/* Makes a new key on the curve P-256. NULL: OpenSSL failed. */
static inline EVP_PKEY *_Nullable CTLS_new_key(void) { return EVP_EC_gen("P-256"); }

/* Adds an extension in the syntax of x509v3_config(5). Returns 1 on success. */
static inline int CTLS_add_extension(
    X509 *_Nonnull certificate, X509 *_Nonnull issuer, int kind, const char *_Nonnull value) {
    X509V3_CTX context;
    X509_EXTENSION *extension;
    int result;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (!extension) return 0;
    result = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return result;
}
