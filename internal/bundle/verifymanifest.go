// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package bundle

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/readtrail/readtrail/journal"
)

// judgeManifest reads the manifest and says whether a trusted key signed it.
func (v *verifier) judgeManifest(e *ends) error {
	r := v.report
	if e.manifest == nil {
		v.find(journal.CodeArtifactMissing, manifestName, "")
		return nil
	}
	text, ok, err := e.manifest.all(maxManifestBytes)
	if err != nil {
		return err
	}
	if !ok {
		v.find(journal.CodeNotCanonical, manifestName, errManifest.Error())
		return nil
	}
	sum := sha256.Sum256(text)
	r.ManifestDigest = spell(sum)
	if v.manifest, err = parseManifest(text); err != nil {
		v.find(journal.CodeNotCanonical, manifestName, err.Error())
	}
	r.Manifest = v.manifest
	if e.sig == nil {
		r.ManifestSignature = journal.Failed
		v.find(journal.CodeArtifactMissing, sigName, "nobody stands behind the manifest")
		return nil
	}
	signature, ok, err := e.sig.all(maxSigBytes)
	if err != nil {
		return err
	}
	keyID, value, err := parseSignature(signature)
	if !ok || err != nil {
		r.ManifestSignature = journal.Failed
		v.find(journal.CodeNotCanonical, sigName, errSignature.Error())
		return nil
	}
	r.ManifestKeyID = keyID
	v.judgeSignature(text, keyID, value)
	return nil
}

func (v *verifier) judgeSignature(text []byte, keyID string, value []byte) {
	r := v.report
	if v.trust.ManifestKeys == nil {
		v.find(journal.CodeSignatureNotPerformed, manifestName, "no registry of manifest keys was given")
		return
	}
	r.ManifestSignature = journal.Failed
	key, found := v.trust.ManifestKeys.Key(keyID)
	ofJournal := false
	if v.trust.Keys != nil {
		_, ofJournal = v.trust.Keys.Key(keyID)
	}
	switch {
	case ofJournal:
		v.find(journal.CodeKeyUnknown, manifestName, "key "+keyID+" signs journals, and a manifest needs a key of its own")
	case !found:
		v.find(journal.CodeKeyUnknown, manifestName, "the registry of manifest keys has no key "+keyID)
	case !ed25519.Verify(key.PublicKey, sigMessage(text), value):
		v.find(journal.CodeSignatureInvalid, manifestName, "")
	case v.manifest == nil:
		r.ManifestSignature = journal.Valid
	default:
		if code := key.JudgeAt(v.manifest.MadeAt); code != "" {
			v.find(code, manifestName, "key "+keyID+" at made_at")
			return
		}
		r.ManifestSignature = journal.Valid
	}
}
