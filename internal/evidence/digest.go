// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"path"
	"strings"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/internal/durable"
)

// Digest is a digest as records hold it (contract 2).
type Digest struct {
	// KeyID names the key of a keyed digest, "" for a plain one.
	KeyID string
	Sum   [sha256.Size]byte
}

// The algorithms of contract 2.
const (
	algorithmPlain = "sha256"
	algorithmKeyed = "hmac-sha256"
)

var errDigest = errors.New("not a digest: it is sha256:<64 lowercase hex digits> or hmac-sha256:<key id>:<64 lowercase hex digits>")

// ParseDigest reads the one spelling of a digest.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	cut := strings.LastIndexByte(s, ':')
	if cut < 0 {
		return d, errDigest
	}
	if id, keyed := strings.CutPrefix(s[:cut], algorithmKeyed+":"); keyed {
		if !content.ValidKeyID(id) {
			return d, errDigest
		}
		d.KeyID = id
	} else if s[:cut] != algorithmPlain {
		return d, errDigest
	}
	digits := s[cut+1:]
	if len(digits) != hex.EncodedLen(len(d.Sum)) || strings.ToLower(digits) != digits {
		return d, errDigest
	}
	if _, err := hex.Decode(d.Sum[:], []byte(digits)); err != nil {
		return d, errDigest
	}
	return d, nil
}

// String spells the digest as records do.
func (d Digest) String() string {
	if d.KeyID == "" {
		return fmt.Sprintf("%s:%x", algorithmPlain, d.Sum)
	}
	return fmt.Sprintf("%s:%s:%x", algorithmKeyed, d.KeyID, d.Sum)
}

// newHash returns what recomputes the digest, nil if that needs a key that is
// not among keys.
func (d Digest) newHash(keys map[string]*content.Key) hash.Hash {
	if d.KeyID == "" {
		return content.Plain.NewHash()
	}
	if key, found := keys[d.KeyID]; found {
		return key.NewHash()
	}
	return nil
}

// nameIn returns the name of the object with this digest in a set.
func (d Digest) nameIn(set string) string {
	algorithm := algorithmPlain
	if d.KeyID != "" {
		algorithm = algorithmKeyed + "." + d.KeyID
	}
	digits := hex.EncodeToString(d.Sum[:])
	return path.Join(set, algorithm, digits[:2], digits+".age")
}

// pathOf is where the objects of a set are: a class of an organization.
func pathOf(organization, class, set string) string {
	return path.Join(durable.PathElement(organization), durable.PathElement(class), durable.PathElement(set))
}
