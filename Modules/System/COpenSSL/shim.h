#pragma once
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// OpenSSL's typed stacks are macros, which Swift does not import.
static inline int ferry_sk_X509_num(const STACK_OF(X509) *stack) { return sk_X509_num(stack); }
static inline X509 *ferry_sk_X509_value(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
static inline STACK_OF(X509) *ferry_sk_X509_new(void) { return sk_X509_new_null(); }
static inline int ferry_sk_X509_push(STACK_OF(X509) *stack, X509 *certificate) { return sk_X509_push(stack, certificate); }
static inline void ferry_sk_X509_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline void ferry_sk_X509_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline int ferry_sk_SignerInfo_num(const STACK_OF(CMS_SignerInfo) *stack) { return sk_CMS_SignerInfo_num(stack); }
static inline CMS_SignerInfo *ferry_sk_SignerInfo_value(const STACK_OF(CMS_SignerInfo) *stack, int index) {
  return sk_CMS_SignerInfo_value(stack, index);
}

// "XN_FLAG_ONELINE" is a compound macro; letters beyond ASCII stay as they are.
static const unsigned long ferry_XN_FLAG_ONELINE_UTF8 = XN_FLAG_ONELINE & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;

// Macros over SSL_ctrl.
static inline long ferry_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
  return SSL_CTX_set_min_proto_version(context, version);
}
static inline long ferry_SSL_CTX_set_mode(SSL_CTX *context, long mode) { return SSL_CTX_set_mode(context, mode); }
static inline void ferry_SSL_CTX_set_read_ahead(SSL_CTX *context, int yes) { SSL_CTX_set_read_ahead(context, yes); }
static inline long ferry_SSL_set_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name); }
static const long ferry_SSL_partial_writes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
static inline int ferry_ERR_GET_REASON(unsigned long code) { return ERR_GET_REASON(code); }

static inline int ferry_sk_PKCS7_num(const STACK_OF(PKCS7) *stack) { return sk_PKCS7_num(stack); }
static inline PKCS7 *ferry_sk_PKCS7_value(const STACK_OF(PKCS7) *stack, int index) { return sk_PKCS7_value(stack, index); }
static inline void ferry_sk_PKCS7_pop_free(STACK_OF(PKCS7) *stack) { sk_PKCS7_pop_free(stack, PKCS7_free); }
static inline int ferry_sk_SAFEBAG_num(const STACK_OF(PKCS12_SAFEBAG) *stack) { return sk_PKCS12_SAFEBAG_num(stack); }
static inline PKCS12_SAFEBAG *ferry_sk_SAFEBAG_value(const STACK_OF(PKCS12_SAFEBAG) *stack, int index) {
  return sk_PKCS12_SAFEBAG_value(stack, index);
}
static inline void ferry_sk_SAFEBAG_pop_free(STACK_OF(PKCS12_SAFEBAG) *stack) {
  sk_PKCS12_SAFEBAG_pop_free(stack, PKCS12_SAFEBAG_free);
}

// Engines are deprecated since OpenSSL 3.0, and gone in 4.0, but a token is reached by nothing else on Debian 12.
#if !defined(OPENSSL_NO_ENGINE) && OPENSSL_VERSION_NUMBER < 0x40000000L
#include <openssl/engine.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline void *ferry_ENGINE_by_id(const char *id) {
  ENGINE_load_dynamic();
  return ENGINE_by_id(id);
}
static inline int ferry_ENGINE_ctrl_cmd_string(void *engine, const char *name, const char *value) {
  return ENGINE_ctrl_cmd_string((ENGINE *)engine, name, value, 0);
}
static inline int ferry_ENGINE_ctrl_cmd(void *engine, const char *name, void *value) {
  return ENGINE_ctrl_cmd((ENGINE *)engine, name, 0, value, NULL, 0);
}
static inline int ferry_ENGINE_init(void *engine) { return ENGINE_init((ENGINE *)engine); }
static inline int ferry_ENGINE_free(void *engine) { return ENGINE_free((ENGINE *)engine); }
static inline EVP_PKEY *ferry_ENGINE_load_private_key(void *engine, const char *id, UI_METHOD *method, void *context) {
  return ENGINE_load_private_key((ENGINE *)engine, id, method, context);
}
#pragma GCC diagnostic pop
#else
static inline void *ferry_ENGINE_by_id(const char *id) { return NULL; }
static inline int ferry_ENGINE_ctrl_cmd_string(void *engine, const char *name, const char *value) { return 0; }
static inline int ferry_ENGINE_ctrl_cmd(void *engine, const char *name, void *value) { return 0; }
static inline int ferry_ENGINE_init(void *engine) { return 0; }
static inline int ferry_ENGINE_free(void *engine) { return 0; }
static inline EVP_PKEY *ferry_ENGINE_load_private_key(void *engine, const char *id, UI_METHOD *method, void *context) {
  return NULL;
}
#endif

// EVP cannot give away the state of a hash in the making; these are deprecated for it since OpenSSL 3.0.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static inline void ferry_SHA1_Init(SHA_CTX *context) { SHA1_Init(context); }
static inline void ferry_SHA1_Update(SHA_CTX *context, const void *bytes, size_t count) {
  SHA1_Update(context, bytes, count);
}
static inline void ferry_SHA1_Final(unsigned char *digest, SHA_CTX *context) { SHA1_Final(digest, context); }
static inline void ferry_SHA256_Init(SHA256_CTX *context) { SHA256_Init(context); }
static inline void ferry_SHA256_Update(SHA256_CTX *context, const void *bytes, size_t count) {
  SHA256_Update(context, bytes, count);
}
static inline void ferry_SHA256_Final(unsigned char *digest, SHA256_CTX *context) { SHA256_Final(digest, context); }
#pragma GCC diagnostic pop
