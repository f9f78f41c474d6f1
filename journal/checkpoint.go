// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/readtrail/readtrail/record"
)

// MaxCheckpointBytes bounds a signed checkpoint with all its signatures.
const MaxCheckpointBytes = 64 << 10

// MaxCheckpointSignatures bounds the signatures that are looked at, as package
// note does.
const MaxCheckpointSignatures = 100

var (
	errCheckpointMalformed = errors.New("malformed checkpoint")
	// ErrCheckpointUntrusted says that no trusted key signed a checkpoint.
	ErrCheckpointUntrusted = errors.New("no trusted key signed the checkpoint")
)

// Checkpoint says which entries a journal had: their number and the root of the
// RFC 6962 tree over them (contract 5, c2sp.org/tlog-checkpoint).
type Checkpoint struct {
	// Origin is the journal id.
	Origin string
	// Size is the number of entries, which is the sequence of the last one.
	Size uint64
	// Root is the root of the tree whose leaf i is LeafHash of the entry with
	// sequence i+1.
	Root [sha256.Size]byte
}

// LeafHash returns the RFC 6962 leaf of an entry: the leaf data are the 32 bytes
// of its record hash.
func LeafHash(recordHash [sha256.Size]byte) [sha256.Size]byte {
	return tlog.RecordHash(recordHash[:])
}

// Text returns the text that is signed: origin, size in decimal and root in
// base64, each with its LF.
//
//	jrn_01JBC3YEV5A7Z8K2M4N6P8Q0RS
//	4711
//	nND/nri/U0xuHUrYSy0HtMeal2vzD9V4k/BO79C+QeI=
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatUint(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Root[:]) + "\n"
}

func (c Checkpoint) check() error {
	if !validNoteName(c.Origin) || c.Size == 0 || c.Size > record.MaxInteger {
		return errCheckpointMalformed
	}
	return nil
}

// validNoteName says whether a text can name a key of a signed note.
func validNoteName(name string) bool {
	return name != "" && len(name) <= 255 && strings.IndexFunc(name, func(r rune) bool {
		return r <= ' ' || r == '+' || r > '~'
	}) < 0
}

// SignCheckpoint returns the checkpoint as a signed note (c2sp.org/signed-note):
// its text, an empty line, and one Ed25519 signature by the journal's key under
// the name of the origin. What the signer returns is verified before.
func SignCheckpoint(c Checkpoint, s Signer) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	n, err := newNoteSigner(c.Origin, s)
	if err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, n)
	if err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	return signed, nil
}

// noteSigner makes a key sign notes.
type noteSigner struct {
	note.Verifier
	signer Signer
}

func newNoteSigner(name string, s Signer) (noteSigner, error) {
	v, err := noteVerifier(name, s.PublicKey())
	return noteSigner{Verifier: v, signer: s}, err
}

// Sign implements note.Signer.
func (s noteSigner) Sign(text []byte) ([]byte, error) {
	signature, err := s.signer.Sign(text)
	if err == nil && !s.Verify(text, signature) {
		err = errors.New("the signer returned a signature that its public key does not verify")
	}
	return signature, err
}

func noteVerifier(name string, public ed25519.PublicKey) (note.Verifier, error) {
	if len(public) != ed25519.PublicKeySize {
		return nil, errors.New("public key is not Ed25519")
	}
	vkey, err := note.NewEd25519VerifierKey(name, public)
	if err != nil {
		return nil, err
	}
	return note.NewVerifier(vkey)
}

// CheckpointKey returns the key of a journal as a witness is told it: a verifier
// key (c2sp.org/signed-note) under the name of the journal.
func CheckpointKey(journalID string, public ed25519.PublicKey) (string, error) {
	if !validNoteName(journalID) || len(public) != ed25519.PublicKeySize {
		return "", errors.New("no journal id or no Ed25519 public key")
	}
	return note.NewEd25519VerifierKey(journalID, public)
}

// SignedCheckpoint is a checkpoint with its signatures. Parsing verifies none of
// them.
type SignedCheckpoint struct {
	Checkpoint
	// Note is the whole signed note.
	Note []byte

	text       string
	signatures []note.Signature
}

// ParseCheckpoint reads a signed note of at most MaxCheckpointBytes and
// MaxCheckpointSignatures. The text must be the one that Text writes, without
// extension lines. Signatures by unknown keys are no error. Errors say nothing
// of the note.
func ParseCheckpoint(text []byte) (*SignedCheckpoint, error) {
	if len(text) > MaxCheckpointBytes {
		return nil, errCheckpointMalformed
	}
	_, err := note.Open(text, note.VerifierList())
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return nil, errCheckpointMalformed
	}
	n := unverified.Note
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 {
		return nil, errCheckpointMalformed
	}
	s := &SignedCheckpoint{Note: []byte(string(text)), text: n.Text, signatures: n.UnverifiedSigs}
	s.Origin = lines[0]
	if s.Size, err = strconv.ParseUint(lines[1], 10, 64); err != nil {
		return nil, errCheckpointMalformed
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || copy(s.Root[:], root) != len(root) {
		return nil, errCheckpointMalformed
	}
	if s.check() != nil || s.Text() != n.Text {
		return nil, errCheckpointMalformed
	}
	return s, nil
}

// Signer returns the key of the registry whose signature verifies, the first one
// in the note. Whether the key was valid then is for the caller to judge. It
// returns ErrCheckpointUntrusted if there is none.
func (s *SignedCheckpoint) Signer(r *Registry) (Key, error) {
	verifiers := make(map[uint32][]int, len(r.keys))
	for i, k := range r.keys {
		v, err := noteVerifier(s.Origin, k.PublicKey)
		if err != nil {
			return Key{}, fmt.Errorf("key %s: %w", k.ID, err)
		}
		verifiers[v.KeyHash()] = append(verifiers[v.KeyHash()], i)
	}
	for _, signature := range s.signatures {
		if signature.Name != s.Origin {
			continue
		}
		for _, i := range verifiers[signature.Hash] {
			if s.verifies(signature, r.keys[i].PublicKey) {
				return r.keys[i], nil
			}
		}
	}
	return Key{}, ErrCheckpointUntrusted
}

// SignedBy reports whether a key signed the checkpoint.
func (s *SignedCheckpoint) SignedBy(public ed25519.PublicKey) bool {
	v, err := noteVerifier(s.Origin, public)
	if err != nil {
		return false
	}
	for _, signature := range s.signatures {
		if signature.Name == s.Origin && signature.Hash == v.KeyHash() && s.verifies(signature, public) {
			return true
		}
	}
	return false
}

func (s *SignedCheckpoint) verifies(signature note.Signature, public ed25519.PublicKey) bool {
	value := signatureBytes(signature)
	return len(value) == ed25519.SignatureSize && ed25519.Verify(public, []byte(s.text), value)
}

// signatureBytes returns a signature without the key hash before it.
func signatureBytes(signature note.Signature) []byte {
	value, err := base64.StdEncoding.DecodeString(signature.Base64)
	if err != nil || len(value) < 4 {
		return nil
	}
	return value[4:]
}
