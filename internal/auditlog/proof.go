// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"strconv"
	"time"

	"github.com/readtrail/readtrail/internal/content"
	"github.com/readtrail/readtrail/record"
)

// The reasons for which a proof was not checked. They stand in the journal.
const (
	reasonUnsigned         = "unsigned"
	reasonNoTrust          = "no_trust_configured"
	reasonKeyUnknown       = "key_unknown"
	reasonAlgorithm        = "algorithm_unsupported"
	reasonCanonicalization = "canonicalization_unsupported"
)

// proofLengths are the bytes that a proof of an algorithm can have. ES256 is the 64
// bytes of JWA, or ASN.1 as some libraries sign.
func proofLength(algorithm string, n int) bool {
	switch algorithm {
	case algEdDSA:
		return n == ed25519.SignatureSize
	case algES256:
		return n >= 8 && n <= 72
	case algRS256:
		return n >= minRSA/8 && n <= maxRSA/8
	case algHMAC:
		return n == sha256.Size
	default:
		return false
	}
}

// holds reports whether a proof over a message is by a key.
func (k *trustedKey) holds(message, proof []byte) bool {
	sum := sha256.Sum256(message)
	switch k.algorithm {
	case algHMAC:
		mac := hmac.New(sha256.New, k.secret)
		mac.Write(message)
		return hmac.Equal(mac.Sum(nil), proof)
	case algEdDSA:
		public, ok := k.public.(ed25519.PublicKey)
		return ok && ed25519.Verify(public, message, proof)
	case algES256:
		public, ok := k.public.(*ecdsa.PublicKey)
		if !ok {
			return false
		}
		if len(proof) == 64 {
			r, s := new(big.Int).SetBytes(proof[:32]), new(big.Int).SetBytes(proof[32:])
			if ecdsa.Verify(public, sum[:], r, s) {
				return true
			}
		}
		return ecdsa.VerifyASN1(public, sum[:], proof)
	case algRS256:
		public, ok := k.public.(*rsa.PublicKey)
		return ok && rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], proof) == nil
	default:
		return false
	}
}

// claim is a proof that a record came with, and what it says of its key.
type claim struct {
	attribute, signer     string
	value                 string
	algorithm, reference  string
	canonicalization      string
	amongOthers, incoming bool
}

// claims returns the proofs of a record: a value, a list of them, or value.0 and the
// like that a tier before kept.
func (f *fields) claims() (claims []claim, p *Problem) {
	at := f.rec.Pointer + "/attributes"
	canonicalization, _ := f.text(attrCanonicalization)
	add := func(attribute, value, signer string) {
		claims = append(claims, claim{
			attribute: attribute, value: value, signer: signer, canonicalization: canonicalization,
			algorithm: f.ofResource(resourceAlgorithm), reference: f.ofResource(resourceCertificate),
		})
	}
	values, signers := f.texts(attrValue), f.texts(attrSigner)
	if len(signers) > len(values) {
		return nil, invalid("attribute_invalid", at, "the attribute "+attrSigner+" has no "+attrValue)
	}
	for i, value := range values {
		signer := signerProducer
		if i < len(signers) {
			signer = signers[i]
		}
		add(attrValue, value, signer)
	}
	for i := range maxProofs {
		suffix := "." + strconv.Itoa(i)
		value, given := f.text(attrValue + suffix)
		signer, signed := f.text(attrSigner + suffix)
		switch {
		case given && !signed:
			signer = signerProducer
		case signed && !given:
			return nil, invalid("attribute_invalid", at, "the attribute "+attrSigner+suffix+" has no "+attrValue+suffix)
		case !given:
			continue
		}
		add(attrValue+suffix, value, signer)
	}
	for i := range claims {
		claims[i].amongOthers = len(claims) > 1
	}
	if len(claims) > 0 && f.ofResource(resourceAlgorithm) == "" {
		return nil, invalid("algorithm_missing", f.rec.Pointer, "the resource lacks "+resourceAlgorithm+", which a record with "+attrValue+" needs")
	}
	if len(claims) > 0 && holdsSecret(f.ofResource(resourceCertificate)) {
		return nil, invalid("credential", f.rec.Pointer, "the attribute "+resourceCertificate+" of the resource looks like a credential")
	}
	if algorithmNamed(f.ofResource(resourceAlgorithm)) == algHMAC && f.rec.Resource.Get(resourceCertificate) != nil {
		return nil, invalid("certificate_of_mac", f.rec.Pointer, "the resource has "+resourceCertificate+", which a MAC has not")
	}
	if value, given := f.text(attrNewValue); given {
		if len(claims) == 0 {
			return nil, invalid("transition_unsigned", at, "a key transition lacks "+attrValue+" of the outgoing key")
		}
		algorithm, said := f.text(attrNewAlgorithm)
		if !said {
			algorithm = f.ofResource(resourceAlgorithm)
		}
		reference, _ := f.text(attrNewCertificate)
		claims = append(claims, claim{
			attribute: attrNewValue, value: value, signer: signerProducer, canonicalization: canonicalization,
			algorithm: algorithm, reference: reference, incoming: true,
		})
	}
	return claims, nil
}

// verifier checks the claims of one record.
type verifier struct {
	trust *Trust
	now   time.Time
	// message gives a spelling of the record.
	message func(form) ([]byte, error)
	at      string
}

// verify checks all proofs of a record. A proof that was made by a trusted key for
// something else is a Problem; one that cannot be checked is recorded as such.
func (v *verifier) verify(claims []claim) (record.AuditIntegrity, *Problem) {
	integrity := record.AuditIntegrity{Signer: signerCollector, Status: record.ProofPassed}
	if len(claims) == 0 {
		integrity.Status, integrity.Reason = record.ProofNotPerformed, reasonUnsigned
	}
	for _, c := range claims {
		proof, p := v.check(c)
		if p != nil {
			return integrity, p
		}
		if proof.Status != record.ProofPassed && integrity.Reason == "" {
			integrity.Status, integrity.Reason = record.ProofNotPerformed, proof.Reason
		}
		if c.incoming {
			integrity.Transition = &record.AuditTransition{Proof: proof}
		} else {
			integrity.Proofs = append(integrity.Proofs, proof)
		}
	}
	return integrity, nil
}

func (v *verifier) check(c claim) (record.AuditProof, *Problem) {
	proof := record.AuditProof{
		Attribute: c.attribute, Signer: c.signer, Algorithm: algorithmNamed(c.algorithm),
		Key: keyOf(c.reference), Status: record.ProofNotPerformed,
	}
	bytes, isBase64 := isProof(c.value)
	if !isBase64 {
		return proof, invalid("proof_malformed", v.at+"/attributes", "the attribute "+c.attribute+" is not base64")
	}
	if proof.Algorithm == "" || !proofLength(proof.Algorithm, len(bytes)) {
		proof.ValueDigest = content.Plain.OfRaw([]byte(c.value)).Value
	} else {
		proof.Value = c.value
	}
	switch {
	case proof.Algorithm == "":
		proof.Reason = reasonAlgorithm
	case proof.Value == "":
		return proof, unverified("proof_malformed", v.at+"/attributes", "the attribute "+c.attribute+" has not the length of a proof by "+proof.Algorithm)
	case c.canonicalization != "" && c.canonicalization != "jcs":
		proof.Reason = reasonCanonicalization
	case v.trust.Empty():
		proof.Reason = reasonNoTrust
	}
	if proof.Reason != "" {
		return proof, nil
	}
	keys := v.trust.find(c.reference, proof.Algorithm, v.now)
	if c.amongOthers {
		// The resource names one key, and who of the tiers it belongs to is not said.
		keys = append(keys, v.trust.find("", proof.Algorithm, v.now)...)
	}
	if len(keys) == 0 {
		proof.Reason = reasonKeyUnknown
		return proof, nil
	}
	for _, f := range []form{formDataModel, formOTLPJSON} {
		message, err := v.message(f)
		if err != nil {
			return proof, invalid("not_canonical", v.at, "the record has no canonical form")
		}
		for i := range keys {
			if keys[i].holds(message, bytes) {
				proof.Status, proof.VerifiedBy, proof.Form = record.ProofPassed, keys[i].id, string(f)
				return proof, nil
			}
		}
	}
	if c.amongOthers {
		proof.Reason = reasonKeyUnknown
		return proof, nil
	}
	return proof, unverified("proof_invalid", v.at+"/attributes", "the attribute "+c.attribute+" is no proof of this record by the key that it names, or by any that is trusted if it names none")
}
