// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package otlp reads an OTLP logs request (opentelemetry-proto v1,
// ExportLogsServiceRequest) in protobuf or OTLP/JSON, as a client sent it that has
// to be told what is wrong with it.
//
// It is stricter than a collector's own reading. Memory is bounded by what the
// limits say before anything is built; a field that has one value stands once; text
// is UTF-8; a value has one kind. Fields that this version does not know are left
// out, as OTLP demands, but they are counted, so that the journal can say that
// there was more. Nothing here says what an audit record is.
package otlp
