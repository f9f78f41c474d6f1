// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"filippo.io/age"
)

// read decrypts an object to w and recomputes its digest.
func (r *Reader) read(ctx context.Context, o object, d Digest, w io.Writer) error {
	file, err := o.place.Open(ctx, o.name)
	if err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	defer file.Close()
	err = r.decrypt(ctx, o, &source{Reader: file}, d, &sink{Writer: w})
	if err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	return nil
}

func (r *Reader) decrypt(ctx context.Context, o object, in *source, d Digest, out *sink) error {
	if len(r.Identities) == 0 {
		return fmt.Errorf("%w: there are none", ErrSealed)
	}
	content, err := age.Decrypt(in, r.Identities...)
	var noMatch *age.NoIdentityMatchError
	switch {
	case in.err != nil:
		return in.err
	case errors.As(err, &noMatch):
		return r.whySealed(ctx, o)
	case err != nil:
		return ErrDamaged
	}
	to := io.Writer(out)
	hash := d.newHash(r.Keys)
	if hash != nil {
		to = io.MultiWriter(hash, out)
	}
	_, err = io.Copy(to, content)
	switch {
	case in.err != nil:
		return in.err
	case out.err != nil:
		return out.err
	case err != nil:
		return ErrDamaged
	case hash == nil:
		return fmt.Errorf("%w %q", ErrNoKey, d.KeyID)
	case !hmac.Equal(hash.Sum(nil), d.Sum[:]):
		if d.KeyID != "" {
			return fmt.Errorf("%w, or the key given as %q is another one", ErrMismatch, d.KeyID)
		}
		return ErrMismatch
	}
	return nil
}

// whySealed tells an object for others from one whose header was changed: if the
// set names the public key of an identity given, that identity opened the object
// when it was stored.
func (r *Reader) whySealed(ctx context.Context, o object) error {
	dir := path.Dir(path.Dir(path.Dir(o.name)))
	texts, err := recipientsOf(ctx, o.place, dir)
	if err != nil {
		return fmt.Errorf("%w, or its header was changed; %s/%s, which would tell, cannot be read", ErrSealed, dir, recipientsFile)
	}
	for _, identity := range r.Identities {
		if slices.Contains(texts, publicKey(identity)) {
			return ErrDamaged
		}
	}
	return fmt.Errorf("%w: give the identity of one of the public keys in %s/%s", ErrSealed, dir, recipientsFile)
}

// publicKey returns the public key of an identity as text.
func publicKey(identity age.Identity) string {
	switch i := identity.(type) {
	case *age.X25519Identity:
		return i.Recipient().String()
	case *age.HybridIdentity:
		return i.Recipient().String()
	}
	return ""
}

// ReadIdentities reads the secret keys in a file as `age-keygen` and `readtrail
// evidence identity` write it. Errors never repeat what it holds.
func ReadIdentities(in io.Reader) ([]age.Identity, error) {
	var start strings.Builder
	identities, err := age.ParseIdentities(io.TeeReader(in, &head{&start}))
	switch {
	case err == nil:
		return identities, nil
	case strings.HasPrefix(start.String(), "age-encryption.org/") || strings.HasPrefix(start.String(), "-----BEGIN AGE"):
		return nil, errors.New("is encrypted with a passphrase: decrypt it first with age -d")
	}
	return nil, errors.New("holds no age identity, which is a line that begins with AGE-SECRET-KEY-1")
}

// head keeps the beginning of what is written to it.
type head struct{ *strings.Builder }

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.Builder.Write(p[:min(len(p), max(0, 64-h.Len()))])
	return len(p), nil
}

// source and sink remember an error of their own, so that a disk that fails is
// not taken for an object that was changed.
type source struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

type sink struct {
	io.Writer
	err error
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	s.err = errors.Join(s.err, err)
	return n, err
}
