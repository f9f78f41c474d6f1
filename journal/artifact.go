// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/readtrail/readtrail/record"
)

// checkArtifact judges what a crash tore off and a journal.recovered names: the file
// beside the segment. One that is there must be the one that was kept; one that is
// not there is missed only if the policy demands artifacts, since an archive need
// not hold it.
func (v *verifier) checkArtifact(c *checked) {
	kept := c.recovered
	if kept == nil {
		return
	}
	if kept.KeptAs == "" || kept.KeptAs != filepath.Base(kept.KeptAs) {
		// No such name is beside a segment, and none is followed elsewhere.
		if v.options.Policy.Demands(DemandArtifacts) {
			v.foundArtifact(c, CodeArtifactMissing, kept, "")
		}
		return
	}
	path := filepath.Join(filepath.Dir(v.source.Segments[c.segment].Path), kept.KeptAs)
	digest, err := digestFile(path, kept.Length)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if v.options.Policy.Demands(DemandArtifacts) {
			v.foundArtifact(c, CodeArtifactMissing, kept, "")
		}
	case err != nil:
		f := v.placed(c, CodeArtifactMissing)
		f.Detail = fmt.Sprintf("%s cannot be read", kept.KeptAs)
		v.find(c, f)
	case digest != kept.Digest:
		v.foundArtifact(c, CodeArtifactDigestMismatch, kept, digest)
	}
}

func (v *verifier) foundArtifact(c *checked, code Code, kept *record.Recovered, digest string) {
	f := v.placed(c, code)
	f.Detail = fmt.Sprintf("%s should have the digest %s", kept.KeptAs, kept.Digest)
	if digest != "" {
		f.Detail += " and has " + digest
	}
	v.find(c, f)
}

// digestFile returns the digest of a regular file; one that is not size bytes long
// has another one than was named in any case and is not read to its end.
func digestFile(path string, size int64) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, size+1)); err != nil {
		return "", err
	}
	return SpellHash([sha256.Size]byte(h.Sum(nil))), nil
}
