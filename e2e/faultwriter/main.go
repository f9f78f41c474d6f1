// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

// Command faultwriter lives the short life of a writer of a journal: it opens one,
// appends records, changes keys, fills segments and closes. It prints a line of
// JSON for every acknowledged record. The tests let its system calls fail.
package main

import (
	"context"
	"crypto/ed25519"
	"encoding/json/v2"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/readtrail/readtrail/internal/ledger"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// retryInterval and tries bound how long a journal may be unavailable.
const (
	retryInterval = 2 * time.Millisecond
	tries         = 500
)

// signer signs with a key that the tests know.
type signer struct {
	journal.Signer
	private ed25519.PrivateKey
}

func newSigner(seed byte) signer {
	text := make([]byte, ed25519.SeedSize)
	text[0] = seed
	return signer{private: ed25519.NewKeyFromSeed(text)}
}

func (s signer) PublicKey() ed25519.PublicKey        { return s.private.Public().(ed25519.PublicKey) }
func (s signer) KeyID() string                       { return journal.KeyID(s.PublicKey()) }
func (s signer) Sign(message []byte) ([]byte, error) { return ed25519.Sign(s.private, message), nil }

func main() {
	dir := flag.String("dir", "", "directory of the journal")
	grouped := flag.Bool("grouped", false, "group signatures")
	flag.Parse()
	if err := live(*dir, *grouped); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func live(dir string, grouped bool) error {
	ctx := context.Background()
	old, next := newSigner(1), newSigner(2)
	o := ledger.Options{
		Dir: dir, FS: onOneThread(), Signer: old, Outgoing: []journal.Signer{next}, GroupSignatures: grouped,
		CollectorID: "faultwriter", Scope: record.Scope{OrganizationRef: "bank", Environment: "test", RetentionClass: "kyc"},
		MaxSegmentBytes: 5_000, RetryInterval: retryInterval,
	}
	var l *ledger.Ledger
	if err := again(func() (err error) { l, err = ledger.Open(ctx, o); return err }); err != nil {
		return err
	}
	for batch := range 4 {
		if batch == 2 {
			if err := again(func() error { return l.Rotate(ctx, next) }); err != nil {
				return err
			}
		}
		if err := appendBatch(ctx, l, batch); err != nil {
			return err
		}
	}
	_ = l.Close(ctx) // its faults are the last ones
	return nil
}

// again does something until it succeeds.
func again(do func() error) (err error) {
	for range tries {
		if err = do(); err == nil {
			return nil
		}
		time.Sleep(retryInterval)
	}
	return errors.Join(errors.New("the journal did not come back"), err)
}

func appendBatch(ctx context.Context, l *ledger.Ledger, batch int) error {
	var drafts []*record.Draft
	for n := range 2 {
		d, err := read(fmt.Sprintf("read_%d_%d", batch, n))
		if err != nil {
			return err
		}
		drafts = append(drafts, d)
	}
	var receipts []journal.Receipt
	err := again(func() (err error) { receipts, err = l.Append(ctx, drafts); return err })
	for i, r := range receipts {
		text, _ := json.Marshal(map[string]any{"read_id": drafts[i].ID(), "record_hash": r.RecordHash})
		// Who does not hear of it has no acknowledgement.
		_, _ = os.Stdout.Write(append(text, '\n'))
	}
	return err
}

func read(id string) (*record.Draft, error) {
	return record.NewReadDraft(&record.Read{
		Header: record.Header{
			EventType: record.EventReadTool, OccurredAt: record.TimeFromUnixNano(1_700_000_000_000_000_000),
			Correlation: record.Correlation{ExecutionID: "run_1"},
			ObservedBy:  record.ObservedBy{UpstreamContextSource: record.UnverifiedInput, Signal: record.SignalSpan},
		},
		ReadID: id, ExecutionID: "run_1",
		Source:    record.Source{Kind: record.SourceAPI, ToolID: "crm.get"},
		Response:  record.Response{Status: record.StatusOK},
		Retention: record.Retention{ContentStored: record.DigestOnly, RedactionProfile: "strict/1"},
		Capture:   record.Capture{Request: record.CapturedNothing, Response: record.CapturedNothing},
	}, false)
}
