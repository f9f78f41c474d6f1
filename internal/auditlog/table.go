// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"strings"

	"github.com/readtrail/readtrail/internal/content"
)

// The attributes of the draft, each once. Those of the resource are marked.
const (
	attrRecordID         = "audit.record.id"
	attrActorID          = "audit.actor.id"
	attrActorType        = "audit.actor.type"
	attrAction           = "audit.action"
	attrOutcome          = "audit.outcome"
	attrTargetID         = "audit.target.id"
	attrTargetType       = "audit.target.type"
	attrSourceID         = "audit.source.id"
	attrSourceType       = "audit.source.type"
	attrSchemaVersion    = "audit.schema.version"
	attrValue            = "audit.integrity.value"
	attrSigner           = "audit.integrity.signer"
	attrCanonicalization = "audit.integrity.canonicalization"
	attrNewValue         = "audit.integrity.new_value"
	attrNewAlgorithm     = "audit.integrity.new_algorithm"
	attrNewCertificate   = "audit.integrity.new_certificate"
	attrNumber           = "audit.sequence.number"
	attrPreviousHash     = "audit.sequence.previous_hash"
	attrPreviousRecordID = "audit.sequence.previous_record_id"
	attrStreamID         = "audit.sequence.stream_id"
	attrEnd              = "audit.sequence.end"

	resourceAlgorithm   = "audit.integrity.algorithm"
	resourceCertificate = "audit.integrity.certificate"
	resourceInstance    = "service.instance.id"

	// attrExecution is ours: which execution an action belongs to (contract 3).
	attrExecution = "readtrail.execution.id"
)

// attribute is what the draft says of an attribute.
type attribute struct {
	kind     content.Kind
	required bool
	// oneOf are the values that there are, if the draft lists them.
	oneOf []string
	// several says that it may be a list.
	several bool
}

// attributes are those of the draft's records. Any other attribute is content.
var attributes = map[string]attribute{
	attrRecordID:         {kind: content.KindString, required: true},
	attrActorID:          {kind: content.KindString, required: true},
	attrActorType:        {kind: content.KindString, required: true, oneOf: []string{"user", "service", "system"}},
	attrAction:           {kind: content.KindString, required: true},
	attrOutcome:          {kind: content.KindString, required: true, oneOf: []string{"success", "failure", "unknown"}},
	attrTargetID:         {kind: content.KindString},
	attrTargetType:       {kind: content.KindString},
	attrSourceID:         {kind: content.KindString},
	attrSourceType:       {kind: content.KindString},
	attrSchemaVersion:    {kind: content.KindString},
	attrValue:            {kind: content.KindString, several: true},
	attrSigner:           {kind: content.KindString, oneOf: []string{signerProducer, signerCollector}, several: true},
	attrCanonicalization: {kind: content.KindString},
	attrNewValue:         {kind: content.KindString},
	attrNewAlgorithm:     {kind: content.KindString},
	attrNewCertificate:   {kind: content.KindString},
	attrNumber:           {kind: content.KindInt},
	attrPreviousHash:     {kind: content.KindString},
	attrPreviousRecordID: {kind: content.KindString},
	attrStreamID:         {kind: content.KindString},
	attrEnd:              {kind: content.KindBool},
}

// required are the required attributes in the order in which they are missed.
var required = []string{attrRecordID, attrActorID, attrActorType, attrAction, attrOutcome}

const (
	signerProducer  = "producer"
	signerCollector = "collector"
)

// maxProofs is how many proofs a record may have: the draft knows two tiers.
const maxProofs = 8

// attributeNamed returns what the draft says of an attribute; value.0 and signer.0
// are further ones of value and signer.
func attributeNamed(name string) (attribute, bool) {
	if a, found := attributes[name]; found {
		return a, true
	}
	base, digit, found := cutLast(name)
	if found && len(digit) == 1 && digit[0] >= '0' && digit[0] < '0'+maxProofs && (base == attrValue || base == attrSigner) {
		a := attributes[base]
		a.several = false
		return a, true
	}
	return attribute{}, false
}

func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}
