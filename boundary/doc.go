// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package boundary is for executors: the code that sends an agent's HTTP requests
// and runs its SSH commands with credentials that the agent never sees. It is the
// edge of the trusted path, so it is where an external action is recorded
// (requirements D1 to D11).
//
// A [Transport] (an http.RoundTripper) and an [SSHRunner] do the same things in the
// same order:
//
//  1. resolve what was asked to a host, a port, an account and a credential reference;
//  2. write `planned`, durably, and with it the request for an approval if one is needed;
//  3. wait for the decision, and resolve once more;
//  4. write `sent`: the journal's answer is the permission. It refuses if what was
//     resolved now is not what was planned and approved, or if either was revoked;
//  5. only then ask for the credential, send, and count the bytes that leave;
//  6. write the outcome: completed, timeout, unknown or failed_before_send.
//
// What cannot be recorded is not sent. What was sent and has no answer is never
// called failed: bytes that left may have had an effect.
//
// A [Call] in the request's context says for whom and under which trace. A retry or
// redirect is an attempt with an id and a span of its own. Secrets are resolved from
// references after the permission, and neither they nor content enter a record, a log
// line or the text of an error.
//
// The package needs a receiver of type audit_event (docs/api.md) and nothing of
// OpenTelemetry.
package boundary
