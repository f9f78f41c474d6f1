// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !cgo

package softhsm

// loads says that this program cannot load PKCS#11 libraries.
const loads = false
