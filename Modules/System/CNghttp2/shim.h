#pragma once
#include <nghttp2/nghttp2.h>

// Enumerations of plain C, in the types that the functions and fields take.
static const uint8_t ferry_nv_no_copy = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE;
static const uint8_t ferry_nv_no_copy_name = NGHTTP2_NV_FLAG_NO_COPY_NAME;
static const uint8_t ferry_nv_no_index = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_INDEX;
static const uint8_t ferry_frame_goaway = NGHTTP2_GOAWAY;
static const uint8_t ferry_frame_headers = NGHTTP2_HEADERS;
static const uint8_t ferry_frame_data = NGHTTP2_DATA;
static const uint8_t ferry_frame_ping = NGHTTP2_PING;
static const uint8_t ferry_frame_settings = NGHTTP2_SETTINGS;
static const uint8_t ferry_flag_end_stream = NGHTTP2_FLAG_END_STREAM;
static const uint8_t ferry_flag_end_headers = NGHTTP2_FLAG_END_HEADERS;
static const uint8_t ferry_flag_ack = NGHTTP2_FLAG_ACK;
static const uint32_t ferry_data_end = NGHTTP2_DATA_FLAG_EOF;
static const uint32_t ferry_code_no_error = NGHTTP2_NO_ERROR;
static const uint32_t ferry_code_refused = NGHTTP2_REFUSED_STREAM;
static const uint32_t ferry_code_cancel = NGHTTP2_CANCEL;
static const int ferry_error_temporal = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
static const int ferry_error_deferred = NGHTTP2_ERR_DEFERRED;
static const int32_t ferry_settings_max_streams = NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS;
static const int32_t ferry_settings_enable_push = NGHTTP2_SETTINGS_ENABLE_PUSH;
static const int32_t ferry_settings_max_header_list = NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE;
