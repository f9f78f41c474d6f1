// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Package evidence keeps copies of content apart from the journal that names
// them (requirement A6): the writing side encrypts to public keys and cannot
// read back what it stored, the reading side opens, authenticates and recomputes
// the digest.
//
// An object is an age file (age-encryption.org/v1) with exactly the bytes that a
// record's digest covers. Its name says where the record's scope and digest lead:
//
//	<organization>/<retention class>/<set>/sha256/<2 hex>/<64 hex>.age
//	<organization>/<retention class>/<set>/hmac-sha256.<key id>/<2 hex>/<64 hex>.age
//
// with names escaped as durable.PathElement does. A set is what its recipients
// can open and nobody else: once their identities are destroyed, so is what the
// set holds. Beside its objects, recipients.txt lists the public keys, which never
// change within a set.
package evidence
