// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package auditjournalexporter

import (
	"errors"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/readtrail/readtrail/internal/upstream"
)

// Config names the journal. There is no queue, retry or timeout to configure:
// the journal is the queue, and its answer is what the sender waits for.
type Config struct {
	// Journal is the id of the audit_journal extension.
	Journal component.ID `mapstructure:"journal"`

	// Lineage says whether the skeletons of spans are written too, so that how
	// reads hang together outlives the traces.
	Lineage bool `mapstructure:"lineage"`

	// Clients bind those who authenticated to the organizations that their telemetry
	// may choose. Without any, every client may choose every one.
	Clients upstream.Bindings `mapstructure:"clients"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var (
	_ component.Config    = (*Config)(nil)
	_ confmap.Unmarshaler = (*Config)(nil)
)

// Unmarshal keeps a list of clients without any apart from no list: to leave it out is
// to let everybody choose, which a list whose entries are commented out must not do.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c); err != nil {
		return err
	}
	if conf.IsSet("clients") && c.Clients == nil {
		c.Clients = upstream.Bindings{}
	}
	return nil
}

// Validate checks that a journal is named and that clients can be matched; whether the
// journal runs and has their organizations shows at start.
func (c *Config) Validate() error {
	errs := c.Clients.Check()
	if c.Journal == (component.ID{}) {
		errs = append(errs, errors.New("journal must name an audit_journal extension"))
	}
	if len(errs) == 0 {
		return nil
	}
	// In one line: the path of the exporter is put in front of the text once.
	return errors.New(strings.ReplaceAll(errors.Join(errs...).Error(), "\n", "; "))
}
