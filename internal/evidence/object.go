// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"encoding/hex"
	"hash"
	"path"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
)

// newHash returns what recomputes a digest, nil if that needs a key that is
// not among keys.
func newHash(d content.ParsedDigest, keys map[string]*content.Key) hash.Hash {
	if d.KeyID == "" {
		return content.Plain.NewHash()
	}
	if key, found := keys[d.KeyID]; found {
		return key.NewHash()
	}
	return nil
}

// nameIn returns the name of the object with a digest in a set.
func nameIn(set string, d content.ParsedDigest) string {
	algorithm := content.AlgorithmPlain
	if d.KeyID != "" {
		algorithm = content.AlgorithmKeyed + "." + d.KeyID
	}
	digits := hex.EncodeToString(d.Sum[:])
	return path.Join(set, algorithm, digits[:2], digits+".age")
}

// pathOf is where the objects of a set are: a class of an organization.
func pathOf(organization, class, set string) string {
	return path.Join(durable.PathElement(organization), durable.PathElement(class), durable.PathElement(set))
}
