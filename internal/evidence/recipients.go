// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"filippo.io/age"
)

// Recipients are the public keys of a set: whoever holds the identity of one of
// them can open its objects.
type Recipients struct {
	keys []age.Recipient
	// texts are the keys as text, sorted.
	texts []string
}

// recipientsFile stands beside the objects of a set.
const recipientsFile = "recipients.txt"

// maxRecipientsBytes bounds a file with recipients.
const maxRecipientsBytes = 1 << 20

// errSecret never says the key: an error may be logged.
var errSecret = errors.New("is a secret key (AGE-SECRET-KEY-...), with which this machine could read every copy: " +
	"give the public key, which begins with age1; the secret one was exposed here, so make a new identity with " +
	"`readtrail evidence identity FILE`")

// CheckRecipient refuses what is no public key, without repeating it.
func CheckRecipient(key string) error {
	_, err := parseRecipient(key)
	return err
}

// RefuseSecret returns an error if a text holds a secret key.
func RefuseSecret(text string) error {
	if isSecret(text) {
		return errSecret
	}
	return nil
}

func parseRecipient(key string) (age.Recipient, error) {
	if err := RefuseSecret(key); err != nil {
		return nil, err
	}
	parsed, err := age.ParseRecipients(strings.NewReader(key))
	if err != nil || len(parsed) != 1 || strings.ContainsAny(key, "\r\n") {
		return nil, errors.New("is not the public key of an age identity, which begins with age1: " +
			"make one with `readtrail evidence identity FILE`")
	}
	return parsed[0], nil
}

func isSecret(text string) bool { return strings.Contains(strings.ToUpper(text), "AGE-SECRET-KEY-") }

// NewRecipients takes public keys as text, each once.
func NewRecipients(keys []string) (Recipients, error) {
	var r Recipients
	for _, key := range keys {
		parsed, err := parseRecipient(key)
		if err != nil {
			return Recipients{}, err
		}
		if !slices.Contains(r.texts, key) {
			r.keys, r.texts = append(r.keys, parsed), append(r.texts, key)
		}
	}
	slices.Sort(r.texts)
	if len(r.keys) == 0 {
		return Recipients{}, errors.New("holds no public key: nobody could read what is stored")
	}
	// age does not let post-quantum keys and others share a file.
	if _, err := age.Encrypt(io.Discard, r.keys...); err != nil {
		return Recipients{}, fmt.Errorf("cannot be used together: %w", err)
	}
	return r, nil
}

// ReadRecipients reads public keys, one a line; lines that begin with # and
// empty ones are left out.
func ReadRecipients(in io.Reader) (Recipients, error) {
	keys, err := readLines(in, CheckRecipient)
	if err != nil {
		return Recipients{}, err
	}
	return NewRecipients(keys)
}

// readLines returns the lines that are keys, each of which has to pass a check.
func readLines(in io.Reader, check func(string) error) ([]string, error) {
	limited := &io.LimitedReader{R: in, N: maxRecipientsBytes}
	lines := bufio.NewScanner(limited)
	var keys []string
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		var err error
		switch {
		case isSecret(line):
			err = errSecret // in a comment too
		case line != "" && line[0] != '#':
			err = check(line)
			keys = append(keys, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if limited.N == 0 {
		return nil, fmt.Errorf("has more than %d bytes", maxRecipientsBytes)
	}
	return keys, nil
}

// text is what recipients.txt holds.
func (r Recipients) text() []byte {
	return []byte("# Whoever holds the identity of one of these public keys can open the objects of this set.\n" +
		strings.Join(r.texts, "\n") + "\n")
}
