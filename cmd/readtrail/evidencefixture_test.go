// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/readtrail/readtrail/internal/carrier"
	"github.com/readtrail/readtrail/internal/durable"
	"github.com/readtrail/readtrail/internal/evidence"
	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// What the reads of the fixture have seen. The arguments and the result are kept,
// so are a query and a chunk, and of a third read one field under a keyed digest.
const (
	keptArguments = `{"customer_id":"cust_syn_55120"}`
	keptResult    = "CANARY Martin, country: FR\n"
	keptQuery     = "politically exposed persons"
	keptChunk     = "CANARY section 7"
	keptField     = "FR"
	fixtureKeyID  = "bank-2026"
)

var fixtureDigestKey = []byte(strings.Repeat("k", 32))

func plainDigest(content string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
}

func keyedDigest(content string) string {
	mac := hmac.New(sha256.New, fixtureDigestKey)
	mac.Write([]byte(content))
	return fmt.Sprintf("hmac-sha256:%s:%x", fixtureKeyID, mac.Sum(nil))
}

// writeEvidenceFixture writes below dir a journal of four reads that names five
// copies, the store that has them, the identity that opens it, one that does not,
// and the key of the keyed digest.
func writeEvidenceFixture(dir string) error {
	signer, err := writeFixtureKeys(dir)
	if err != nil {
		return err
	}
	if err := writeKeepingJournal(dir, signer); err != nil {
		return err
	}
	var public string
	for _, name := range []string{"evidence-key.txt", "other-key.txt"} {
		identity, err := age.GenerateX25519Identity()
		if err != nil {
			return err
		}
		if public == "" {
			public = identity.Recipient().String()
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(identity.String()+"\n"), 0o600); err != nil {
			return err
		}
	}
	key := base64.StdEncoding.EncodeToString(fixtureDigestKey) + "\n"
	if err := os.WriteFile(filepath.Join(dir, "digest-key.txt"), []byte(key), 0o600); err != nil {
		return err
	}
	return writeStore(filepath.Join(dir, "evidence"), public)
}

func writeStore(dir, public string) error {
	recipients, err := evidence.NewRecipients([]string{public})
	if err != nil {
		return err
	}
	place, err := evidence.OpenLocal(durable.OS{}, dir)
	if err != nil {
		return err
	}
	store, err := evidence.NewStore(context.Background(), place, []evidence.Set{{Class: "kyc", Name: "2026", Recipients: recipients}})
	if err != nil {
		return err
	}
	var copies []carrier.Copy
	for _, content := range []string{keptArguments, keptResult, keptQuery, keptChunk} {
		copies = append(copies, carrier.Copy{Digest: plainDigest(content), Content: []byte(content)})
	}
	copies = append(copies, carrier.Copy{Digest: keyedDigest(keptField), Content: []byte(keptField)})
	if _, err := store.Put(context.Background(), "demo-bank", "kyc", copies); err != nil {
		return err
	}
	return place.Close()
}

func writeKeepingJournal(dir string, signer journal.Signer) error {
	correlation := record.Correlation{ExecutionID: "run_1", TraceID: trace, SpanID: "b7ad6b7169203331"}
	tool := fixtureRead("read_1", record.SignalSpan, "crm.customer.get", correlation)
	tool.Request.ArgumentsDigest, tool.Response.ResultDigest = plainDigest(keptArguments), plainDigest(keptResult)
	tool.Retention.ContentStored = record.EvidenceCopy
	index := fixtureRead("read_2", record.SignalSpan, "", correlation)
	index.EventType, index.Retention.ContentStored = record.EventReadRetrieval, record.EvidenceCopy
	index.Retrieval = &record.Retrieval{QueryDigest: plainDigest(keptQuery), Chunks: []record.Chunk{{ID: "p-1", ContentDigest: plainDigest(keptChunk)}, {ID: "p-2"}}}
	field := fixtureRead("read_3", record.SignalSpan, "crm.customer.get", correlation)
	field.Response.ResultDigest = plainDigest("not kept")
	field.Retention.ContentStored = record.Fields
	field.Retention.Fields = []record.Field{{Path: "$.country", In: record.FieldInResult, Digest: keyedDigest(keptField), Canonicalization: "bytes", Size: 64}}
	for _, r := range []*record.Read{tool, index, field} {
		r.Retention.CopyRef, r.Retention.Classification, r.Retention.AccessPolicyRef = "evidence_store", "confidential", "pol_crm"
	}
	nothing := fixtureRead("read_4", record.SignalSpan, "crm.customer.get", correlation)
	nothing.Response.ResultDigest = plainDigest("not kept")

	opened, err := record.NewJournalDraft(&record.Journal{Header: fixtureHeader(record.EventJournalOpened)})
	if err != nil {
		return err
	}
	drafts := []*record.Draft{opened}
	for _, read := range []*record.Read{tool, index, field, nothing} {
		draft, err := record.NewReadDraft(read, true)
		if err != nil {
			return err
		}
		drafts = append(drafts, draft)
	}
	return writeSegments(filepath.Join(dir, filepath.FromSlash(fixtureSegment)), drafts, signer)
}
