// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package content knows what content is: how a value that telemetry carries is
// digested (contract 2), which keys hold content and which are harmless, what
// shape a harmless value may have, and what a credential looks like.
//
// Strings in telemetry are content until a table here says otherwise. The
// package imports nothing of OpenTelemetry; internal/telemetry adapts pdata.
package content
