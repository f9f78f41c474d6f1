// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog_test

import (
	"encoding/base64"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/internal/auditlog"
	"github.com/readtrail/readtrail/record"
)

// stream is a producer that numbers its records.
type stream struct {
	r        *rig
	n        int
	hash, id string
}

// next makes the record that follows the last one that was sent.
func (s *stream) next(change object) object {
	s.n++
	named := object{"audit.sequence.stream_id": "stream-1", "audit.sequence.number": s.n}
	if s.hash != "" {
		named["audit.sequence.previous_hash"], named["audit.sequence.previous_record_id"] = s.hash, s.id
	}
	return auditRecord("r-"+strconv.Itoa(s.n), named, change)
}

func (s *stream) send(change object) reply {
	answer := s.r.post(s.next(change))
	require.Equal(s.r.t, 200, answer.http, answer.text)
	s.hash, s.id = answer.object["integrity_hash"].(string), answer.object["record_id"].(string)
	return answer
}

func TestAWholeChainIsFollowedAcrossRestartsAndBatches(t *testing.T) {
	s := &stream{r: newRig(t)}
	assert.Equal(t, "genesis", s.send(nil).object["chain_status"])
	assert.Equal(t, "continues", s.send(nil).object["chain_status"])
	s.r.reopen()
	last := s.send(nil)
	assert.Equal(t, "continues", last.object["chain_status"])
	assert.NotContains(t, last.object, "chain_warnings")
	assert.Equal(t, "continues", s.send(object{"audit.sequence.end": true}).object["chain_status"])
	for _, log := range s.r.details() {
		assert.Empty(t, log.Sequence.Problems)
	}
	// A batch of two that follow each other, whose hash the producer computes itself.
	r := newRig(t)
	first := auditRecord(uuid, object{"audit.sequence.stream_id": "s", "audit.sequence.number": 1})
	hash := newRig(t).post(first).object["integrity_hash"]
	answer := r.post(first, auditRecord("2", object{
		"audit.sequence.stream_id": "s", "audit.sequence.number": 2, "audit.sequence.previous_hash": hash, "audit.sequence.previous_record_id": uuid,
	}))
	require.Equal(t, 200, answer.http, answer.text)
	assert.Equal(t, "continues", answer.object["record_status_map"].(object)["2"].(object)["chain_status"])
}

func TestABrokenChainIsRecordedAndSaid(t *testing.T) {
	for problem, c := range map[string]func(s *stream) object{
		"predecessor_unknown": func(s *stream) object { s.n++; return s.next(nil) },
		"previous_hash_mismatch": func(s *stream) object {
			return s.next(object{"audit.sequence.previous_hash": hashOf("another")})
		},
		"previous_record_id_mismatch": func(s *stream) object { return s.next(object{"audit.sequence.previous_record_id": "another"}) },
		"number_taken": func(s *stream) object {
			s.n--
			return s.next(object{"audit.record.id": "another"})
		},
		"after_end": func(s *stream) object {
			s.send(object{"audit.sequence.end": true})
			return s.next(nil)
		},
		"out_of_order": func(s *stream) object {
			s.n++
			s.send(nil)
			s.n -= 2
			return s.next(nil)
		},
		"genesis_with_predecessor": func(s *stream) object {
			return s.next(object{"audit.sequence.stream_id": "stream-2", "audit.sequence.number": 1})
		},
	} {
		t.Run(problem, func(t *testing.T) {
			s := &stream{r: newRig(t)}
			s.send(nil)
			s.send(nil)
			answer := s.r.post(c(s))
			require.Equal(t, 200, answer.http, answer.text)
			assert.Equal(t, "broken", answer.object["chain_status"])
			assert.Contains(t, answer.object["chain_warnings"], problem)
			logs := s.r.details()
			last := logs[len(logs)-1].Sequence
			assert.Equal(t, record.ChainBroken, last.Check)
			assert.Contains(t, last.Problems, problem)
		})
	}
}

func TestWhatAChainLeavesOpenIsNotCalledBroken(t *testing.T) {
	for problem, change := range map[string]object{
		"previous_hash_missing": {"audit.sequence.previous_hash": nil},
		"number_missing":        {"audit.sequence.number": nil},
	} {
		s := &stream{r: newRig(t)}
		s.send(nil)
		answer := s.send(change)
		assert.Equal(t, "not_checked", answer.object["chain_status"], problem)
		assert.Equal(t, []any{problem}, answer.object["chain_warnings"])
	}
	r := newRig(t)
	answer := r.post(auditRecord(uuid, object{"audit.sequence.number": 1}))
	assert.Equal(t, "not_checked", answer.object["chain_status"])
	assert.Equal(t, []any{"stream_ambiguous"}, answer.object["chain_warnings"], "nobody names the stream")
	assert.NotEmpty(t, r.details()[0].Sequence.StreamAssumed)
}

func TestAChangeOfKeyNeedsATransition(t *testing.T) {
	old, incoming := producers["EdDSA"], producers["RS256"]
	trust := trusting(t, old.named("old"), incoming.named("new"))
	// send signs a record of a stream with a key, after its form was asked of a
	// service that takes it unsigned.
	send := func(r *rig, n int, p producer, kid string, transition bool) reply {
		named := object{"audit.sequence.stream_id": "s", "audit.sequence.number": n}
		form := `{"Attributes":{"audit.action":{"stringValue":"LOGIN"},"audit.actor.id":{"stringValue":"u8472"},"audit.actor.type":{"stringValue":"user"},` +
			`"audit.outcome":{"stringValue":"success"},"audit.record.id":{"stringValue":"r-` + strconv.Itoa(n) + `"},"audit.schema.version":{"stringValue":"1.0.0"},` +
			`"audit.sequence.number":{"intValue":` + strconv.Itoa(n) + `},"audit.sequence.stream_id":{"stringValue":"s"},` +
			exampleForm[len(`{"Attributes":{"audit.action":{"stringValue":"LOGIN"},"audit.actor.id":{"stringValue":"u8472"},"audit.actor.type":{"stringValue":"user"},"audit.outcome":{"stringValue":"success"},"audit.record.id":{"stringValue":"`+uuid+`"},"audit.schema.version":{"stringValue":"1.0.0"},`):]
		proofs := object{"audit.integrity.value": p.proof(form)}
		if transition {
			proofs["audit.integrity.new_value"] = base64.StdEncoding.EncodeToString(incoming.sign([]byte(form)))
			proofs["audit.integrity.new_algorithm"], proofs["audit.integrity.new_certificate"] = "RS256", "new"
		}
		rec := auditRecord("r-"+strconv.Itoa(n), named, proofs)
		answer := r.send(auditlog.JSON, requestOf(object{"service.name": "s", "audit.integrity.algorithm": p.algorithm, "audit.integrity.certificate": kid}, rec))
		require.Equal(t, 200, answer.http, answer.text)
		require.Equal(t, "passed", answer.object["verify_status"])
		return answer
	}
	r := newRig(t, trustedBy(trust))
	send(r, 1, old, "old", false)
	send(r, 2, old, "old", true)
	assert.Equal(t, "RS256", r.details()[1].Integrity.Transition.Proof.Algorithm)
	assert.NotContains(t, send(r, 3, incoming, "new", false).object["chain_warnings"], "key_changed_without_transition")

	r = newRig(t, trustedBy(trust))
	send(r, 1, old, "old", false)
	assert.Contains(t, send(r, 2, incoming, "new", false).object["chain_warnings"], "key_changed_without_transition")
	answer := r.post(auditRecord("r-3", object{"audit.sequence.stream_id": "s", "audit.sequence.number": 3}))
	assert.Contains(t, answer.object["chain_warnings"], "unsigned_after_signed")
}
