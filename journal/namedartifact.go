// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
)

// reconciledArtifacts counts the artifacts that the audit events of a journal name.
type reconciledArtifacts struct {
	// failed are missing or are not what is named.
	named, compared, failed uint64
}

// open counts those of which nothing is known.
func (a *reconciledArtifacts) open() uint64 { return a.named - a.compared - a.failed }

// artifactOutcome is what became of a file: its digest, or an error.
type artifactOutcome struct {
	digest string
	err    error
}

// maxCompared bounds the files whose outcome is kept: the same policy, say, is named
// by many events.
const maxCompared = 1 << 14

// compareArtifacts holds the artifacts of an audit event against the files that were
// given. A keyed digest cannot be computed without its key.
func (j *reconciling) compareArtifacts(v *verifier, c *checked) {
	a := &j.artifacts
	for i, digest := range c.names.artifacts {
		a.named++
		sum, plain := ParseHash(digest)
		if j.all.artifacts == "" || !plain {
			continue
		}
		name := hex.EncodeToString(sum[:])
		there := j.all.compare(name)
		if there.err == nil && there.digest == digest {
			a.compared++
			continue
		}
		a.failed++
		f := v.placed(c, CodeArtifactMissing)
		f.Detail = fmt.Sprintf("/evidence/artifacts/%d: %s is not among the files given", i, name)
		switch {
		case there.err == nil:
			f.Code = CodeArtifactDigestMismatch
			f.Detail = fmt.Sprintf("/evidence/artifacts/%d: the file %s has %s", i, name, there.digest)
		case !errors.Is(there.err, fs.ErrNotExist):
			f.Detail = fmt.Sprintf("/evidence/artifacts/%d: the file %s cannot be read", i, name)
		}
		// The entries are as sound as they were: it is the file that is not.
		f.Segment, f.Offset = v.source.Segments[c.segment].Path, c.offset
		v.note(f)
	}
}

func (r *Reconciliation) compare(name string) artifactOutcome {
	if known, found := r.compared[name]; found {
		return known
	}
	if len(r.compared) >= maxCompared {
		clear(r.compared)
	}
	digest, err := digestFile(filepath.Join(r.artifacts, name), math.MaxInt64-1)
	r.compared[name] = artifactOutcome{digest, err}
	return r.compared[name]
}
