// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool mdatagen metadata.yaml

// Package auditeventreceiver takes records over HTTP and answers when they are in
// the journal and on disk, with a receipt for each (requirement D11).
package auditeventreceiver
