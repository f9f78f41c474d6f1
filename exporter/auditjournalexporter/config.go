// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"errors"

	"go.opentelemetry.io/collector/component"
)

// Config names the journal. There is no queue, retry or timeout to configure:
// the journal is the queue, and its answer is what the sender waits for.
type Config struct {
	// Journal is the id of the audit_journal extension.
	Journal component.ID `mapstructure:"journal"`

	// Lineage says whether the skeletons of spans are written too, so that how
	// reads hang together outlives the traces.
	Lineage bool `mapstructure:"lineage"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// Validate checks that a journal is named; whether it runs shows at start.
func (c *Config) Validate() error {
	if c.Journal == (component.ID{}) {
		return errors.New("journal must name an audit_journal extension")
	}
	return nil
}
