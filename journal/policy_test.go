// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/readtrail/readtrail/journal"
)

func TestAPolicyIsReadAsItIsMeant(t *testing.T) {
	witness := newCosigner(t, "one.example", 11).vkey.String()
	p := policyOf(t, fmt.Sprintf(`{
		"journals": [{
			"journal_id": "jrn_test", "first_sequence": 4, "first_link": "sha256:%s", "keys": [%q], "largest_gap_seconds": 3600,
			"oldest_checkpoint": {"size": 4711, "root": "nND/nri/U0xuHUrYSy0HtMeal2vzD9V4k/BO79C+QeI="}
		}],
		"witnesses": [%q], "quorum": 1, "demand": ["tail", "time", "first_link", "schema", "lineage", "artifacts"]
	}`, sha256Hex(nil), trusted.KeyID(), witness))
	j, listed := p.Journal("jrn_test")
	require.True(t, listed)
	assert.Equal(t, uint64(4), j.FirstSequence)
	assert.Equal(t, time.Hour, j.LargestGap)
	assert.Equal(t, []string{trusted.KeyID()}, j.Keys)
	assert.Equal(t, uint64(4711), j.Oldest.Size)
	assert.True(t, p.Demands(journal.DemandSchema))
	_, listed = p.Journal("jrn_other")
	assert.False(t, listed)
	_, listed = policyOf(t, `{"demand":["tail"]}`).Journal("jrn_other")
	assert.True(t, listed, "a policy without a list leaves open which journals there are")
}

func TestAPolicyThatIsNotUnderstoodIsRefused(t *testing.T) {
	one := newCosigner(t, "one.example", 11).vkey.String()
	for text, want := range map[string]string{
		``: "not a policy", `[]`: "not a policy", `null`: "is null", `{"demands":["tail"]}`: "not a policy", `{"demand":["tale"]}`: "demand names a check that there is not",
		`{"demand":["tail"],"demand":["time"]}`: "not a policy", `{"demand":[]}`: "/demand is null, empty or 0", `{"demand":null}`: "/demand is null", `{"journals":[]}`: "/journals is null, empty",
		`{"demand":["tail"]} {}`: "not a policy", `{"quorum":1}`: "quorum must say", `{"quorum":0}`: "/quorum is null, empty or 0",
		fmt.Sprintf(`{"witnesses":[%q]}`, one): "quorum must say", fmt.Sprintf(`{"witnesses":[%q],"quorum":2}`, one): "quorum must say", fmt.Sprintf(`{"witnesses":[%q,%q],"quorum":2}`, one, one): "witness 2 stands twice",
		`{"witnesses":["x"],"quorum":1}`: "witness 1: not the verifier key", `{"timestamp_roots":["x"]}`: "timestamp root 1 is not one certificate",
		`{"journals":[{}]}`: "is null, empty", `{"journals":[{"first_sequence":2}]}`: "journal_id is missing", `{"journals":[{"journal_id":"j"},{"journal_id":"j"}]}`: "journal 2: journal_id stands twice",
		`{"journals":[{"journal_id":""}]}`: "not a policy", `{"journals":[{"journal_id":"j","first_link":"x","first_sequence":2}]}`: "first_link must be",
		fmt.Sprintf(`{"journals":[{"journal_id":"j","first_link":"sha256:%s"}]}`, sha256Hex(nil)): "first_link must be", `{"journals":[{"journal_id":"j","keys":["x"]}]}`: "keys must be key ids",
		`{"journals":[{"journal_id":"j","largest_gap_seconds":99999999999}]}`: "too large", `{"journals":[{"journal_id":"j","oldest_checkpoint":{"size":1,"root":"x"}}]}`: "oldest_checkpoint must have",
		`{"journals":[{"journal_id":"j","first_sequence":-1}]}`: "not a policy", `{"journals":[{"journal_id":"j","first_sequence":1.5}]}`: "not a policy",
	} {
		_, err := journal.ParsePolicy([]byte(text))
		assert.ErrorContains(t, err, want, text)
	}
}

func FuzzPolicy(f *testing.F) {
	f.Add([]byte(`{"demand":["tail"],"journals":[{"journal_id":"j","first_sequence":4,"keys":["x"]}]}`))
	f.Add([]byte(`{"journals":[{"journal_id":"j","oldest_checkpoint":{"size":4711,"root":"nND/nri/U0xuHUrYSy0HtMeal2vzD9V4k/BO79C+QeI="}}]}`))
	f.Add([]byte(`{"timestamp_roots":["-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := journal.ParsePolicy(text)
		if err == nil {
			require.LessOrEqual(t, p.Quorum, len(p.Witnesses))
		}
	})
}
