// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/record"
)

// producer signs records as the draft says.
type producer struct {
	algorithm string
	sign      func(message []byte) []byte
	// jwk is the key as a registry of ours has it.
	jwk object
	// key signs certificates of the producer.
	key crypto.Signer
}

var producers = func() map[string]producer {
	b64 := base64.RawURLEncoding.EncodeToString
	private := seeded(7)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	point, err := ec.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	secret := []byte(strings.Repeat("s", 32))
	digest := func(m []byte) []byte { sum := sha256.Sum256(m); return sum[:] }
	return map[string]producer{
		"EdDSA": {"EdDSA", func(m []byte) []byte { return ed25519.Sign(private, m) }, object{"kty": "OKP", "crv": "Ed25519", "x": b64(publicOf(private))}, private},
		"ES256": {"ES256", func(m []byte) []byte {
			r, s, err := ecdsa.Sign(rand.Reader, ec, digest(m))
			if err != nil {
				panic(err)
			}
			return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		}, object{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}, ec},
		"ES256 in ASN.1": {"ES256", func(m []byte) []byte {
			sig, err := ecdsa.SignASN1(rand.Reader, ec, digest(m))
			if err != nil {
				panic(err)
			}
			return sig
		}, object{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])}, ec},
		"RS256": {"RS256", func(m []byte) []byte {
			sig, err := rsa.SignPKCS1v15(rand.Reader, rs, crypto.SHA256, digest(m))
			if err != nil {
				panic(err)
			}
			return sig
		}, object{"kty": "RSA", "n": b64(rs.N.Bytes()), "e": b64(big.NewInt(int64(rs.E)).Bytes())}, rs},
		"HMAC-SHA256": {"HMAC-SHA256", func(m []byte) []byte {
			mac := hmac.New(sha256.New, secret)
			mac.Write(m)
			return mac.Sum(nil)
		}, object{"kty": "oct", "k": b64(secret)}, nil},
	}
}()

// exampleOTLP is the same record by the names of OTLP/JSON, written by hand.
const exampleOTLP = `{"attributes":[{"key":"audit.action","value":{"stringValue":"LOGIN"}},{"key":"audit.actor.id","value":{"stringValue":"u8472"}},` +
	`{"key":"audit.actor.type","value":{"stringValue":"user"}},{"key":"audit.outcome","value":{"stringValue":"success"}},` +
	`{"key":"audit.record.id","value":{"stringValue":"` + uuid + `"}},{"key":"audit.schema.version","value":{"stringValue":"1.0.0"}},` +
	`{"key":"audit.source.id","value":{"stringValue":"203.0.113.42"}},{"key":"audit.source.type","value":{"stringValue":"ipv4"}},` +
	`{"key":"audit.target.id","value":{"stringValue":"/api/auth/session"}},{"key":"audit.target.type","value":{"stringValue":"http.endpoint"}},` +
	`{"key":"session.id","value":{"stringValue":"sess-abc123"}}],"eventName":"user.login.success",` +
	`"observedTimeUnixNano":"1799999990001000000","timeUnixNano":"1799999990000000000"}`

func (p producer) proof(message string) string {
	return base64.StdEncoding.EncodeToString(p.sign([]byte(message)))
}

// trusting reads a registry with the keys.
func trusting(t *testing.T, keys ...object) *auditlog.Trust {
	t.Helper()
	text, err := json.Marshal(object{"keys": keys})
	require.NoError(t, err)
	name := filepath.Join(t.TempDir(), "producers.json")
	require.NoError(t, os.WriteFile(name, text, 0o600))
	trust, err := auditlog.ReadTrust(auditlog.TrustFiles{Keys: name})
	require.NoError(t, err)
	return trust
}

func (p producer) named(kid string) object {
	k := object{"kid": kid}
	for name, v := range p.jwk {
		k[name] = v
	}
	return k
}

func trustedBy(trust *auditlog.Trust) func(*auditlog.Options) {
	return func(o *auditlog.Options) { o.Mapper.Trust = trust }
}

func TestProofsOfEachAlgorithmAreVerifiedByTheKeyThatIsConfigured(t *testing.T) {
	for name, p := range producers {
		for spelling, form := range map[string]string{"data_model": exampleForm, "otlp_json": exampleOTLP} {
			t.Run(name+" over "+spelling, func(t *testing.T) {
				r := newRig(t, trustedBy(trusting(t, producers["EdDSA"].named("other"), p.named("producer-1"))))
				resource := object{"service.name": "s", "audit.integrity.algorithm": p.algorithm}
				if p.key != nil {
					resource["audit.integrity.certificate"] = "producer-1"
				}
				rec := auditRecord(uuid, object{"audit.integrity.value": p.proof(form), "audit.integrity.signer": "producer", "audit.integrity.canonicalization": "jcs"})
				answer := r.send(auditlog.JSON, requestOf(resource, rec))
				require.Equal(t, 200, answer.http, answer.text)
				assert.Equal(t, "passed", answer.object["verify_status"])
				assert.Equal(t, "delivered_all_sinks", answer.object["status"])
				kept := answer.object["attributes"].(object)
				assert.Equal(t, "collector", kept["audit.integrity.signer"])
				assert.Equal(t, "producer", kept["audit.integrity.signer.0"])
				log := r.details()[0]
				assert.Equal(t, "collector", log.Integrity.Signer)
				proof := log.Integrity.Proofs[0]
				assert.Equal(t, kept["audit.integrity.value.0"], proof.Value)
				assert.Equal(t, []any{record.ProofPassed, "producer-1", spelling}, []any{proof.Status, proof.VerifiedBy, proof.Form})

				forged := auditRecord("forged", object{"audit.integrity.value": p.proof(form)})
				answer = r.send(auditlog.JSON, requestOf(resource, forged))
				assert.Equal(t, 400, answer.http, answer.text)
				assert.Equal(t, "rejected_verify_failed", answer.object["status"])
				assert.Equal(t, "failed", answer.object["verify_status"])
				assert.Len(t, r.entries(), 1, "what does not verify goes nowhere")
			})
		}
	}
}

func TestAProofThatCannotBeCheckedIsNeverCalledPassed(t *testing.T) {
	p := producers["EdDSA"]
	value := p.proof(exampleForm)
	resource := object{"service.name": "s", "audit.integrity.algorithm": "EdDSA", "audit.integrity.certificate": "producer-2"}
	for name, c := range map[string]struct {
		trust    []object
		resource object
		change   object
		reason   string
	}{
		"nobody is trusted":          {nil, resource, nil, "no_trust_configured"},
		"a key that nobody knows":    {[]object{p.named("producer-1")}, resource, nil, "key_unknown"},
		"an algorithm of the moon":   {[]object{p.named("producer-2")}, object{"service.name": "s", "audit.integrity.algorithm": "MOON"}, nil, "algorithm_unsupported"},
		"another canonicalization":   {[]object{p.named("producer-2")}, resource, object{"audit.integrity.canonicalization": "cbor"}, "canonicalization_unsupported"},
		"a key of another algorithm": {[]object{producers["ES256"].named("producer-2")}, resource, nil, "key_unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			var trust *auditlog.Trust
			if c.trust != nil {
				trust = trusting(t, c.trust...)
			}
			rec := auditRecord(uuid, object{"audit.integrity.value": value}, c.change)
			for deferral, want := range map[auditlog.Deferral]int{auditlog.Pending: 202, auditlog.Accept: 200, auditlog.Reject: 400} {
				r := newRig(t, trustedBy(trust), func(o *auditlog.Options) { o.Unverified = deferral })
				answer := r.send(auditlog.JSON, requestOf(c.resource, rec))
				require.Equal(t, want, answer.http, answer.text)
				if deferral == auditlog.Reject {
					assert.Empty(t, r.entries())
					continue
				}
				assert.Equal(t, "deferred", answer.object["verify_status"])
				assert.Equal(t, c.reason, answer.object["verify_reason"])
				assert.Equal(t, deferral == auditlog.Pending, answer.object["status"] == "accepted_pending_verify")
				proof := r.details()[0].Integrity.Proofs[0]
				assert.Equal(t, record.ProofNotPerformed, proof.Status)
				assert.Equal(t, c.reason, proof.Reason)
			}
		})
	}
}

func TestARecordThatWaitedForItsKeyIsVerifiedWhenItIsSentAgain(t *testing.T) {
	p := producers["ES256"] // whose signature differs each time
	r := newRig(t)
	send := func() reply {
		rec := auditRecord(uuid, object{"audit.integrity.value": p.proof(exampleForm)})
		return r.send(auditlog.JSON, requestOf(object{"service.name": "s", "audit.integrity.algorithm": "ES256"}, rec))
	}
	require.Equal(t, 202, send().http)
	require.Equal(t, 202, send().http, "still the same")
	r.options.Mapper.Trust = trusting(t, p.named("producer-1"))
	r.reopen()
	answer := send()
	require.Equal(t, 200, answer.http, answer.text)
	assert.Equal(t, "passed", answer.object["verify_status"])
	require.Equal(t, 200, send().http)
	entries := r.entries()
	require.Len(t, entries, 2)
	assert.Equal(t, record.EventAuditLogVerified, entries[1].Header.EventType)
	assert.Contains(t, string(entries[1].Body), entries[0].Header.EventID)

	r.options.Mapper.Trust = nil
	r.reopen()
	assert.Equal(t, "passed", send().object["verify_status"], "what was verified once stays so")
}

func TestAnUnsignedRecordIsRefusedWhereProofsAreDemanded(t *testing.T) {
	r := newRig(t, func(o *auditlog.Options) { o.Unsigned = auditlog.Reject })
	answer := r.post(auditRecord(uuid))
	assert.Equal(t, 400, answer.http)
	assert.Equal(t, "proof_missing", answer.object["code"])
	assert.Empty(t, r.entries())
}

// certificate makes a certificate of a key, by an issuer or by itself.
func certificate(t *testing.T, key crypto.Signer, name string, issuer *x509.Certificate, by crypto.Signer, until time.Time) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(12345), Subject: pkix.Name{CommonName: name, Organization: []string{"Acme"}},
		NotBefore: now.Add(-time.Hour), NotAfter: until, SubjectKeyId: []byte{0x3c, 0xf0, 0x12},
		IsCA: issuer == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if issuer == nil {
		issuer, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), by)
	require.NoError(t, err)
	c, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return c
}

func pemFile(t *testing.T, c *x509.Certificate) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "certificate.pem")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}), 0o600))
	return name
}

func TestACertificateInARecordIsBelievedOnlyIfItLeadsToATrustedRoot(t *testing.T) {
	authority, p := seeded(9), producers["EdDSA"]
	root := certificate(t, authority, "root", nil, nil, now.Add(time.Hour))
	own := certificate(t, p.key, "producer", root, authority, now.Add(time.Hour))
	expired := certificate(t, p.key, "producer", root, authority, now.Add(-time.Minute))
	self := certificate(t, p.key, "producer", nil, nil, now.Add(time.Hour))
	sum := sha256.Sum256(own.Raw)
	digits := hex.EncodeToString(sum[:])
	colons := strings.ToUpper(digits[:2])
	for i := 2; i < len(digits); i += 2 {
		colons += ":" + strings.ToUpper(digits[i:i+2])
	}
	for name, c := range map[string]struct {
		files     auditlog.TrustFiles
		reference string
		http      int
	}{
		"issued by a root":           {auditlog.TrustFiles{Roots: pemFile(t, root)}, base64.StdEncoding.EncodeToString(own.Raw), 200},
		"signed by itself":           {auditlog.TrustFiles{Roots: pemFile(t, root)}, base64.StdEncoding.EncodeToString(self.Raw), 202},
		"issued by a root, expired":  {auditlog.TrustFiles{Roots: pemFile(t, root)}, base64.StdEncoding.EncodeToString(expired.Raw), 202},
		"trusted by itself":          {auditlog.TrustFiles{Certificates: pemFile(t, self)}, base64.StdEncoding.EncodeToString(self.Raw), 200},
		"fingerprint":                {auditlog.TrustFiles{Certificates: pemFile(t, own)}, "sha256:" + digits, 200},
		"fingerprint with colons":    {auditlog.TrustFiles{Certificates: pemFile(t, own)}, "sha256:" + colons, 200},
		"fingerprint of another one": {auditlog.TrustFiles{Certificates: pemFile(t, self)}, "sha256:" + digits, 202},
		"subject key identifier":     {auditlog.TrustFiles{Certificates: pemFile(t, own)}, "3cf012", 200},
		"issuer and serial number":   {auditlog.TrustFiles{Certificates: pemFile(t, own)}, "CN=root,O=Acme/12345", 200},
		"no reference":               {auditlog.TrustFiles{Certificates: pemFile(t, own)}, "", 200},
	} {
		t.Run(name, func(t *testing.T) {
			trust, err := auditlog.ReadTrust(c.files)
			require.NoError(t, err)
			r := newRig(t, trustedBy(trust))
			resource := object{"service.name": "s", "audit.integrity.algorithm": "EdDSA"}
			if c.reference != "" {
				resource["audit.integrity.certificate"] = c.reference
			}
			answer := r.send(auditlog.JSON, requestOf(resource, auditRecord(uuid, object{"audit.integrity.value": p.proof(exampleForm)})))
			assert.Equal(t, c.http, answer.http, answer.text)
			assert.Equal(t, c.http == 200, answer.object["verify_status"] == "passed")
			assert.NotContains(t, string(r.entries()[0].Body), "Acme", "who a certificate names stands nowhere")
		})
	}
}

func TestACollectorBeforeUsKeepsTheProducersProofAndSoDoWe(t *testing.T) {
	p, custodian := producers["EdDSA"], producers["RS256"]
	r := newRig(t, trustedBy(trusting(t, p.named("producer-1"), custodian.named("gateway"))))
	for name, proofs := range map[string]object{
		"value.0": {
			"audit.integrity.value": p.proof(exampleForm), "audit.integrity.signer": "collector",
			"audit.integrity.value.0": p.proof(exampleForm), "audit.integrity.signer.0": "producer",
		},
		"a list": {"audit.integrity.value": []string{p.proof(exampleForm), p.proof(exampleForm)}, "audit.integrity.signer": []string{"collector", "producer"}},
	} {
		t.Run(name, func(t *testing.T) {
			answer := r.send(auditlog.JSON, requestOf(object{"service.name": "s", "audit.integrity.algorithm": "EdDSA"}, auditRecord(uuid, proofs)))
			require.Equal(t, 200, answer.http, answer.text)
			assert.Equal(t, "passed", answer.object["verify_status"])
			proofs := r.details()[0].Integrity.Proofs
			require.Len(t, proofs, 2)
			assert.Equal(t, []string{"collector", "producer"}, []string{proofs[0].Signer, proofs[1].Signer})
		})
	}
}

func TestAMACHasNoCertificate(t *testing.T) {
	p := producers["HMAC-SHA256"]
	r := newRig(t, trustedBy(trusting(t, p.named("producer-1"))))
	resource := object{"service.name": "s", "audit.integrity.algorithm": "HMAC-SHA256", "audit.integrity.certificate": "producer-1"}
	answer := r.send(auditlog.JSON, requestOf(resource, auditRecord(uuid, object{"audit.integrity.value": p.proof(exampleForm)})))
	assert.Equal(t, 400, answer.http)
	assert.Equal(t, "certificate_of_mac", answer.object["code"])
}

func TestACredentialAsTheNameOfAKeyIsRefused(t *testing.T) {
	r := newRig(t)
	token := "ghp_" + strings.Repeat("a1B2", 9)
	proof := producers["EdDSA"].proof(exampleForm)
	resource := object{"service.name": "s", "audit.integrity.algorithm": "EdDSA", "audit.integrity.certificate": token}
	answer := r.send(auditlog.JSON, requestOf(resource, auditRecord(uuid, object{"audit.integrity.value": proof})))
	assert.Equal(t, "credential", answer.object["code"])
	delete(resource, "audit.integrity.certificate")
	answer = r.send(auditlog.JSON, requestOf(resource, auditRecord(uuid, object{"audit.integrity.value": proof, "audit.integrity.new_value": proof, "audit.integrity.new_certificate": token})))
	assert.Equal(t, "credential", answer.object["code"])
	assert.Empty(t, r.entries())
}

func TestFilesOfTrustAreReadWithCare(t *testing.T) {
	write := func(text string, mode os.FileMode) string {
		name := filepath.Join(t.TempDir(), "keys.json")
		require.NoError(t, os.WriteFile(name, []byte(text), mode))
		return name
	}
	for text, want := range map[string]string{
		`{}`: "is no JWK Set with keys",
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA","kid":"a"}]}`:            "key 0: it is no public key",
		`{"keys":[{"kty":"oct","k":"AAAA","kid":"a"}]}`:                            "key 0: it is no public key",
		`{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}`:              "key 0: kid is missing",
		`{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA","d":"AAAA","kid":"a"}]}`: "key 0: it has a private key",
	} {
		_, err := auditlog.ReadTrust(auditlog.TrustFiles{Keys: write(text, 0o600)})
		assert.ErrorContains(t, err, want)
	}
	secret, err := json.Marshal(object{"keys": []object{producers["HMAC-SHA256"].named("mac")}})
	require.NoError(t, err)
	_, err = auditlog.ReadTrust(auditlog.TrustFiles{Keys: write(string(secret), 0o644)})
	require.ErrorContains(t, err, "run: chmod 600")
	_, err = auditlog.ReadTrust(auditlog.TrustFiles{Roots: write("nothing", 0o600)})
	require.ErrorContains(t, err, "has no certificate in PEM")
	_, err = auditlog.ReadTrust(auditlog.TrustFiles{Certificates: filepath.Join(t.TempDir(), "absent.pem")})
	require.ErrorIs(t, err, os.ErrNotExist)
}
