// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/v2"
	"strconv"

	"github.com/readtrail/readtrail/journal"
	"github.com/readtrail/readtrail/record"
)

// Status is a domain status of the draft.
type Status string

// The statuses of the draft that this collector answers with. It has one sink, the
// journal, and answers when that is durable: verified_queued and verified_exporting
// are never true of it, nor is delivered_partial.
const (
	StatusPendingVerify Status = "accepted_pending_verify"
	StatusDelivered     Status = "delivered_all_sinks"
	StatusVerifyFailed  Status = "rejected_verify_failed"
	StatusSchemaInvalid Status = "rejected_schema_invalid"
	StatusAuthz         Status = "rejected_authz"
	StatusInternal      Status = "failed_internal"
)

// The values of verify_status.
const (
	verifyPassed   = "passed"
	verifyFailed   = "failed"
	verifyDeferred = "deferred"
)

// sink is the name of the journal in an answer.
const sink = "audit_journal"

// Answer is what the client gets: a status code and a body in JSON.
type Answer struct {
	HTTP int
	// RetryAfter is in seconds, 0 if the answer is final.
	RetryAfter int
	Body       []byte
	// Status is the draft's, of the record or of the batch.
	Status Status
	// Outcome says in one word what happened, for metrics: recorded, repeated,
	// pending, or the code of the problem.
	Outcome string
	// Records is how many records were written, and Repeats how many were there.
	Records, Repeats int
	// ChainWarnings is how many records have a chain that is broken.
	ChainWarnings int
}

// recordAnswer is the draft's answer for a single record. Members behind the blank
// line are ours.
type recordAnswer struct {
	RecordID      string `json:"record_id,omitzero"`
	Status        Status `json:"status"`
	IntegrityHash string `json:"integrity_hash,omitzero"`
	// SinkTimestamp is in nanoseconds, a string as OTLP/JSON spells 64 bits.
	SinkTimestamp string                `json:"sink_timestamp,omitzero"`
	VerifyStatus  string                `json:"verify_status,omitzero"`
	SinkStatusMap map[string]sinkStatus `json:"sink_status_map,omitzero"`
	Reason        string                `json:"reason,omitzero"`
	RetryAfter    int                   `json:"retry_after,omitzero"`

	Code    string `json:"code,omitzero"`
	Pointer string `json:"pointer,omitzero"`
	EventID string `json:"event_id,omitzero"`
	// VerifyReason says why verify_status is deferred.
	VerifyReason string `json:"verify_reason,omitzero"`
	// ChainStatus and ChainWarnings say how the record continues its stream.
	ChainStatus   record.ChainCheck `json:"chain_status,omitzero"`
	ChainWarnings []string          `json:"chain_warnings,omitzero"`
	// Attributes are what the collector, which signs the record in its journal, adds
	// to it and keeps of it.
	Attributes map[string]string `json:"attributes,omitzero"`
	Receipt    *journal.Receipt  `json:"receipt,omitzero"`
}

// sinkStatus is the draft's delivery status of one sink.
type sinkStatus struct {
	ExporterName   string `json:"exporter_name"`
	SinkType       string `json:"sink_type"`
	DeliveryStatus string `json:"delivery_status"`
	AttemptCount   int    `json:"attempt_count,omitzero"`
	LastAttemptAt  string `json:"last_attempt_at,omitzero"`
	SinkAckID      string `json:"sink_ack_id,omitzero"`
	ErrorCode      string `json:"error_code,omitzero"`
}

// batchAnswer is the draft's answer for several records.
type batchAnswer struct {
	BatchID             string                  `json:"batch_id"`
	Status              Status                  `json:"status"`
	RecordStatusMap     map[string]recordAnswer `json:"record_status_map"`
	SinkStatusAggregate string                  `json:"sink_status_aggregate"`
	Reason              string                  `json:"reason,omitzero"`
	RetryAfter          int                     `json:"retry_after,omitzero"`

	Code    string `json:"code,omitzero"`
	Pointer string `json:"pointer,omitzero"`
}

// taken is the answer for a record that stands in the journal.
func taken(m *mapped, integrity *record.AuditIntegrity, sequence *record.AuditSequence, receipt journal.Receipt, final bool) recordAnswer {
	a := recordAnswer{
		RecordID: m.id, Status: StatusDelivered, IntegrityHash: m.hash(),
		SinkTimestamp: strconv.FormatInt(receipt.RecordedAt.Std().UnixNano(), 10),
		VerifyStatus:  verifyPassed,
		SinkStatusMap: map[string]sinkStatus{sink: {
			ExporterName: sink, SinkType: "journal", DeliveryStatus: "success", AttemptCount: 1,
			LastAttemptAt: receipt.RecordedAt.String(), SinkAckID: receipt.EventID,
		}},
		Receipt:    &receipt,
		Attributes: map[string]string{attrSigner: signerCollector},
	}
	if receipt.Signature != "" {
		a.Attributes[attrValue] = receipt.Signature
	}
	for i, p := range integrity.Proofs {
		if p.Value != "" {
			suffix := "." + strconv.Itoa(i)
			a.Attributes[attrValue+suffix], a.Attributes[attrSigner+suffix] = p.Value, p.Signer
		}
	}
	if integrity.Status != record.ProofPassed {
		a.VerifyStatus, a.VerifyReason = verifyDeferred, integrity.Reason
		if !final {
			a.Status = StatusPendingVerify
		}
	}
	if sequence != nil {
		a.ChainStatus, a.ChainWarnings = sequence.Check, sequence.Problems
	}
	return a
}

// refused is the answer for a record that is not taken.
func refused(id string, p *Problem, retryAfter int) recordAnswer {
	a := recordAnswer{
		RecordID: id, Status: p.Status, Reason: p.Detail, RetryAfter: retryAfter,
		Code: p.Code, Pointer: p.Pointer, EventID: p.EventID,
	}
	if p.Status == StatusVerifyFailed {
		a.VerifyStatus = verifyFailed
	}
	return a
}

// answerAll answers for a request whose records stand in the journal.
func answerAll(all []*mapped, answers []recordAnswer) Answer {
	out := Answer{HTTP: httpOK, Status: StatusDelivered}
	for _, a := range answers {
		if a.Receipt.Repeat {
			out.Repeats++
		} else {
			out.Records++
		}
		if a.Status == StatusPendingVerify {
			out.HTTP, out.Status = httpAccepted, StatusPendingVerify
		}
		if a.ChainStatus == record.ChainBroken {
			out.ChainWarnings++
		}
	}
	switch {
	case out.HTTP == httpAccepted:
		out.Outcome = "pending"
	case out.Records == 0:
		out.Outcome = "repeated"
	default:
		out.Outcome = "recorded"
	}
	if len(answers) == 1 {
		out.Body = spell(answers[0])
		return out
	}
	batch := batchAnswer{
		BatchID: batchID(all), Status: out.Status, SinkStatusAggregate: "success",
		RecordStatusMap: make(map[string]recordAnswer, len(answers)),
	}
	for _, a := range answers {
		if _, twice := batch.RecordStatusMap[a.RecordID]; !twice { // the first one was written
			batch.RecordStatusMap[a.RecordID] = a
		}
	}
	out.Body = spell(batch)
	return out
}

// refuse answers for a request of which nothing is taken.
func refuse(all []*mapped, records int, p *Problem, retryAfter int) Answer {
	out := Answer{HTTP: p.HTTP, Status: p.Status, RetryAfter: retryAfter, Outcome: p.Code}
	var id string
	if p.Record >= 0 && p.Record < len(all) {
		id = all[p.Record].id
	}
	if records < 2 {
		out.Body = spell(refused(id, p, retryAfter))
		return out
	}
	batch := batchAnswer{
		BatchID: batchID(all), Status: p.Status, SinkStatusAggregate: "failed", RecordStatusMap: map[string]recordAnswer{},
		Reason: p.Detail, RetryAfter: retryAfter, Code: p.Code, Pointer: p.Pointer,
	}
	for _, m := range all {
		if m.id != "" {
			batch.RecordStatusMap[m.id] = recordAnswer{
				RecordID: m.id, Status: p.Status, RetryAfter: retryAfter, Code: "batch_refused",
				Reason: "nothing of the batch was recorded; this record is not known to be wrong",
			}
		}
	}
	if id != "" {
		batch.RecordStatusMap[id] = refused(id, p, retryAfter)
	}
	out.Body = spell(batch)
	return out
}

// Refuse is the answer for a request that something in front of this package refuses:
// its status code, and a reason that is free of content.
func Refuse(status int, code, reason string, retryAfter int) Answer {
	p := &Problem{HTTP: status, Status: StatusInternal, Code: code, Detail: reason, Record: -1}
	switch status {
	case 401, 403:
		p.Status = StatusAuthz
	case httpBadRequest, 405, httpTooLarge, 415:
		p.Status = StatusSchemaInvalid
	}
	return refuse(nil, 1, p, retryAfter)
}

// batchID names a batch by its records, so that a retry gets the same answer.
func batchID(all []*mapped) string {
	h := sha256.New()
	for _, m := range all {
		_, _ = h.Write([]byte(m.id + "\n" + m.log.PayloadDigest + "\n"))
	}
	return "batch_" + hex.EncodeToString(h.Sum(nil)[:16])
}

// spell marshals an answer, whose text is UTF-8.
func spell(answer any) []byte {
	text, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return []byte(`{"status":"failed_internal"}`)
	}
	return append(text, '\n')
}
