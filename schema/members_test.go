// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/readtrail/readtrail/schema"
)

func TestANameIsAMemberIfASchemaHasIt(t *testing.T) {
	for _, name := range []string{"schema_version", "action_record", "audit_event", "host", "marked_for_reviewer", "tool_calls", "integrity", "unmet"} {
		assert.True(t, schema.HasMember(name), name)
	}
	for _, name := range []string{"", "weight", "iban_de89370400440532013000", "mueller", "properties", "$defs"} {
		assert.False(t, schema.HasMember(name), name)
	}
}
